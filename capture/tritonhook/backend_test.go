package tritonhook

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mage/capture"
	"mage/unavailable"
)

// lab runs scripts on stand-ins for torch and Triton.
type lab struct{ python string }

func newLab(t *testing.T) lab {
	t.Helper()
	path, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	packages, err := filepath.Abs("testdata/packages")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PYTHONPATH", packages)
	t.Setenv("PYTHONDONTWRITEBYTECODE", "1")
	t.Setenv("TRITON_INTERPRET", "")
	// Not a shim that looks for an interpreter each time.
	out, err := exec.Command(path, "-c", "import sys; print(sys.executable)").Output()
	if err != nil {
		t.Skip("python3 does not run: ", err)
	}
	return lab{strings.TrimSpace(string(out))}
}

// run captures a script with arguments.
func (l lab) run(t *testing.T, r capture.Request, script string, args ...string) (*capture.Capture, *capture.Result, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "script.py")
	if err := os.WriteFile(path, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	r.Script, r.Argv = path, append([]string{l.python, path}, args...)
	return capture.Run(context.Background(), Backend{}, r, capture.Options{Root: t.TempDir(), Force: true})
}

// seen are the kernels with their times in µs, "a:1.5 b:-".
func seen(r *capture.Result) string {
	var s []string
	if r != nil {
		for _, k := range r.Kernels {
			us := "-"
			if k.DurationUS != nil {
				us = trim(*k.DurationUS)
			}
			s = append(s, k.Name+":"+us)
		}
	}
	return strings.Join(s, " ")
}

const prelude = "import torch, triton\nfrom triton.compiler.compiler import Hooks\nk = triton.kernel('k')\n"

func TestTimed(t *testing.T) {
	l := newLab(t)
	for name, c := range map[string]struct {
		script string
		on     capture.Range
		count  int
		env    string
		want   string
	}{
		"launches":            {script: "k.launch(); triton.kernel('b', 4).launch(); k.launch()", want: "k:1.5 b:4 k:1.5"},
		"as Triton 3.2":       {script: "k.launch(); k.launch()", env: "STANDIN_TRITON=3.2", want: "k:1.5 k:1.5"},
		"a limit":             {script: "for _ in range(5): k.launch()", count: 2, want: "k:1.5 k:1.5"},
		"a range":             {script: "k.launch(); torch.cuda.profiler.start(); triton.kernel('b').launch(); torch.cuda.profiler.stop(); k.launch()", on: capture.CUDA, want: "b:1.5"},
		"a range by cudart":   {script: "r = torch.cuda.cudart(); k.launch(); r.cudaProfilerStart(); triton.kernel('b').launch(); r.cudaProfilerStop(); k.launch()\nassert r.calls == ['start', 'stop']", on: capture.CUDA, want: "b:1.5"},
		"another stream":      {script: "k.launch(stream=99); assert torch.cuda.recorded == [99, 99]", want: "k:1.5"},
		"into a graph":        {script: "torch.cuda.capturing = True; k.launch(); torch.cuda.capturing = False; k.launch()\nassert torch.cuda.Event.made == 2", want: "k:- k:1.5"},
		"sys.exit":            {script: "import sys; k.launch(); sys.exit(0)", want: "k:1.5"},
		"os._exit":            {script: "import os; k.launch(); os._exit(0)", want: "k:1.5"},
		"at exit":             {script: "import atexit; atexit.register(k.launch)", want: "k:1.5"},
		"in a thread":         {script: "import threading; threading.Timer(0.05, k.launch).start()", want: "k:1.5"},
		"a failed launch":     {script: "try: k.launch('fail')\nexcept RuntimeError: pass\nk.launch()", want: "k:1.5"},
		"by Inductor":         {script: "from torch._inductor.runtime.static_triton_launcher import StaticallyLaunchedCudaKernel as S; S('fused').run(4, 1, 1, 0, 'x')", want: "fused:2"},
		"a launcher in hand":  {script: "k._init_handles(); r = k._run; assert r.flavour == 'C'; r(1, 1, 1, 0, 7, (), None, None, None)", want: "k:1.5"},
		"a path of its own":   {script: "import os; os.chdir('/'); k.launch()", want: "k:1.5"},
		"a descriptor closed": {script: "import os; os.closerange(3, 64); k.launch()", want: "k:1.5"},
		"the script's hooks": {script: `said = []
Hooks.enter = lambda m: said.append("in " + m["name"]); Hooks.exit = lambda m: said.append("out")
k.launch()
assert said == ["in k", "out"], said`, want: "k:1.5"},
		"a hook that launches": {script: `def again(m):
    Hooks.enter = None
    triton.kernel("inner", 2).launch()
Hooks.enter = again
k.launch()`, want: "inner:2 k:1.5"},
		"a hook that fails": {script: `def bad(m): raise ValueError("hook")
Hooks.enter = bad
try: k.launch()
except ValueError: Hooks.enter = None
k.launch()`, want: "k:1.5"},
		"many launches": {script: "for _ in range(10001): k.launch()\nassert torch.cuda.Event.made <= 20004", count: 3, want: "k:1.5 k:1.5 k:1.5"},
	} {
		t.Run(name, func(t *testing.T) {
			if k, v, ok := strings.Cut(c.env, "="); ok {
				t.Setenv(k, v)
			}
			kept, r, err := l.run(t, capture.Request{Range: c.on, LaunchCount: c.count}, prelude+c.script)
			if err != nil {
				log, _ := os.ReadFile(filepath.Join(kept.Dir, capture.LogFile))
				t.Fatalf("%v\n%s", err, log)
			}
			if seen(r) != c.want {
				t.Errorf("%s; want %s", seen(r), c.want)
			}
		})
	}
}

