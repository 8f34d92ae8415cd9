package ceiling

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"mage/gpu"
	"mage/stats"
	"mage/timing"
	"mage/unavailable"
)

// Timer measures what is submitted to one stream; timing.Device is one.
type Timer interface {
	Measure(submit func() error, req timing.Request) (timing.Reading, error)
}

// Options of Measure.
type Options struct {
	Tool Tool
	// Progress is told what is measured next: the name, and how many come after.
	Progress func(name string, left int)
}

// Samples of each shape of the sweep, and of the best one once more.
const (
	sweepSamples   = 7
	confirmSamples = 31
	warmup         = 2
)

// A sample of a rate is a batch of about so long, so that launches hide behind each
// other and the clock's step does not show.
const (
	sampleUS    = 2000
	mostInBatch = 100
)

// Measure measures every ceiling of a device. It returns an error only if the
// device breaks down or ctx ends; what the device lacks, and what computes
// something wrong, is in the file. stream is the one that timer measures.
func Measure(ctx context.Context, dev gpu.Device, stream gpu.Stream, timer Timer, o Options) (*File, error) {
	l := newLab(dev, stream)
	defer l.close()
	return l.measure(ctx, timer, sizesFor(dev.Info()), o)
}

func (l *lab) measure(ctx context.Context, timer Timer, s sizes, o Options) (*File, error) {
	f := &File{Schema: Schema, Measured: time.Now().UTC().Truncate(time.Second), Tool: o.Tool, Device: l.dev.Info()}
	all := subjects(s)
	for i, sub := range all {
		if o.Progress != nil {
			o.Progress(sub.name, len(all)-i-1)
		}
		c, err := l.subject(ctx, sub, timer)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", sub.name, err)
		}
		f.Ceilings = append(f.Ceilings, c)
	}
	return f, nil
}

// subject sweeps the shapes and confirms the best.
func (l *lab) subject(ctx context.Context, sub subject, timer Timer) (Ceiling, error) {
	c := Ceiling{Name: sub.name, Unit: sub.unit, Counts: sub.counts, Reason: sub.lacks, Sweep: []Point{}}
	best := -1
	for i, sh := range sub.shapes {
		if err := ctx.Err(); err != nil {
			return c, err
		}
		p, err := l.point(sub, sh, timer, sweepSamples)
		if err != nil {
			return c, err
		}
		c.Sweep = append(c.Sweep, p)
		if len(p.SamplesUS) > 0 && (best < 0 || sub.unit.better(p.Median, c.Sweep[best].Median)) {
			best = i
		}
	}
	if best < 0 {
		c.Reason = c.whyNone()
		return c, nil
	}
	var err error
	if c.Before, err = l.state(&c); err != nil {
		return c, err
	}
	p, err := l.point(sub, sub.shapes[best], timer, confirmSamples)
	if err != nil {
		return c, err
	}
	if c.After, err = l.state(&c); err != nil {
		return c, err
	}
	if len(p.SamplesUS) == 0 {
		c.Reason = p.Failed + p.Unavailable
		c.Sweep = append(c.Sweep, p)
		return c, nil
	}
	c.Confirmed = &p
	c.Doubts = append(c.Doubts, doubts(c.Before, c.After)...)
	return c, nil
}

// state reads the device's condition. One that cannot be read is a doubt.
func (l *lab) state(c *Ceiling) (gpu.State, error) {
	s, err := l.dev.State()
	if lacking, ok := unavailable.As(err); ok {
		if doubt := "clocks were not read: " + lacking.Reason; !slices.Contains(c.Doubts, doubt) {
			c.Doubts = append(c.Doubts, doubt)
		}
		return gpu.State{}, nil
	}
	return s, err
}

// whyNone is the first reason of a shape.
func (c *Ceiling) whyNone() string {
	for _, p := range c.Sweep {
		if p.Failed != "" {
			return "the result is wrong: " + p.Failed
		}
	}
	for _, p := range c.Sweep {
		if p.Unavailable != "" {
			return p.Unavailable
		}
	}
	return c.Reason
}

