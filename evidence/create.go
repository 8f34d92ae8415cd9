package evidence

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

// The files of a record directory.
const (
	RecordFile  = "record.json"
	SamplesFile = "samples.jsonl"
	EventsFile  = "events.jsonl"
	tornSuffix  = ".torn" // what a kill left of an unfinished write
)

var namespaceForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// Create starts a run: it makes the directory root/namespace/<run id> with its
// three files and returns its Writer, which holds the run's lock. Schema,
// namespace, run id, status, times and the first session of rec are filled in;
// the rest is the caller's. The directory appears with its record or not at
// all, and never takes the place of an existing run.
func Create(root, namespace string, rec Record) (*Writer, error) {
	if !namespaceForm.MatchString(namespace) {
		return nil, fmt.Errorf("namespace %q: use letters, digits, dots, underscores and hyphens", namespace)
	}
	parent := filepath.Join(root, namespace)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return nil, fmt.Errorf("create a record: %w", err)
	}
	now := time.Now().UTC()
	id := runID(now)
	staging := filepath.Join(parent, "."+id+".new")
	if err := os.Mkdir(staging, 0o755); err != nil {
		return nil, fmt.Errorf("create a record: %w", err)
	}
	rec.Schema = Schema
	rec.Namespace, rec.RunID = namespace, id
	rec.Status, rec.Reason = Running, ""
	rec.Created, rec.Updated = now, now
	rec.Sessions = []Session{{ID: 1, Started: now}}
	if rec.Spec.SHA256 == "" {
		rec.Spec.SHA256 = hash(rec.Spec.Text)
	}
	w, err := open(staging, rec)
	if err == nil {
		// A directory with content is never replaced: this fails if the id is taken.
		err = os.Rename(staging, filepath.Join(parent, id))
	}
	if err != nil {
		os.RemoveAll(staging)
		return nil, errors.Join(fmt.Errorf("create a record: %w", err), w.Close())
	}
	w.dir = filepath.Join(parent, id)
	for _, dir := range []string{parent, root} {
		if err := syncDir(dir); err != nil {
			return nil, errors.Join(fmt.Errorf("create a record: %w", err), w.Close())
		}
	}
	return w, nil
}

// runID is the second in UTC and six random hexadecimal digits.
func runID(now time.Time) string {
	var r [3]byte
	rand.Read(r[:]) // never fails
	return now.Format("20060102T150405Z") + "-" + hex.EncodeToString(r[:])
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
