package history_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mage/history"
)

// TestOpenRefuses finds one clear error for what is no history, and the file as
// it was.
func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	sqlite := func(name string, statements ...string) string {
		path := filepath.Join(dir, name)
		raw(t, path, statements...).Close()
		return path
	}
	noise := make([]byte, 8192)
	r := rand.NewChaCha8([32]byte{1})
	r.Read(noise)
	for _, c := range []struct{ path, want string }{
		{dir, "no history database: it is a directory"},
		{os.DevNull, "it is no regular file"},
		{file("text", "hello, this is a text file that is longer than the header of a database, which takes a hundred bytes."), "it is not a SQLite file"},
		{file("noise", string(noise)), "it is not a SQLite file"},
		{file("cut", "SQLite format 3\x00"+string(noise[:300])), ""},
		{sqlite("other", "CREATE TABLE invoices (id INTEGER)"), "it holds the tables of another program"},
		{sqlite("alike", "CREATE TABLE sessions (token TEXT, expires INTEGER)"), "its table sessions has no column id"},
		{sqlite("alike2", firstSessions, "CREATE TABLE metrics (id INTEGER PRIMARY KEY, name TEXT, value REAL)"), "its table metrics has no column session_id"},
		{sqlite("newer", firstSessions, firstMetrics, "PRAGMA user_version = 7"), "has schema 7, this mage knows schemas up to 1"},
		{filepath.Join(file("plain", "x"), "below.db"), "not a directory"},
	} {
		before, _ := os.ReadFile(c.path)
		for _, o := range []history.Options{{}, {ReadOnly: true}} {
			db, err := history.Open(c.path, o)
			if err == nil {
				db.Close()
				t.Errorf("%s is opened", c.path)
				continue
			}
			if !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.path) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %v, want %s", c.path, err, c.want)
			}
		}
		if after, _ := os.ReadFile(c.path); !bytes.Equal(before, after) {
			t.Errorf("%s was changed", c.path)
		}
	}
	_, err := history.Open(filepath.Join(dir, "newer"), history.Options{})
	if newer := new(history.NewerError); !errors.As(err, &newer) || newer.Found != 7 {
		t.Error(err)
	}
}

// TestDamaged overwrites a page in the middle of a history.
func TestDamaged(t *testing.T) {
	db, path := openNew(t)
	many := sampleMetrics()
	for range 9 {
		many = append(many, many...)
	}
	id := add(t, db, sampleSession(), many)
	db.Close()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := len(data) / 2; i < len(data)/2+40960; i++ {
		data[i] = 0xa5
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	db = reopen(t, path, history.Options{})
	_, err = db.Metrics(ctx, id)
	if damaged := new(history.NotHistoryError); !errors.As(err, &damaged) || !strings.Contains(err.Error(), "damaged") {
		t.Error(err)
	}
}

// TestValuesThatNobodyMeasured are missing: earlier versions checked nothing.
func TestValuesThatNobodyMeasured(t *testing.T) {
	path := filepath.Join(t.TempDir(), "odd.db")
	raw(t, path, firstSessions, firstMetrics,
		"INSERT INTO sessions (id, command, start_time) VALUES (1, 'c', 'once'), (2, 'none', '2026-09-10')",
		`INSERT INTO metrics (session_id, kernel_name, duration_us, timestamp, occupancy) VALUES (1, 'k', 2, '', 9e999),
		 (1, 'k', 9e999, '', 0.5), (1, 'k', -3, '', 0.5), (1, 'k', 'soon', '', 0.5), (1, 'long', 9e307, '', 0.5), (9, 'orphan', 1, '', 0.5)`).Close()
	db := reopen(t, path, history.Options{ReadOnly: true})
	kernels, err := db.Kernels(ctx, 1)
	if err != nil || len(kernels) != 1 || kernels[0].Calls != 1 || kernels[0].Total != 2 || len(kernels[0].Counters) != 0 {
		t.Errorf("%+v, %v", kernels, err)
	}
	all, err := db.Sessions(ctx)
	if err != nil || len(all) != 2 || all[1].TotalUS != 2 || all[1].Launches != 1 {
		t.Errorf("%+v, %v", all, err)
	}
	var b bytes.Buffer
	if err := db.ExportJSON(ctx, &b); err != nil || !json.Valid(b.Bytes()) || strings.Count(b.String(), `"kernel_name"`) != 5 {
		t.Errorf("%v\n%s", err, b.String())
	}
	b.Reset()
	if err := db.ExportCSV(ctx, &b, 2); err != nil || !strings.HasPrefix(b.String(), "session_id,") {
		t.Errorf("%v\n%s", err, b.String())
	}
}

// TestEmpty: a file that nothing was written to is none to read, and one to begin.
func TestEmpty(t *testing.T) {
	path := filepath.Join(t.TempDir(), "empty.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := history.Open(path, history.Options{ReadOnly: true}); err == nil || !strings.Contains(err.Error(), "it is empty") {
		t.Error(err)
	}
	reopen(t, path, history.Options{}).Close()
	db := reopen(t, path, history.Options{ReadOnly: true})
	var b bytes.Buffer
	if err := db.ExportCSV(ctx, &b); err != nil || strings.Count(b.String(), "\n") != 1 {
		t.Errorf("%v\n%s", err, b.String())
	}
}

// TestManyAlike: an error is a line, not a list of all that there is.
func TestManyAlike(t *testing.T) {
	e := history.NoKernelError{Name: "k", Similar: strings.Fields(strings.Repeat("k1 ", 5000))}
	if text := e.Error(); !strings.HasSuffix(text, "k1, k1, and 4990 more") || len(text) > 200 {
		t.Error(text)
	}
}
