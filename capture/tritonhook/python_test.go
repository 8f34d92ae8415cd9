package tritonhook

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"mage/capture"
)

func trim(us float64) string { return strconv.FormatFloat(us, 'g', 6, 64) }

// TestAsPython runs a script by itself and timed: it must not see the difference.
func TestAsPython(t *testing.T) {
	l := newLab(t)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"beside.py":   "value = 7\n",
		"recorder.py": "mine = True\n", // a name that the runner has too
		"script.py": `import sys, os, __main__, pickle, multiprocessing, inspect
import beside, recorder
class Thing: pass
def function(x): return x + 1
if __name__ == "__main__":
    print(sys.argv, __name__, os.path.basename(__file__), os.path.isabs(__file__), __package__, __spec__, __doc__)
    print(sys.path[0] == os.path.dirname(os.path.realpath(__file__)), beside.value, recorder.mine, __main__.Thing is Thing)
    print(type(pickle.loads(pickle.dumps(Thing()))) is Thing, inspect.getsource(function).strip())
    print(sorted(n for n in globals() if not n.startswith("__")), [k for k in os.environ if "MAGE" in k])
    print(sys.stdin.read(), file=sys.stderr)
    if sys.argv[2:] == ["0"]:
        with multiprocessing.get_context("spawn").Pool(1) as p: print(p.map(function, [1, 2]))
    what = sys.argv[1]
    if what == "exit": sys.exit(int(sys.argv[2]))
    if what == "message": sys.exit("a message")
    if what == "none": sys.exit()
    if what == "raise":
        def deep(): raise ValueError("deep")
        try: deep()
        except ValueError as e: raise KeyError("outer") from e
    if what == "hook":
        sys.excepthook = lambda t, v, tb: print("hooked", t.__name__, tb.tb_frame.f_code.co_name)
        1/0
    if what == "_exit": sys.stdout.flush(); os._exit(9)
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	files := filepath.Join(t.TempDir(), "capture")
	if err := os.Mkdir(files, 0o700); err != nil {
		t.Fatal(err)
	}
	run := func(argv ...string) (string, string, int) {
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir = dir
		cmd.Stdin = strings.NewReader("typed")
		var out, errs strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &errs
		_ = cmd.Run()
		return out.String(), errs.String(), cmd.ProcessState.ExitCode()
	}
	for _, args := range []string{"exit 0", "exit 5", "message", "none", "raise", "hook", "_exit", "plain --not -an=option é"} {
		t.Run(args, func(t *testing.T) {
			into := t.TempDir()
			target := append([]string{l.python, "script.py"}, strings.Fields(args)...)
			plan, err := Backend{}.Prepare(t.Context(), into, capture.Request{Argv: target, Script: "script.py"})
			if err != nil {
				t.Fatal(err)
			}
			wantOut, wantErr, wantCode := run(target...)
			out, errs, code := run(plan.Run.Argv...)
			if code != wantCode || out != wantOut || errs != wantErr {
				t.Errorf("exit code %d, not %d\n%s%s\nwithout timing:\n%s%s", code, wantCode, out, errs, wantOut, wantErr)
			}
			if logs, _ := filepath.Glob(filepath.Join(into, timesGlob)); len(logs) != 1 {
				t.Errorf("logs %v", logs)
			} else if l, err := readFile(logs[0]); err != nil || !l.ended {
				t.Errorf("%+v, %v", l, err)
			}
		})
	}
}

// TestRestored records in one process several times, nested and across exceptions.
func TestRestored(t *testing.T) {
	l := newLab(t)
	dir, err := filepath.Abs("runner")
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(t.TempDir(), "restored.py")
	if err := os.WriteFile(script, []byte(`import json, os, sys
sys.path.insert(0, sys.argv[1])
from mage_timing.recorder import Recorder
import torch, torch.cuda.profiler, triton
from torch._inductor.runtime import static_triton_launcher as inductor
from triton.compiler.compiler import CompiledKernel, Launcher
def world(): return (CompiledKernel._init_handles, inductor.StaticallyLaunchedTritonKernel.run, torch.cuda.profiler.start,
                     torch.cuda.profiler.stop, torch._C._cudart.cudaProfilerStart, list(sys.meta_path))
before = world()
k = triton.kernel("k"); k.launch()
r = Recorder(sys.argv[2])
def same(): assert world() == before and type(k._run) is Launcher, (world(), before, k._run)
with r:
    k.launch()
    assert world() != before
same()
k.launch()
try:
    with r:
        with r:
            k.launch()
            try:
                with r: k.launch("fail")
            except RuntimeError: pass
        k.launch()
        assert world() != before
        raise KeyError
except KeyError: pass
same()
k.launch()
with r:
    theirs = lambda self: None
    CompiledKernel._init_handles = theirs  # a script's own patch stays
assert CompiledKernel._init_handles is theirs
CompiledKernel._init_handles = before[0]
r.finish(); r.finish()
lines = [json.loads(line) for line in open(f"{sys.argv[2]}.{os.getpid()}.jsonl")]
print([line["type"] for line in lines], lines[-1]["launches"])
`), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(l.python, script, dir, filepath.Join(t.TempDir(), "times")).CombinedOutput()
	if want := "['start', 'launch', 'launch', 'launch', 'versions', 'end'] 3\n"; err != nil || string(out) != want {
		t.Errorf("%v\n%s", err, out)
	}
}
