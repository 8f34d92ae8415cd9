package python

import (
	"os"
	"os/exec"
	"testing"
	"testing/fstest"
	"time"

	"mage/contract"
	"mage/gate"
	"mage/impl"
	"mage/input"
)

// plainPython is a python3, with or without torch.
func plainPython(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("skipped: python3 is not installed, so the worker cannot run")
	}
	return path
}

// torchPython is an interpreter that has torch: MAGE_TEST_PYTHON or MAGE_PYTHON.
func torchPython(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"MAGE_TEST_PYTHON", "MAGE_PYTHON"} {
		if p := os.Getenv(name); p != "" {
			return p
		}
	}
	t.Skip("skipped: neither MAGE_TEST_PYTHON nor MAGE_PYTHON names a Python with torch")
	return ""
}

// start starts a worker that is closed with the test.
func start(t testing.TB, o Options) *Worker {
	t.Helper()
	o.Dir = t.TempDir()
	w, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the worker printed:\n%s", w.Log())
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// plain starts a worker with only the standard library, and the test's own
// misbehaving arms.
func plain(t testing.TB, o Options) *Worker {
	t.Helper()
	o.Interpreter, o.Device = plainPython(t), "cpu"
	o.extra = fstest.MapFS{
		"mage_worker/cheating_arms.py": {Data: []byte(cheatingArms)},
		"mage_worker/arms.py":          {Data: append(mustRead(t, "worker/mage_worker/arms.py"), "\nfamilies['cheat'] = 'mage_worker.cheating_arms'\n"...)},
	}
	return start(t, o)
}

func mustRead(t testing.TB, name string) []byte {
	t.Helper()
	data, err := workerSource.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// cheatingArms misbehave in the way that their name says, in the request named
// after the colon.
const cheatingArms = `
import base64, hashlib, os, resource, signal, subprocess, sys, threading, time
from . import errors, pure_arms

def misbehave(how):
    if how == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    elif how == "exit":
        os._exit(7)
    elif how == "leave":
        raise SystemExit(0)
    elif how == "hang":
        time.sleep(3600)
    elif how == "pool":  # hangs with a child of its own
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])
        print("child", child.pid, flush=True)
        time.sleep(3600)
    elif how == "raise":
        raise ValueError("first line\n{'not': 'an answer'}")
    elif how == "memory":
        raise MemoryError("nothing left")
    elif how == "garbage":
        print('{"seq": 1, "result": "garbage"}')
        os.write(1, b'\xff\x00{"seq": 2}\n' * 1000)
        os.write(2, b'{"seq": 3, "result": null}\n')
    elif how == "limit":  # no more memory for this process
        resource.setrlimit(resource.RLIMIT_AS, (int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize() + (8 << 20),) * 2)
    elif how == "answer":  # garbage on the answers themselves
        os.write(4, b'{"seq": 0, "result": "stale"}\n')
    elif how == "close":
        os.close(4)
        time.sleep(3600)
    elif how == "fork":  # a child that holds everything open, and is left behind
        if os.fork() == 0:
            time.sleep(3600)
        os._exit(7)
    elif how == "daemon":  # the same, outside the group
        ready, done = os.pipe()
        if os.fork() == 0:
            os.setsid()
            os.write(done, b".")
            time.sleep(5)
            os._exit(0)
        os.read(ready, 1)
        os._exit(7)
    elif how == "mute":
        os.close(1)
        os.close(2)
        raise ValueError("nobody hears")
    elif how == "blind":
        sys.stdout = sys.stderr = None
        raise ValueError("nobody hears")
    elif how == "thread":  # that does not end, and fails
        threading.Thread(target=time.sleep, args=(3600,)).start()
        threading.Thread(target=lambda: 1 / 0).start()
    elif how == "handler":  # for every signal that there is
        for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, lambda *_: None)
    elif how == "truncate":
        os.ftruncate(6, 0)
    elif how == "shut":
        os.close(6)

def parts(*cuts):
    def write(view, whole):
        for low, high in cuts:
            view[low:high] = whole[low:high]
    return write

# What is left out of an answer, which then holds the end or the middle of another.
unwritten = {"stale": parts(), "short": parts((0, -16)), "hole": parts((0, 4096), (-4096, None)), "late": parts((512, None))}

def offers(implementation, device):
    pass

class Operation(pure_arms.Operation):
    def __init__(self, request):
        how, _, self.when = request["implementation"].partition("/")[2].partition(":")
        self.how = how
        super().__init__(request, pure_arms.contracts[request["contract"]])
        if how in unwritten:
            self.write_output = lambda view: unwritten[how](view, memoryview(self.buffers.whole))
        elif how == "forgetful":
            self.write_inputs = lambda views: None
        self.maybe("open")
        if self.when == "output":
            good = self.write_output
            def write(view):
                good(view)
                view[: len(view) // 2] = bytes(len(view) // 2)
                misbehave(how)
            self.write_output = write
        if how == "wrong":
            good = self.submit
            def submit():
                good()
                self.buffers.whole[self.buffers.guard + 3] ^= 0x40
            self.submit = submit
        elif how == "idle":
            self.submit = lambda: None
        elif how == "guard":
            good = self.submit
            def submit():
                good()
                self.buffers.whole[-1] = 0
            self.submit = submit

    def maybe(self, request):
        if self.when == request:
            misbehave(self.how)

    def export(self):
        print("exporting", self.how, flush=True)
        if self.how == "library":
            raise errors.Unavailable("its export", "it calls a library")
        cubin = b"no cubin, but bytes"
        return {
            "cubin": base64.b64encode(cubin).decode(), "sha256": hashlib.sha256(b"others" if self.how == "other" else cubin).hexdigest(),
            "entry": "kernel", "grid": [5, 1, 1], "block": [64, 1, 1], "shared": 16,
            "arguments": [{"name": "a", "buffer": True}, {"name": "argument 1", "type": "i32", "value": -7}, {"name": "global_scratch", "null": True}, {"name": "out", "buffer": True}],
            "params": {"XBLOCK": 256.0}, "compiler": "a compiler", "compile_ms": 1.5, "source_sha256": "5" * 64,
        }

    def run(self):
        self.maybe("run")
        super().run()

    def measure(self, request):
        self.maybe("measure")
        if request["kind"] != "kernel":
            return super().measure(request)
        # Two kernels an operation; the first lasts as many microseconds as inputs
        # say, so that a test can tell whether they arrived.
        print("traced by", os.getpid(), flush=True)
        self.maybe("kernel")
        records, us = [], int(self.buffers.arrays["a"][0] * 1e6) % 1000
        for i in range(3):
            self.submit()
            records += [["one", i * 10000000, i * 10000000 + us * 1000], ["two", i * 10000000 + 5000000, i * 10000000 + 5002000]]
        if self.when == "traced":
            self.buffers.whole[self.buffers.guard] ^= 0x55
            self.buffers.whole[self.buffers.guard + 3] ^= 0x40
        return {"instrument": "cupti", "samples": [], "operations": 3, "records": records}

def open_operation(request):
    return Operation(request)
`

// testCase is a contract at its small shape with inputs.
type testCase struct {
	contract contract.Contract
	dims     contract.Dims
	in       contract.Tensors
}

func smallCase(t testing.TB, name string) testCase {
	t.Helper()
	c, err := contract.Find(name, contract.FP32)
	if err != nil {
		t.Fatal(err)
	}
	return caseOf(t, c, c.Small(), input.DefaultDistribution(name), input.DefaultSeed)
}

func caseOf(t testing.TB, c contract.Contract, d contract.Dims, distribution string, seed uint64) testCase {
	t.Helper()
	set, err := input.Generate(input.Case{Contract: c, Dims: d, Distribution: distribution, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	return testCase{c, d, set.Tensors}
}

func (x testCase) open(t testing.TB, i impl.Implementation) impl.Operation {
	t.Helper()
	op, err := i.Open(x.contract, x.dims, x.in)
	if err != nil {
		t.Fatalf("%s %v: %v", i.Name(), x.dims, err)
	}
	t.Cleanup(func() { op.Close() })
	return op
}

// spec is what x is checked against in a stage.
func (x testCase) spec(stage string) gate.Spec {
	return gate.Spec{Contract: x.contract, Dims: x.dims, Inputs: x.in, Seed: 1, Stage: stage,
		Reference: x.contract.Reference(x.dims, x.in)}
}

// check returns the result of one stage.
func (x testCase) check(t testing.TB, op impl.Operation, stage string) gate.Result {
	t.Helper()
	s := x.spec(stage)
	if stage == gate.Challenge {
		fresh, err := input.Generate(input.Case{Contract: x.contract, Dims: x.dims, Distribution: input.DefaultDistribution(x.contract.Name()), Seed: 99})
		if err != nil {
			t.Fatal(err)
		}
		s.Inputs, s.Restore = fresh.Tensors, x.in
		s.Reference = x.contract.Reference(x.dims, fresh.Tensors)
	}
	r, err := gate.Check(op, s)
	if err != nil {
		t.Fatalf("%s %v: %v", x.contract.Name(), x.dims, err)
	}
	return r
}

func (x testCase) pass(t testing.TB, op impl.Operation, stages ...string) {
	t.Helper()
	for _, s := range stages {
		if r := x.check(t, op, s); !r.Passed {
			t.Errorf("%s %v: gate %s: %s", x.contract.Name(), x.dims, s, r.Failure)
		}
	}
}

// eventually waits for a condition that another process brings about.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never happened: %s", what)
		}
	}
}
