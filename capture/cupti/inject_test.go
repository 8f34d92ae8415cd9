package cupti

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"mage/capture"
	"mage/unavailable"
)

// bench is a machine with a stand-in for CUPTI, and a program that uses it.
type bench struct{ program, fake string }

func newBench(t *testing.T, defines ...string) bench {
	t.Helper()
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the library is for linux/amd64")
	}
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler to build the program that is traced")
	}
	dir := t.TempDir()
	b := bench{program: filepath.Join(dir, "program"), fake: filepath.Join(dir, "libfake_cupti.so")}
	for _, args := range [][]string{
		{"-o", b.program, "testdata/program.c", "-ldl"},
		append([]string{"-shared", "-fPIC", "-fvisibility=hidden", "-o", b.fake, "testdata/fake_cupti.c", "-lpthread"}, defines...),
	} {
		if out, err := exec.Command(cc, args...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	t.Setenv("MAGE_CUPTI", b.fake)
	t.Setenv("FAKE_CUPTI", b.fake)
	t.Setenv(injectionEnv, "")
	return b
}

// trace captures the program doing what actions say.
func (b bench) trace(t *testing.T, on capture.Range, actions string) (*capture.Capture, *capture.Result, error) {
	t.Helper()
	r := capture.Request{Argv: append([]string{b.program}, strings.Fields(actions)...), Range: on}
	return capture.Run(context.Background(), Backend{}, r, capture.Options{Root: t.TempDir(), Force: true})
}

func names(r *capture.Result) string {
	var s []string
	if r != nil {
		for _, k := range r.Kernels {
			s = append(s, k.Name)
		}
	}
	return strings.Join(s, " ")
}

func TestTraced(t *testing.T) {
	b := newBench(t)
	for name, c := range map[string]struct {
		on      capture.Range
		actions string
		want    string // names of the kernels
	}{
		"all":                            {capture.All, "init launch:a launch:b", "a b"},
		"a mangled name":                 {capture.All, "init launch:_Z3addPfi", "add(float*, int)"},
		"a name that is no word":         {capture.All, "init launch:%é\tß", "%é\tß"},
		"exit":                           {capture.All, "init launch:a exit launch:b", "a"},
		"only the range":                 {capture.CUDA, "init launch:a start launch:b launch:c stop launch:d", "b c"},
		"two ranges":                     {capture.CUDA, "init start launch:a stop launch:b start launch:c stop", "a c"},
		"a range without an end":         {capture.CUDA, "init launch:a start launch:b", "b"},
		"ranges that do not matter":      {capture.All, "init launch:a start launch:b stop", "a b"},
		"exec before CUDA":               {capture.All, "exec init launch:a", "a"},
		"CUDA in a child only":           {capture.All, "fork init launch:a", "a"},
		"a child that only exits":        {capture.All, "init launch:a fork-exit launch:b", "a b"},
		"_exit after the range":          {capture.CUDA, "init start launch:a stop launch:b _exit", "a"},
		"_exit after the last context":   {capture.All, "init context context release launch:a release _exit", "a"},
		"two lives of a context":         {capture.All, "init context launch:a release context launch:b release _exit", "a b"},
		"another name at the same place": {capture.All, "init unload", "first_name other_name"},
	} {
		t.Run(name, func(t *testing.T) {
			// A tab is part of a name here, not between actions.
			argv := strings.Split(c.actions, " ")
			_, r, err := capture.Run(context.Background(), Backend{}, capture.Request{Argv: append([]string{b.program}, argv...), Range: c.on},
				capture.Options{Root: t.TempDir(), Force: true})
			if err != nil || names(r) != c.want {
				t.Errorf("kernels %q, %v; want %q", names(r), err, c.want)
			}
		})
	}
}

func TestDaemon(t *testing.T) {
	b := newBench(t)
	t.Chdir(t.TempDir())
	_, r, err := b.trace(t, capture.All, "init launch:a close-all launch:b chdir")
	if err != nil || names(r) != "a b" {
		t.Errorf("kernels %q, %v", names(r), err)
	}
	if text, err := os.ReadFile("victim"); err != nil || len(text) > 0 {
		t.Errorf("the file that got a closed descriptor's number holds %q, %v", text, err)
	}
}

func TestRecords(t *testing.T) {
	b := newBench(t)
	c, r, err := b.trace(t, capture.All, "init device launch:_Z3addPfi node memory")
	if err != nil {
		t.Fatal(err)
	}
	checkRecords(t, r)
	for name, want := range map[string]int{capture.MemoryFile: 2, capture.CallsFile: 4} {
		var kept []json.RawMessage
		if text, err := os.ReadFile(filepath.Join(c.Dir, name)); err != nil || json.Unmarshal(text, &kept) != nil || len(kept) != want {
			t.Errorf("%s holds %s, %v", name, text, err)
		}
	}
	if c.Versions["cupti"] != "13.0.1" {
		t.Errorf("versions %v", c.Versions)
	}
	left, err := filepath.Glob(filepath.Join(c.Dir, "mage-cupti*"))
	if err != nil || len(left) > 0 {
		t.Errorf("%v are left in the capture", left)
	}
}

func TestManyRecords(t *testing.T) {
	b := newBench(t)
	const n = 12000 // more than fit two of the library's buffers, and many of its texts
	_, r, err := b.trace(t, capture.All, "init many:12000")
	if err != nil || len(r.Kernels) != n || len(r.Calls) != 2*n {
		t.Fatalf("%d kernels, %d calls, %v", len(r.Kernels), len(r.Calls), err)
	}
	for i, k := range r.Kernels {
		if want := []string{"even", "odd"}[(n-i)%2]; k.Name != want || *k.DurationUS != 1.5 {
			t.Fatalf("kernel %d is %s of %g µs, not %s", i, k.Name, *k.DurationUS, want)
		}
	}
}

func TestProcesses(t *testing.T) {
	b := newBench(t)
	// A process that replaces itself keeps its number, and its first life has no end.
	_, r, err := b.trace(t, capture.All, "init launch:a exec init launch:b")
	if f, ok := errors.AsType[*capture.Failure](err); !ok || f.Outcome != capture.Invalid || names(r) != "b" {
		t.Errorf("kernels %q, %v", names(r), err)
	}
	both := `"$0" init launch:a & "$0" init launch:b; wait`
	_, r, err = capture.Run(context.Background(), Backend{}, capture.Request{Argv: []string{"sh", "-c", both, b.program}},
		capture.Options{Root: t.TempDir(), Force: true})
	if err != nil || len(r.Kernels) != 2 {
		t.Fatalf("kernels %q, %v", names(r), err)
	}
	if p, q := r.Kernels[0].Process, r.Kernels[1].Process; p == nil || q == nil || *p == *q {
		t.Errorf("the kernels are of the processes %v and %v", p, q)
	}
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "2 processes") {
		t.Errorf("warnings %q", r.Warnings)
	}
}

