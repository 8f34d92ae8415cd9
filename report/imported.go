package report

import (
	"fmt"
	"time"

	"mage/evidence"
	"mage/timing"
)

// FromElsewhere is the warning of a record that was imported.
const FromElsewhere = "imported"

// ImportedError says that an imported record was to be compared with another one.
type ImportedError struct {
	Record   string // "mage-001-comparison/20260910T101500Z-1a2b3c"
	Imported evidence.Imported
}

func (e *ImportedError) Error() string {
	return fmt.Sprintf("%s was imported from %s: its times are of another program's sessions and are not compared with another record's; mage report shows them",
		e.Record, e.Imported.File)
}

// importedText says what was imported, "" for a record that was not.
func importedText(i *evidence.Imported) string {
	if i == nil {
		return ""
	}
	s := fmt.Sprintf("%s, sha256 %s", i.File, short(i.SHA256))
	if !i.Measured.IsZero() {
		s += ", measured " + i.Measured.UTC().Format(time.DateTime) + " UTC"
	}
	for _, words := range []string{i.Timing, i.Clock} {
		if words != "" {
			s += "; " + words
		}
	}
	return s
}

// importedWarnings say what not to do with an imported record.
func importedWarnings(rec *evidence.Record) []Warning {
	if rec.Imported == nil {
		return nil
	}
	out := []Warning{{Kind: FromElsewhere, Severity: Warn, Text: "measured by another program, and imported: compare nothing of it with another record",
		Detail: rec.Imported.File}}
	checked := true
	for _, e := range rec.Entries {
		checked = checked && len(e.Gates) > 0
	}
	if !checked {
		out = append(out, Warning{Kind: FromElsewhere, Severity: Warn, Text: "the file holds no correctness check of these runs"})
	}
	return out
}

// apart says that the arms of a group were not interleaved: each was profiled in
// a process of its own, one after the other.
func apart(rec *evidence.Record, g *Group) bool {
	return rec.Imported != nil && g.Mode == string(timing.Kernel)
}
