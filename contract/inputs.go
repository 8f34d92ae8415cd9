package contract

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"

	"mage/internal/parallel"
	"mage/tensor"
)

// grain is the number of elements that one piece of parallel work holds: large
// enough to hide the hand-out, small enough to balance.
const grain = 1 << 16

// checkInputs returns an *Error unless in holds exactly the inputs of c for d,
// each with its type, shape and length, floating-point ones finite. It checks d
// first, so a caller may rely on both.
func checkInputs(c Contract, d Dims, in Tensors) error {
	if err := c.CheckDims(d); err != nil {
		return err
	}
	specs := c.Inputs(d)
	var names []string
	for _, s := range specs {
		names = append(names, s.Name)
		t, ok := in[s.Name]
		if !ok {
			return &Error{c.Name(), fmt.Sprintf("input %s is missing", s.Name)}
		}
		if t.DType != s.DType {
			return &Error{c.Name(), fmt.Sprintf("input %s has type %q, want %q", s.Name, t.DType, s.DType)}
		}
		if !slices.Equal(t.Shape, s.Shape) {
			return &Error{c.Name(), fmt.Sprintf("input %s has shape %s, want %s", s.Name, times(t.Shape), times(s.Shape))}
		}
		if len(t.Data) != s.Bytes() {
			return &Error{c.Name(), fmt.Sprintf("input %s holds %d bytes, want %d (%s %s)",
				s.Name, len(t.Data), s.Bytes(), times(s.Shape), s.DType)}
		}
		if s.DType == tensor.F32 {
			if i, v, ok := firstNonFinite(t.Float32s()); ok {
				return &Error{c.Name(), fmt.Sprintf("input %s%v is %v, not finite", s.Name, s.Index(i), v)}
			}
		}
	}
	for _, n := range in.Names() {
		if !slices.Contains(names, n) {
			return &Error{c.Name(), fmt.Sprintf("unexpected input %s (takes %s)", n, strings.Join(names, ", "))}
		}
	}
	return nil
}

func firstNonFinite(v []float32) (index int, value float32, found bool) {
	first := atomic.Int64{}
	first.Store(math.MaxInt64)
	parallel.For(len(v), grain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			if math.Float32bits(v[i])&0x7f800000 != 0x7f800000 {
				continue
			}
			for {
				old := first.Load()
				if int64(i) >= old || first.CompareAndSwap(old, int64(i)) {
					return
				}
			}
		}
	})
	if i := first.Load(); i < int64(len(v)) {
		return int(i), v[i], true
	}
	return 0, 0, false
}

// checkGraph returns an *Error unless rowptr rises from 0 to the number of
// edges without ever falling and every index is a row below nodes.
func checkGraph(contract string, rowptr, indices []uint32, nodes int) error {
	if rowptr[0] != 0 {
		return &Error{contract, fmt.Sprintf("rowptr[0] is %d, want 0", rowptr[0])}
	}
	for i := 1; i < len(rowptr); i++ {
		if rowptr[i] < rowptr[i-1] {
			return &Error{contract, fmt.Sprintf("rowptr[%d] = %d is below rowptr[%d] = %d", i, rowptr[i], i-1, rowptr[i-1])}
		}
	}
	if last := rowptr[len(rowptr)-1]; int64(last) != int64(len(indices)) {
		return &Error{contract, fmt.Sprintf("rowptr ends at %d, want E = %d", last, len(indices))}
	}
	for e, s := range indices {
		if int64(s) >= int64(nodes) {
			return &Error{contract, fmt.Sprintf("indices[%d] = %d is not below N = %d", e, s, nodes)}
		}
	}
	return nil
}
