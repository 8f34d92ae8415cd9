package cuda

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"mage/gpu"
)

// tracer records kernel executions through CUPTI's activity API. All tracers of
// a process share one library; one trace runs at a time.
type tracer struct {
	cupti *cuptiLibrary
}

// openTracer loads CUPTI. The error is an *unavailable.Error when this machine
// has none that is understood; that CUPTI refuses to trace (another profiler,
// missing privileges) shows only in trace.
func openTracer() (*tracer, error) {
	lib, err := loadCUPTI()
	if err != nil {
		return nil, err
	}
	return &tracer{lib}, nil
}

// close ends the use of the tracer. The library stays loaded for the process:
// unloading or finalizing CUPTI while a context lives is not safe.
func (t *tracer) close() {
	if t != nil {
		t.cupti = nil
	}
}

// trace runs f and returns one record per kernel that executed in it, by start
// time; sync must wait for all work of the device's context. Kernels inside a
// graph give a record each, with the node's identity. Records that CUPTI dropped
// or could not time are an error. Another trace under way is one too.
//
// The gaps between kernels grow while they are traced, so only their durations
// mean something. CUPTI is attached for the trace alone and detached after it:
// left attached with nothing enabled, it makes every later graph replay slower
// by tens of per cent (BenchmarkGraphAroundTrace). Attaching costs milliseconds.
//
// Modules launched in f must stay loaded until trace returns, because records
// point to their names, and no other goroutine may use CUDA during it.
func (t *tracer) trace(sync func() error, f func() error) (records []gpu.KernelRecord, err error) {
	if t == nil || t.cupti == nil {
		return nil, errors.New("tracing kernels: the tracer is closed")
	}
	c := t.cupti
	if !c.tracing.TryLock() {
		return nil, errors.New("tracing kernels: another trace is running in this process")
	}
	defer c.tracing.Unlock()
	if err := sync(); err != nil {
		return nil, fmt.Errorf("tracing kernels: before: %w", err)
	}
	if err := c.attach(); err != nil {
		return nil, err
	}
	settled := false
	defer func() {
		if !settled { // f panicked: nothing was waited for
			_ = sync()
			_ = c.flush()
		}
		// Whatever happened in f, later launches must not be traced.
		if derr := c.detach(); derr != nil {
			records, err = nil, errors.Join(err, fmt.Errorf("ending a kernel trace: %w", derr))
		}
	}()
	if err := c.check("cuptiActivityEnable", callC(c.symbol.enable, activityConcurrentKernel)); err != nil {
		settled = true
		return nil, err
	}
	ferr := f()
	serr := sync()
	flushErr := c.flush()
	settled = true
	if ferr != nil {
		return nil, ferr
	}
	for _, e := range []error{serr, flushErr} {
		if e != nil {
			return nil, fmt.Errorf("tracing kernels: %w", e)
		}
	}
	records, err = c.collect()
	if err != nil {
		return nil, fmt.Errorf("tracing kernels: %w", err)
	}
	return records, nil
}

// collect reads what was delivered. It must run before detach: names belong to
// CUPTI.
func (c *cuptiLibrary) collect() ([]gpu.KernelRecord, error) {
	n, err := c.droppedRecords()
	if err != nil {
		return nil, err
	}
	if n != 0 {
		return nil, fmt.Errorf("CUPTI dropped %d records", n)
	}
	filled := c.buffers.take()
	defer c.buffers.giveBack(filled)
	return c.parse(filled)
}

// flush makes CUPTI deliver every buffer: complete ones first, then by force the
// rest, whose incomplete records parse rejects. It does not wait for the device.
func (c *cuptiLibrary) flush() error {
	if err := c.failure("cuptiActivityFlushAll", callC(c.symbol.flush, 0)); err != nil {
		return err
	}
	return c.failure("cuptiActivityFlushAll", callC(c.symbol.flush, cuptiFlushForced))
}

// droppedRecords counts the records lost since the last call.
func (c *cuptiLibrary) droppedRecords() (int, error) {
	var n uintptr
	r := callC(c.symbol.dropped, 0, 0, uintptr(unsafe.Pointer(&n)))
	return int(n), c.failure("cuptiActivityGetNumDroppedRecords", r)
}

func (c *cuptiLibrary) failure(function string, result uint32) error {
	if result == 0 {
		return nil
	}
	return errors.New(c.errorText(function, result))
}

// parse reads the kernel records of filled buffers, in order of start.
func (c *cuptiLibrary) parse(filled []cuptiFilled) ([]gpu.KernelRecord, error) {
	var records []gpu.KernelRecord
	names := make(map[string]string) // one copy per kernel, not per launch
	for _, f := range filled {
		err := c.eachRecord(f, func(record []byte) error {
			if !isKernel(record) {
				return nil
			}
			k, name, err := parseKernel(record)
			if err != nil {
				return err
			}
			text := textAt(name)
			if known, ok := names[text]; ok {
				text = known
			} else {
				names[text] = text
			}
			k.Name = text
			records = append(records, k)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(records, func(a, b gpu.KernelRecord) int { return cmp.Compare(a.StartNS, b.StartNS) })
	return records, nil
}

// eachRecord walks a buffer by CUPTI's own iterator, which knows the sizes of all
// kinds, and gives visit the bytes from each record's start to the buffer's end.
func (c *cuptiLibrary) eachRecord(f cuptiFilled, visit func([]byte) error) error {
	if f.valid == 0 {
		return nil
	}
	base := uintptr(unsafe.Pointer(&f.memory[0]))
	var record uintptr
	for {
		r := callC(c.symbol.next, base, uintptr(f.valid), uintptr(unsafe.Pointer(&record)))
		if r == cuptiMaxLimitReached || r == cuptiInvalidKind {
			return nil
		}
		if r != 0 {
			return errors.New(c.errorText("cuptiActivityGetNextRecord", r))
		}
		if record < base || record >= base+uintptr(f.valid) {
			return fmt.Errorf("cuptiActivityGetNextRecord: a record outside its buffer")
		}
		if err := visit(f.memory[record-base : f.valid]); err != nil {
			return err
		}
	}
}
