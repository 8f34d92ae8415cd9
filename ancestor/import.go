package ancestor

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"mage/evidence"
)

// Options of Import.
type Options struct {
	Results   string // where records are kept
	Namespace string // "": the experiment's own name
	Version   string // of the mage that imports
	Commit    string
}

// Record is one file brought in.
type Record struct {
	File       string `json:"file"` // as given
	Format     string `json:"format"`
	Experiment string `json:"experiment"`
	Dir        string `json:"record"`
	Unread     int    `json:"unread_fields"` // kinds of field that only the original holds
}

// The formats.
const (
	Results  = "comparison-results"
	Profiles = "comparison-profiles"
)

// KnownError reports a file that a record holds already.
type KnownError struct{ File, Dir string }

func (e *KnownError) Error() string {
	return fmt.Sprintf("%s is imported already: %s", e.File, e.Dir)
}

// Import reads and checks all files, then makes a record of each. Profiles need
// the results of the same experiment, for the shapes: among the files, or in an
// earlier record of the namespace. Errors are *Error and *KnownError, and those of
// the disk; nothing is written unless every file fits.
func Import(paths []string, o Options) ([]Record, error) {
	var sources []*source
	for _, path := range paths {
		s, err := open(path)
		if err != nil {
			return nil, err
		}
		sources = append(sources, s)
	}
	for i, s := range sources {
		for _, other := range sources[:i] {
			if other.imported.SHA256 == s.imported.SHA256 {
				return nil, fmt.Errorf("import: %s and %s are the same file", other.path, s.path)
			}
		}
		if err := s.plan(sources, o); err != nil {
			return nil, err
		}
		if _, err := evidence.Portable(s.draft.record); err != nil {
			return nil, fmt.Errorf("import %s: %w", s.path, err)
		}
	}
	var out []Record
	for _, s := range sources {
		dir, err := s.write(o)
		if err != nil {
			return out, fmt.Errorf("import %s: %w", s.path, err)
		}
		out = append(out, Record{s.path, s.imported.Format, s.draft.record.Imported.Experiment, dir, len(s.imported.Unread)})
	}
	return out, nil
}

// namespaceForm is that of package evidence.
var namespaceForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// source is one file on its way into a record.
type source struct {
	path      string
	file      *file
	imported  evidence.Imported
	results   *results  // or
	profiles  *profiles // one of them
	namespace string
	draft     draft
}

func open(path string) (*source, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("import: %w", err)
	}
	s, problem := read(filepath.Base(path), data)
	s.path = path
	if problem != nil {
		return nil, problem
	}
	return s, nil
}

// read reads and checks a file by itself.
func read(name string, data []byte) (*source, error) {
	f := &file{name: name, data: data}
	sum := sha256.Sum256(data)
	s := &source{file: f, imported: evidence.Imported{File: name, SHA256: hex.EncodeToString(sum[:]), Bytes: int64(len(data))}}
	f.parse()
	if f.err != nil {
		return s, f.err
	}
	top := f.top()
	_, isResults := top.maybe("results")
	_, isProfiles := top.maybe("captures")
	switch {
	case isResults && !isProfiles:
		s.imported.Format, s.results = Results, readResults(top)
	case isProfiles && !isResults:
		s.imported.Format, s.profiles = Profiles, readProfiles(top)
	default:
		top.fail("is neither a comparison-results.json (with results) nor a comparison-profiles.json (with captures)")
	}
	if f.err != nil {
		return s, f.err
	}
	s.imported.Unread = f.unread()
	return s, nil
}

// plan settles the namespace and drafts the record.
func (s *source) plan(all []*source, o Options) error {
	s.namespace = o.Namespace
	if s.results != nil {
		if s.namespace == "" {
			s.namespace = s.results.experiment
			if !namespaceForm.MatchString(s.namespace) {
				s.file.top().get("experiment_id").fail("is %q, which cannot name a directory: choose another with --namespace", s.namespace)
				return s.file.err
			}
		}
		s.draft = s.results.draft(s.imported)
		return s.unknown(o)
	}
	base, err := s.base(all, o)
	if err != nil {
		return err
	}
	if s.namespace == "" {
		s.namespace = base.Imported.Experiment
	}
	s.draft = s.profiles.draft(s.file, s.imported, base)
	if s.file.err != nil {
		return s.file.err
	}
	return s.unknown(o)
}