func TestFailures(t *testing.T) {
	b := newBench(t)
	for name, c := range map[string]struct {
		on      capture.Range
		actions string
		env     string // NAME=VALUE
		outcome capture.Outcome
		reason  string
		kernels string // that are kept all the same
	}{
		"no CUDA":                    {capture.All, "return:0", "", capture.Empty, "no process initialised CUDA", ""},
		"CUDA without kernels":       {capture.All, "init", "", capture.Empty, "no kernel was launched", ""},
		"no range":                   {capture.CUDA, "init launch:a", "", capture.Empty, "never called cudaProfilerStart", ""},
		"an empty range":             {capture.CUDA, "init launch:a start stop launch:b", "", capture.Empty, "between cudaProfilerStart and", ""},
		"a failing program":          {capture.All, "init launch:a return:3", "", capture.TargetFailed, "exit code 3", "a"},
		"_exit":                      {capture.All, "init launch:a launch:b _exit", "FAKE_PERIODIC=1", capture.Invalid, "without handing over its last records", "a b"},
		"_exit with a context":       {capture.All, "init context context launch:a release launch:b _exit", "FAKE_PERIODIC=1", capture.Invalid, "without handing over its last records", "a b"},
		"_exit after more work":      {capture.All, "init context launch:a release launch:b _exit", "FAKE_PERIODIC=1", capture.Invalid, "without handing over its last records", "a b"},
		"_exit with a new context":   {capture.All, "init context launch:a release context launch:b _exit", "", capture.Invalid, "without handing over its last records", "a"},
		"_exit in another range":     {capture.CUDA, "init start launch:a stop start launch:b _exit", "", capture.Invalid, "without handing over its last records", "a"},
		"_exit in a second range":    {capture.CUDA, "init start launch:a stop start launch:b _exit", "FAKE_PERIODIC=1", capture.Invalid, "without handing over its last records", "a b"},
		"kill -9":                    {capture.All, "init launch:a kill", "FAKE_PERIODIC=1", capture.Killed, "killed", ""},
		"SIGTERM":                    {capture.All, "init launch:a term", "", capture.Killed, "terminated", ""},
		"a full disk":                {capture.All, "limit init many:3000", "FAKE_PERIODIC=1", capture.Invalid, "could not be written any further", "some"},
		"dropped records":            {capture.All, "init launch:a", "FAKE_DROPS=7", capture.Invalid, "dropped 7 records", "a"},
		"a time that runs backwards": {capture.All, "init launch:a backwards", "", capture.Invalid, "duration of -0.005", "a backwards"},
		"another user of CUPTI":      {capture.All, "init take-over launch:a", "", capture.Invalid, "took over CUPTI", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if k, v, ok := strings.Cut(c.env, "="); ok {
				t.Setenv(k, v)
			}
			kept, r, err := b.trace(t, c.on, c.actions)
			f, ok := errors.AsType[*capture.Failure](err)
			if !ok || f.Outcome != c.outcome || !strings.Contains(f.Error(), c.reason) {
				t.Fatalf("%v; want %s because of %q", err, c.outcome, c.reason)
			}
			if kept.Outcome != c.outcome {
				t.Errorf("the capture is marked %s", kept.Outcome)
			}
			if c.kernels == "some" && len(r.Kernels) > 100 {
				return
			}
			if names(r) != c.kernels {
				t.Errorf("kernels %.99q are kept; want %q", names(r), c.kernels)
			}
		})
	}
}

