package exec

import (
	"fmt"
	"slices"
	"strconv"

	"mage/timing"
	"mage/unavailable"
)

// submitUS is about what a sample costs beyond its operations.
const submitUS = 20

// Measure runs the program once for all samples. It returns an *unavailable.Error
// for what a process of its own cannot be asked: a cold cache, host times, kernel
// times, and a mode that its record does not name.
func (o *operation) Measure(req timing.Request) (timing.Reading, error) {
	n := max(req.Mode.N, 1)
	var flags []string
	switch req.Mode.Kind {
	case timing.Span: // without a flag: older programs know no other mode
	case timing.Batch, timing.Graph:
		flags = []string{"--mode", string(req.Mode.Kind), "--batch", strconv.Itoa(n)}
	case timing.Submit, timing.Latency:
		return timing.Reading{}, o.lacks(req, "a process of its own reports event times only: its host times are not read with this host's clock")
	case timing.Kernel:
		return timing.Reading{}, o.lacks(req, "the kernels of another process are not traced from this one: profile it with nsys")
	default:
		return timing.Reading{}, fmt.Errorf("measuring %s: unknown timing mode %s", o.name(), req.Mode)
	}
	if req.Cache == timing.Cold {
		return timing.Reading{}, o.lacks(req, "what lies between two samples is the program's own: nothing flushes the cache there")
	}
	samples := o.affordable(req, n)
	if err := o.setWarmup(req.Warmup); err != nil {
		return timing.Reading{}, fmt.Errorf("measuring %s: %w", o.name(), err)
	}
	r, err := o.launch(append([]string{"--iterations", strconv.Itoa(samples)}, flags...)...)
	if err != nil {
		return timing.Reading{}, fmt.Errorf("measuring %s: %w", o.name(), err)
	}
	if len(flags) > 0 && (r.Mode != string(req.Mode.Kind) || r.Operations != n) {
		return timing.Reading{}, o.lacks(req, fmt.Sprintf("its timing record says mode %q with %d operations a sample", r.Mode, r.Operations))
	}
	if len(flags) == 0 && (r.Mode != "" && r.Mode != string(timing.Span) || r.Operations > 1) {
		return timing.Reading{}, fmt.Errorf("measuring %s: it measured %q with %d operations a sample, asked for span", o.name(), r.Mode, r.Operations)
	}
	if len(r.SamplesUS) != samples {
		return timing.Reading{}, fmt.Errorf("measuring %s: it reports %d samples of %d", o.name(), len(r.SamplesUS), samples)
	}
	o.learn(r.SamplesUS)
	return timing.Reading{Instrument: timing.CUDAEvent, Samples: r.SamplesUS, Operations: n}, nil
}

func (o *operation) lacks(req timing.Request, reason string) error {
	return unavailable.New(fmt.Sprintf("%s %s of %s", req.Mode, req.Cache, o.owner.Name()), reason, "")
}

// affordable is the number of samples that fit the budget, as far as earlier runs
// say; the program itself knows no budget.
func (o *operation) affordable(req timing.Request, n int) int {
	samples := max(req.Samples, 1)
	if req.BudgetUS > 0 && o.costUS > 0 {
		samples = min(samples, max(int(req.BudgetUS/(o.costUS*float64(n)+submitUS)), req.MinSamples, 1))
	}
	return samples
}

func (o *operation) learn(samplesUS []float64) {
	least := slices.Min(samplesUS)
	if o.costUS == 0 || least < o.costUS {
		o.costUS = least
	}
}

// setWarmup rewrites the input set when the warm-up is another: it is part of it.
func (o *operation) setWarmup(n int) error {
	if n = max(n, 0); n == o.warmup {
		return nil
	}
	in, err := o.Inputs()
	if err != nil {
		return err
	}
	if err := o.forget("input.json"); err != nil {
		return err
	}
	o.warmup = n
	return o.write(in)
}
