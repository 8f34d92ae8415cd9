package python

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"
	"time"

	"mage/contract"
	"mage/impl"
	"mage/tensor"
	"mage/timing"
	"mage/unavailable"
)

// operation is one implementation opened for one case in the worker.
//
// Its inputs are kept here: when another arm has ended the process, the next
// request opens this operation anew in the fresh one.
type operation struct {
	worker   *Worker
	contract contract.Contract
	dims     contract.Dims
	name     string // "torch/eager gelu"
	request  request
	arrays   arrays
	inputs   contract.Tensors
	known    impl.Identity // of a binary that came from elsewhere
	files    []string      // that are removed with the operation

	id         int // in the worker; 0 before it is open
	generation int
	identity   impl.Identity
	broken     error // what ended it for good

	// traced is the same operation in the tracer, nil before kernel mode;
	// judged is it while the output to judge is there.
	traced, judged *operation
	poisoned       byte // the last poison, and the process that has it
	poisonedIn     int
}

// identityAnswer is the worker's part of an identity.
type identityAnswer struct {
	SourceSHA256 string             `json:"source_sha256"`
	BinarySHA256 string             `json:"binary_sha256"`
	BinaryKind   string             `json:"binary_kind"`
	Compiler     string             `json:"compiler"`
	CompileMS    float64            `json:"compile_ms"`
	Entry        string             `json:"entry"`
	Params       map[string]float64 `json:"params"`
	Grid         *[3]uint32         `json:"grid"`
	Block        *[3]uint32         `json:"block"`
	Shared       int                `json:"dynamic_shared_bytes"`
	LoadMS       float64            `json:"load_ms"`
	Notes        map[string]string  `json:"notes"`
}

func (a identityAnswer) identity() impl.Identity {
	id := impl.Identity{
		SourceSHA256: a.SourceSHA256, BinarySHA256: a.BinarySHA256, BinaryKind: a.BinaryKind,
		Compiler: a.Compiler, CompileMS: a.CompileMS, Entry: a.Entry, Params: a.Params,
		Grid: a.Grid, Block: a.Block, Shared: a.Shared, LoadMS: a.LoadMS, Notes: a.Notes,
	}
	return id
}

// over fills what the worker did not say: from the compiler that made the binary
// elsewhere, or, of an implementation in the worker itself, its source.
func over(id, known impl.Identity) impl.Identity {
	if known.BinarySHA256 != "" {
		id.SourceSHA256, id.BinarySHA256, id.BinaryKind = known.SourceSHA256, known.BinarySHA256, known.BinaryKind
		id.Compiler, id.CompileMS = known.Compiler, known.CompileMS
	}
	if id.SourceSHA256 == "" {
		id.SourceSHA256 = sourceSHA256()
	}
	return id
}

// open makes the operation in the current process.
func (o *operation) open() error {
	if err := o.worker.ensure(); err != nil {
		return err
	}
	r, err := o.sending(o.request)
	if err != nil {
		return err
	}
	o.worker.nextID++
	r.ID = o.worker.nextID
	var a identityAnswer
	if err := o.call(r, o.worker.options.OpenDeadline, "opening", &a); err != nil {
		return err
	}
	id := over(a.identity(), o.known)
	if allocates(o.request.Implementation) {
		id.Notes = maps.Clone(id.Notes)
		if id.Notes == nil {
			id.Notes = map[string]string{}
		}
		id.Notes[impl.OutputNote] = "allocated in every operation"
	}
	if o.id != 0 && id.BinarySHA256 != o.identity.BinarySHA256 {
		o.broken = errors.New("the worker was started again and made another binary")
		return o.broken
	}
	if o.id == 0 {
		o.identity = id
		o.request.Params = id.Params // what was chosen once is not chosen anew
	}
	o.id, o.generation = r.ID, o.worker.generation
	return nil
}

// allocates says whether an implementation makes its result anew in every
// operation, where all others are given a place for it.
func allocates(implementation string) bool {
	return strings.HasPrefix(implementation, "torch/") && implementation != "torch/eager-out"
}

// ready opens the operation again when its process is gone.
func (o *operation) ready() error {
	if o.broken != nil {
		return o.broken
	}
	if err := o.worker.ensure(); err != nil {
		return err
	}
	if o.generation == o.worker.generation {
		return nil
	}
	if err := o.open(); err != nil {
		return fmt.Errorf("opening %s in a fresh worker: %w", o.name, err)
	}
	return nil
}

// do performs a request about this operation.
func (o *operation) do(r request, deadline time.Duration, what string, result any) error {
	if err := o.ready(); err != nil {
		return err
	}
	r.ID = o.id
	return o.call(r, deadline, what, result)
}

