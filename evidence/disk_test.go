package evidence

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// faultyFile is a file whose disk fails on demand.
type faultyFile struct {
	file
	room       int // bytes that can still be written; -1 for no limit
	noSync     error
	noTruncate error
}

func (f *faultyFile) Write(b []byte) (int, error) {
	if f.room >= 0 && len(b) > f.room {
		n, _ := f.file.Write(b[:f.room])
		f.room = 0
		return n, syscall.ENOSPC
	}
	return f.file.Write(b)
}

func (f *faultyFile) Sync() error {
	if f.noSync != nil {
		return f.noSync
	}
	return f.file.Sync()
}

func (f *faultyFile) Truncate(size int64) error {
	if f.noTruncate != nil {
		return f.noTruncate
	}
	return f.file.Truncate(size)
}

func TestDiskFullIsUndone(t *testing.T) {
	w := newRun(t, 2)
	f := &faultyFile{file: w.samples.f, room: 700}
	w.samples.f = f
	var lost *RoundLostError
	err := w.AppendRound(testRound(caseA, 3, 1, 5))
	if !errors.As(err, &lost) || !errors.Is(err, syscall.ENOSPC) || !lost.Retry || lost.Round != 3 || lost.Case != caseA {
		t.Fatalf("%v", err)
	}
	run, err := Load(w.Dir())
	if err != nil || len(run.Rounds(Cell{caseA, "latency", "hot"})) != 2 || warned(run, TornLine) >= 0 {
		t.Fatalf("after a full disk: %v %v", err, run.Warnings)
	}
	f.room = -1 // someone made room: the same round goes in
	if err := w.AppendRound(testRound(caseA, 3, 1, 5)); err != nil {
		t.Fatal(err)
	}
	if run, err = Load(w.Dir()); err != nil || len(run.Rounds(Cell{caseA, "latency", "hot"})) != 3 {
		t.Fatal(err)
	}
}

// A failure that cannot be undone stops the Writer; the run resumes all the same.
func TestDiskFailureInDoubt(t *testing.T) {
	for name, f := range map[string]faultyFile{
		"full and not undone": {room: 700, noTruncate: syscall.EIO},
		"sync":                {room: -1, noSync: syscall.EIO},
		"sync and not undone": {room: -1, noSync: syscall.EIO, noTruncate: syscall.EIO},
	} {
		t.Run(name, func(t *testing.T) {
			w := newRun(t, 2)
			f.file = w.samples.f
			w.samples.f = &f
			var lost *RoundLostError
			if err := w.AppendRound(testRound(caseA, 3, 1, 5)); !errors.As(err, &lost) || lost.Retry || !strings.Contains(err.Error(), "resume") {
				t.Fatalf("%v", err)
			}
			f.room, f.noSync, f.noTruncate = -1, nil, nil
			if err := w.AppendRound(testRound(caseA, 4, 1, 5)); !errors.As(err, &lost) {
				t.Fatalf("appended behind content in doubt: %v", err)
			}
			if err := w.Finish(Complete, ""); err == nil {
				t.Error("finished a run that lost a round as complete")
			}
			w.Close()
			again, state, err := Resume(w.Dir())
			if err != nil {
				t.Fatal(err)
			}
			// A whole round whose sync failed may be there: it is what was measured.
			n := len(state.Rounds(Cell{caseA, "latency", "hot"}))
			if n < 2 {
				t.Fatalf("%d rounds left", n)
			}
			if err := errors.Join(again.AppendRound(testRound(caseA, n+1, 1, 5)), again.Finish(Complete, ""), again.Close()); err != nil {
				t.Fatal(err)
			}
			if run, err := Load(w.Dir()); err != nil || len(run.Rounds(Cell{caseA, "latency", "hot"})) != n+1 {
				t.Fatal(err)
			}
		})
	}
}

func TestDevFull(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full here: ", err)
	}
	w := newRun(t, 1)
	w.samples.f.Close()
	w.samples.f = full
	var lost *RoundLostError
	if err := w.AppendRound(testRound(caseA, 2, 1, 5)); !errors.As(err, &lost) || !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("%v", err)
	}
	w.events.f.Close()
	w.events.f, _ = os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err := w.Event(Event{What: "x"}); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("%v", err)
	}
	run, err := Load(w.Dir())
	if err != nil || len(run.Lines) != 6 {
		t.Fatalf("%v", err)
	}
}

// TestSmallDisk fills a real file system: record.json is not harmed by a rewrite
// that finds no room, and the run goes on once there is some.
func TestSmallDisk(t *testing.T) {
	dir := smallDisk(t, 256<<10)
	w, err := Create(dir, "small", testRecord())
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 64<<10), 0o644); err != nil {
		t.Fatal(err)
	}
	round := 1
	for ; err == nil && round < 1000; round++ {
		err = w.AppendRound(testRound(caseA, round, 1, 100))
	}
	var lost *RoundLostError
	if !errors.As(err, &lost) || !errors.Is(err, syscall.ENOSPC) || lost.Round != round-1 {
		t.Fatalf("%v", err)
	}
	fill, _ := os.Create(filepath.Join(dir, "fill"))
	for chunk := make([]byte, 512); err == nil || !errors.Is(err, syscall.ENOSPC); {
		_, err = fill.Write(chunk)
	}
	fill.Close()
	if err := w.Update(func(r *Record) { r.Plan.Rounds = 77 }); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("update on a full disk: %v", err)
	}
	run, err := Load(w.Dir())
	if err != nil || len(run.Rounds(Cell{caseA, "latency", "hot"})) != lost.Round-1 || run.Record.Plan.Rounds != 4 {
		t.Fatalf("%v", err)
	}
	os.Remove(ballast)
	if err := errors.Join(w.AppendRound(testRound(caseA, lost.Round, 1, 100)), w.Finish(Incomplete, "no space left on device")); err != nil {
		t.Fatal(err)
	}
	if run, err = Load(w.Dir()); err != nil || run.Record.Plan.Rounds != 77 || len(run.Rounds(Cell{caseA, "latency", "hot"})) != lost.Round {
		t.Fatalf("the change that found no room is not in the next rewrite: %v", err)
	}
}
