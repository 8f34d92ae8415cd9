package gate

import (
	"bytes"
	"sync/atomic"

	"mage/internal/parallel"
	"mage/tensor"
)

// checkGuards reports guard zones that no longer hold the poison throughout.
func checkGuards(all []byte, poison byte) []Problem {
	var list []Problem
	for _, zone := range []struct {
		kind Kind
		data []byte
		from int // offset of the zone's first byte, counted as Mismatch says
	}{
		{GuardBefore, all[:GuardBytes], -GuardBytes},
		{GuardAfter, all[len(all)-GuardBytes:], 0},
	} {
		p := Problem{Kind: zone.kind, Buffer: "out", Total: GuardBytes}
		for i, b := range zone.data {
			if b == poison {
				continue
			}
			if p.Count++; len(p.First) < shown {
				p.First = append(p.First, Mismatch{Index: []int{zone.from + i}, Got: float64(b), Want: float64(poison)})
			}
		}
		if p.Count > 0 {
			list = append(list, p)
		}
	}
	return list
}

// checkInput reports elements of an input whose bytes have changed.
func checkInput(spec tensor.Spec, now, original tensor.Tensor) []Problem {
	if equal(now.Data, original.Data) {
		return nil
	}
	p := Problem{Kind: InputModified, Buffer: spec.Name, Total: spec.Len()}
	size := spec.DType.Size()
	for i := range p.Total {
		got, want := now.Data[i*size:(i+1)*size], original.Data[i*size:(i+1)*size]
		if bytes.Equal(got, want) {
			continue
		}
		if p.Count++; len(p.First) < shown {
			p.First = append(p.First, Mismatch{Index: spec.Index(i), Got: number(spec.DType, got), Want: number(spec.DType, want)})
		}
	}
	return []Problem{p}
}

// equal compares slices of the same length on every core.
func equal(a, b []byte) bool {
	var differ atomic.Bool
	parallel.For(len(a), 1<<20, func(lo, hi int) {
		if !bytes.Equal(a[lo:hi], b[lo:hi]) {
			differ.Store(true)
		}
	})
	return !differ.Load()
}

// number reads one element, whatever its type.
func number(d tensor.DType, b []byte) float64 {
	t := tensor.Tensor{Spec: tensor.Spec{DType: d, Shape: []int{1}}, Data: bytes.Clone(b)}
	if d == tensor.U32 {
		return float64(t.Uint32s()[0])
	}
	return float64(t.Float32s()[0])
}
