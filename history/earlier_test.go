package history_test

import (
	"bytes"
	"database/sql"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mage/history"
)

// firstSessions and firstMetrics are the tables as the first published version
// created them, without a schema number.
const (
	firstSessions = `CREATE TABLE sessions (id INTEGER PRIMARY KEY AUTOINCREMENT, command TEXT NOT NULL, start_time TEXT NOT NULL,
		end_time TEXT, device_name TEXT, backend TEXT DEFAULT 'nsys')`
	firstMetrics = `CREATE TABLE metrics (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id INTEGER NOT NULL, kernel_name TEXT NOT NULL,
		duration_us REAL NOT NULL, timestamp TEXT NOT NULL, grid_size TEXT, block_size TEXT, registers_per_thread INTEGER,
		shared_mem_bytes INTEGER, static_shared_mem_bytes INTEGER, dynamic_shared_mem_bytes INTEGER, occupancy REAL,
		memory_throughput_gbps REAL, compute_throughput_pct REAL, l1_hit_rate REAL, l2_hit_rate REAL, dram_read_bytes INTEGER,
		dram_write_bytes INTEGER, FOREIGN KEY (session_id) REFERENCES sessions(id) ON DELETE CASCADE)`
)

// without removes one column from a CREATE TABLE statement.
func without(create string, columns ...string) string {
	head, body, _ := strings.Cut(strings.TrimSuffix(create, ")"), "(")
	var kept []string
	for _, c := range strings.Split(body, ",") {
		name, _, _ := strings.Cut(strings.TrimSpace(c), " ")
		drop := false
		for _, gone := range columns {
			drop = drop || name == gone
		}
		if !drop {
			kept = append(kept, c)
		}
	}
	return head + "(" + strings.Join(kept, ",") + ")"
}

type earlier struct {
	statements []string
	// start and timestamp of the one session and metric, as they must be read.
	start, timestamp time.Time
	backend          string
	occupancy        *float64
	grid             *history.Dim3
}