// TestSignals reads what programs that were ended leave, which a capture keeps.
func TestSignals(t *testing.T) {
	b := newBench(t)
	for action, want := range map[string]struct{ ended bool }{"kill": {false}, "term": {true}} {
		t.Run(action, func(t *testing.T) {
			if action == "kill" {
				t.Setenv("FAKE_PERIODIC", "1")
			}
			c, _, _ := b.trace(t, capture.All, "init launch:a launch:b "+action)
			paths, _ := filepath.Glob(filepath.Join(c.Dir, traces))
			if len(paths) != 1 {
				t.Fatalf("traces %v", paths)
			}
			tr, err := readFile(paths[0])
			if err != nil || len(tr.kernels) != 2 || tr.ended != want.ended || tr.torn {
				t.Errorf("%+v, %v", tr, err)
			}
			if c.Signal == "" {
				t.Error("the program survived")
			}
		})
	}
	if _, _, err := b.trace(t, capture.All, "init ignore-term launch:a"); err != nil {
		t.Errorf("a program that ignores SIGTERM: %v", err)
	}
}

func TestUnavailable(t *testing.T) {
	old := newBench(t, "-DVERSION=18")
	b := newBench(t)
	for name, c := range map[string]struct {
		cupti, refuse, reason, remedy string
	}{
		"another library":       {"libm.so.6", "", "no cuptiGetVersion", "install CUPTI"},
		"too old":               {old.fake, "", "CUPTI's API version is 18", "install CUPTI"},
		"another profiler":      {b.fake, "cuptiSubscribe:39", "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED (39)", "without another profiler"},
		"no privileges":         {b.fake, "cuptiActivityEnable-10:35", "cuptiActivityEnable of kernels: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES (35)", "NVreg_RestrictProfilingToAdminUsers"},
		"CUPTI newer than CUDA": {b.fake, "cuptiActivityRegisterCallbacks:15", "CUPTI error 15", "not newer than the driver"},
		"no version":            {b.fake, "cuptiGetVersion:999", "CUPTI error 999", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("MAGE_CUPTI", c.cupti)
			t.Setenv("FAKE_REFUSE", c.refuse)
			kept, _, err := b.trace(t, capture.All, "init")
			u, ok := unavailable.As(err)
			if !ok || !strings.Contains(u.Reason, c.reason) || !strings.Contains(u.Remedy, c.remedy) {
				t.Errorf("%v; want unavailable because of %q", err, c.reason)
			}
			if kept.Outcome != capture.ToolFailed {
				t.Errorf("the capture is marked %s", kept.Outcome)
			}
		})
	}
	t.Run("no library", func(t *testing.T) {
		t.Setenv("MAGE_CUPTI", filepath.Join(t.TempDir(), "absent.so"))
		kept, _, err := b.trace(t, capture.All, "init")
		if u, ok := unavailable.As(err); !ok || !strings.Contains(u.Reason, "absent.so") || !strings.Contains(u.Remedy, "install CUPTI") || kept != nil {
			t.Errorf("%v, %+v", err, kept)
		}
	})
	t.Run("no library in the program", func(t *testing.T) {
		r := capture.Request{Argv: []string{b.program, "init"}}
		_, _, err := capture.Run(context.Background(), elsewhere{}, r, capture.Options{Root: t.TempDir(), Force: true})
		if u, ok := unavailable.As(err); !ok || !strings.Contains(u.Reason, "absent.so: cannot open shared object file") || !strings.Contains(u.Remedy, "install CUPTI") {
			t.Error(err)
		}
	})
	t.Run("an extra", func(t *testing.T) {
		t.Setenv("FAKE_REFUSE", "cuptiActivityEnable-49:21")
		_, r, err := b.trace(t, capture.All, "init launch:a")
		if err != nil || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "cuptiActivityEnable of allocations: CUPTI error 21") {
			t.Errorf("%q, %v", r.Warnings, err)
		}
	})
}

// elsewhere is the backend for a program that cannot see the library that Mage sees.
type elsewhere struct{ Backend }

func (e elsewhere) Prepare(ctx context.Context, dir string, r capture.Request) (capture.Plan, error) {
	p, err := e.Backend.Prepare(ctx, dir, r)
	p.Run.Env = append(p.Run.Env, "MAGE_TRACE_LIBRARIES=/nonexistent/absent.so")
	return p, err
}

func TestPrepareRefuses(t *testing.T) {
	prepare := func(r capture.Request) error {
		r.Argv = []string{"true"}
		_, err := Backend{}.Prepare(context.Background(), t.TempDir(), r)
		return err
	}
	for _, r := range []capture.Request{{Set: "full"}, {Metrics: []string{"m"}}, {Tool: "memcheck"}} {
		if _, ok := errors.AsType[*capture.UsageError](prepare(r)); !ok {
			t.Errorf("%+v is prepared", r)
		}
	}
	t.Setenv("MAGE_CUPTI", "libc.so.6")
	t.Setenv(injectionEnv, "/another/tool.so")
	if u, ok := unavailable.As(prepare(capture.Request{})); !ok || !strings.Contains(u.Reason, "another tool") {
		t.Errorf("beside another tool: %v", u)
	}
}
