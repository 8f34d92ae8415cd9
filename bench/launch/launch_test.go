package launch_test

import (
	"bufio"
	_ "embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"mage/gpu"
	"mage/gpu/cuda"
	"mage/unavailable"
)

//go:embed empty.ptx
var ptx []byte

//go:embed cpp/empty_launch.cpp
var program []byte

// batch launches are submitted before the host waits for the device: enough to
// average over, and few enough that the driver's queue never fills up.
const batch = 256

// submitter submits empty kernels from Go.
type submitter struct {
	launch gpu.Launch
	stream gpu.Stream
}

func newSubmitter(b *testing.B) submitter {
	b.Helper()
	d, err := cuda.Open(0)
	if e, ok := unavailable.As(err); ok {
		b.Skip(e)
	}
	ok(b, err)
	b.Cleanup(func() { ok(b, d.Close()) })
	m, err := d.Load(ptx)
	ok(b, err)
	f, err := m.Function("empty")
	ok(b, err)
	l, err := f.Bind(gpu.Config{Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{1, 1, 1}})
	ok(b, err)
	s, err := d.NewStream()
	ok(b, err)
	return submitter{l, s}
}

func ok(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// batches returns the host nanoseconds per launch of each batch.
func (s submitter) batches(b *testing.B, n int) []float64 {
	ns := make([]float64, n)
	for i := range ns {
		start := time.Now()
		for range batch {
			if err := s.launch.Submit(s.stream); err != nil {
				b.Fatal(err)
			}
		}
		ns[i] = float64(time.Since(start)) / batch
		ok(b, s.stream.Synchronize())
	}
	return ns
}

// BenchmarkEmptyLaunch submits an empty kernel from Go; the wait for the device
// after each batch is not counted.
func BenchmarkEmptyLaunch(b *testing.B) {
	s := newSubmitter(b)
	b.ReportAllocs()
	for i := 0; i < b.N; i++ {
		ok(b, s.launch.Submit(s.stream))
		if i%batch == batch-1 {
			b.StopTimer()
			ok(b, s.stream.Synchronize())
			b.StartTimer()
		}
	}
}

// BenchmarkAgainstCpp measures both programs in alternating rounds and reports
// the median of each, and of the ratio of the rounds with its range.
func BenchmarkAgainstCpp(b *testing.B) {
	s := newSubmitter(b)
	cpp := startCpp(b)
	const perRound = 40
	s.batches(b, perRound)
	cpp(perRound)
	var goNS, cppNS, ratios []float64
	rounds := 0
	for b.Loop() {
		var g, c float64
		if rounds%2 == 0 {
			g, c = median(s.batches(b, perRound)), median(cpp(perRound))
		} else {
			c, g = median(cpp(perRound)), median(s.batches(b, perRound))
		}
		goNS, cppNS, ratios = append(goNS, g), append(cppNS, c), append(ratios, g/c)
		rounds++
	}
	b.ReportMetric(0, "ns/op") // of a round: meaningless
	b.ReportMetric(median(goNS), "go-ns/launch")
	b.ReportMetric(median(cppNS), "c++-ns/launch")
	b.ReportMetric(median(ratios), "go/c++")
	b.ReportMetric(slices.Min(ratios), "min-go/c++")
	b.ReportMetric(slices.Max(ratios), "max-go/c++")
	b.ReportMetric(float64(rounds), "rounds")
}

// startCpp builds and starts the C++ program, and returns a function that runs
// batches in it as submitter.batches does here.
func startCpp(b *testing.B) func(batches int) []float64 {
	b.Helper()
	dir := b.TempDir()
	source, binary := filepath.Join(dir, "empty_launch.cpp"), filepath.Join(dir, "empty_launch")
	kernel := filepath.Join(dir, "empty.ptx")
	ok(b, os.WriteFile(source, program, 0o600))
	ok(b, os.WriteFile(kernel, ptx, 0o600))
	if out, err := exec.Command(compiler(b), "-O2", "-o", binary, source, "-ldl").CombinedOutput(); err != nil {
		b.Fatalf("build empty_launch.cpp: %v\n%s", err, out)
	}
	c := exec.Command(binary, kernel, strconv.Itoa(batch))
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	ok(b, err)
	out, err := c.StdoutPipe()
	ok(b, err)
	ok(b, c.Start())
	b.Cleanup(func() {
		in.Close()
		ok(b, c.Wait())
	})
	lines := bufio.NewReader(out)
	return func(batches int) []float64 {
		fmt.Fprintln(in, batches)
		line, err := lines.ReadString('\n')
		if err == io.EOF {
			b.Fatal("the C++ program ended")
		}
		ok(b, err)
		var ns []float64
		for _, f := range strings.Fields(line) {
			v, err := strconv.ParseFloat(f, 64)
			ok(b, err)
			ns = append(ns, v)
		}
		return ns
	}
}

// compiler finds a C++ compiler, or skips the benchmark.
func compiler(b *testing.B) string {
	b.Helper()
	for _, name := range []string{os.Getenv("CXX"), "c++", "g++", "clang++"} {
		if name == "" {
			continue
		}
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	b.Skip("the comparison needs a C++ compiler: none of c++, g++ and clang++ is installed")
	return ""
}

func median(v []float64) float64 {
	s := slices.Clone(v)
	slices.Sort(s)
	n := len(s)
	return (s[(n-1)/2] + s[n/2]) / 2
}
