package kernels

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Every operator agrees with arithmetic that has no limit, or says that the
// number does not fit.
func TestWholeNumbersDoNotWrapAround(t *testing.T) {
	number := rapid.OneOf(rapid.Int(), rapid.IntRange(-3, 3), rapid.SampledFrom([]int{math.MinInt, math.MaxInt, 1 << 32, -1 << 31}))
	operators := map[string]func(z, a, b *big.Int) *big.Int{
		"+": (*big.Int).Add, "-": (*big.Int).Sub, "*": (*big.Int).Mul, "/": (*big.Int).Quo,
	}
	for operator, exact := range operators {
		e, err := wholeNumber("A "+operator+" B", newScope("A", "B"))
		if err != nil {
			t.Fatal(err)
		}
		rapid.Check(t, func(t *rapid.T) {
			a, b := number.Draw(t, "a"), number.Draw(t, "b")
			got, err := e.integer(scope{"A": a, "B": b})
			if operator == "/" && b == 0 {
				if err == nil {
					t.Fatalf("%d / 0 = %d", a, got)
				}
				return
			}
			want := exact(new(big.Int), big.NewInt(int64(a)), big.NewInt(int64(b)))
			switch {
			case !want.IsInt64() && (err == nil || !strings.Contains(err.Error(), "passes 2⁶³")):
				t.Fatalf("%d %s %d = %v: got %d, %v", a, operator, b, want, got, err)
			case want.IsInt64() && (err != nil || int64(got) != want.Int64()):
				t.Fatalf("%d %s %d = %v: got %d, %v", a, operator, b, want, got, err)
			}
		})
	}
}

func TestFunctionsOfWholeNumbersDoNotWrapAround(t *testing.T) {
	for _, text := range []string{"R * R * R", "ceildiv(R, 2)", "roundup(R, 512)", "pow2(R)", "R + 1", "-R - 2", "min(R + 1, 7)"} {
		e, err := wholeNumber(text, newScope("R"))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if n, err := e.integer(scope{"R": math.MaxInt}); err == nil || !strings.Contains(err.Error(), "passes 2⁶³") {
			t.Errorf("%s = %d, %v", text, n, err)
		}
	}
}