func earlierVersions() map[string]earlier {
	local := time.Date(2026, 9, 10, 10, 15, 0, 123456000, time.Local).UTC()
	metric := func(columns, values string) string {
		return fmt.Sprintf("INSERT INTO metrics (id, session_id, kernel_name, duration_us%s) VALUES (41, 7, 'gelu', 4.5%s)", columns, values)
	}
	whole := metric(", timestamp, grid_size, occupancy", ", '2026-09-10T10:15:00.123456', '12,3,1', 0.5")
	session := "INSERT INTO sessions (id, command, start_time) VALUES (7, 'python x.py', '2026-09-10T10:15:00.123456')"
	grid, half := &history.Dim3{12, 3, 1}, ptr(0.5)
	return map[string]earlier{
		"first": {[]string{firstSessions, firstMetrics, session, whole}, local, local, "nsys", half, grid},
		"without start and end": {[]string{without(firstSessions, "start_time", "end_time"), firstMetrics,
			"INSERT INTO sessions (id, command) VALUES (7, 'python x.py')", whole}, time.Time{}, local, "nsys", half, grid},
		"without cache hit rates": {[]string{firstSessions, without(firstMetrics, "l1_hit_rate", "l2_hit_rate"), session, whole}, local, local, "nsys", half, grid},
		"without occupancy": {[]string{firstSessions, without(firstMetrics, "occupancy"), session,
			metric(", timestamp, grid_size", ", '2026-09-10T10:15:00.123456', '12,3,1'")}, local, local, "nsys", nil, grid},
		"without backend": {[]string{without(firstSessions, "backend"), firstMetrics, session, whole}, local, local, "", half, grid},
		"without sizes and shared memory": {[]string{firstSessions, without(firstMetrics, "grid_size", "block_size", "static_shared_mem_bytes",
			"dynamic_shared_mem_bytes", "registers_per_thread"), session, metric(", timestamp, occupancy", ", '2026-09-10T10:15:00.123456', 0.5")},
			local, local, "nsys", half, nil},
		"bare": {[]string{"CREATE TABLE sessions (id INTEGER PRIMARY KEY, command TEXT)",
			"CREATE TABLE metrics (id INTEGER PRIMARY KEY, session_id INTEGER, kernel_name TEXT, duration_us REAL)",
			"INSERT INTO sessions VALUES (7, 'python x.py')", metric("", "")}, time.Time{}, time.Time{}, "", nil, nil},
		"extra columns": {[]string{strings.Replace(firstSessions, "command TEXT", "note TEXT, command TEXT", 1),
			strings.Replace(firstMetrics, "occupancy REAL", "occupancy REAL, sm_clock_mhz INTEGER", 1), session, whole,
			"UPDATE sessions SET note = 'keep me'", "UPDATE metrics SET sm_clock_mhz = 1980"}, local, local, "nsys", half, grid},
		"text times with an offset and a space": {[]string{firstSessions, firstMetrics,
			strings.Replace(session, "'2026-09-10T10:15:00.123456'", "'2026-09-10 12:15:00.123456+02:00'", 1),
			strings.Replace(whole, "'2026-09-10T10:15:00.123456'", "'2026-09-10T10:15:00.123456Z'", 1)}, start, start, "nsys", half, grid},
		"times as seconds": {[]string{strings.Replace(firstSessions, "start_time TEXT", "start_time REAL", 1),
			strings.Replace(firstMetrics, "timestamp TEXT", "timestamp INTEGER", 1),
			"INSERT INTO sessions (id, command, start_time) VALUES (7, 'python x.py', 1789035300.123456)",
			strings.Replace(whole, "'2026-09-10T10:15:00.123456'", "1789035300123456000", 1)}, start, start, "nsys", half, grid},
		"declared as timestamps": {[]string{strings.Replace(firstSessions, "start_time TEXT", "start_time TIMESTAMP", 1),
			strings.Replace(firstMetrics, "timestamp TEXT", "timestamp DATETIME", 1), session, whole}, local, local, "nsys", half, grid},
		"unreadable values": {[]string{firstSessions, firstMetrics, strings.Replace(session, "2026-09-10T10:15:00.123456", "yesterday", 1),
			strings.Replace(strings.Replace(whole, "12,3,1", "12x3", 1), "0.5", "'n/a'", 1)}, time.Time{}, local, "nsys", nil, nil},
		"other letter case": {[]string{strings.ToUpper(firstSessions[:strings.Index(firstSessions, "DEFAULT")]) + "DEFAULT 'nsys')",
			firstMetrics, session, whole}, local, local, "nsys", half, grid},
		"without metrics": {[]string{firstSessions, session}, local, time.Time{}, "nsys", nil, nil},
	}
}

// TestEarlierVersions opens databases of earlier versions, with and without
// bringing them up to date, and finds every row as it was.
func TestEarlierVersions(t *testing.T) {
	for name, v := range earlierVersions() {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "old.db")
			old := raw(t, path, v.statements...)
			sessions, metrics := rows(t, old, "sessions"), rows(t, old, "metrics")
			old.Close()
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if metrics != nil { // else there is nothing to read them from
				db := reopen(t, path, history.Options{ReadOnly: true})
				checkEarlier(t, db, v)
				db.Close()
			}
			if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
				t.Fatal("reading changed the file", err)
			}
			for range 2 { // the second time there is nothing left to do
				db := reopen(t, path, history.Options{})
				checkEarlier(t, db, v)
				db.Close()
			}
			now := raw(t, path)
			sameRows(t, "sessions", sessions, rows(t, now, "sessions"))
			sameRows(t, "metrics", metrics, rows(t, now, "metrics"))
			var version int
			if err := now.QueryRow("PRAGMA user_version").Scan(&version); err != nil || version != history.Schema {
				t.Error(version, err)
			}
			now.Close()
			db := reopen(t, path, history.Options{})
			id := add(t, db, sampleSession(), sampleMetrics())
			if m, err := db.Metrics(ctx, id); err != nil || len(m) != 3 || *m[0].Occupancy != 0.75 {
				t.Errorf("what is added is not kept: %+v, %v", m, err)
			}
		})
	}
}