// point checks, times and checks again. What the device lacks, and a wrong result,
// is in the point.
func (l *lab) point(sub subject, sh shape, timer Timer, samples int) (p Point, err error) {
	p = Point{Kernel: sh.entry, Shape: sh.text, Amount: sh.amount, CacheShare: l.cacheShare(sh)}
	defer func() {
		if freed := l.free(); err == nil && freed != nil {
			err = freed
		}
		var wrong *wrongResult
		lacking, lacks := unavailable.As(err)
		switch {
		case errors.As(err, &wrong):
			p.Failed, p.SamplesUS, err = wrong.problem, nil, nil
		case lacks:
			p.Unavailable, err = lacking.Reason, nil
		}
	}()
	submit, verify, err := l.ready(sh)
	if err != nil {
		return p, err
	}
	if p.Checked, err = verify(true); err != nil {
		return p, err
	}
	mode, err := l.mode(sub, submit, timer)
	if err != nil {
		return p, err
	}
	reading, err := timer.Measure(submit, timing.Request{Mode: mode, Cache: timing.Hot, Warmup: warmup, Samples: samples})
	if err != nil {
		return p, err
	}
	checked, err := verify(false)
	if err != nil {
		return p, err
	}
	if sub.unit == Microseconds && mode.Kind == timing.Graph && reading.Launches != 1 {
		return p, wrongf("a graph of %d launches has %d nodes each", mode.N, reading.Launches)
	}
	p.Checked += checked
	p.Mode, p.Instrument, p.SamplesUS = mode.String(), string(reading.Instrument), reading.Samples
	return p, p.summarize(sub.unit)
}

// ready prepares a shape. verify launches it once on a poisoned result, if asked,
// then compares and poisons: what is compared after the timing was made in it.
func (l *lab) ready(sh shape) (submit func() error, verify func(launch bool) (int64, error), err error) {
	if sh.image.name == "" {
		sh.image, _, _ = images()
	}
	if _, err := l.load(sh.image); err != nil {
		return nil, nil, err
	}
	ready, err := sh.prepare(l)
	if err != nil {
		return nil, nil, err
	}
	launch, err := l.bind(sh.image, sh.entry, sh.config, ready.args...)
	if err != nil {
		return nil, nil, err
	}
	submit = func() error { return launch.Submit(l.stream) }
	verify = func(first bool) (int64, error) {
		if first {
			if err := errors.Join(ready.poison(), submit(), l.stream.Synchronize()); err != nil {
				return 0, err
			}
		}
		n, err := ready.verify()
		if err != nil {
			return n, err
		}
		return n, ready.poison()
	}
	return submit, verify, nil
}

// mode is that of the subject, or a batch that lasts.
func (l *lab) mode(sub subject, submit func() error, timer Timer) (timing.Mode, error) {
	if sub.mode != "" {
		return timing.ParseMode(sub.mode)
	}
	once, err := timer.Measure(submit, timing.Request{Mode: timing.Mode{Kind: timing.Latency, N: 1}, Cache: timing.Hot, Warmup: 1, Samples: 1})
	if err != nil {
		return timing.Mode{}, err
	}
	n := int(sampleUS / max(once.Samples[0], 1))
	return timing.Mode{Kind: timing.Batch, N: max(2, min(mostInBatch, n))}, nil
}

// cacheShare bounds the part of a stream that the L2 may serve.
func (l *lab) cacheShare(sh shape) float64 {
	if sh.streams == 0 {
		return 0
	}
	return min(1, float64(l.dev.Info().L2Bytes)/float64(sh.streams))
}

// summarize fills in the numbers of a point in the ceiling's unit.
func (p *Point) summarize(u Unit) error {
	values := slices.Clone(p.SamplesUS)
	for i, us := range values {
		if us <= 0 {
			return fmt.Errorf("a sample of %s is %g µs", p.Kernel, us)
		}
		if u != Microseconds {
			values[i] = p.Amount / us * 1e6
		}
	}
	s, err := stats.Summarize(values, 0.95)
	if err != nil {
		return err
	}
	p.Median, p.Low, p.High, p.Best = s.Median, s.P5, s.P95, s.Max
	if u == Microseconds {
		p.Best = s.Min
	}
	return nil
}

func (u Unit) better(a, b float64) bool {
	if u == Microseconds {
		return a < b
	}
	return a > b
}
