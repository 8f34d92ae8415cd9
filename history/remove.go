package history

import (
	"context"
	"os"
)

// Delete removes sessions with their metrics, all of them or, when one is not
// there (*NoSessionError), none.
func (d *DB) Delete(ctx context.Context, ids ...int64) error {
	err := d.write(ctx, func(q querier) error {
		for _, id := range ids {
			// Early versions did not delete a session's metrics along with it.
			if _, err := q.ExecContext(ctx, "DELETE FROM metrics WHERE session_id = ?", id); err != nil {
				return err
			}
			r, err := q.ExecContext(ctx, "DELETE FROM sessions WHERE id = ?", id)
			if err != nil {
				return err
			}
			if n, err := r.RowsAffected(); err != nil {
				return err
			} else if n == 0 {
				return &NoSessionError{id}
			}
		}
		return nil
	})
	return explain(d.path, "delete", err)
}

// Vacuum gives the space of deleted rows back and returns the size of the file
// before and after, in bytes. It needs as much free space as the file takes.
func (d *DB) Vacuum(ctx context.Context) (before, after int64, err error) {
	size := func() (int64, error) {
		// What is still in the write-ahead log belongs to the file.
		if _, err := d.db.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
			return 0, err
		}
		info, err := os.Stat(d.path)
		if err != nil {
			return 0, err
		}
		return info.Size(), nil
	}
	if before, err = size(); err == nil {
		if _, err = d.db.ExecContext(ctx, "VACUUM"); err == nil {
			after, err = size()
		}
	}
	return before, after, explain(d.path, "vacuum", err)
}