func checkEarlier(t *testing.T, db *history.DB, v earlier) {
	t.Helper()
	all, err := db.Sessions(ctx)
	if err != nil || len(all) != 1 {
		t.Fatalf("%d sessions, %v", len(all), err)
	}
	s := all[0]
	if s.ID != 7 || s.Command != "python x.py" || !s.Start.Equal(v.start) || s.Backend != v.backend || !s.End.IsZero() {
		t.Errorf("%+v, want a start of %v", s, v.start)
	}
	metrics, err := db.Metrics(ctx, 7)
	if err != nil {
		t.Fatal(err)
	}
	if s.Launches != len(metrics) {
		t.Error(s.Launches, "launches")
	}
	if len(metrics) == 0 && len(v.statements) == 2 {
		return
	}
	want := history.Metric{ID: 41, SessionID: 7, Kernel: "gelu", DurationUS: 4.5, Timestamp: v.timestamp, Grid: v.grid, Occupancy: v.occupancy}
	if d := cmp.Diff([]history.Metric{want}, metrics); d != "" {
		t.Error(d)
	}
}

// rows reads a table whole, by column; nil when there is none.
func rows(t *testing.T, db interface {
	Query(string, ...any) (*sql.Rows, error)
}, table string) []map[string]any {
	t.Helper()
	r, err := db.Query("SELECT * FROM " + table)
	if err != nil {
		return nil
	}
	defer r.Close()
	columns, _ := r.Columns()
	out := []map[string]any{}
	for r.Next() {
		values := make([]any, len(columns))
		to := make([]any, len(columns))
		for i := range values {
			to[i] = &values[i]
		}
		if err := r.Scan(to...); err != nil {
			t.Fatal(err)
		}
		row := map[string]any{}
		for i, c := range columns {
			row[c] = values[i]
		}
		out = append(out, row)
	}
	return out
}

// sameRows finds every old value in the new rows, and NULL in what was added.
func sameRows(t *testing.T, table string, old, now []map[string]any) {
	t.Helper()
	if len(old) != len(now) {
		t.Fatalf("%s: %d rows, then %d", table, len(old), len(now))
	}
	for i := range old {
		for c, v := range now[i] {
			was, had := old[i][c]
			if had && !cmp.Equal(v, was) || !had && v != nil {
				t.Errorf("%s[%d].%s was %v, is %v", table, i, c, was, v)
			}
		}
		for c := range old[i] {
			if _, has := now[i][c]; !has {
				t.Errorf("%s[%d].%s is gone", table, i, c)
			}
		}
	}
}

func TestExportKeepsUnknownColumns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "old.db")
	raw(t, path, earlierVersions()["extra columns"].statements...).Close()
	db := reopen(t, path, history.Options{})
	add(t, db, sampleSession(), nil)
	var b bytes.Buffer
	if err := db.ExportJSON(ctx, &b); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Schema   int
		Sessions []struct {
			ID      int
			Note    string
			Start   string `json:"start_time"`
			Metrics []map[string]any
		}
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatalf("%v\n%s", err, &b)
	}
	if got.Schema != 1 || len(got.Sessions) != 2 || got.Sessions[0].Note != "keep me" || got.Sessions[0].Start != "2026-09-10T10:15:00.123456" ||
		len(got.Sessions[0].Metrics) != 1 || got.Sessions[0].Metrics[0]["sm_clock_mhz"] != 1980.0 || len(got.Sessions[1].Metrics) != 0 {
		t.Errorf("%+v", got)
	}
	if _, has := got.Sessions[0].Metrics[0]["l1_hit_rate"]; has {
		t.Error("a missing counter is exported")
	}
	b.Reset()
	if err := db.ExportCSV(ctx, &b); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&b).ReadAll()
	if err != nil || len(lines) != 3 {
		t.Fatal(len(lines), err)
	}
	at := func(line int, column string) string {
		for i, c := range lines[0] {
			if c == column {
				return lines[line][i]
			}
		}
		t.Fatal("no column ", column, " in ", lines[0])
		return ""
	}
	if at(1, "session_note") != "keep me" || at(1, "sm_clock_mhz") != "1980" || at(1, "l1_hit_rate") != "" || at(1, "duration_us") != "4.5" ||
		at(2, "session_id") != "8" || at(2, "kernel_name") != "" {
		t.Errorf("%q", lines)
	}
	b.Reset()
	if err := db.ExportJSON(ctx, &b, 8); err != nil || strings.Contains(b.String(), "keep me") {
		t.Errorf("%v %s", err, &b)
	}
	if missing := new(history.NoSessionError); !errors.As(db.ExportCSV(ctx, &b, 9), &missing) {
		t.Error("an unknown session is exported")
	}
}
