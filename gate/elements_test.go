package gate

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"mage/contract"
)

// Over several pieces, compared on several cores, every bad element is counted
// once under its kind, and the first of each kind are listed in order.
func TestPiecesAddUp(t *testing.T) {
	tol := contract.Tolerance{Rtol: 1e-4, Atol: 1e-4}
	ref := make([]float64, 3*piece+17)
	for i := range ref {
		ref[i] = math.Sin(float64(i))
	}
	poison := math.Float32frombits(0x7F7F7F7F)
	rapid.Check(t, func(t *rapid.T) {
		out := make([]float32, len(ref))
		for i, r := range ref {
			out[i] = float32(r)
		}
		// Places near the seams of pieces are likelier than others.
		place := rapid.OneOf(rapid.IntRange(0, len(ref)-1), rapid.IntRange(piece-2, piece+1),
			rapid.IntRange(2*piece-2, 2*piece+1), rapid.IntRange(len(ref)-2, len(ref)-1))
		want := map[int]float32{}
		for _, i := range rapid.SliceOfN(place, 0, 30).Draw(t, "places") {
			want[i] = rapid.SampledFrom([]float32{poison, float32(math.NaN()), float32(math.Inf(1)), 3, -7}).Draw(t, "value")
			out[i] = want[i]
		}
		got := compareElements(out, ref, tol, 0x7F)
		var unwritten, nonFinite, far []int
		worst := 0.0
		for i, v := range want {
			switch {
			case v == poison:
				unwritten = append(unwritten, i)
			case v != v || v > 1e30:
				nonFinite = append(nonFinite, i)
			default:
				far = append(far, i)
				worst = max(worst, math.Abs(float64(v)-ref[i]))
			}
		}
		for _, x := range []struct {
			kind string
			tally
			at []int
		}{{"unwritten", got.unwritten, unwritten}, {"non-finite", got.nonFinite, nonFinite}, {"far", got.far, far}} {
			slices.Sort(x.at)
			if x.count != len(x.at) {
				t.Fatalf("%s: %d, want %d", x.kind, x.count, len(x.at))
			}
			var first []int
			for _, w := range x.first {
				first = append(first, w.flat)
			}
			if !slices.Equal(first, x.at[:min(shown, len(x.at))]) {
				t.Fatalf("%s: first %v of %v", x.kind, first, x.at)
			}
		}
		if len(far) > 0 && got.maxAbs != worst || len(far) == 0 && got.maxAbs > 1e-7 {
			t.Fatalf("max abs error %v, want %v", got.maxAbs, worst)
		}
	})
}

// The decision about one element follows the contract's formula, whatever the
// two numbers are.
func FuzzOneElement(f *testing.F) {
	for _, x := range [][2]float64{{0, 0}, {1, 1.0002}, {1, 1.00021}, {-1e-4, 0}, {1e30, 1e30}, {3.4e38, 3.5e38},
		{math.Inf(1), math.Inf(1)}, {math.NaN(), 0}, {0, math.Inf(-1)}, {0, math.NaN()}} {
		f.Add(float32(x[0]), x[1])
	}
	f.Fuzz(func(t *testing.T, got float32, want float64) {
		e := compareElements([]float32{got}, []float64{want}, contract.Tolerance{Rtol: 1e-4, Atol: 1e-4}, 0xFF)
		v := float64(got)
		finite := func(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
		passes := finite(v) && finite(want) && finite(v-want) && math.Abs(v-want) <= 1e-4+1e-4*math.Abs(want)
		if bad := e.unwritten.count + e.nonFinite.count + e.far.count; (bad == 0) != passes || bad > 1 {
			t.Errorf("%v against %v: passes %v, but %+v", got, want, passes, e)
		}
		if !finite(e.maxAbs) || !finite(e.maxRel) {
			t.Errorf("%v against %v: errors %v and %v", got, want, e.maxAbs, e.maxRel)
		}
	})
}
