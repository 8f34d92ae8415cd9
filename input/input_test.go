package input_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"mage/contract"
	"mage/input"
)

func generate(t testing.TB, c contract.Contract, d contract.Dims, distribution string, seed uint64) input.Set {
	t.Helper()
	s, err := input.Generate(input.Case{Contract: c, Dims: d, Distribution: distribution, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func find(t testing.TB, name string) contract.Contract {
	t.Helper()
	c, err := contract.Find(name, contract.FP32)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestEveryContractHasDistributions(t *testing.T) {
	for _, c := range contract.All() {
		if len(input.Distributions(c.Name())) == 0 {
			t.Errorf("%s has no input distributions", c.Name())
		}
		for _, d := range input.Distributions(c.Name()) {
			generate(t, c, c.Small(), d, input.DefaultSeed)
		}
		// The edge cases of the gate suite must all be generated here.
		for _, e := range contract.EdgeCases(c) {
			generate(t, c, e.Dims, e.Distribution, input.DefaultSeed)
		}
	}
}

// The Python program shares nothing with the package but docs/inputs.md.
func TestPythonAgrees(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed: the independent implementation cannot run")
	}
	for _, c := range contract.All() {
		// The second shape reaches other chunks, ranks and far tails.
		shapes := []contract.Dims{c.Small(), map[string]contract.Dims{
			"matmul": {"M": 50, "N": 33, "K": 129}, "gelu": {"R": 129, "D": 131}, "layernorm": {"R": 33, "D": 257},
			"triangle": {"N": 17, "C": 9}, "neighbor": {"N": 300, "F": 3, "E": 5001},
		}[c.Name()]}
		for _, distribution := range input.Distributions(c.Name()) {
			for i, d := range shapes {
				seed := uint64(math.MaxUint64)
				if i > 0 {
					seed = input.DefaultSeed
				}
				if i > 0 && testing.Short() {
					continue // Python takes its time
				}
				set := generate(t, c, d, distribution, seed)
				args := []string{"testdata/generate.py", c.Name(), distribution, fmt.Sprint(seed)}
				for name, v := range d {
					args = append(args, fmt.Sprintf("%s=%d", name, v))
				}
				out, err := exec.Command(python, args...).CombinedOutput()
				if err != nil {
					t.Fatalf("python3 %v: %v\n%s", args, err, out)
				}
				lines := 0
				for sc := bufio.NewScanner(bytes.NewReader(out)); sc.Scan(); lines++ {
					name, sum, _ := strings.Cut(sc.Text(), " ")
					if set.SHA256[name] != sum {
						t.Errorf("%v: %s is %s here, %s in Python", args[1:], name, set.SHA256[name], sum)
					}
				}
				if lines != len(set.SHA256) {
					t.Errorf("%v: Python printed %d buffers, want %d", args[1:], lines, len(set.SHA256))
				}
			}
		}
	}
}

func TestSeedsChangeEveryBuffer(t *testing.T) {
	for _, c := range contract.All() {
		one, two := generate(t, c, c.Small(), "", 1), generate(t, c, c.Small(), "", 2)
		again := generate(t, c, c.Small(), "", 1)
		for name := range one.SHA256 {
			if one.SHA256[name] == two.SHA256[name] {
				t.Errorf("%s %s is the same for two seeds", c.Name(), name)
			}
			if one.SHA256[name] != again.SHA256[name] {
				t.Errorf("%s %s differs between two generations", c.Name(), name)
			}
		}
		if len(one.SHA256) != len(one.Tensors) {
			t.Errorf("%s has %d hashes for %d tensors", c.Name(), len(one.SHA256), len(one.Tensors))
		}
	}
}

func TestDenseDistributions(t *testing.T) {
	gelu := find(t, "gelu")
	d := contract.Dims{"R": 64, "D": 256}
	deviation := func(v []float32) float64 {
		sum := 0.0
		for _, x := range v {
			sum += float64(x) * float64(x)
		}
		return math.Sqrt(sum / float64(len(v)))
	}
	for distribution, want := range map[string]float64{"normal": 0.25, "wide": 8} {
		set := generate(t, gelu, d, distribution, 5)
		if got := deviation(set.Tensors["a"].Float32s()); math.Abs(got/want-1) > 0.03 {
			t.Errorf("%s: standard deviation %v, want %v", distribution, got, want)
		}
	}
	set := generate(t, gelu, d, "constant", 5)
	a := set.Tensors["a"].Float32s()
	for i, v := range a {
		if v != a[0] || v == 0 {
			t.Fatalf("constant: a[%d] = %v, a[0] = %v", i, v, a[0])
		}
	}
	if b := set.Tensors["b"].Float32s(); b[0] == b[1] {
		t.Error("constant: b is constant too")
	}
}

func TestGraphDistributions(t *testing.T) {
	c := find(t, "neighbor")
	const n, edges = 1000, 20_000
	degrees := func(set input.Set) []int {
		ptr := set.Tensors["rowptr"].Uint32s()
		out := make([]int, n)
		for i := range out {
			out[i] = int(ptr[i+1] - ptr[i])
		}
		slices.Sort(out)
		slices.Reverse(out)
		return out
	}
	repeated := func(set input.Set) float64 { // share of edges that repeat an earlier one of their row
		ptr, idx := set.Tensors["rowptr"].Uint32s(), set.Tensors["indices"].Uint32s()
		count := 0
		for i := range n {
			seen := map[uint32]bool{}
			for _, s := range idx[ptr[i]:ptr[i+1]] {
				if seen[s] {
					count++
				}
				seen[s] = true
			}
		}
		return float64(count) / edges
	}
	sets := map[string]input.Set{}
	for _, d := range input.Distributions("neighbor") {
		sets[d] = generate(t, c, contract.Dims{"N": n, "F": 2, "E": edges}, d, input.DefaultSeed)
	}
	// Poisson with mean 20: 1000 rows stay far below 50.
	if deg := degrees(sets["uniform"]); deg[0] > 50 || deg[n-1] > 15 {
		t.Errorf("uniform degrees range from %d to %d", deg[n-1], deg[0])
	}
	// H₁₀₀₀ = 7.485: ranks 1, 2 and 10 expect 2672, 1336 and 267 edges.
	deg := degrees(sets["power-law"])
	for rank, want := range map[int]float64{1: 2672, 2: 1336, 10: 267} {
		if got := float64(deg[rank-1]); math.Abs(got-want) > 4*math.Sqrt(want) {
			t.Errorf("power-law: rank %d has degree %v, want about %v", rank, got, want)
		}
	}
	if deg := degrees(sets["hub"]); deg[0] != edges || deg[1] != 0 {
		t.Errorf("hub: the largest rows hold %d and %d edges", deg[0], deg[1])
	}
	if deg := degrees(sets["empty-rows"]); deg[n/16] != 0 || deg[n/16-1] == 0 {
		t.Errorf("empty-rows: rows %d and %d by degree hold %d and %d edges", n/16-1, n/16, deg[n/16-1], deg[n/16])
	}
	if r := repeated(sets["duplicates"]); r < 0.89 || r > 0.91 { // 1 − 2·1000/20000
		t.Errorf("duplicates: %.3f of the edges are repeated", r)
	}
	if r := repeated(sets["uniform"]); r > 0.02 {
		t.Errorf("uniform: %.3f of the edges are repeated", r)
	}
}

func TestGenerateErrors(t *testing.T) {
	neighbor := find(t, "neighbor")
	_, err := input.Generate(input.Case{Contract: neighbor, Dims: neighbor.Small(), Distribution: "powerlaw"})
	var unknown *input.UnknownDistributionError
	if !errors.As(err, &unknown) || unknown.Nearest != "power-law" {
		t.Errorf("unknown distribution: %v", err)
	}
	_, err = input.Generate(input.Case{Contract: neighbor, Dims: contract.Dims{"N": 1}})
	var broken *contract.Error
	if !errors.As(err, &broken) {
		t.Errorf("missing dims: %v", err)
	}
	if input.Distributions("convolution") != nil || input.CheckDistribution("convolution", "normal") == nil {
		t.Error("a distribution of an unknown contract was accepted")
	}
}

func BenchmarkGenerate(b *testing.B) {
	for _, name := range []string{"gelu", "neighbor"} {
		c := find(b, name)
		b.Run(name, func(b *testing.B) {
			bytes := 0
			for _, s := range c.Inputs(c.Default()) {
				bytes += s.Bytes()
			}
			b.SetBytes(int64(bytes))
			for b.Loop() {
				generate(b, c, c.Default(), "", input.DefaultSeed)
			}
		})
	}
}
