package contract

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"mage/tensor"
)

// MaxElements is the largest element count of one array: kernels may index with
// signed 32-bit integers.
const MaxElements = math.MaxInt32

// checkDims returns an *Error unless d has exactly the dims of c, each positive
// (mayBeZero excepted) and every array of c within MaxElements.
func checkDims(c Contract, d Dims, mayBeZero string) error {
	want := c.DimNames()
	var extra []string
	for n := range d {
		if !slices.Contains(want, n) {
			extra = append(extra, n)
		}
	}
	if len(extra) > 0 {
		sort.Strings(extra)
		return &Error{c.Name(), unknown("dim", extra[0], want)}
	}
	for _, n := range want {
		v, ok := d[n]
		switch {
		case !ok:
			return &Error{c.Name(), fmt.Sprintf("dim %s is missing (needs %s)", n, strings.Join(want, ", "))}
		case v < 0 || v == 0 && n != mayBeZero:
			return &Error{c.Name(), fmt.Sprintf("dim %s = %d must be positive", n, v)}
		case v > MaxElements:
			return &Error{c.Name(), fmt.Sprintf("dim %s = %d exceeds %d", n, v, MaxElements)}
		}
	}
	for _, s := range append(c.Inputs(d), c.Output(d)) {
		if _, ok := elements(s.Shape); !ok {
			return &Error{c.Name(), fmt.Sprintf("%s would hold %s elements, more than %d",
				s.Name, times(s.Shape), MaxElements)}
		}
	}
	return nil
}

// elements multiplies a shape; false when the product exceeds MaxElements.
func elements(shape []int) (int, bool) {
	n := int64(1)
	for _, v := range shape {
		if v < 0 || int64(v) > MaxElements {
			return 0, false
		}
		if n *= int64(v); n > MaxElements { // both factors < 2³¹: no overflow
			return 0, false
		}
	}
	return int(n), true
}

func times(shape []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(shape), " ", "×"), "[]")
}

// denseBytes counts every input read once and the output written once.
func denseBytes(c Contract, d Dims) int64 {
	n := int64(c.Output(d).Bytes())
	for _, s := range c.Inputs(d) {
		n += int64(s.Bytes())
	}
	return n
}

// f32 and u32 describe arrays.
func f32(name string, shape ...int) tensor.Spec {
	return tensor.Spec{Name: name, DType: tensor.F32, Shape: shape}
}

func u32(name string, shape ...int) tensor.Spec {
	return tensor.Spec{Name: name, DType: tensor.U32, Shape: shape}
}
