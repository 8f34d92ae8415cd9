package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"mage/evidence"
)

// Of records that were begun within one second, the last one is the newest, whatever
// the random part of their names is.
func TestNewestRecord(t *testing.T) {
	parent := filepath.Join(t.TempDir(), "again")
	var made []string
	for range 8 {
		w, err := evidence.Create(filepath.Dir(parent), "again", evidence.Record{})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		made = append(made, w.Dir())
		if got := newestRecord(parent); got != w.Dir() {
			t.Fatalf("of %q the newest is %s", made, got)
		}
		time.Sleep(time.Millisecond) // clocks need not be finer
	}
	// One that was damaged is older than those that tell.
	damaged := filepath.Join(parent, fmt.Sprintf("%s-ffffff", filepath.Base(made[7])[:16]))
	if err := os.Mkdir(damaged, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(damaged, evidence.RecordFile), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := newestRecord(parent); got != made[7] {
		t.Errorf("beside a damaged record the newest is %s", got)
	}
}
