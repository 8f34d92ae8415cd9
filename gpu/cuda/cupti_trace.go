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
// Modules launched in f must stay loaded until trace returns: the records point
// to their names.
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
	if err := c.discardEarlier(); err != nil {
		return nil, fmt.Errorf("tracing kernels: %w", err)
	}
	if err := c.check("cuptiActivityEnable", callC(c.symbol.enable, activityConcurrentKernel)); err != nil {
		return nil, err
	}
	enabled := true
	disable := func() error {
		if !enabled {
			return nil
		}
		enabled = false
		return c.failure("cuptiActivityDisable", callC(c.symbol.disable, activityConcurrentKernel))
	}
	// A panic in f must not leave every later launch traced.
	defer func() { err = errors.Join(err, disable()) }()

	ferr := f()
	serr := sync()
	flushErr := c.flush()
	disableErr := disable()
	filled := c.buffers.take()
	defer c.buffers.giveBack(filled)
	if ferr != nil {
		return nil, ferr
	}
	for _, e := range []error{serr, flushErr, disableErr} {
		if e != nil {
			return nil, fmt.Errorf("tracing kernels: %w", e)
		}
	}
	n, err := c.droppedRecords()
	if err != nil {
		return nil, fmt.Errorf("tracing kernels: %w", err)
	}
	if n != 0 {
		return nil, fmt.Errorf("tracing kernels: CUPTI dropped %d records", n)
	}
	records, err = c.parse(filled)
	if err != nil {
		return nil, fmt.Errorf("tracing kernels: %w", err)
	}
	return records, nil
}

// discardEarlier drops what an earlier, failed trace left behind.
func (c *cuptiLibrary) discardEarlier() error {
	if err := c.flush(); err != nil {
		return err
	}
	if _, err := c.droppedRecords(); err != nil {
		return err
	}
	c.buffers.giveBack(c.buffers.take())
	return nil
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
