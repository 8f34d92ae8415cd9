package gate

import (
	"math"

	"mage/contract"
	"mage/internal/parallel"
	"mage/tensor"
)

// shown is how many bad elements a problem lists.
const shown = 3

// piece is how many elements one core compares at a time: 64 Ki float32 values
// and their references fit the second-level cache.
const piece = 1 << 16

// elements is what comparing a range of elements found.
type elements struct {
	maxAbs, maxRel            float64 // over finite, written elements; maxRel where |ref| ≥ atol
	unwritten, nonFinite, far tally
	total                     int
}

// tally counts bad elements and keeps the first of them.
type tally struct {
	count int
	first []wrong
}

type wrong struct {
	flat      int
	got, want float64
}

func (t *tally) add(w wrong) {
	if t.count++; len(t.first) < shown {
		t.first = append(t.first, w)
	}
}

func (t *tally) merge(later tally) {
	t.count += later.count
	t.first = append(t.first, later.first[:min(len(later.first), shown-len(t.first))]...)
}

// compareElements compares every element on every core. The pieces are merged
// in order, so the result does not depend on the number of cores. A wrong
// element that still holds the poison is reported as still poisoned.
func compareElements(out []float32, ref []float64, tol contract.Tolerance, poison byte) elements {
	pieces := make([]elements, (len(ref)+piece-1)/piece)
	parallel.For(len(ref), piece, func(lo, hi int) {
		pieces[lo/piece] = compareRange(out, ref, lo, hi, tol, uint32(poison)*0x01010101)
	})
	all := elements{total: len(ref)}
	for _, p := range pieces {
		all.maxAbs, all.maxRel = max(all.maxAbs, p.maxAbs), max(all.maxRel, p.maxRel)
		all.unwritten.merge(p.unwritten)
		all.nonFinite.merge(p.nonFinite)
		all.far.merge(p.far)
	}
	return all
}

func compareRange(out []float32, ref []float64, lo, hi int, tol contract.Tolerance, poison uint32) elements {
	var found elements
	var maxAbs, maxRel float64 // locals stay in registers
	out, ref = out[lo:hi], ref[lo:hi]
	for i, v := range out {
		got, want := float64(v), ref[i]
		diff, size := math.Abs(got-want), math.Abs(want)
		// Written so that NaN, for which every comparison is false, is bad, and so
		// is an infinite reference, whose tolerance would be infinite too.
		if !(diff <= tol.Atol+tol.Rtol*size && diff <= math.MaxFloat64) {
			w := wrong{lo + i, got, want}
			switch {
			case math.Float32bits(v) == poison:
				found.unwritten.add(w)
				continue
			case !(math.Abs(got) <= math.MaxFloat64 && size <= math.MaxFloat64):
				found.nonFinite.add(w)
				continue
			}
			found.far.add(w)
		}
		if diff > maxAbs {
			maxAbs = diff
		}
		if diff > maxRel*size && size >= tol.Atol {
			maxRel = diff / size
		}
	}
	found.maxAbs, found.maxRel = maxAbs, maxRel
	return found
}

// problems turns the tallies into what a failure reports.
func (e elements) problems(out tensor.Spec) []Problem {
	var list []Problem
	for _, k := range []struct {
		kind Kind
		tally
	}{{StillPoisoned, e.unwritten}, {NonFinite, e.nonFinite}, {OutOfTolerance, e.far}} {
		if k.count == 0 {
			continue
		}
		p := Problem{Kind: k.kind, Buffer: out.Name, Count: k.count, Total: e.total}
		if k.kind == OutOfTolerance {
			p.MaxAbs = e.maxAbs
		}
		for _, w := range k.first {
			p.First = append(p.First, Mismatch{Index: out.Index(w.flat), Got: w.got, Want: w.want})
		}
		list = append(list, p)
	}
	return list
}
