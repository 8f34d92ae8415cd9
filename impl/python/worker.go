package python

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"mage/impl"
	"mage/unavailable"
)

// Options say how to run the worker. The zero value is usable.
type Options struct {
	// Interpreter is what --python named; empty follows the environment.
	Interpreter string
	// Dir is the parent of the worker's own directory: its source, and the caches
	// of compilers. Empty: the system's temporary one.
	Dir string
	// Device is where implementations run: "cuda:0" (the default) or "cpu".
	Device string
	// Deadline of an ordinary request, 2 minutes if zero. OpenDeadline is for
	// starting, and for opening an operation, which may compile and tune: 10
	// minutes if zero.
	Deadline, OpenDeadline time.Duration
	// Env holds further "NAME=value" for the worker alone.
	Env []string

	extra      fs.FS // modules of tests
	tracing    bool  // this worker is the tracer of another
	traceOnCPU bool  // for tests: trace although there is no GPU
}

// Worker is the Python of one run. Its process starts with the first request and
// again after a crash. It belongs to one goroutine.
type Worker struct {
	options Options
	choice  Choice
	dir     string
	arena   *arena
	process *process
	// generation counts processes: an operation of an earlier one is gone.
	generation int
	seq        int
	nextID     int
	versions   map[string]string
	lastLog    string
	closed     bool
	profiled   bool    // a profiler is around the process
	tracer     *Worker // measures kernel mode; nil before it is needed
	// choices are the identities of what triton/autotuned chose, and of what
	// torch.compile made first, by name and case; exports are its kernels.
	choices map[string]impl.Identity
	exports map[string]exported
}

// Start chooses the interpreter and prepares the worker's directory; no process
// runs before the first request. Without an interpreter it returns an
// *unavailable.Error.
func Start(o Options) (*Worker, error) {
	choice, err := Choose(o.Interpreter)
	if err != nil {
		return nil, err
	}
	if o.Device == "" {
		o.Device = "cuda:0"
	}
	if o.Deadline == 0 {
		o.Deadline = 2 * time.Minute
	}
	if o.OpenDeadline == 0 {
		o.OpenDeadline = 10 * time.Minute
	}
	dir, err := os.MkdirTemp(o.Dir, "mage-python-")
	if err != nil {
		return nil, noRoom(err)
	}
	shared, err := newArena()
	if err != nil {
		os.RemoveAll(dir)
		return nil, noRoom(err)
	}
	w := &Worker{options: o, choice: choice, dir: dir, arena: shared, choices: map[string]impl.Identity{}, exports: map[string]exported{}}
	err = os.Mkdir(temporary(dir), 0o700)
	if err == nil {
		err = writeSource(filepath.Join(dir, "src"), o.extra)
	}
	if err != nil {
		shared.close()
		os.RemoveAll(dir)
		return nil, noRoom(err)
	}
	return w, nil
}

// noRoom says that this machine has no place for the worker: others do not need it.
func noRoom(err error) error {
	return unavailable.New("the Python worker", err.Error(), "name a directory with room in TMPDIR")
}

// Versions says what the interpreter offers: "python", "torch", "triton" and, on
// a GPU, its context: from then on the worker, and a second process that traces
// kernels for it, are on the device. What cannot be imported says why. It starts
// the processes if need be.
func (w *Worker) Versions() (map[string]string, error) {
	if w.versions == nil {
		var tracer <-chan error
		if w.traces() {
			tracer = w.warmTracer() // meanwhile
		}
		err := w.call(request{Do: "versions", Device: w.options.Device}, w.options.OpenDeadline, "looking for torch", &w.versions)
		if tracer != nil {
			if problem := <-tracer; err == nil {
				err = problem
			}
		}
		if err != nil {
			w.versions = nil
			return nil, err
		}
		w.versions["python-from"] = w.choice.From
	}
	return w.versions, nil
}

// Offers returns nil when an implementation can run here, an *unavailable.Error
// when it cannot, and a *Failure when asking went wrong.
func (w *Worker) Offers(implementation string) error {
	return w.call(request{Do: "offers", Implementation: implementation, Device: w.options.Device}, w.options.OpenDeadline, "importing what "+implementation+" needs", nil)
}

