// Package queues asks whether queued launches of one kernel take the same time
// through every stream, and in every process. An A/A control uses its arm's stream,
// so what a stream or a process costs is in no interval: a launcher in another
// process is told from the driver here only beyond what is logged.
//
//	go test -bench . -benchtime 1x ./bench/queues
package queues

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"mage/contract"
	"mage/gpu"
	"mage/gpu/cuda"
	"mage/impl"
	"mage/impl/native"
	"mage/input"
	"mage/kernels"
	"mage/stats"
	"mage/timing"
	"mage/unavailable"
)

const (
	streams   = 8
	processes = 6
	rounds    = 12

	// childVariable makes the test binary a child that measures on demand.
	childVariable = "MAGE_BENCH_QUEUES_CHILD"
)

// modes are a long queue of launches, a short one, and one without a host.
var modes = []timing.Mode{{Kind: timing.Batch, N: 100}, {Kind: timing.Batch, N: 1000}, {Kind: timing.Graph, N: 100}}

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) == "" {
		os.Exit(m.Run())
	}
	if err := serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// open opens the GELU of cuda/first at its default shape on a stream of its own.
func open(dev gpu.Device) (impl.Operation, error) {
	stream, err := dev.NewStream()
	if err != nil {
		return nil, err
	}
	timer, err := timing.NewDevice(dev, stream)
	if err != nil {
		return nil, err
	}
	ks, err := kernels.Load(kernels.Builtin(), "built-in kernels")
	if err != nil {
		return nil, err
	}
	all, err := native.New(native.Options{Device: dev, Stream: stream, Timer: timer}, ks)
	if err != nil {
		return nil, err
	}
	c, err := contract.Find("gelu", contract.FP32)
	if err != nil {
		return nil, err
	}
	set, err := input.Generate(input.Case{Contract: c, Dims: c.Default(), Distribution: input.DefaultDistribution(c.Name()), Seed: input.DefaultSeed})
	if err != nil {
		return nil, err
	}
	for _, i := range all {
		if i.Name() == "cuda/first" {
			return i.Open(c, c.Default(), set.Tensors)
		}
	}
	return nil, fmt.Errorf("cuda/first is not built in")
}

// measure is the median time of one operation, µs.
func measure(op impl.Operation, m timing.Mode) (float64, error) {
	r, err := op.Measure(timing.Request{Mode: m, Cache: timing.Hot, Samples: 20, MinSamples: 3, Warmup: 3, BudgetUS: 30e3})
	if err != nil {
		return 0, err
	}
	return stats.Median(r.Samples), nil
}

// serve answers each line, the index of a mode, with a time.
func serve(in io.Reader, out io.Writer) error {
	dev, err := cuda.Open(0)
	if err != nil {
		return err
	}
	defer dev.Close()
	op, err := open(dev)
	if err != nil {
		return err
	}
	defer op.Close()
	fmt.Fprintln(out, "ready")
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		n, err := strconv.Atoi(lines.Text())
		if err != nil {
			return err
		}
		us, err := measure(op, modes[n])
		if err != nil {
			return err
		}
		fmt.Fprintln(out, us)
	}
	return lines.Err()
}

// compare measures the subjects in turn and logs each one's time over the first's.
func compare(b *testing.B, what string, n int, subject func(n, mode int) (float64, error)) {
	for at, m := range modes {
		medians := make([][]float64, n)
		for r := range rounds {
			for i := range n {
				i = (i + r) % n
				us, err := subject(i, at)
				if err != nil {
					b.Fatal(err)
				}
				medians[i] = append(medians[i], us)
			}
		}
		text := ""
		for i := 1; i < n; i++ {
			c, err := stats.Paired(medians[i], medians[0], stats.Options{})
			if err != nil {
				b.Fatal(err)
			}
			text += fmt.Sprintf(" %.4f [%.4f, %.4f]", c.Ratio, c.Interval.Lo, c.Interval.Hi)
		}
		b.Logf("%s of %d %s: %.3f µs in the first; times over it:%s", m, n, what, stats.Median(medians[0]), text)
	}
}

func BenchmarkStreams(b *testing.B) {
	dev, err := cuda.Open(0)
	if e, ok := unavailable.As(err); ok {
		b.Skip(e)
	}
	if err != nil {
		b.Fatal(err)
	}
	defer dev.Close()
	var ops [streams]impl.Operation
	for i := range ops {
		if ops[i], err = open(dev); err != nil {
			b.Fatal(err)
		}
		defer ops[i].Close()
	}
	for range b.N {
		compare(b, "streams", streams, func(i, mode int) (float64, error) { return measure(ops[i], modes[mode]) })
	}
}

// child is a process that measures on demand.
type child struct {
	ask  io.WriteCloser
	told *bufio.Reader
}

func (c child) line() (string, error) {
	s, err := c.told.ReadString('\n')
	return strings.TrimSpace(s), err
}

func BenchmarkProcesses(b *testing.B) {
	dev, err := cuda.Open(0)
	if e, ok := unavailable.As(err); ok {
		b.Skip(e)
	}
	if err != nil {
		b.Fatal(err)
	}
	dev.Close() // the children have their own
	var children [processes]child
	for i := range children {
		cmd := exec.CommandContext(b.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), childVariable+"=1")
		cmd.Stderr = os.Stderr
		ask, err := cmd.StdinPipe()
		if err != nil {
			b.Fatal(err)
		}
		told, err := cmd.StdoutPipe()
		if err != nil {
			b.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		defer cmd.Wait()
		defer ask.Close() // ends it
		children[i] = child{ask, bufio.NewReader(told)}
		if s, err := children[i].line(); s != "ready" {
			b.Fatalf("process %d: %q, %v", i, s, err)
		}
	}
	for range b.N {
		compare(b, "processes", processes, func(i, mode int) (float64, error) {
			if _, err := fmt.Fprintln(children[i].ask, mode); err != nil {
				return 0, err
			}
			s, err := children[i].line()
			if err != nil {
				return 0, err
			}
			return strconv.ParseFloat(s, 64)
		})
	}
}
