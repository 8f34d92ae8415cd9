package ceiling

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"testing"

	"mage/gpu"
	"mage/gpu/simt"
	"mage/unavailable"
)

// tiny sizes have every kernel, every loop more than once, and several blocks.
func tiny() sizes {
	return sizes{multiprocessors: 2, dram: []int64{128 << 10}, dramGrids: []int{0, 1}, l2: 1 << 19, threads: []int{256, 512}, flight: []int{4, 8},
		resident: 512, traffic: 400 << 10, sharedPasses: 3, steps32: 37, steps64: 37, products: 3}
}

func simulated(t *testing.T) *lab {
	t.Helper()
	dev, err := simt.Open(simt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	stream, err := dev.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	l := newLab(dev, stream)
	t.Cleanup(func() {
		l.close()
		if f := dev.Findings(); len(f) > 0 {
			t.Errorf("%d findings; the first: %s", len(f), f[0].Report())
		}
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// TestEveryKernelIsRight executes every shape of every ceiling on the simulator and
// compares the result with its closed form.
func TestEveryKernelIsRight(t *testing.T) {
	l := simulated(t)
	for _, sub := range subjects(tiny()) {
		if len(sub.shapes) == 0 {
			t.Errorf("%s has no shape", sub.name)
		}
		seen := map[string]bool{}
		for _, sh := range sub.shapes {
			if testing.Short() && seen[sh.entry] {
				continue
			}
			seen[sh.entry] = true
			_, verify, err := l.ready(sh)
			if _, lacks := unavailable.As(err); lacks && sh.image.name == "warpgroup" {
				continue
			}
			if err != nil {
				t.Fatalf("%s %s: %v", sub.name, sh.text, err)
			}
			n, err := verify(true)
			if err != nil {
				t.Errorf("%s, %s, %s: %v", sub.name, sh.entry, sh.text, err)
			}
			if n == 0 && sub.unit != Microseconds {
				t.Errorf("%s: nothing was compared", sh.entry)
			}
			// What was poisoned is no result: the comparison can fail.
			var wrong *wrongResult
			if _, err := verify(false); sub.unit != Microseconds && !errors.As(err, &wrong) {
				t.Errorf("%s, %s: the poison passes as a result: %v", sh.entry, sh.text, err)
			}
			if err := l.free(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestAmounts holds what a shape says it moves and computes against what the
// simulator counts.
func TestAmounts(t *testing.T) {
	l := simulated(t)
	dev := l.dev.(*simt.Device)
	for _, sub := range subjects(tiny()) {
		for i, sh := range sub.shapes {
			if i > 1 && testing.Short() || sh.image.name == "warpgroup" {
				continue
			}
			submit, _, err := l.ready(sh)
			if err != nil {
				t.Fatal(err)
			}
			dev.ResetCounters()
			if err := errors.Join(submit(), l.stream.Synchronize()); err != nil {
				t.Fatal(err)
			}
			c := dev.Counters()
			var got float64
			switch {
			case sub.name == "shared-read":
				got = float64(c.SharedLoads.Bytes)
			case sub.unit == BytesPerSecond:
				got = float64(c.GlobalLoads.Bytes + c.GlobalStores.Bytes)
			case sub.unit == FLOPsPerSecond:
				got = float64(c.FLOPs())
			}
			// Reductions add a word per block, and a few operations per thread.
			if got < sh.amount || got > sh.amount*1.15 {
				t.Errorf("%s, %s: %g counted, %g stated", sh.entry, sh.text, got, sh.amount)
			}
			if err := l.free(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestExpectFindsOneWrongWord spoils one word where no window looks.
func TestExpectFindsOneWrongWord(t *testing.T) {
	l := simulated(t)
	p, err := l.filled(4096, wordsB)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := l.expect(p, 4096, wordsB); err != nil || n != 4*4096 {
		t.Fatal(n, err)
	}
	if err := l.dev.Upload(p+4*9000, []byte{1, 2, 3, 4}); err != nil {
		t.Fatal(err)
	}
	var wrong *wrongResult
	if _, err := l.expect(p, 4096, wordsB); !errors.As(err, &wrong) {
		t.Errorf("a wrong word passes: %v", err)
	}
	if err := l.glance(p, 4096, affine{wordsB.m, wordsB.a + 1}); !errors.As(err, &wrong) {
		t.Errorf("the windows pass other words: %v", err)
	}
}

// TestClosedForms holds the closed forms against loops and exact arithmetic.
func TestClosedForms(t *testing.T) {
	for _, n := range []uint64{0, 1, 2, 3, 1000, 4097} {
		var sum word
		for i := range n {
			sum += wordsB.at(i)
		}
		if got := wordsB.sum(n); got != sum {
			t.Errorf("the first %d words add up to %d, not %d", n, sum, got)
		}
	}
	// Beyond 2³² words only the formula is quick: compare it with big integers.
	n := uint64(5_000_000_001)
	big1 := new(big.Int).SetUint64(n)
	s := new(big.Int).Mul(big1, new(big.Int).SetUint64(n-1))
	s.Rsh(s, 1).Mul(s, big.NewInt(int64(wordsB.m))).Add(s, big1.Mul(big1, big.NewInt(int64(wordsB.a))))
	if want := word(s.Mod(s, big.NewInt(1<<32)).Uint64()); wordsB.sum(n) != want {
		t.Errorf("the first %d words: %d, want %d", n, wordsB.sum(n), want)
	}

	r := rand.New(rand.NewPCG(1, 2))
	random := func() float32 {
		return float32(math.Ldexp(float64(int32(r.Uint32())), r.IntN(40)-50))
	}
	for range 200_000 {
		x, y, z := random(), random(), random()
		if r.IntN(4) == 0 { // near a cancellation, and near a tie
			z = -x * y * (1 + float32(r.IntN(3)-1)/(1<<23))
		}
		exact := new(big.Float).SetPrec(400).SetFloat64(float64(x))
		exact.Mul(exact, big.NewFloat(float64(y))).Add(exact, big.NewFloat(float64(z)))
		want, _ := exact.Float32()
		if got := fma32(x, y, z); got != want && !(got == 0 && want == 0) {
			t.Fatalf("%v × %v + %v = %v, want %v", x, y, z, got, want)
		}
	}
	// A tie that rounding twice gets wrong: 1 + 2⁻²⁴ + 2⁻⁵⁴ must round up.
	if got, want := fma32(1, 1+1.0/(1<<23), float32(-math.Ldexp(1, -24)+math.Ldexp(1, -48))), float32(1+1.0/(1<<23)); got != want {
		t.Errorf("a near tie gives %v, want %v", got, want)
	}
	// A step more or less shows.
	if a, b := chains32(4, 16384), chains32(4, 16383); a == b {
		t.Error("the last step of a chain does not show")
	}
	if a, b := chains64(4, 4096), chains64(4, 4095); a == b {
		t.Error("the last step of a chain does not show")
	}
	// Sums of products stay whole in 32-bit accumulators.
	full := sizesFor(gpu.Info{Multiprocessors: 132, L2Bytes: 50 << 20, MemoryBytes: 141 << 30})
	for i := range 64 {
		for j := range 128 {
			for _, k := range []int{8, 16} {
				if v := full.products*product(i, j, k) + 8; v > 1<<24 || v < -(1<<24) {
					t.Fatalf("element %d, %d of %d steps is %d", i, j, full.products, v)
				}
			}
		}
	}
}

func TestKernelsAreCompiledFromTheirSources(t *testing.T) {
	for name, text := range map[string][]byte{"general": generalPTX, "matrix": matrixPTX, "warpgroup": warpgroupPTX} {
		source, err := os.ReadFile("kernels/" + name + ".cu")
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(source)
		if !bytes.Contains(text, []byte("// source-sha256: "+hex.EncodeToString(sum[:])+"\n")) {
			t.Errorf("%s.ptx is of another %[1]s.cu: go run ./ceiling/kernels/compile ceiling/kernels", name)
		}
	}
}

func TestSizes(t *testing.T) {
	h200 := sizesFor(gpu.Info{Multiprocessors: 132, L2Bytes: 50 << 20, MemoryBytes: 141 << 30})
	for _, sub := range subjects(h200) {
		for _, sh := range sub.shapes {
			if sh.streams > 0 && sh.streams < 30*(50<<20) {
				t.Errorf("%s goes through %d bytes only", sub.name, sh.streams)
			}
			if x := sh.config.Block[0]; x%32 != 0 || x > 1024 {
				t.Errorf("%s: blocks of %d threads", sub.name, x)
			}
		}
	}
	small := sizesFor(gpu.Info{Multiprocessors: 4, L2Bytes: 1 << 20, MemoryBytes: 64 << 20})
	for _, n := range small.dram {
		if 3*n > 64<<20/2 {
			t.Errorf("three buffers of %d bytes leave no room in 64 MiB", n)
		}
	}
}