// base finds the results that the profiles belong to.
func (s *source) base(all []*source, o Options) (*evidence.Record, error) {
	var found []*evidence.Record
	for _, other := range all {
		if other.results != nil && (s.profiles.experiment == "" || s.profiles.experiment == other.results.experiment) {
			d := other.results.draft(other.imported)
			found = append(found, &d.record)
		}
	}
	if len(found) == 1 {
		return found[0], nil
	}
	namespace := o.Namespace
	if namespace == "" {
		namespace = s.profiles.experiment
	}
	if len(found) == 0 && namespaceForm.MatchString(namespace) {
		err := eachImported(filepath.Join(o.Results, namespace), func(dir string, r *evidence.Record) error {
			if r.Imported.Format == Results && (s.profiles.experiment == "" || r.Imported.Experiment == s.profiles.experiment) {
				found = append(found, r)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	switch len(found) {
	case 0:
		s.file.top().fail("says no shapes: give the comparison-results.json of %s along with it, or import that first", nameOr(s.profiles.experiment, "the same experiment"))
	case 1:
		return found[0], nil
	default:
		s.file.top().fail("could belong to %d different results", len(found))
	}
	return nil, s.file.err
}

func nameOr(name, otherwise string) string {
	if name == "" {
		return otherwise
	}
	return name
}

// unknown fails when a record of the namespace holds the file already.
func (s *source) unknown(o Options) error {
	return eachImported(filepath.Join(o.Results, s.namespace), func(dir string, r *evidence.Record) error {
		if r.Imported.SHA256 == s.imported.SHA256 && r.Imported.Format == s.imported.Format {
			return &KnownError{s.path, dir}
		}
		return nil
	})
}

// eachImported visits the whole imported records of a namespace.
func eachImported(parent string, visit func(dir string, r *evidence.Record) error) error {
	dirs, _ := filepath.Glob(filepath.Join(escaped(parent), "*", evidence.RecordFile)) // the pattern is valid
	for _, path := range dirs {
		r, err := evidence.LoadRecord(filepath.Dir(path))
		if err != nil || r.Imported == nil || r.Status != evidence.Complete {
			continue // another kind of record, or the leavings of a killed import
		}
		if err := visit(filepath.Dir(path), r); err != nil {
			return err
		}
	}
	return nil
}

// write makes the record.
func (s *source) write(o Options) (dir string, err error) {
	rec := s.draft.record
	rec.Tool = tool(o.Version, o.Commit)
	rec.Spec = evidence.Spec{Name: s.imported.File, Text: fmt.Sprintf("# imported from %s, SHA-256 %s\n", s.imported.File, s.imported.SHA256)}
	w, err := evidence.Create(o.Results, s.namespace, rec)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	fill := func() error {
		if err := keep(filepath.Join(w.Dir(), evidence.OriginalDir), s.imported.File, s.file.data); err != nil {
			return err
		}
		for _, lines := range s.draft.rounds {
			if err := w.AppendRound(lines); err != nil {
				return err
			}
		}
		return w.Event(evidence.Event{What: "imported", Detail: s.imported.Format + " of " + rec.Imported.Experiment})
	}
	if err := fill(); err != nil {
		return "", errors.Join(err, w.Finish(evidence.Incomplete, "the import failed: "+err.Error()))
	}
	return w.Dir(), w.Finish(evidence.Complete, "")
}

// keep writes the file beside the record, on disk before the record is complete.
func keep(dir, name string, data []byte) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// escaped keeps a path from being read as a pattern.
func escaped(path string) string { return globs.Replace(path) }

var globs = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`)
