package python

import (
	_ "embed"
	"fmt"
	"strings"
	"testing"
	"time"

	"mage/contract"
	"mage/gate"
	"mage/timing"
)

//go:embed testdata/gpu_cheating_arms.py
var gpuCheats []byte

// Results that torch allocates must lie in memory that was really poisoned,
// between guard zones that are really there: these allocate, and cheat.
func TestGPUCheatsThatAllocate(t *testing.T) {
	b := onGPU(t, Options{Deadline: 30 * time.Second, extra: cheats(t, gpuCheats)})
	for _, d := range []contract.Dims{{"R": 3, "D": 257}, {"R": 700, "D": 500}, {"R": 4096, "D": 768}} {
		x := caseOf(t, contract.GELU{}, d, "normal", 1)
		honest := x.open(t, b.worker.implementation("torch/eager", nil))
		for how, says := range map[string]string{
			"idle": "still poisoned", "lazy": "", "after": "guard zone after", "before": "guard zone before",
			"view": "the result is", "held": "memory that was not poisoned", "memory": "out of memory", "fault": "GPU context is lost",
		} {
			if how == "fault" && d["R"] != 3 {
				continue // a fresh worker takes seconds
			}
			op := x.open(t, b.worker.implementation("cheat/"+how, nil))
			r, err := gate.Check(op, x.spec(gate.Before))
			found := r.Failure
			if err != nil {
				found = err.Error()
			}
			if how == "held" && err == nil { // it runs out of poisoned memory later
				for range 8 {
					if err := op.Run(); err != nil {
						t.Fatal(err)
					}
				}
				_, err = op.Output()
				found = fmt.Sprint(err)
			}
			if how == "lazy" || (how == "fault" && err == nil) {
				for _, mode := range []string{"span", "batch:3", "graph:3"} {
					m, _ := timing.ParseMode(mode)
					if err := gate.Prepare(op); err != nil {
						t.Fatal(err)
					}
					_, err := op.Measure(timing.Request{Mode: m, Cache: timing.Hot, Warmup: 4, Samples: 3, MinSamples: 3})
					if how == "fault" {
						found = fmt.Sprint(err)
						break
					}
					if err != nil {
						t.Fatal(err)
					}
					if res := x.check(t, op, gate.LeftBehind); res.Passed || !strings.Contains(res.Failure, "still poisoned: ") {
						t.Errorf("%v lazy, %s: passed %v, %s", d, mode, res.Passed, res.Failure)
					}
				}
			}
			if !strings.Contains(found, says) {
				t.Errorf("%v %s: %q, want %q", d, how, found, says)
			}
			_ = op.Close()
			x.pass(t, honest, gate.Before)
		}
	}
}
