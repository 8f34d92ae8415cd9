package history_test

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mage/history"
)

var ctx = context.Background()

func TestRoundTrip(t *testing.T) {
	db, path := openNew(t)
	id := add(t, db, sampleSession(), sampleMetrics())
	db.Close()
	for _, o := range []history.Options{{}, {ReadOnly: true}} {
		db := reopen(t, path, o)
		session, err := db.Session(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		want := sampleSession()
		want.ID = id
		if d := cmp.Diff(want, session); d != "" {
			t.Error(d)
		}
		metrics, err := db.Metrics(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		wantMetrics := sampleMetrics()
		for i := range wantMetrics {
			wantMetrics[i].ID, wantMetrics[i].SessionID = int64(i+1), id
		}
		if d := cmp.Diff(wantMetrics, metrics); d != "" {
			t.Error(d)
		}
		db.Close()
	}
}

// What stands in the file is what earlier tools expect to find there.
func TestStoredForm(t *testing.T) {
	db, path := openNew(t)
	add(t, db, sampleSession(), sampleMetrics())
	s := sampleSession()
	s.Device, s.End = "", time.Time{}
	add(t, db, s, nil)
	db.Close()
	plain := raw(t, filepath.ToSlash("file:"+strings.NewReplacer("%", "%25", "#", "%23", "?", "%3f", " ", "%20").Replace(path)))
	var began, timestamp, grid, mode string
	var registers, occupancy, end, device any
	err := plain.QueryRow(`SELECT s.start_time, m.timestamp, m.grid_size, m.registers_per_thread, m.occupancy
		FROM sessions s JOIN metrics m ON m.session_id = s.id ORDER BY m.id LIMIT 1 OFFSET 1`).
		Scan(&began, &timestamp, &grid, &registers, &occupancy)
	if err != nil {
		t.Fatal(err)
	}
	if began != "2026-09-10T10:15:00.123456+00:00" || timestamp != "2026-09-10T10:15:00.125456+00:00" || grid != "3072,1,1" {
		t.Errorf("%s, %s, %s", began, timestamp, grid)
	}
	if registers != nil || occupancy != nil {
		t.Errorf("a missing counter is %v, %v, not NULL", registers, occupancy)
	}
	if err := plain.QueryRow("SELECT end_time, device_name FROM sessions WHERE id = 2").Scan(&end, &device); err != nil || end != nil || device != nil {
		t.Errorf("%v, %v, %v", end, device, err)
	}
	if err := plain.QueryRow("PRAGMA journal_mode").Scan(&mode); err != nil || mode != "wal" {
		t.Errorf("journal mode %s, %v", mode, err)
	}
}

func TestAddRefuses(t *testing.T) {
	db, _ := openNew(t)
	type change = func(*history.Session, []history.Metric)
	for want, f := range map[string]change{
		"command is empty":                              func(s *history.Session, m []history.Metric) { s.Command = "" },
		"start_time is missing":                         func(s *history.Session, m []history.Metric) { s.Start = time.Time{} },
		"metrics[1].kernel_name is empty":               func(s *history.Session, m []history.Metric) { m[1].Kernel = "" },
		"metrics[2].duration_us is -1":                  func(s *history.Session, m []history.Metric) { m[2].DurationUS = -1 },
		"metrics[0].duration_us is NaN":                 func(s *history.Session, m []history.Metric) { m[0].DurationUS = math.NaN() },
		"metrics[0].duration_us is +Inf":                func(s *history.Session, m []history.Metric) { m[0].DurationUS = math.Inf(1) },
		"metrics[0].occupancy is 75":                    func(s *history.Session, m []history.Metric) { m[0].Occupancy = ptr(75.0) },
		"metrics[0].l2_hit_rate is NaN":                 func(s *history.Session, m []history.Metric) { m[0].L2HitRate = ptr(math.NaN()) },
		"metrics[0].dram_read_bytes is -5":              func(s *history.Session, m []history.Metric) { m[0].DRAMReadBytes = ptr(int64(-5)) },
		"metrics[0].compute_throughput_pct is -0.5":     func(s *history.Session, m []history.Metric) { m[0].ComputePct = ptr(-0.5) },
		"metrics[0].memory_throughput_gbps is +Inf":     func(s *history.Session, m []history.Metric) { m[0].MemoryGBps = ptr(math.Inf(1)) },
		"metrics[0].registers_per_thread is -1, less t": func(s *history.Session, m []history.Metric) { m[0].Registers = ptr(int64(-1)) },
	} {
		s, m := sampleSession(), sampleMetrics()
		f(&s, m)
		_, err := db.Add(ctx, s, m)
		if bad := new(history.ValueError); !errors.As(err, &bad) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if all, err := db.Sessions(ctx); err != nil || len(all) != 0 {
		t.Errorf("%d sessions were kept of what was refused, %v", len(all), err)
	}
}

func TestSessionsNewestFirst(t *testing.T) {
	db, _ := openNew(t)
	for _, after := range []time.Duration{time.Hour, 0, 2 * time.Hour, 0} {
		s := sampleSession()
		s.Start = start.Add(after)
		add(t, db, s, sampleMetrics()[:2])
	}
	all, err := db.Sessions(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var ids []int64
	for _, s := range all {
		ids = append(ids, s.ID)
	}
	if d := cmp.Diff([]int64{3, 1, 4, 2}, ids); d != "" {
		t.Error(d)
	}
	if s := all[0]; s.Kernels != 1 || s.Launches != 2 || s.TotalUS != 10 {
		t.Errorf("%+v", s)
	}
}

func TestKernels(t *testing.T) {
	db, _ := openNew(t)
	id := add(t, db, sampleSession(), sampleMetrics())
	got, err := db.Kernels(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	grid := history.Dim3{3072, 1, 1}
	want := []history.Kernel{
		{Name: "gelu", Calls: 2, Total: 10, Mean: 5, Min: 4.5, Max: 5.5, Share: 0.5, Grid: &grid, Counters: []history.Counter{
			{Name: "occupancy", Mean: 0.75, Calls: 1}, {Name: "memory_throughput_gbps", Mean: 2711.5, Calls: 1},
			{Name: "compute_throughput_pct", Mean: 31.25, Calls: 1}, {Name: "l1_hit_rate", Mean: 0, Calls: 1},
			{Name: "l2_hit_rate", Mean: 48.5, Calls: 1}, {Name: "dram_read_bytes", Mean: 12582912, Calls: 1},
			{Name: "dram_write_bytes", Mean: 1 << 40, Calls: 1}}},
		{Name: "layernorm<float>(T1::Params)", Calls: 1, Total: 10, Mean: 10, Min: 10, Max: 10, Share: 0.5},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	_, err = db.Kernels(ctx, 99)
	if missing := new(history.NoSessionError); !errors.As(err, &missing) || missing.ID != 99 {
		t.Error(err)
	}
}

func TestKernelOverTime(t *testing.T) {
	db, _ := openNew(t)
	put := func(day int, device, backend string, us ...float64) {
		s := history.Session{Command: "x", Start: start.AddDate(0, 0, day), Device: device, Backend: backend}
		var m []history.Metric
		for _, d := range us {
			m = append(m, history.Metric{Kernel: "matmul_Tiled", DurationUS: d})
		}
		add(t, db, s, append(m, history.Metric{Kernel: "matmul", DurationUS: 1}))
	}
	put(3, "H200", "nsys", 4, 1, 2)
	put(1, "H200", "nsys", 8)
	put(2, "H200", "triton", 30, 20)
	put(4, "A100", "nsys", 9)
	name, got, err := db.KernelOverTime(ctx, "tiled")
	if err != nil || name != "matmul_Tiled" {
		t.Fatal(name, err)
	}
	at := func(id int64, day int, device, backend, instrument string, calls int, median, low, high, least, most float64) history.Point {
		return history.Point{Session: id, Start: start.AddDate(0, 0, day), Device: device, Backend: backend, Instrument: instrument,
			Command: "x", Calls: calls, Median: median, Low: low, High: high, Min: least, Max: most}
	}
	want := []history.Series{
		{Device: "H200", Instrument: "nsys", Points: []history.Point{at(2, 1, "H200", "nsys", "nsys", 1, 8, 8, 8, 8, 8), at(1, 3, "H200", "nsys", "nsys", 3, 2, 1.5, 3, 1, 4)}},
		{Device: "H200", Instrument: "cuda-event", Points: []history.Point{at(3, 2, "H200", "triton", "cuda-event", 2, 25, 22.5, 27.5, 20, 30)}},
		{Device: "A100", Instrument: "nsys", Points: []history.Point{at(4, 4, "A100", "nsys", "nsys", 1, 9, 9, 9, 9, 9)}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if name, _, err := db.KernelOverTime(ctx, "matmul"); err != nil || name != "matmul" {
		t.Error("a whole name is that kernel:", name, err)
	}
	for word, want := range map[string]string{"MAT": "could be several kernels: matmul, matmul_Tiled", "conv": `no kernel of the history is called "conv"`} {
		if _, _, err := db.KernelOverTime(ctx, word); err == nil || !strings.Contains(err.Error(), want) {
			t.Error(word, err)
		}
	}
}

func TestDeleteAndVacuum(t *testing.T) {
	db, _ := openNew(t)
	many := sampleMetrics()
	for range 10 {
		many = append(many, many...)
	}
	one, two := add(t, db, sampleSession(), many), add(t, db, sampleSession(), sampleMetrics())
	err := db.Delete(ctx, one, 77)
	if missing := new(history.NoSessionError); !errors.As(err, &missing) || missing.ID != 77 {
		t.Error(err)
	}
	if m, err := db.Metrics(ctx, one); err != nil || len(m) != len(many) {
		t.Errorf("a refused deletion left %d of %d, %v", len(m), len(many), err)
	}
	if err := db.Delete(ctx, one); err != nil {
		t.Fatal(err)
	}
	before, after, err := db.Vacuum(ctx)
	if err != nil || !(after < before/4) {
		t.Errorf("%d bytes, then %d, %v", before, after, err)
	}
	if m, err := db.Metrics(ctx, one); err != nil || len(m) != 0 {
		t.Errorf("%d metrics of a deleted session, %v", len(m), err)
	}
	if m, err := db.Metrics(ctx, two); err != nil || len(m) != 3 {
		t.Errorf("%d metrics of the other session, %v", len(m), err)
	}
	if three := add(t, db, sampleSession(), nil); three != 3 {
		t.Errorf("the id %d was given again", three)
	}
}

func TestReadOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none.db")
	if _, err := history.Open(path, history.Options{ReadOnly: true}); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	db := reopen(t, path, history.Options{})
	add(t, db, sampleSession(), nil)
	reader := reopen(t, path, history.Options{ReadOnly: true})
	if _, err := reader.Add(ctx, sampleSession(), nil); err == nil || !strings.Contains(err.Error(), "cannot be written") {
		t.Error(err)
	}
	add(t, db, sampleSession(), nil)
	if all, err := reader.Sessions(ctx); err != nil || len(all) != 2 {
		t.Errorf("a reader sees %d sessions, %v", len(all), err)
	}
}
