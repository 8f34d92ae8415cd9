package report_test

import (
	"slices"
	"strings"
	"testing"

	"mage/evidence"
	"mage/report"
)

func TestSecondAttemptCounts(t *testing.T) {
	s := duel(0.8, nil)
	calm := cell(t, build(t, s.Run()), "cuda/vector@driver", "span")
	s.Disturb = map[int]string{3: "hw-thermal", 9: "other-process"}
	r := build(t, s.Run())
	x := cell(t, r, "cuda/vector@driver", "span")
	if x.Rounds != 20 || x.Disturbed != 2 || r.Header.Disturbed != 4 {
		t.Errorf("%d rounds, %d disturbed (header %d), want 20, 2, 4", x.Rounds, x.Disturbed, r.Header.Disturbed)
	}
	// Disturbed attempts take three times as long; none may leak into the result.
	if max := slices.Max(x.RoundUS); max > 1.5*64 {
		t.Errorf("a disturbed round counts: %g µs", max)
	}
	if x.Verdict != calm.Verdict {
		t.Errorf("verdict %s, undisturbed %s", x.Verdict, calm.Verdict)
	}
	has(t, x.Warnings, report.DisturbedRounds, true)
	has(t, calm.Warnings, report.DisturbedRounds, false)
}

// A disturbance of one arm discards the attempt for all: they are compared.
func TestDisturbedArmDiscardsTheAttempt(t *testing.T) {
	run := duel(0.8, nil).Run()
	for i := range run.Lines {
		if l := &run.Lines[i]; l.Arm == "cuda/first@driver" && l.Round == 5 {
			l.Disturbed = []string{"clock-drift"}
		}
	}
	r := build(t, run)
	for _, arm := range []string{"cuda/first@driver", "cuda/vector@driver"} {
		x := cell(t, r, arm, "span")
		if x.Rounds != 19 || x.Disturbed != 1 {
			t.Errorf("%s: %d rounds, %d disturbed, want 19, 1", arm, x.Rounds, x.Disturbed)
		}
		has(t, x.Warnings, report.FewerRounds, true)
	}
}

// A round of which one cell was disturbed when the run was killed is measured
// again in the next session, in every cell: it counts once.
func TestRoundOfTwoSessionsCountsOnce(t *testing.T) {
	s := duel(0.8, nil)
	again := *s.Entry(s.Record.Cases[0].ID, "cuda/first@driver", "", 0)
	again.Session = 2
	s.Record.Entries[len(s.Record.Entries)-1] = again
	again.Arm = "cuda/vector@driver"
	s.Record.Entries = append(s.Record.Entries, again)
	run := s.Run()
	for _, l := range run.Lines {
		if l.Round == 20 {
			l.Session, l.Attempt, l.Samples = 2, 2, []float64{70}
			run.Lines = append(run.Lines, l)
		}
	}
	x := cell(t, build(t, run), "cuda/vector@driver", "span")
	if x.Rounds != 20 || x.Effect == nil || x.Effect.Pairs != 20 || x.RoundUS[19] != 70 {
		t.Errorf("%d rounds, the last %v, %d pairs; want 20 and the last of 70 µs", x.Rounds, x.RoundUS[len(x.RoundUS)-1:], x.Effect.Pairs)
	}
}

func TestRoundsArePairedWithinASession(t *testing.T) {
	s := duel(0.8, nil)
	s.Record.Entries[1].Session = 2
	run := s.Run()
	for i := range run.Lines {
		if l := &run.Lines[i]; l.Arm == "cuda/vector@driver" {
			l.Session = 2
		}
	}
	x := cell(t, build(t, run), "cuda/vector@driver", "span")
	if x.Verdict != report.NotComparable || !strings.Contains(x.Why, "no round in common") {
		t.Errorf("%s (%s), want not comparable", x.Verdict, x.Why)
	}
}

func TestIncompleteRecord(t *testing.T) {
	s := duel(0.5, nil)
	s.Record.Status, s.Record.Reason = evidence.Incomplete, "interrupted"
	run := s.Run()
	run.Lines = run.Lines[:14] // seven of twenty rounds
	r := build(t, run)
	x := cell(t, r, "cuda/vector@driver", "span")
	if x.Rounds != 7 {
		t.Errorf("%d rounds, want 7", x.Rounds)
	}
	has(t, r.Warnings, report.IncompleteRecord, true)
	has(t, x.Warnings, report.FewerRounds, true)

	run.Lines = run.Lines[:2] // one round: an estimate, no interval, no verdict
	x = cell(t, build(t, run), "cuda/vector@driver", "span")
	if x.Verdict != report.Undecided || x.LowUS != nil || x.Effect.Low != nil {
		t.Errorf("one round: %s, %v, %v", x.Verdict, x.LowUS, x.Effect)
	}
}
