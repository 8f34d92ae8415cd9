package timing

import (
	"fmt"
	"slices"
	"sort"

	"mage/gpu"
)

// Device measures operations that are submitted to one stream of a GPU.
type Device struct {
	dev        gpu.Device
	stream     gpu.Stream
	clock      hostClock
	start, end gpu.Event
	flush      gpu.Ptr
	flushBytes int64
	flushValue byte
}

// NewDevice makes the events and the flush buffer: twice the device's L2.
func NewDevice(dev gpu.Device, stream gpu.Stream) (*Device, error) {
	d := &Device{dev: dev, stream: stream, clock: newHostClock()}
	var err error
	if d.start, err = dev.NewEvent(); err != nil {
		return nil, fmt.Errorf("timing events: %w", err)
	}
	if d.end, err = dev.NewEvent(); err != nil {
		d.Close()
		return nil, fmt.Errorf("timing events: %w", err)
	}
	d.flushBytes = 2 * dev.Info().L2Bytes
	if d.flushBytes <= 0 {
		d.flushBytes = 256 << 20
	}
	if d.flush, err = dev.Alloc(d.flushBytes); err != nil {
		d.flush = 0
		d.Close()
		return nil, fmt.Errorf("cache flush buffer: %w", err)
	}
	return d, nil
}

// Close frees the events and the flush buffer. Errors of a broken context are
// of no use to anybody here: the device reports them first.
func (d *Device) Close() {
	if d.flush != 0 {
		_ = d.dev.Free(d.flush)
	}
	for _, e := range []gpu.Event{d.start, d.end} {
		if e != nil {
			_ = e.Destroy()
		}
	}
}

// Measure returns samples of submit, which must queue one operation on the
// device's stream without waiting for it.
func (d *Device) Measure(submit func() error, req Request) (Reading, error) {
	req = normalise(req)
	if n := req.Mode.N; req.Cache == Cold && n > 1 {
		return Reading{}, rejectCold(req.Mode)
	}
	if err := rejectLong(req); err != nil {
		return Reading{}, err
	}
	for range req.Warmup {
		if err := submit(); err != nil {
			return Reading{}, err
		}
	}
	if err := d.stream.Synchronize(); err != nil {
		return Reading{}, err
	}
	switch req.Mode.Kind {
	case Span:
		return d.sample(req, CUDAEvent, func() (float64, error) { return d.spanOnce(submit) })
	case Batch:
		return d.sample(req, CUDAEvent, func() (float64, error) { return d.batchOnce(submit, req.Mode.N) })
	case Submit:
		return d.sample(req, HostClock, func() (float64, error) { return d.submitOnce(submit) })
	case Latency:
		return d.sample(req, HostClock, func() (float64, error) { return d.latencyOnce(submit) })
	case Graph:
		return d.graph(submit, req)
	case Kernel:
		return d.kernel(submit, req)
	}
	return Reading{}, fmt.Errorf("timing mode %s is not known to the device loop", req.Mode)
}

func (d *Device) sample(req Request, with Instrument, once func() (float64, error)) (Reading, error) {
	s := newSampler(d.clock, req)
	err := withoutCollector(func() error {
		s.start()
		for s.more() {
			if err := d.settle(req.Cache); err != nil {
				return err
			}
			us, err := once()
			if err != nil {
				return err
			}
			s.add(us)
		}
		return nil
	})
	return Reading{Instrument: with, Samples: s.samples, Operations: req.Mode.N}, err
}

func (d *Device) graph(submit func() error, req Request) (_ Reading, err error) {
	n := req.Mode.N
	g, err := d.stream.Capture(func() error {
		for range n {
			if err := submit(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return Reading{}, fmt.Errorf("capturing a graph of %d operations: %w", n, err)
	}
	defer func() {
		if destroyErr := g.Destroy(); err == nil && destroyErr != nil {
			err = fmt.Errorf("destroying the graph: %w", destroyErr)
		}
	}()
	// The first replay uploads the graph; it is warm-up like any other.
	for range max(1, min(req.Warmup, 3)) {
		if err := d.stream.Replay(g); err != nil {
			return Reading{}, err
		}
	}
	if err := d.stream.Synchronize(); err != nil {
		return Reading{}, err
	}
	replays := make([]float64, 0, req.Samples)
	r, err := d.sample(req, CUDAEvent, func() (float64, error) {
		us, replay, err := d.graphOnce(g, n)
		replays = append(replays, replay)
		return us, err
	})
	r.ReplayUS = replays
	r.Launches = g.Nodes() / n
	return r, err
}

func (d *Device) kernel(submit func() error, req Request) (Reading, error) {
	n, err := d.affordable(submit, req)
	if err != nil {
		return Reading{}, err
	}
	records, err := d.dev.TraceKernels(func() error {
		for range n {
			if err := d.settle(req.Cache); err != nil {
				return err
			}
			if err := submit(); err != nil {
				return err
			}
		}
		return d.stream.Synchronize()
	})
	if err != nil {
		return Reading{}, err
	}
	samples, names, err := SumPerOperation(records, n)
	if err != nil {
		return Reading{}, err
	}
	return Reading{Instrument: CUPTI, Samples: samples, Operations: 1, Launches: len(names), Kernels: names}, nil
}

// affordable estimates from one operation how many samples fit the budget.
func (d *Device) affordable(submit func() error, req Request) (int, error) {
	if err := d.settle(Hot); err != nil {
		return 0, err
	}
	us, err := d.latencyOnce(submit)
	if err != nil {
		return 0, err
	}
	n := req.Samples
	if req.BudgetUS > 0 && us > 0 {
		n = min(n, int(req.BudgetUS/us))
	}
	return max(n, req.MinSamples), nil
}

// SumPerOperation folds the kernel records of n equal operations into one sum of
// durations per operation, in microseconds, and the kernel names of one
// operation in order. A cost is never the average over launches: an operation
// of several kernels costs their sum.
func SumPerOperation(records []gpu.KernelRecord, n int) (samples []float64, names []string, err error) {
	if len(records) == 0 || len(records)%n != 0 {
		return nil, nil, fmt.Errorf("kernel trace: %d records do not divide into %d operations", len(records), n)
	}
	records = slices.Clone(records)
	sort.SliceStable(records, func(i, j int) bool { return records[i].StartNS < records[j].StartNS })
	per := len(records) / n
	for _, r := range records[:per] {
		names = append(names, r.Name)
	}
	for op := range n {
		var ns uint64
		for k, r := range records[op*per : (op+1)*per] {
			if r.Name != names[k] {
				return nil, nil, fmt.Errorf("kernel trace: operation %d ran %q where the first ran %q", op, r.Name, names[k])
			}
			if r.EndNS < r.StartNS {
				return nil, nil, fmt.Errorf("kernel trace: %q ends before it starts", r.Name)
			}
			ns += r.EndNS - r.StartNS
		}
		samples = append(samples, microseconds(int64(ns)))
	}
	return samples, names, nil
}
