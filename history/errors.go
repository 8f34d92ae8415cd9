package history

import (
	"errors"
	"fmt"
	"strings"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// NotHistoryError reports a path that is no history database.
type NotHistoryError struct {
	Path    string
	Problem string // "it is a directory"
}

func (e *NotHistoryError) Error() string {
	return fmt.Sprintf("%s is no history database: %s", e.Path, e.Problem)
}

// NewerError reports a database that a later version of Mage wrote.
type NewerError struct {
	Path             string
	Found, Supported int
}

func (e *NewerError) Error() string {
	return fmt.Sprintf("the history %s has schema %d, this mage knows schemas up to %d: use a later mage, or another --db",
		e.Path, e.Found, e.Supported)
}

// NoSessionError reports a session that the database does not hold.
type NoSessionError struct{ ID int64 }

func (e *NoSessionError) Error() string {
	return fmt.Sprintf("no session %d in the history; mage history lists them", e.ID)
}

// NoKernelError reports a kernel that no session of the database launched.
// Similar lists names that hold the word.
type NoKernelError struct {
	Name    string
	Similar []string
}

func (e *NoKernelError) Error() string {
	if len(e.Similar) > 0 {
		const listed = 10
		more := ""
		if n := len(e.Similar) - listed; n > 0 {
			more = fmt.Sprintf(", and %d more", n)
		}
		return fmt.Sprintf("%q could be several kernels: %s%s", e.Name, strings.Join(e.Similar[:min(len(e.Similar), listed)], ", "), more)
	}
	return fmt.Sprintf("no kernel of the history is called %q", e.Name)
}

// ValueError reports a value that the history cannot hold.
type ValueError struct {
	Field   string // "metrics[3].duration_us"
	Problem string
}

func (e *ValueError) Error() string { return e.Field + " " + e.Problem }

// code is the primary result code of a SQLite error, 0 for another error.
func code(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

// explain turns an error of SQLite into one that says what is the matter with
// the file and what to do.
func explain(path, doing string, err error) error {
	if err == nil {
		return nil
	}
	if isTyped(err) {
		return err
	}
	switch code(err) {
	case lib.SQLITE_NOTADB:
		return &NotHistoryError{path, "it is not a SQLite file"}
	case lib.SQLITE_CORRUPT:
		return &NotHistoryError{path, "it is damaged (" + err.Error() + "); restore a copy, or rescue it with sqlite3's .recover"}
	case lib.SQLITE_FULL:
		return fmt.Errorf("%s: no space left for %s; nothing of this was kept, everything before it was: %w", doing, path, err)
	case lib.SQLITE_READONLY:
		return fmt.Errorf("%s: %s cannot be written; use --db to name another: %w", doing, path, err)
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED:
		return fmt.Errorf("%s: another process holds %s for too long; try again: %w", doing, path, err)
	case lib.SQLITE_CANTOPEN:
		return fmt.Errorf("%s: %s cannot be opened: %w", doing, path, err)
	}
	return fmt.Errorf("%s: history %s: %w", doing, path, err)
}

func isTyped(err error) bool {
	for _, target := range []any{new(*NotHistoryError), new(*NewerError), new(*NoSessionError), new(*NoKernelError), new(*ValueError), new(*KnownError)} {
		if errors.As(err, target) {
			return true
		}
	}
	return false
}
