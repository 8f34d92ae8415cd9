package history_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"mage/history"
)

// TestMain lets the test binary be a writer of its own.
func TestMain(m *testing.M) {
	if path := os.Getenv("HISTORY_TEST_WRITE"); path != "" {
		os.Exit(writer(path, os.Getenv("HISTORY_TEST_COUNT")))
	}
	os.Exit(m.Run())
}

// writer adds sessions and names each one on stdout once it is committed.
func writer(path, count string) int {
	n, err := strconv.Atoi(count)
	if err == nil {
		var db *history.DB
		if db, err = history.Open(path, history.Options{}); err == nil {
			for i := 0; i < n && err == nil; i++ {
				var id int64
				s := sampleSession()
				s.Command = fmt.Sprintf("writer %d, session %d", os.Getpid(), i)
				if id, err = db.Add(context.Background(), s, sampleMetrics()); err == nil {
					fmt.Println(id)
				}
			}
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func writing(path string, count int) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "HISTORY_TEST_WRITE="+path, fmt.Sprint("HISTORY_TEST_COUNT=", count))
	return cmd
}

// TestConcurrentProcesses lets several processes create and write one history.
func TestConcurrentProcesses(t *testing.T) {
	const processes, each = 4, 15
	path := filepath.Join(t.TempDir(), "new", "shared.db")
	type result struct {
		out []byte
		err error
	}
	results := make(chan result)
	for range processes {
		go func() {
			var problems strings.Builder
			cmd := writing(path, each)
			cmd.Stderr = &problems
			out, err := cmd.Output()
			if err != nil {
				err = fmt.Errorf("%w: %s", err, &problems)
			}
			results <- result{out, err}
		}()
	}
	told := map[string]bool{}
	for range processes {
		r := <-results
		if r.err != nil {
			t.Error(r.err)
		}
		for _, id := range strings.Fields(string(r.out)) {
			told[id] = true
		}
	}
	if len(told) != processes*each {
		t.Fatalf("%d different ids", len(told))
	}
	db := reopen(t, path, history.Options{})
	all, err := db.Sessions(ctx)
	if err != nil || len(all) != processes*each {
		t.Fatalf("%d sessions, %v", len(all), err)
	}
	for _, s := range all {
		if s.Launches != 3 || !told[fmt.Sprint(s.ID)] {
			t.Errorf("%+v", s)
		}
	}
}

// TestKilledWriter kills a process while it writes, again and again: every
// session that it reported is there, whole, and no session is there in part.
func TestKilledWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "killed.db")
	told := 0
	rounds := 6
	if testing.Short() {
		rounds = 2
	}
	for round := range rounds {
		cmd := writing(path, 1<<20)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for n := 0; lines.Scan(); n++ {
			told++
			if n == 3+7*round {
				cmd.Process.Kill()
			}
		}
		cmd.Wait()
		db := reopen(t, path, history.Options{})
		all, err := db.Sessions(ctx)
		if err != nil {
			t.Fatal(err)
		}
		// At most the session that was being committed when the kill came is there untold.
		if len(all) < told || len(all) > told+round+1 {
			t.Fatalf("%d sessions, %d were reported", len(all), told)
		}
		for _, s := range all {
			if s.Launches != 3 {
				t.Errorf("session %d has %d metrics", s.ID, s.Launches)
			}
		}
		db.Close()
	}
	var verdict string
	if err := raw(t, path).QueryRow("PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		t.Error(verdict, err)
	}
}
