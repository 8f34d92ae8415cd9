package cpu_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"testing"

	"mage/contract"
	"mage/gate"
	"mage/impl"
	"mage/impl/cpu"
	"mage/input"
	"mage/tensor"
	"mage/timing"
	"mage/unavailable"
)

// noHost is for operations that are not timed.
type noHost struct{}

func (noHost) Measure(func() error, timing.Request) (timing.Reading, error) {
	return timing.Reading{}, errors.New("not timed")
}

func implementations() []*cpu.Implementation {
	return []*cpu.Implementation{cpu.Naive(noHost{}), cpu.Parallel(noHost{})}
}

func generate(t testing.TB, c contract.Contract, d contract.Dims, distribution string, seed uint64) contract.Tensors {
	t.Helper()
	set, err := input.Generate(input.Case{Contract: c, Dims: d, Distribution: distribution, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	return set.Tensors
}

func open(t testing.TB, m impl.Implementation, c contract.Contract, d contract.Dims, in contract.Tensors) impl.Operation {
	t.Helper()
	op, err := m.Open(c, d, in)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { op.Close() })
	return op
}

// check poisons, runs and compares every element, the guard zones and the inputs.
func check(c contract.Contract, d contract.Dims, in contract.Tensors, op impl.Operation, want []float64) error {
	const poison = 0xA5
	if err := op.Poison(poison); err != nil {
		return err
	}
	if err := op.Run(); err != nil {
		return err
	}
	raw, err := op.Output()
	if err != nil {
		return err
	}
	spec := c.Output(d)
	if len(raw) != spec.Bytes()+2*gate.GuardBytes {
		return fmt.Errorf("the output allocation has %d bytes", len(raw))
	}
	guard := bytes.Repeat([]byte{poison}, gate.GuardBytes)
	if !bytes.HasPrefix(raw, guard) || !bytes.HasSuffix(raw, guard) {
		return errors.New("a guard zone was written")
	}
	got := tensor.Tensor{Spec: spec, Data: raw[gate.GuardBytes : len(raw)-gate.GuardBytes]}.Float32s()
	tol := c.Tolerance()
	worst, bad, first := 0.0, 0, -1
	for i, v := range got {
		err := math.Abs(float64(v) - want[i])
		if !(err <= tol.Atol+tol.Rtol*math.Abs(want[i])) {
			if bad++; first < 0 {
				first = i
			}
		}
		worst = max(worst, err)
	}
	if bad > 0 {
		return fmt.Errorf("%d of %d wrong, the first at %v: %v, want %v (largest error %g)",
			bad, len(got), spec.Index(first), got[first], want[first], worst)
	}
	after, err := op.Inputs()
	if err != nil {
		return err
	}
	for name, t := range in {
		if !bytes.Equal(t.Data, after[name].Data) {
			return fmt.Errorf("input %s was modified", name)
		}
	}
	return nil
}

// Every contract × implementation × distribution × shape: first, then again on
// other inputs written in place, which catches anything prepared from the first.
func TestAgainstReference(t *testing.T) {
	for _, c := range contract.All() {
		shapes := []contract.Dims{c.Small()}
		for _, family := range []string{"edge", "tails"} {
			more, err := contract.Shapes(c, family)
			if err != nil {
				t.Fatal(err)
			}
			shapes = append(shapes, more...)
		}
		if c.Name() == "neighbor" {
			// Rows and deserts that span several pieces, the first row among them.
			shapes = append(shapes, contract.Dims{"N": 1, "F": 3, "E": 9001}, contract.Dims{"N": 9001, "F": 2, "E": 5000})
		}
		if !testing.Short() {
			medium, err := contract.Shapes(c, "medium")
			if err != nil {
				t.Fatal(err)
			}
			shapes = append(shapes, medium...)
		}
		for _, d := range shapes {
			for _, distribution := range input.Distributions(c.Name()) {
				in := generate(t, c, d, distribution, input.DefaultSeed)
				other := generate(t, c, d, "", 7)
				want, wantOther := c.Reference(d, in), c.Reference(d, other)
				for _, m := range implementations() {
					op := open(t, m, c, d, in)
					if err := check(c, d, in, op, want); err != nil {
						t.Errorf("%s %s %s %s: %v", m.Name(), c.Name(), d.Format(c.DimNames()), distribution, err)
					}
					if err := op.SetInputs(other); err != nil {
						t.Fatal(err)
					}
					if err := check(c, d, other, op, wantOther); err != nil {
						t.Errorf("%s %s %s after %s: %v", m.Name(), c.Name(), d.Format(c.DimNames()), distribution, err)
					}
					op.Close()
				}
			}
		}
	}
}

func TestDefaultShapes(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, c := range contract.All() {
		d := c.Default()
		for _, distribution := range input.Distributions(c.Name()) {
			in := generate(t, c, d, distribution, input.DefaultSeed)
			want := c.Reference(d, in)
			for _, m := range implementations() {
				if m.Name() == "cpu/naive" && c.Name() == "matmul" && distribution != input.Normal {
					continue // a second each
				}
				if err := check(c, d, in, open(t, m, c, d, in), want); err != nil {
					t.Errorf("%s %s %s: %v", m.Name(), c.Name(), distribution, err)
				}
			}
		}
	}
}

func TestRunAllocatesNothing(t *testing.T) {
	for _, c := range contract.All() {
		in := generate(t, c, c.Small(), "", 1)
		for _, m := range implementations() {
			op := open(t, m, c, c.Small(), in)
			if n := testing.AllocsPerRun(20, func() { op.Run() }); n > 0 {
				t.Errorf("%s %s allocates %v times per run", m.Name(), c.Name(), n)
			}
		}
	}
}

func TestOpenRejects(t *testing.T) {
	c := contract.All()[0]
	in := generate(t, c, c.Small(), "", 1)
	for _, m := range implementations() {
		var broken *contract.Error
		if _, err := m.Open(c, c.Default(), in); !errors.As(err, &broken) {
			t.Errorf("%s opened inputs of another shape: %v", m.Name(), err)
		}
		if _, err := m.Open(other{c}, c.Small(), in); err == nil {
			t.Errorf("%s opened an unknown contract", m.Name())
		} else if _, ok := unavailable.As(err); !ok {
			t.Errorf("%s: %v is not an unavailable error", m.Name(), err)
		}
		op := open(t, m, c, c.Small(), in)
		if err := op.SetInputs(contract.Tensors{}); !errors.As(err, &broken) {
			t.Errorf("%s took no inputs: %v", m.Name(), err)
		}
	}
}

type other struct{ contract.Contract }

func (other) Name() string { return "convolution" }

func TestClosedOperation(t *testing.T) {
	c := contract.All()[0]
	in := generate(t, c, c.Small(), "", 1)
	for _, m := range implementations() {
		op := open(t, m, c, c.Small(), in)
		for range 2 {
			if err := op.Close(); err != nil {
				t.Error(err)
			}
		}
		if op.Run() == nil || op.Poison(0) == nil || op.SetInputs(in) == nil {
			t.Errorf("%s: a closed operation still works", m.Name())
		}
		if _, err := op.Output(); err == nil {
			t.Errorf("%s: a closed operation has an output", m.Name())
		}
	}
}

// Host must satisfy what the package asks of it, and time a real operation.
func TestMeasuredByHost(t *testing.T) {
	c := contract.All()[0]
	op := open(t, cpu.Parallel(timing.NewHost(1<<16)), c, c.Small(), generate(t, c, c.Small(), "", 1))
	r, err := op.Measure(timing.Request{Mode: timing.Mode{Kind: timing.Span, N: 1}, Cache: timing.Hot, Samples: 5})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Samples) != 5 || r.Instrument != timing.HostClock {
		t.Errorf("reading %+v", r)
	}
}

