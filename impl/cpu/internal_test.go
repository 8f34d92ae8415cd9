package cpu

import (
	"math"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

func TestExp2(t *testing.T) {
	worst := 0.0
	for x := float32(-126); x <= 126; x += 0.001 {
		want := math.Exp2(float64(x))
		worst = max(worst, math.Abs(float64(exp2(x))-want)/want)
	}
	if worst > 3e-7 {
		t.Errorf("relative error %.2g", worst)
	}
	for _, x := range []float32{0, 1, -1, 126, -126} {
		if got := exp2(x); float64(got) != math.Exp2(float64(x)) {
			t.Errorf("2^%v = %v", x, got)
		}
	}
}

// Far from zero the result must be z or 0, never NaN.
func TestGELUTails(t *testing.T) {
	x := []float32{40, -40, 1e4, -1e4, 1e12, -1e12, 1e20, -1e20, 0}
	out := make([]float32, len(x))
	geluRow(out, x, make([]float32, len(x)))
	for i, z := range x {
		if want := max(z, 0); math.Abs(float64(out[i]-want)) > 1e-6*math.Abs(float64(z)) {
			t.Errorf("gelu(%v) = %v, want %v", z, out[i], want)
		}
	}
}

func TestPoolRunsEveryPieceOnce(t *testing.T) {
	for workers := range 5 {
		p := newPool(workers + 1)
		for _, count := range []int{0, 1, 2, 3, 100, 1000} {
			for range 20 { // a pool is used again and again
				seen := make([]atomic.Int32, count)
				p.each(count, func(i int) { seen[i].Add(1) })
				for i := range seen {
					if n := seen[i].Load(); n != 1 {
						t.Fatalf("%d workers: piece %d of %d ran %d times", p.workers(), i, count, n)
					}
				}
			}
		}
		p.close()
	}
}

// Two pieces that wait for each other need two goroutines.
func TestPoolIsConcurrent(t *testing.T) {
	p := newPool(2)
	defer p.close()
	var started atomic.Int32
	deadline := time.Now().Add(10 * time.Second)
	p.each(2, func(int) {
		started.Add(1)
		for started.Load() < 2 && time.Now().Before(deadline) {
			runtime.Gosched()
		}
	})
	if !time.Now().Before(deadline) {
		t.Error("two pieces did not run at the same time")
	}
}

// Whatever mean the deviations are taken from, the corrected moments are those
// of the row: 1, 2, …, 9 has mean 5 and variance 60/9.
func TestNormalisationCorrectsTheMean(t *testing.T) {
	row := []float32{1, 2, 3, 4, 5, 6, 7, 8, 9}
	for _, mean := range []float32{5, 4, 5.5, 7} {
		shift, scale := normalisation(deviations(row, mean))
		if math.Abs(float64(mean+shift)-5) > 1e-6 {
			t.Errorf("from %v: mean %v, want 5", mean, mean+shift)
		}
		if want := 1 / math.Sqrt(60.0/9+1e-5); math.Abs(float64(scale)-want) > 1e-6 {
			t.Errorf("from %v: 1/σ = %v, want %v", mean, scale, want)
		}
	}
}

func TestCloseEndsTheWorkers(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 10 {
		p := newPool(4)
		p.each(8, func(int) {})
		p.close()
	}
	deadline := time.Now().Add(5 * time.Second)
	for runtime.NumGoroutine() > before {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines before, %d after", before, runtime.NumGoroutine())
		}
		time.Sleep(time.Millisecond)
	}
}

// The pieces of the merge path must cover rows and edges exactly, in order.
func TestMergeSplit(t *testing.T) {
	for _, rowptr := range [][]uint32{{0, 0}, {0, 5}, {0, 0, 0, 9, 9, 9}, {0, 1, 2, 3}, {0, 3, 3, 4, 4}} {
		m := &merge{rowptr: rowptr}
		n, edges := len(rowptr)-1, int(rowptr[len(rowptr)-1])
		row, edge := 0, 0
		for step := 0; step <= n+edges; step++ {
			gotRow, gotEdge := m.split(step)
			if gotRow != row || gotEdge != edge {
				t.Errorf("%v: step %d is row %d, edge %d; want %d, %d", rowptr, step, gotRow, gotEdge, row, edge)
			}
			if row < n && edge < int(rowptr[row+1]) {
				edge++
			} else {
				row++
			}
		}
	}
}

func TestPanels(t *testing.T) {
	const rows, k = 37, 5
	src := make([]float32, rows*k)
	for i := range src {
		src[i] = float32(i + 1)
	}
	for _, height := range []int{leftRows, rightRows} {
		for _, transposed := range []bool{false, true} {
			p := newPanels(rows, k, height)
			rowStride, columnStride := k, 1
			if transposed {
				rowStride, columnStride = 1, rows
			}
			for piece := range p.pieces() {
				p.pack(piece, src, rowStride, columnStride)
			}
			padding := 0
			for i, v := range p.data {
				r, l := i/(height*k)*height+i%height, i/height%k
				switch {
				case r >= rows && v == 0:
					padding++
				case r >= rows || v != src[r*rowStride+l*columnStride]:
					t.Fatalf("height %d, transposed %v: element %d is %v", height, transposed, i, v)
				}
			}
			if want := len(p.data) - rows*k; padding != want {
				t.Errorf("height %d: %d zeros, want %d", height, padding, want)
			}
		}
	}
}

func TestState(t *testing.T) {
	r := newStateReader()
	s, err := r.read()
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS == "linux" && (s.HostLoad == nil || s.Preemptions == nil) {
		t.Errorf("state %+v lacks a reading that Linux has", s)
	}
	if s.SMClockMHz != nil || s.PowerW != nil || s.OtherProcesses != nil {
		t.Errorf("state %+v has a reading that was never taken", s)
	}
}

// Stolen time is the share of the ticks since the last reading, and nothing is
// said before a tick has passed.
func TestStolenTime(t *testing.T) {
	r := &stateReader{last: processorTimes{100, 1000}, ok: true}
	for _, c := range []struct {
		now  processorTimes
		want float64 // −1 for none
	}{
		{processorTimes{150, 1200}, 25},
		{processorTimes{150, 1200}, -1},
		{processorTimes{150, 1300}, 0},
		{processorTimes{10, 1400}, -1}, // a counter that went back
	} {
		got := r.stolen(c.now, true)
		if (got == nil) != (c.want < 0) || got != nil && *got != c.want {
			t.Errorf("%+v: %v, want %v", c.now, got, c.want)
		}
	}
	if r.stolen(processorTimes{}, false) != nil {
		t.Error("a failed reading gave a value")
	}
}

func TestInfo(t *testing.T) {
	info := Info()
	if info.Backend != "cpu" || info.Name == "" || info.Multiprocessors != runtime.NumCPU() {
		t.Errorf("info %+v", info)
	}
	if info.MaxSMClockMHz == 0 && info.PeakFP32 != 0 {
		t.Errorf("a peak of %g without a clock", info.PeakFP32)
	}
	if runtime.GOOS == "linux" && info.MemoryBytes < 64<<20 {
		t.Errorf("%d bytes of memory", info.MemoryBytes)
	}
	if f := flopsPerCycle(); f < 16 || f > 64 {
		t.Errorf("%v operations a cycle", f)
	}
}
