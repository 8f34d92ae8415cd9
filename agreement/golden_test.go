package agreement

import (
	"encoding/binary"
	"flag"
	"math"
	"os"
	"strings"
	"sync"
	"testing"

	"mage/gpu/simt"
	"mage/kernels/triton"
)

var update = flag.Bool("update", false, "with MAGE_LONG=1, write testdata/simulator.csv and the tables of docs/simulator.md")

// replay runs every case of the sets on the simulator, once for all tests.
var replay = sync.OnceValues(func() ([]result, error) {
	cases, err := allCases(replayed()...)
	if err != nil {
		return nil, err
	}
	dev, s, err := open()
	if err != nil {
		return nil, err
	}
	var all []result
	for _, c := range cases {
		here, o, err := c.Count(dev, s)
		if err != nil {
			return nil, err
		}
		all = append(all, result{c, here, o})
	}
	return all, dev.Close()
})

// result is what the simulator said of a case.
type result struct {
	Case
	here   simt.Counters
	output Output
}

func results(t *testing.T) []result {
	t.Helper()
	all, err := replay()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// replayed are the sets that every run of the tests replays; MAGE_LONG=1 adds the
// rest, which takes minutes.
func replayed() []string {
	if long() {
		return []string{"small", "tails", "edge", "medium", "default"}
	}
	return []string{"small", "tails", "edge"}
}

func long() bool { return os.Getenv("MAGE_LONG") != "" }

func allCases(families ...string) ([]Case, error) {
	ks, err := allKernels()
	if err != nil {
		return nil, err
	}
	cases, err := KernelCases(ks, families...)
	if err != nil {
		return nil, err
	}
	index, err := triton.Compiled()
	if err != nil {
		return nil, err
	}
	compiled, err := TritonCases(index, families...)
	return append(append(cases, compiled...), ProbeCases()...), err
}

func read[T any](t *testing.T, name string, parse func(*os.File) ([]T, error)) []T {
	t.Helper()
	f, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := parse(f)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func gpuOutputs(t *testing.T) map[string]Output {
	all := map[string]Output{}
	for _, o := range read(t, "outputs.csv", func(f *os.File) ([]Output, error) { return ReadOutputs(f) }) {
		all[o.Case] = o
	}
	return all
}

func gpuCounters(t *testing.T) map[string]Counted {
	all := map[string]Counted{}
	for _, c := range read(t, "nsight.csv", func(f *os.File) ([]Counted, error) { return ReadCounted(f) }) {
		all[c.Case] = c
	}
	return all
}

// explained are the counters, by the beginning of their names, for whose differences
// docs/simulator.md has a reason: what is not among them must agree.
var explained = map[string]string{"matmul": "shared load ", "triangle": "shared load ", "layernorm": "load "}

// TestTheSimulatorAgreesWithAGPU replays what a GPU computed and its profiler
// counted. Outputs agree bit for bit, but for approximations; counters agree, but
// where the machine code accesses memory by other instructions than the PTX.
func TestTheSimulatorAgreesWithAGPU(t *testing.T) {
	outputs, counters := gpuOutputs(t), gpuCounters(t)
	compared := map[string]bool{}
	for _, c := range results(t) {
		here, o := c.here, c.output
		compared[c.Name] = true
		want, ok := outputs[c.Name]
		if !ok {
			t.Errorf("%s: no output of a GPU: run agreement/record/ncu.sh there", c.Name)
			continue
		}
		if o.SHA256 != want.SHA256 && len(c.Approximate) == 0 {
			t.Errorf("%s: the output is not the GPU's", c.Name)
		}
		if o.Entry != want.Entry || o.Grid != want.Grid || o.Block != want.Block {
			t.Errorf("%s: launched as %s %v %v, on the GPU as %s %v %v", c.Name, o.Entry, o.Grid, o.Block, want.Entry, want.Grid, want.Block)
		}
		g, ok := counters[c.Name]
		if !ok {
			continue // not every output was taken under the profiler
		}
		g.LoadsMatrices = c.LoadsMatrices
		for _, d := range Compare(here, g) {
			_, name, _ := strings.Cut(c.Kernel, " ")
			if reason, ok := explained[name]; !d.Compiled || !ok || !strings.HasPrefix(d.Pair.Name, reason) {
				t.Errorf("%s: %s: %d, Nsight Compute %d", c.Name, d.Pair.Name, d.Here, d.GPU)
			}
		}
	}
	// Nothing that was retained is left out, but the large shapes of a short run.
	large, err := allCases("medium", "default")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range large {
		compared[c.Name] = compared[c.Name] || !long()
	}
	for name := range outputs {
		if !compared[name] {
			t.Errorf("%s: a GPU was asked, the simulator was not", name)
		}
	}
	for name := range counters {
		if _, ok := outputs[name]; !ok {
			t.Errorf("%s: counted without an output", name)
		}
	}
}

// TestApproximationsAreNear compares the values of kernels with approximations.
func TestApproximationsAreNear(t *testing.T) {
	for _, a := range approximations(t) {
		// The contracts allow 1e-4 of the reference; both are within it.
		if a.worst > 2e-4 {
			t.Errorf("%s: outputs differ by %g", a.kernel, a.worst)
		}
	}
}

// approximation is how the outputs of a kernel compare over its retained cases.
type approximation struct {
	kernel       string
	instructions []string
	elements     int
	equal        int
	worst        float64 // largest difference, relative to 1 or the value if that is larger
}

func approximations(t *testing.T) []approximation {
	t.Helper()
	var order []string
	byKernel := map[string]*approximation{}
	for _, c := range results(t) {
		if c.Set != "small" && c.Set != "tails" || len(c.Approximate) == 0 {
			continue
		}
		text, err := os.ReadFile("testdata/raw/" + RawName(c.Name))
		if err != nil {
			continue // too large to be kept
		}
		o := c.output
		a := byKernel[c.Kernel]
		if a == nil {
			a = &approximation{kernel: c.Kernel, instructions: c.Approximate}
			byKernel[c.Kernel] = a
			order = append(order, c.Kernel)
		}
		for i := 0; i+4 <= len(text); i += 4 {
			x, y := float(o.Bytes[i:]), float(text[i:])
			a.elements++
			if math.Float32bits(x) == math.Float32bits(y) {
				a.equal++
				continue
			}
			a.worst = max(a.worst, math.Abs(float64(x)-float64(y))/max(1, math.Abs(float64(y))))
		}
	}
	if len(order) == 0 {
		t.Fatal("no output of a kernel with approximations was kept")
	}
	var all []approximation
	for _, k := range order {
		all = append(all, *byKernel[k])
	}
	return all
}

func float(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) }

// simulated returns the retained counters of the simulator: those of the large
// shapes take minutes to count.
func simulated(t *testing.T) map[string]simt.Counters {
	t.Helper()
	text, err := os.ReadFile("testdata/simulator.json")
	if err != nil {
		t.Fatal(err)
	}
	all, err := readCounters(text)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestTheRetainedCountersAreTheSimulators: what the page shows of large shapes is
// what the simulator counts.
func TestTheRetainedCountersAreTheSimulators(t *testing.T) {
	counters := gpuCounters(t)
	now := map[string]simt.Counters{}
	for _, c := range results(t) {
		if _, ok := counters[c.Name]; ok && (c.Set == "small" || c.Set == "default") {
			now[c.Name] = c.here
		}
	}
	if *update && long() {
		if err := os.WriteFile("testdata/simulator.json", writeCounters(now), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept := simulated(t)
	for name, c := range now {
		if kept[name] != c {
			t.Errorf("%s: the retained counters are others: MAGE_LONG=1 go test ./agreement -run Retained -update", name)
		}
	}
}
