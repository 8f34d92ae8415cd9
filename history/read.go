package history

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

// Summary is a session with what its metrics come to.
type Summary struct {
	Session
	Kernels  int     `json:"kernels"`  // distinct names
	Launches int     `json:"launches"` // metrics
	TotalUS  float64 `json:"total_us"` // sum of their durations
}

// Sessions lists the sessions, the newest first: by start, then by id. Those
// without a readable start come last.
func (d *DB) Sessions(ctx context.Context) ([]Summary, error) {
	cols, err := d.selection(ctx, "sessions", "s")
	if err != nil {
		return nil, explain(d.path, "list the sessions", err)
	}
	rows, err := d.db.QueryContext(ctx, "SELECT "+cols+`, count(DISTINCT m.kernel_name), count(m.id), total(m.duration_us)
		FROM sessions s LEFT JOIN metrics m ON m.session_id = s.id AND `+measured+` GROUP BY s.id`)
	var out []Summary
	err = each(rows, err, func() error {
		var s Summary
		if err := rows.Scan(append(s.Session.columns(), &s.Kernels, &s.Launches, &s.TotalUS)...); err != nil {
			return err
		}
		out = append(out, s)
		return nil
	})
	if err != nil {
		return nil, explain(d.path, "list the sessions", err)
	}
	newestFirst(out)
	return out, nil
}

// Session returns one session, or a *NoSessionError.
func (d *DB) Session(ctx context.Context, id int64) (Session, error) {
	var s Session
	cols, err := d.selection(ctx, "sessions", "s")
	if err == nil {
		err = d.db.QueryRowContext(ctx, "SELECT "+cols+" FROM sessions s WHERE s.id = ?", id).Scan(s.columns()...)
	}
	if errors.Is(err, sql.ErrNoRows) {
		return s, &NoSessionError{id}
	}
	return s, explain(d.path, "read a session", err)
}

// Metrics returns a session's metrics in the order in which they were added.
func (d *DB) Metrics(ctx context.Context, session int64) ([]Metric, error) {
	cols, err := d.selection(ctx, "metrics", "m")
	if err != nil {
		return nil, explain(d.path, "read the metrics", err)
	}
	rows, err := d.db.QueryContext(ctx, "SELECT "+cols+" FROM metrics m WHERE m.session_id = ? AND "+measured+" ORDER BY m.id", session)
	var out []Metric
	err = each(rows, err, func() error {
		var m Metric
		if err := rows.Scan(m.columns()...); err != nil {
			return err
		}
		out = append(out, m)
		return nil
	})
	return out, explain(d.path, "read the metrics", err)
}

// measured selects the metrics that hold a duration; earlier versions may have
// written others.
const measured = "typeof(m.duration_us) IN ('integer', 'real') AND m.duration_us BETWEEN 0 AND 1e12" // longestUS

// longestUS is beyond the duration of any kernel, µs; sums of these stay finite.
const longestUS = 1e12

// each scans every row with f.
func each(rows *sql.Rows, err error, f func() error) error {
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := f(); err != nil {
			return err
		}
	}
	return rows.Err()
}

// selection lists the columns of a table in the order of this version, with NULL
// for those that the file lacks. Times and sizes are read as text whatever an
// earlier version declared them, so that the driver interprets none.
func (d *DB) selection(ctx context.Context, table, alias string) (string, error) {
	have, err := columnsOf(ctx, d.db, table)
	if err != nil {
		return "", err
	}
	if len(have) == 0 {
		return "", &NotHistoryError{d.path, "it has no table " + table}
	}
	var parts []string
	for _, t := range tables() {
		if t.name != table {
			continue
		}
		for _, c := range t.columns {
			kind, _, _ := strings.Cut(c.declared, " ")
			switch {
			case !have[c.name]:
				parts = append(parts, "NULL")
			case c.name == "id" || c.name == "session_id":
				parts = append(parts, alias+"."+c.name)
			case kind == "TEXT":
				parts = append(parts, fmt.Sprintf("CAST(%s.%s AS TEXT)", alias, c.name))
			default: // a cast would make zero of what is no number; 9e999 is infinite
				parts = append(parts, fmt.Sprintf("CASE WHEN typeof(%[1]s.%[2]s) IN ('integer', 'real') AND abs(0.0 + %[1]s.%[2]s) < 9e999 THEN CAST(%[1]s.%[2]s AS %[3]s) END", alias, c.name, kind))
			}
		}
	}
	return strings.Join(parts, ", "), nil
}
