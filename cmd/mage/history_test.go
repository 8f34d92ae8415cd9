package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mage/history"
)

// mage runs the command in this process and returns its exit code and output.
func mage(args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = run(args, &out, &errs)
	return code, out.String(), errs.String()
}

// newHistory holds three sessions of one kernel, read with two instruments.
func newHistory(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "profiles.db")
	db, err := history.Open(path, history.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for i, backend := range []string{"nsys", "nsys", "ncu"} {
		s := history.Session{Command: "python x.py", Start: time.Date(2026, 9, 10+i, 10, 0, 0, 0, time.UTC), Device: "NVIDIA H200", Backend: backend}
		m := []history.Metric{{Kernel: "gelu<float>", DurationUS: 4 + float64(i)}, {Kernel: "layernorm", DurationUS: 12}}
		if _, err := db.Add(context.Background(), s, m); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

func TestHistoryCommands(t *testing.T) {
	t.Setenv("MAGE_DB", newHistory(t))
	for _, c := range []struct {
		args   string
		stdout []string // all in it
	}{
		{"history", []string{"3 sessions", " 3  2026-09-12 10:00:00", "NVIDIA H200", "18.00 µs", "never averaged"}},
		{"history --limit 1", []string{"the newest 1 of 3 sessions"}},
		{"history list --limit 0", []string{"3 sessions"}},
		{"history show 1", []string{"session 1", "kernels: read with nsys", "\ngelu  ", "25 %"}},
		{"history show 1 --json", []string{`"kernel_name": "gelu`}},
		{"history show 1 --top 1", []string{"layernorm", "1 kernel more, 4.000 µs; --top 0 shows all"}},
		{"history plot gelu", []string{"gelu<float>", "NVIDIA H200, read with nsys", "NVIDIA H200, read with ncu", "●"}},
		{"history export 2 --format csv", []string{"session_id,session_command", "2,python x.py", "gelu<float>,5"}},
		{"history vacuum", []string{"before,"}},
		{"history delete 1 2 --yes", []string{"deleted session 1, 2"}},
		{"history", []string{"1 session\n"}},
	} {
		code, stdout, stderr := mage(strings.Fields(c.args)...)
		if code != 0 || stderr != "" {
			t.Errorf("%s: %d, %s", c.args, code, stderr)
		}
		for _, want := range c.stdout {
			if !strings.Contains(stdout, want) {
				t.Errorf("%s: no %q in\n%s", c.args, want, stdout)
			}
		}
	}
}

func TestHistoryFigure(t *testing.T) {
	file := filepath.Join(t.TempDir(), "gelu.svg")
	code, stdout, stderr := mage("history", "plot", "gelu", "--db", newHistory(t), "--output", file)
	data, err := os.ReadFile(file)
	if code != 0 || stdout != "" || !strings.Contains(stderr, "gelu.svg") || err != nil || !strings.Contains(string(data), "gelu&lt;float&gt;") {
		t.Errorf("%d %s %s %v\n%s", code, stdout, stderr, err, data)
	}
}

func TestHistoryJSON(t *testing.T) {
	path := newHistory(t)
	for args, key := range map[string]string{
		"history": "sessions", "history show 1": "kernels", "history plot layernorm": "series", "history export": "sessions",
		"history vacuum": "after_bytes", "history delete --yes 3": "deleted",
	} {
		code, stdout, stderr := mage(append(strings.Fields(args), "--json", "--db", path)...)
		var got map[string]json.RawMessage
		if err := json.Unmarshal([]byte(stdout), &got); err != nil || code != 0 || got[key] == nil {
			t.Errorf("%s: %d %v %s\n%s", args, code, err, stderr, stdout)
		}
	}
	if _, stdout, _ := mage("history", "--json", "--db", filepath.Join(t.TempDir(), "none.db")); strings.Join(strings.Fields(stdout), "") != `{"sessions":[]}` {
		t.Error(stdout)
	}
}

func TestHistoryRefuses(t *testing.T) {
	path, none := newHistory(t), filepath.Join(t.TempDir(), "none.db")
	newer := filepath.Join(t.TempDir(), "newer.db")
	db, err := sql.Open("sqlite", newer)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("PRAGMA user_version = 9"); err != nil {
		t.Fatal(err)
	}
	db.Close()
	for _, c := range []struct {
		args, db string
		code     int
		stderr   string
	}{
		{"history show 77", path, exitFailed, "no session 77"},
		{"history show x", path, exitUsage, "x"},
		{"history plot conv", path, exitFailed, `no kernel of the history is called "conv"`},
		{"history plot gelu --output x.png", path, exitUsage, "figures are SVG"},
		{"history plot gelu --output nodir/x.svg", path, exitFailed, "nodir/x.svg"},
		{"history plot l", path, exitFailed, "could be several kernels: gelu<float>, layernorm"},
		{"history export 77", path, exitFailed, "no session 77"},
		{"history export --format xml", path, exitUsage, "xml"},
		{"history delete 1", path, exitUsage, "add --yes"},
		{"history delete --yes 1 77", path, exitFailed, "no session 77"},
		{"history --limit=-1", path, exitUsage, "want a count"},
		{"history show 1", none, exitFailed, "no history at"},
		{"history delete 1 --yes", none, exitFailed, "no history at"},
		{"history vacuum", none, exitFailed, "no history at"},
		{"history", newer, exitFailed, "has schema 9"},
		{"history add nosuch", path, exitFailed, `no record "nosuch"`},
		{"history", filepath.Dir(path), exitFailed, "it is a directory"},
	} {
		code, stdout, stderr := mage(append(strings.Fields(c.args), "--db", c.db)...)
		if code != c.code || !strings.Contains(stderr, c.stderr) || strings.Count(stderr, "\n") != 1 && c.code == exitFailed {
			t.Errorf("%s: %d, want %d\n%s%s", c.args, code, c.code, stdout, stderr)
		}
	}
	if _, stdout, _ := mage("history", "--db", path); !strings.Contains(stdout, "3 sessions") {
		t.Error("something was deleted:", stdout)
	}
}