// call sends; an operation whose request ended the process is not tried again.
func (o *operation) call(r request, deadline time.Duration, what string, result any) error {
	err := o.worker.call(r, deadline, what+" "+o.name, result)
	var f *Failure
	if errors.As(err, &f) && f.Ended {
		o.broken = err
	}
	return err
}

func (o *operation) deadline() time.Duration { return o.worker.options.Deadline }

// SetInputs checks the inputs against the contract and overwrites those of the
// worker in place. Before the operation is open they are kept for opening it.
func (o *operation) SetInputs(in contract.Tensors) error {
	if err := o.contract.CheckInputs(o.dims, in); err != nil {
		return err
	}
	o.inputs, o.judged = in, nil
	if o.id == 0 {
		return nil
	}
	if err := o.ready(); err != nil {
		return err
	}
	r, err := o.sending(request{Do: "set"})
	if err != nil {
		return err
	}
	return o.do(r, o.deadline(), "writing inputs of", nil)
}

// Inputs reads the inputs back from the worker. They are valid until its next
// request about arrays, of whatever operation.
func (o *operation) Inputs() (contract.Tensors, error) {
	if o.judged != nil {
		return o.judged.Inputs()
	}
	written, err := o.receive("inputs", "reading inputs of", o.arrays.inputNames()...)
	if err != nil {
		return nil, err
	}
	in := contract.Tensors{}
	for _, s := range o.arrays.specs {
		in[s.Name] = tensor.Tensor{Spec: s, Data: written[s.Name]}
	}
	return in, nil
}

// Poison fills the output and its guard zones; see docs/python.md for an
// operation that allocates its output itself.
func (o *operation) Poison(value byte) error {
	o.poisoned, o.judged = value, nil
	err := o.do(request{Do: "poison", Value: value}, o.deadline(), "poisoning the output of", nil)
	o.poisonedIn = o.worker.generation
	return err
}

// Run performs the operation once and waits for it.
func (o *operation) Run() error {
	o.judged = nil
	return o.do(request{Do: "run"}, o.deadline(), "running", nil)
}

// Output reads the output and its guard zones. They are valid until the worker's
// next request for an output, of whatever operation.
func (o *operation) Output() ([]byte, error) {
	if o.judged != nil {
		return o.judged.Output()
	}
	if err := o.ready(); err != nil {
		return nil, err
	}
	if o.poisonedIn != o.worker.generation {
		// Without its poison a right output would fail the gate, and that is another
		// matter than a process that ended.
		return nil, &Failure{Request: "reading the output of " + o.name, Reason: "the process that wrote it has ended", Ended: true, Log: lastLine(o.worker.lastLog)}
	}
	written, err := o.receive("output", "reading the output of", output)
	return written[output], err
}

// reading is the worker's answer to a measurement.
type reading struct {
	Instrument timing.Instrument
	Samples    []float64
	Operations int
	Launches   int
	ReplayUS   []float64 `json:"replay_us"`
	// Records are the kernels of Operations operations: name, start, end.
	Records []kernelRecord
}

// Measure has the worker take samples. Its deadline is generous to warm-up and
// budget; a worker that hangs is killed.
func (o *operation) Measure(req timing.Request) (timing.Reading, error) {
	if req.Cache == timing.Cold && req.Mode.N > 1 {
		return timing.Reading{}, unavailable.Newf(req.Mode.String()+" "+string(req.Cache),
			"the %d operations of one sample follow each other: only the first would find a flushed cache", req.Mode.N)
	}
	if req.Mode.Kind == timing.Kernel && o.worker.traces() {
		return o.trace(req)
	}
	o.judged = nil
	deadline := o.deadline() + 4*time.Duration(req.BudgetUS*float64(time.Microsecond))
	var a reading
	if err := o.do(request{Do: "measure", measurement: measurementOf(req)}, deadline, "measuring "+req.Mode.String()+" of", &a); err != nil {
		return timing.Reading{}, err
	}
	return a.reading(req)
}

// Identity says which source and which binary really run.
func (o *operation) Identity() impl.Identity { return o.identity }

// Close frees the operation in the worker. There is nothing to free when its
// process is gone.
func (o *operation) Close() error {
	if o.traced != nil {
		_ = o.traced.Close()
		o.traced, o.judged = nil, nil
	}
	id := o.id
	o.inputs, o.id = nil, 0
	for _, f := range o.files {
		_ = os.Remove(f)
	}
	o.files = nil
	if o.broken == nil {
		o.broken = fmt.Errorf("%s is closed", o.name)
	} else {
		return nil
	}
	w := o.worker
	if id == 0 || w.closed || w.process == nil || w.generation != o.generation || w.process.ended() {
		return nil
	}
	return w.exchange(request{Do: "close", ID: id}, o.deadline(), "closing "+o.name, nil)
}
