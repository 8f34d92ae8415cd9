package history

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"
	lib "modernc.org/sqlite/lib"
)

// DefaultPath is ~/.mage/profiles.db.
func DefaultPath() (string, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("where the history is: %w; name it with --db", err)
	}
	return filepath.Join(home, ".mage", "profiles.db"), nil
}

// Options of Open.
type Options struct {
	// ReadOnly neither creates nor migrates nor writes. Columns that an earlier
	// version lacked read as missing.
	ReadOnly bool
	// Wait is how long to wait for another process that writes; 0: 30 s.
	Wait time.Duration
}

// DB is an open history. Its methods may be called from several goroutines, and
// several processes may have the same file open.
type DB struct {
	path string
	db   *sql.DB
	wait time.Duration
}

// Open opens the history at path, creating it and its directory when there is
// none. With ReadOnly a missing file is an error that wraps fs.ErrNotExist.
// Other errors: *NotHistoryError (a directory, garbage, the tables of another
// program, damage) and *NewerError.
func Open(path string, o Options) (*DB, error) {
	if o.Wait <= 0 {
		o.Wait = 30 * time.Second
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return nil, &NotHistoryError{path, "it is a directory"}
	case err == nil && !info.Mode().IsRegular():
		return nil, &NotHistoryError{path, "it is no regular file"}
	case errors.Is(err, fs.ErrNotExist) && !o.ReadOnly:
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return nil, fmt.Errorf("create the history: %w", err)
		}
	case err != nil:
		return nil, fmt.Errorf("open the history: %w", err)
	}
	d, err := open(path, o, false)
	if c := code(err); o.ReadOnly && (c == lib.SQLITE_CANTOPEN || c == lib.SQLITE_READONLY) {
		// A database in WAL mode needs a file of shared memory beside it. Where that
		// cannot be made and nobody is writing, the file alone is the database.
		if _, e := os.Stat(path + "-wal"); errors.Is(e, fs.ErrNotExist) {
			d, err = open(path, o, true)
		}
	}
	if err != nil {
		return nil, explain(path, "open the history", err)
	}
	return d, nil
}

func open(path string, o Options, immutable bool) (*DB, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	query := url.Values{"_pragma": {fmt.Sprintf("busy_timeout(%d)", o.Wait.Milliseconds()), "foreign_keys(1)"}}
	if o.ReadOnly {
		query.Set("mode", "ro")
		if immutable {
			query.Set("immutable", "1")
		}
	} else {
		// A commit is on disk when it returns; writers queue instead of failing.
		query.Add("_pragma", "synchronous(full)")
		query.Set("_txlock", "immediate")
	}
	name := url.URL{Scheme: "file", Path: abs, RawQuery: query.Encode()}
	db, err := sql.Open("sqlite", name.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // SQLite has one writer at a time
	d := &DB{path: path, db: db, wait: o.Wait}
	if err := d.prepare(o.ReadOnly); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return d, nil
}

func (d *DB) prepare(readOnly bool) error {
	ctx := context.Background()
	if readOnly {
		p, err := inspect(ctx, d.db, d.path)
		if err == nil && p.empty {
			err = &NotHistoryError{d.path, "it is empty"}
		}
		return err
	}
	// First look whether it is ours: a stranger's file is left as it is.
	if _, err := inspect(ctx, d.db, d.path); err != nil {
		return err
	}
	if err := d.patiently(func() error {
		var mode string
		return d.db.QueryRowContext(ctx, "PRAGMA journal_mode=WAL").Scan(&mode)
	}); err != nil {
		return err
	}
	return d.patiently(func() error { return d.migrate(ctx) })
}

// patiently repeats what SQLite refuses at once, without waiting, while another
// process holds the file.
func (d *DB) patiently(f func() error) error {
	for start := time.Now(); ; {
		err := f()
		if c := code(err); c != lib.SQLITE_BUSY && c != lib.SQLITE_LOCKED || time.Since(start) > d.wait {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// Close closes the database.
func (d *DB) Close() error { return explain(d.path, "close", d.db.Close()) }

// write runs f in a transaction that is committed, and on disk, when it returns nil.
func (d *DB) write(ctx context.Context, f func(querier) error) error {
	tx, err := d.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := f(tx); err != nil {
		return errors.Join(err, rollback(tx))
	}
	return tx.Commit()
}

func rollback(tx *sql.Tx) error {
	if err := tx.Rollback(); err != nil && !errors.Is(err, sql.ErrTxDone) {
		return err
	}
	return nil
}
