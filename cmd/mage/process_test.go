//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"mage/evidence"
	"mage/evidence/schema"
	"mage/gpu/cuda/cudatest"
	"mage/kernels/kernelstest"
)

// TestProcesses kills, interrupts, crowds and starves real processes.
func TestProcesses(t *testing.T) {
	driver := cudatest.BuildStub(t)
	for name, test := range map[string]func(t *testing.T, driver string){
		"killed": testKilledRunIsFinished, "signals": testSignals, "cleaned up": testInterruptedCommandsCleanUp,
		"one writer": testOneWriter, "full disk": testFullDisk, "no space at all": testNoSpaceAtAll,
		"read-only results": testReadOnlyResults,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, driver)
		})
	}
}

// gpuRounds take some seconds: long enough for a test to reach the run while it
// measures, on a busy machine too.
const gpuRounds = 30

// gpuSpec declares rounds of one line each, some ten kilobytes long.
var gpuSpec = `namespace = "gpu"
implementations = ["mine/a"]
control = ["none"]
modes = ["latency"]
rounds = ` + fmt.Sprint(gpuRounds) + `
samples = 1000
min_samples = 1000
budget = "100ms"
repeats = 1
[[case]]
contract = "gelu"
dims = [{R = 8, D = 257}]
`

// workshop is a directory in which mage processes run: real ones, of the test
// binary that testscript.Main put into PATH.
type workshop struct {
	*testing.T
	dir string
	env []string
}

// newWorkshop holds spec.toml and kernels/, mine/a and mine/b for the stand-in at
// driver: to calibrate a CPU with a large cache takes longer than most tests.
func newWorkshop(t *testing.T, driver, spec string) *workshop {
	t.Helper()
	w := &workshop{T: t, dir: t.TempDir(), env: os.Environ()}
	standInEnvironment(driver, w.set)
	kernelstest.Write(t, w.path("kernels"), "mine/a", kernelstest.Gelu, "")
	kernelstest.Write(t, w.path("kernels"), "mine/b", kernelstest.Gelu, "")
	for _, name := range []string{"TMPDIR", "XDG_CACHE_HOME", "HOME"} {
		w.set(name, w.path(strings.ToLower(name)))
		if err := os.Mkdir(w.path(strings.ToLower(name)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(w.path("spec.toml"), []byte(spec), 0o644); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *workshop) set(name, value string)  { w.env = append(w.env, name+"="+value) }
func (w *workshop) path(name string) string { return filepath.Join(w.dir, name) }

// process is a running mage in a process group of its own.
type process struct {
	*exec.Cmd
	stdout, stderr bytes.Buffer
	w              *workshop
}

func (w *workshop) start(args ...string) *process {
	w.Helper()
	p := &process{Cmd: exec.Command("mage", args...), w: w}
	p.Dir, p.Env, p.Stdout, p.Stderr = w.dir, w.env, &p.stdout, &p.stderr
	p.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.Start(); err != nil {
		w.Fatal(err)
	}
	return p
}

// end waits, checks that no process of the group is left, and returns the exit
// code, -1 after a fatal signal. A process that hangs is killed after a minute.
func (p *process) end() int {
	p.w.Helper()
	timer := time.AfterFunc(time.Minute, func() { p.Process.Kill() })
	defer timer.Stop()
	if err := p.Wait(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		p.w.Fatal(err)
	}
	if err := syscall.Kill(-p.Process.Pid, 0); !errors.Is(err, syscall.ESRCH) {
		p.w.Errorf("mage left a process behind (%v)", err)
	}
	for _, trace := range []string{"goroutine ", "panic:", "SIGSEGV"} {
		if strings.Contains(p.stderr.String(), trace) {
			p.w.Fatalf("mage broke down:\n%s", p.stderr.String())
		}
	}
	return p.ProcessState.ExitCode()
}

// run starts mage and expects an exit code.
func (w *workshop) run(code int, args ...string) *process {
	w.Helper()
	p := w.start(args...)
	if got := p.end(); got != code {
		w.Fatalf("mage %s: exit code %d, want %d\n%s", strings.Join(args, " "), got, code, p.stderr.String())
	}
	return p
}

// record is the one record below results/kill, or "" while there is none.
func (w *workshop) record() string {
	runs, _ := filepath.Glob(w.path("results/*/[0-9]*"))
	if len(runs) == 0 {
		return ""
	}
	return runs[len(runs)-1]
}

// size is that of the record's samples, 0 while there are none.
func (w *workshop) size() int64 {
	info, err := os.Stat(filepath.Join(w.record(), evidence.SamplesFile))
	if err != nil {
		return 0
	}
	return info.Size()
}

// startMeasuring starts mage and waits until it has added a round to the record.
func (w *workshop) startMeasuring(args ...string) *process {
	w.Helper()
	before := w.size()
	p := w.start(args...)
	for range 4000 {
		if w.size() > before {
			return p
		}
		time.Sleep(5 * time.Millisecond)
	}
	_ = p.Process.Kill()
	w.Fatalf("no samples in 20 s\n%s", p.stderr.String())
	return nil
}

// complete checks the finished record: its form, and that it holds the planned
// rounds, each whole once.
func (w *workshop) complete(dir string, rounds, cells int) {
	w.Helper()
	if err := schema.ValidateRun(dir); err != nil {
		w.Error(err)
	}
	run, err := evidence.Load(dir)
	if err != nil {
		w.Fatal(err)
	}
	if run.Record.Status != evidence.Complete {
		w.Errorf("the record is %s (%s)", run.Record.Status, run.Record.Reason)
	}
	whole := map[int]int{}
	for _, l := range run.Lines {
		if !slices.Contains(l.Disturbed, "interrupted") {
			whole[l.Round]++
		}
	}
	for r := 1; r <= rounds; r++ {
		if whole[r] != cells {
			w.Errorf("round %d has %d lines, want %d", r, whole[r], cells)
		}
	}
}

// clean checks that nothing is left in the temporary directory.
func (w *workshop) clean() {
	w.Helper()
	left, err := filepath.Glob(w.path("tmpdir/*"))
	if err != nil || len(left) > 0 {
		w.Errorf("left behind: %q, %v", left, err)
	}
}
