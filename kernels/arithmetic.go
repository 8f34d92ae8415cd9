package kernels

import (
	"errors"
	"math"
)

// errOverflow is the fault of an expression whose value, or a step on the way to
// it, does not fit a signed 64-bit number. A value that wrapped around could
// pass for a size.
var errOverflow = errors.New("a number passes 2⁶³")

func add(a, b int) (int, error) {
	c := a + b
	if (c > a) != (b > 0) && b != 0 {
		return 0, errOverflow
	}
	return c, nil
}

func sub(a, b int) (int, error) {
	c := a - b
	if (c < a) != (b > 0) && b != 0 {
		return 0, errOverflow
	}
	return c, nil
}

func mul(a, b int) (int, error) {
	if a == 0 || b == 0 {
		return 0, nil
	}
	c := a * b
	if c/b != a || a == -1 && b == math.MinInt || b == -1 && a == math.MinInt {
		return 0, errOverflow
	}
	return c, nil
}

// div is a/b cut towards zero, as in C.
func div(a, b int) (int, error) {
	if b == 0 {
		return 0, errors.New("integer divide by zero")
	}
	if a == math.MinInt && b == -1 {
		return 0, errOverflow
	}
	return a / b, nil
}

// ceildiv is a/b rounded up, for the sizes that b counts in; b is positive.
func ceildiv(a, b int) (int, error) {
	n, err := add(a, b-1)
	if err != nil {
		return 0, err
	}
	return div(n, b)
}
