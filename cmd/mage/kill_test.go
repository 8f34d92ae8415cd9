//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"mage/evidence"
)

const killSpec = `namespace = "kill"
implementations = ["mine/a", "mine/b"]
control = ["none"]
modes = ["span", "graph:3", "latency"]
rounds = %d
samples = 200
min_samples = 200
budget = "5ms"
repeats = 1
[[case]]
contract = "gelu"
dims = [{R = 64, D = 257}]
`

// testKilledRunIsFinished kills one run of mage again and again, at random
// moments from the first instruction on. Each time its record, if it has come to
// be, can be reported and gone on with, no round that was there is lost, and at
// last it completes.
func testKilledRunIsFinished(t *testing.T, driver string) {
	kills, rounds := 15, 80
	if testing.Short() {
		kills, rounds = 4, 30
	}
	w := newWorkshop(t, driver, fmt.Sprintf(killSpec, rounds))
	lines, before := 0, 0
	for kill := range kills {
		args := []string{"run", "spec.toml", "--kernels", "kernels"}
		if dir := w.record(); dir != "" {
			args = []string{"run", "--resume", dir, "--kernels", "kernels"}
		}
		begin := w.startMeasuring
		if kill%3 == 0 { // and two of three while it measures
			begin = w.start
		}
		p := begin(args...)
		time.Sleep(time.Duration(rand.ExpFloat64() * float64(40*time.Millisecond)))
		_ = p.Process.Kill()
		if code := p.end(); code != -1 {
			if kill == 0 || code != 0 {
				t.Fatalf("kill %d: mage ended by itself with %d\n%s", kill, code, p.stderr.String())
			}
			t.Logf("the run was finished before kill %d", kill)
			break
		}
		dir := w.record()
		if dir == "" {
			before++
			w.run(1, "report", "kill")
			continue
		}
		run, err := evidence.Load(dir)
		if err != nil {
			t.Fatalf("kill %d: %v", kill, err)
		}
		if len(run.Lines) < lines {
			t.Fatalf("kill %d: %d lines, %d before", kill, len(run.Lines), lines)
		}
		lines = len(run.Lines)
		if p := w.run(0, "report", "kill"); lines > 0 && !strings.Contains(p.stdout.String(), "mine/b") {
			t.Errorf("kill %d: the report has no arm:\n%s", kill, p.stdout.String())
		}
	}
	dir := w.record()
	if dir == "" {
		t.Skip("every process was killed before it had a record")
	}
	if run, err := evidence.Load(dir); err == nil && run.Record.Status != evidence.Complete {
		w.run(0, "run", "--resume", dir, "--kernels", "kernels")
	}
	run, err := evidence.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d kills before there was a record; %d sessions, %d lines before the last", before, len(run.Record.Sessions), lines)
	w.complete(dir, rounds, 6)
	if runs, _ := filepath.Glob(w.path("results/kill/[0-9]*")); len(runs) != 1 {
		t.Errorf("%d records of one run", len(runs))
	}
	w.clean()
}

// testSignals: each signal to end ends a run cleanly, a second one at once, and
// what is left is gone on with.
func testSignals(t *testing.T, driver string) {
	for name, signals := range map[string][]syscall.Signal{
		"INT": {syscall.SIGINT}, "TERM": {syscall.SIGTERM}, "HUP": {syscall.SIGHUP}, "twice": {syscall.SIGINT, syscall.SIGINT},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if testing.Short() && name != "TERM" {
				t.Skip("one signal is enough for -short")
			}
			w := newWorkshop(t, driver, gpuSpec)
			p := w.startMeasuring("run", "spec.toml", "--kernels", "kernels")
			for _, s := range signals {
				_ = p.Process.Signal(s)
				time.Sleep(5 * time.Millisecond)
			}
			code := p.end()
			if len(signals) == 1 {
				if code != exitInterrupted {
					t.Errorf("exit code %d\n%s", code, p.stderr.String())
				}
				for _, want := range []string{"mage: ending after the current measurement", "mage run --resume results/gpu/", " --kernels kernels\n", "mage: interrupted\n"} {
					if !strings.Contains(p.stderr.String(), want) {
						t.Errorf("%q is not said:\n%s", want, p.stderr.String())
					}
				}
			}
			dir := w.record()
			run, err := evidence.Load(dir)
			if err != nil {
				t.Fatal(err)
			}
			if status := run.Record.Status; len(signals) == 1 && status != evidence.Incomplete || status == evidence.Complete {
				t.Errorf("status %s", status)
			}
			w.run(0, "report", "gpu")
			w.run(0, "run", "--resume", dir, "--kernels", "kernels")
			w.complete(dir, gpuRounds, 1)
		})
	}
}

// testInterruptedCommandsCleanUp: demo and bench keep their record in a temporary
// directory, which does not outlive them.
func testInterruptedCommandsCleanUp(t *testing.T, driver string) {
	for name, args := range map[string][]string{
		"demo": {"demo", "--no-gpu"}, "bench": {"bench", "gelu", "--no-gpu", "--impl", "cpu/naive", "--rounds", "200"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorkshop(t, driver, "")
			p := w.start(args...)
			for range 2000 {
				if made, _ := filepath.Glob(w.path("tmpdir/mage-*")); len(made) > 0 {
					break
				}
				time.Sleep(5 * time.Millisecond)
			}
			time.Sleep(50 * time.Millisecond)
			_ = p.Process.Signal(syscall.SIGINT)
			if code := p.end(); code != exitInterrupted {
				t.Errorf("exit code %d\n%s", code, p.stderr.String())
			}
			w.clean()
		})
	}
}

// testOneWriter: of two processes that go on with one record, one is refused and
// changes nothing.
func testOneWriter(t *testing.T, driver string) {
	w := newWorkshop(t, driver, gpuSpec)
	p := w.startMeasuring("run", "spec.toml", "--kernels", "kernels")
	// Held, so that it is still writing when the second one has started.
	if err := syscall.Kill(-p.Process.Pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer syscall.Kill(-p.Process.Pid, syscall.SIGCONT) // also where the test ends here
	refused := w.run(1, "run", "--resume", w.record(), "--kernels", "kernels")
	if err := syscall.Kill(-p.Process.Pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if got := refused.stderr.String(); !strings.HasSuffix(got, "is being written by another process\n") || strings.Count(got, "\n") != 1 {
		t.Errorf("the second process says %q", got)
	}
	if code := p.end(); code != 0 {
		t.Errorf("exit code %d\n%s", code, p.stderr.String())
	}
	w.complete(w.record(), gpuRounds, 1)
}
