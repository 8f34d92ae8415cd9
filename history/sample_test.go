package history_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	"mage/history"
)

func ptr[T any](v T) *T { return &v }

var start = time.Date(2026, 9, 10, 10, 15, 0, 123456000, time.UTC)

// sampleSession has every field, sampleMetrics every counter once and none once.
func sampleSession() history.Session {
	return history.Session{Command: "python train.py --steps 3", Start: start, End: start.Add(2500 * time.Millisecond),
		Device: "NVIDIA H200", Backend: "nsys", Instrument: "nsys", Outcome: "complete", Directory: "captures/one", ToolVersion: "0.1.0"}
}

func sampleMetrics() []history.Metric {
	return []history.Metric{
		{Kernel: "gelu", DurationUS: 4.5, Timestamp: start.Add(time.Millisecond), Grid: &history.Dim3{3072, 1, 1},
			Block: &history.Dim3{256, 1, 1}, Registers: ptr(int64(32)), SharedBytes: ptr(int64(0)), StaticShared: ptr(int64(0)),
			DynamicShared: ptr(int64(0)), Occupancy: ptr(0.75), MemoryGBps: ptr(2711.5), ComputePct: ptr(31.25), L1HitRate: ptr(0.0),
			L2HitRate: ptr(48.5), DRAMReadBytes: ptr(int64(12582912)), DRAMWriteBytes: ptr(int64(1 << 40)), LocalBytes: ptr(int64(16)),
			Stream: ptr(int64(7))},
		{Kernel: "gelu", DurationUS: 5.5, Timestamp: start.Add(2 * time.Millisecond), Grid: &history.Dim3{3072, 1, 1}},
		{Kernel: "layernorm<float>(T1::Params)", DurationUS: 10, Timestamp: start.Add(3 * time.Millisecond)},
	}
}

func openNew(t testing.TB) (*history.DB, string) {
	path := filepath.Join(t.TempDir(), "a b", "50%#?.db")
	return reopen(t, path, history.Options{}), path
}

func reopen(t testing.TB, path string, o history.Options) *history.DB {
	t.Helper()
	db, err := history.Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func add(t testing.TB, db *history.DB, s history.Session, m []history.Metric) int64 {
	t.Helper()
	id, err := db.Add(context.Background(), s, m)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// raw opens a file with nothing of this package in between.
func raw(t testing.TB, path string, statements ...string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	return db
}
