package history_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"mage/evidence"
	"mage/gate"
	"mage/gpu"
	"mage/history"
	"mage/impl"
)

// newRecord has kernel times of a GPU read with CUPTI, in two rounds of which one
// was disturbed and measured again, beside spans and a failed arm.
func newRecord(t *testing.T, modes ...string) *evidence.Run {
	t.Helper()
	passed := []gate.Result{{Stage: "before", Passed: true, MaxRelError: ptr(0.0)}}
	rec := evidence.Record{
		Devices: []evidence.Device{{ID: "cuda:0", Info: gpu.Info{Backend: "cuda", Name: "NVIDIA H200"}}},
		Cases:   []evidence.Case{{ID: "gelu/x", Contract: "gelu"}},
		Arms: []evidence.Arm{{ID: "cuda/first@driver", Implementation: "cuda/first", Device: "cuda:0"},
			{ID: "torch/eager@torch", Implementation: "torch/eager", Device: "cuda:0"}, {ID: "bad@driver", Device: "cuda:0"}},
		Entries: []evidence.Entry{
			{Case: "gelu/x", Arm: "cuda/first@driver", Session: 1, Gates: passed, Identity: impl.Identity{Grid: &[3]uint32{12, 1, 1},
				Block: &[3]uint32{256, 1, 1}, Shared: 64, Resources: &gpu.Attributes{Registers: 32, StaticSharedBytes: 128}}},
			{Case: "gelu/x", Arm: "torch/eager@torch", Session: 1, Gates: passed},
			{Case: "gelu/x", Arm: "bad@driver", Session: 1, Gates: []gate.Result{{Stage: "before", Failure: "wrong"}}}},
	}
	w, err := evidence.Create(t.TempDir(), "mage-009", rec)
	if err != nil {
		t.Fatal(err)
	}
	line := func(round, attempt int, arm, mode, instrument string, launches int, disturbed []string, us ...float64) evidence.Line {
		return evidence.Line{Round: round, Attempt: attempt, Case: "gelu/x", Arm: arm, Mode: mode, Cache: "hot", Instrument: instrument,
			Operations: 1, Launches: launches, Disturbed: disturbed, Samples: us}
	}
	for _, mode := range modes {
		instrument := map[string]string{"kernel": "cupti", "span": "cuda-event"}[mode]
		err = errors.Join(err,
			w.AppendRound([]evidence.Line{line(1, 1, "cuda/first@driver", mode, instrument, 1, nil, 4, 5), line(1, 1, "torch/eager@torch", mode, instrument, 2, nil, 9),
				line(1, 1, "bad@driver", mode, instrument, 1, nil, 1)}),
			w.AppendRound([]evidence.Line{line(2, 1, "cuda/first@driver", mode, instrument, 1, []string{"throttled"}, 400)}),
			w.AppendRound([]evidence.Line{line(2, 2, "cuda/first@driver", mode, instrument, 1, nil, 6)}))
	}
	if err := errors.Join(err, w.Finish(evidence.Complete, ""), w.Close()); err != nil {
		t.Fatal(err)
	}
	run, err := evidence.Load(w.Dir())
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func TestAddRecord(t *testing.T) {
	db, _ := openNew(t)
	run := newRecord(t, "span", "kernel")
	ids, err := db.AddRecord(ctx, run, "0.1.0")
	if err != nil || len(ids) != 1 {
		t.Fatal(ids, err)
	}
	s, err := db.Session(ctx, ids[0])
	if err != nil {
		t.Fatal(err)
	}
	if s.Command != "mage run mage-009/"+run.Record.RunID || s.Device != "NVIDIA H200" || s.Backend != "run" || s.ReadWith() != "cupti" ||
		s.Directory != run.Dir || s.Start.Sub(run.Record.Created).Abs() > time.Second || s.Outcome != "complete" || s.End.IsZero() {
		t.Errorf("%+v", s)
	}
	kernels, err := db.Kernels(ctx, ids[0])
	if err != nil || len(kernels) != 2 {
		t.Fatalf("%+v, %v", kernels, err)
	}
	k := kernels[0]
	if k.Name != "gelu/x cuda/first@driver" || k.Calls != 3 || k.Total != 15 || *k.Registers != 32 || *k.SharedBytes != 192 || k.Grid.String() != "12,1,1" {
		t.Errorf("%+v", k)
	}
	if k := kernels[1]; k.Name != "gelu/x torch/eager@torch" || k.Calls != 1 || k.Total != 9 || k.Registers != nil {
		t.Errorf("%+v", k)
	}
	_, err = db.AddRecord(ctx, run, "0.1.0")
	if known := new(history.KnownError); !errors.As(err, &known) || known.Session != ids[0] {
		t.Error(err)
	}
	if _, err := db.AddRecord(ctx, newRecord(t, "span"), "0.1.0"); err == nil || !strings.Contains(err.Error(), "holds no kernel times") {
		t.Error(err)
	}
}