func TestFacts(t *testing.T) {
	l := newLab(t)
	c, r, err := l.run(t, capture.Request{}, prelude+"triton.kernel('k', ctas=2).launch(grid=(5, 6, 7))")
	if err != nil {
		t.Fatal(err)
	}
	k := r.Kernels[0]
	if k.Grid != (capture.Dim{10, 6, 7}) || k.Block != (capture.Dim{128, 1, 1}) || *k.Registers != 42 || *k.DynamicShared != 512 || k.StaticShared != nil || k.StartNS != nil {
		t.Errorf("%+v", k)
	}
	if c.Device != "Stand-in GPU" || c.Versions["triton"] != "3.6" || c.Versions["torch"] != "2.11.0+standin" || c.Versions["python"] == "" {
		t.Errorf("%+v", c)
	}
	if _, err := os.Stat(filepath.Join(c.Dir, runnerDir)); !errors.Is(err, os.ErrNotExist) {
		t.Error("the runner is left in the capture")
	}
}

func TestForks(t *testing.T) {
	l := newLab(t)
	_, r, err := l.run(t, capture.Request{}, prelude+`import os
k.launch()
child = os.fork()
if child == 0:
    triton.kernel("child").launch()
    os._exit(0)
os.waitpid(child, 0)
idle = os.fork()
if idle == 0: os._exit(0)
os.waitpid(idle, 0)
k.launch()`)
	if err != nil || len(r.Kernels) != 3 {
		t.Fatalf("%s, %v", seen(r), err)
	}
	processes := map[int]string{}
	for _, k := range r.Kernels {
		processes[*k.Process] += k.Name
	}
	if len(processes) != 2 {
		t.Errorf("kernels by process: %v", processes)
	}
}