func TestIdentity(t *testing.T) {
	c := contract.All()[0]
	in := generate(t, c, c.Small(), "", 1)
	naive := open(t, cpu.Naive(noHost{}), c, c.Small(), in).Identity()
	parallel := open(t, cpu.Parallel(noHost{}), c, c.Small(), in).Identity()
	if naive.Entry != "naive/matmul" || parallel.Entry != "parallel/matmul" {
		t.Errorf("entries %q and %q", naive.Entry, parallel.Entry)
	}
	if len(naive.SourceSHA256) != 64 || naive.SourceSHA256 != parallel.SourceSHA256 {
		t.Errorf("source hashes %q and %q", naive.SourceSHA256, parallel.SourceSHA256)
	}
	if len(naive.BinarySHA256) != 64 || naive.BinaryKind != "executable" || naive.BinarySHA256 != parallel.BinarySHA256 {
		t.Errorf("binaries %q %q and %q", naive.BinaryKind, naive.BinarySHA256, parallel.BinarySHA256)
	}
}

func BenchmarkRun(b *testing.B) {
	for _, c := range contract.All() {
		in := generate(b, c, c.Default(), "", input.DefaultSeed)
		for _, m := range implementations() {
			b.Run(c.Name()+"/"+m.Name(), func(b *testing.B) {
				op := open(b, m, c, c.Default(), in)
				for b.Loop() {
					if err := op.Run(); err != nil {
						b.Fatal(err)
					}
				}
				seconds := b.Elapsed().Seconds() / float64(b.N)
				b.ReportMetric(c.FLOPs(c.Default())/seconds/1e9, "GFLOP/s")
				b.ReportMetric(float64(c.CompulsoryBytes(c.Default(), in))/seconds/1e9, "GB/s")
			})
		}
	}
}