// Close ends the process with everything that it started, and removes the
// worker's directory. It is safe to call twice.
func (w *Worker) Close() error {
	if w.closed {
		return nil
	}
	w.closed = true
	if w.tracer != nil {
		_ = w.tracer.Close() // its directory lies in this one's
	}
	if w.process != nil {
		w.finish(w.grace())
	}
	w.arena.close()
	return os.RemoveAll(w.dir)
}

// grace is how long the process may take to end once it has nothing to do. A
// profiler in it writes its report then, and a check that is killed found nothing.
func (w *Worker) grace() time.Duration {
	if w.profiled {
		return time.Minute
	}
	return 2 * time.Second
}

// finish ends the process and keeps the end of its log.
func (w *Worker) finish(grace time.Duration) string {
	how := w.process.end(grace)
	w.lastLog = w.process.log.String()
	w.process = nil
	return how
}

// ensure starts a process if none runs, or if the last one has ended between two
// requests: then nobody's request was lost, but its operations are.
func (w *Worker) ensure() error {
	if w.closed {
		return errors.New("the Python worker is closed")
	}
	if w.process != nil && w.process.ended() {
		w.finish(0)
	}
	if w.process != nil {
		return nil
	}
	p, err := launch(w.choice.Path, w.dir, w.options.Env, w.arena.file)
	if err != nil {
		return unavailable.New("Python (chosen by "+w.choice.From+")", err.Error(), "name a working interpreter with --python or MAGE_PYTHON")
	}
	w.process = p
	w.generation++
	err = w.exchange(request{Do: "hello"}, w.options.OpenDeadline, "starting", nil)
	var f *Failure
	if errors.As(err, &f) {
		// It never served anything: this interpreter does not work.
		return unavailable.New("Python (chosen by "+w.choice.From+")", strings.TrimPrefix(f.Error(), "python worker: "), "name a working interpreter with --python or MAGE_PYTHON")
	}
	return err
}

// call performs a request, in a fresh process if need be, and decodes its result.
// what names it in errors.
func (w *Worker) call(r request, deadline time.Duration, what string, result any) error {
	if err := w.ensure(); err != nil {
		return err
	}
	return w.exchange(r, deadline, what, result)
}

func (w *Worker) exchange(r request, deadline time.Duration, what string, result any) error {
	w.seq++
	r.Seq = w.seq
	line, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("python worker: %s: %w", what, err)
	}
	text, err := w.process.exchange(line, deadline)
	if err != nil {
		return w.lost(err, deadline, what)
	}
	var a reply
	if err := json.Unmarshal(text, &a); err != nil || a.Seq == nil || *a.Seq != r.Seq {
		// Nothing that follows could be trusted to belong to its request.
		w.finish(0)
		return &Failure{Request: what, Ended: true, Reason: fmt.Sprintf("an answer that is none: %.80q", text), Log: lastLine(w.lastLog)}
	}
	switch {
	case a.Unavailable != nil:
		return a.unavailable()
	case a.Failure != nil:
		f := &Failure{Request: what, Reason: oneLine(a.Failure.Reason)}
		if a.Failure.Fatal {
			f.Ended = true
			f.Reason += " (the GPU context is lost)"
			w.finish(2 * time.Second)
		}
		return f
	case result == nil:
		return nil
	}
	if err := json.Unmarshal(a.Result, result); err != nil {
		return &Failure{Request: what, Reason: "an answer of another form: " + err.Error()}
	}
	return nil
}

// lost says why no answer came, and ends what is left of the process.
func (w *Worker) lost(err error, deadline time.Duration, what string) error {
	f := &Failure{Request: what, Ended: true}
	if errors.Is(err, os.ErrDeadlineExceeded) && !w.process.ended() {
		w.finish(0)
		f.Reason = fmt.Sprintf("no answer within %s: killed", deadline)
	} else {
		// The pipe closed: the process is gone, or about to be.
		how := w.finish(2 * time.Second)
		f.Reason = "the process ended (" + how + ")"
		if how == "killed" {
			f.Reason = fmt.Sprintf("the process closed its answers (%v): killed", ioReason(err))
		}
	}
	f.Log = lastLine(w.lastLog)
	return f
}

func ioReason(err error) error {
	if errors.Is(err, io.EOF) {
		return io.EOF
	}
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