func TestFailures(t *testing.T) {
	l := newLab(t)
	for name, c := range map[string]struct {
		script  string
		on      capture.Range
		outcome capture.Outcome
		reason  string
		kept    string
	}{
		"no kernels":         {prelude, "", capture.Empty, "launched no Triton kernel", ""},
		"no Triton":          {"print(1)", "", capture.Empty, "launched no Triton kernel", ""},
		"no range":           {prelude + "k.launch()", capture.CUDA, capture.Empty, "never called cudaProfilerStart", ""},
		"an empty range":     {prelude + "torch.cuda.profiler.start()", capture.CUDA, capture.Empty, "between cudaProfilerStart", ""},
		"an exception":       {prelude + "k.launch(); 1/0", "", capture.TargetFailed, "exit code 1", "k:1.5"},
		"an exit code":       {prelude + "k.launch(); import sys; sys.exit(3)", "", capture.TargetFailed, "exit code 3", "k:1.5"},
		"an exit message":    {prelude + "k.launch(); import sys; sys.exit('no')", "", capture.TargetFailed, "exit code 1", "k:1.5"},
		"os._exit":           {prelude + "k.launch(); import os; os._exit(4)", "", capture.TargetFailed, "exit code 4", "k:1.5"},
		"no Python":          {"this is none", "", capture.TargetFailed, "exit code 1", ""},
		"killed":             {prelude + "k.launch(); import os; os.kill(os.getpid(), 9)", "", capture.Killed, "killed", ""},
		"another process":    {prelude + "import os; k.launch()\nif os.fork() == 0:\n    k.launch(); os.kill(os.getpid(), 9)\nos.wait()", "", capture.Complete, "", "k:1.5"},
		"a fault at the end": {prelude + "k.launch(); torch.cuda.broken = True", "", capture.Complete, "", "k:-"},
	} {
		t.Run(name, func(t *testing.T) {
			kept, r, err := l.run(t, capture.Request{Range: c.on}, c.script)
			f, ok := errors.AsType[*capture.Failure](err)
			if c.outcome == capture.Complete && err == nil {
				ok, f = true, &capture.Failure{Outcome: capture.Complete}
			}
			if !ok || f.Outcome != c.outcome || !strings.Contains(f.Reason, c.reason) || kept.Outcome != c.outcome {
				t.Fatalf("%v, marked %s; want %s because of %q", err, kept.Outcome, c.outcome, c.reason)
			}
			if seen(r) != c.kept {
				t.Errorf("%q is kept, not %q", seen(r), c.kept)
			}
		})
	}
}

func TestUnavailable(t *testing.T) {
	l := newLab(t)
	for name, c := range map[string]struct{ env, script, reason string }{
		"a Triton that is not known": {"STANDIN_TRITON=unknown", prelude, "loads kernels in a way that is not known"},
		"interpreted":                {"TRITON_INTERPRET=1", prelude, "TRITON_INTERPRET is set"},
		"no torch":                   {"", prelude + "import sys; k._init_handles(); r = k._run; del sys.modules['torch']; r(1, 1, 1, 0, 7, (), None, None, None)", "does not import torch"},
	} {
		t.Run(name, func(t *testing.T) {
			if k, v, ok := strings.Cut(c.env, "="); ok {
				t.Setenv(k, v)
			}
			_, _, err := l.run(t, capture.Request{}, c.script)
			if u, ok := unavailable.As(err); !ok || !strings.Contains(u.Reason, c.reason) {
				t.Errorf("%v; want unavailable because of %q", err, c.reason)
			}
		})
	}
}

func TestPrepareRefuses(t *testing.T) {
	for name, r := range map[string]capture.Request{
		"a program": {Argv: []string{"true"}},
		"counters":  {Argv: []string{"python3", "s"}, Script: "s", Metrics: []string{"m"}},
		"a set":     {Argv: []string{"python3", "s"}, Script: "s", Set: "full"},
		"a check":   {Argv: []string{"python3", "s"}, Script: "s", Tool: "memcheck"},
	} {
		if _, err := (Backend{}).Prepare(context.Background(), t.TempDir(), r); err == nil {
			t.Errorf("%s is prepared", name)
		} else if _, ok := errors.AsType[*capture.UsageError](err); !ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}
