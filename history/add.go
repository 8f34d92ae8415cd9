package history

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"
)

// Add appends a session with its metrics, all or nothing, and returns the
// session's id. The IDs of its arguments are ignored. A *ValueError names a
// value that the history cannot hold; the session needs a command and a start.
func (d *DB) Add(ctx context.Context, s Session, metrics []Metric) (int64, error) {
	if err := check(s, metrics); err != nil {
		return 0, err
	}
	var id int64
	err := d.write(ctx, func(q querier) (err error) {
		id, err = addSession(ctx, q, s, metrics)
		return err
	})
	if err != nil {
		return 0, explain(d.path, "add a session", err)
	}
	return id, nil
}

func check(s Session, metrics []Metric) error {
	switch {
	case s.Command == "":
		return &ValueError{"command", "is empty"}
	case s.Start.IsZero():
		return &ValueError{"start_time", "is missing"}
	}
	for i := range metrics {
		if err := metrics[i].check(i); err != nil {
			return err
		}
	}
	return nil
}

func addSession(ctx context.Context, q querier, s Session, metrics []Metric) (int64, error) {
	r, err := q.ExecContext(ctx, insert("sessions"), s.Command, writeTime(s.Start), optionalTime(s.End),
		text(s.Device), text(s.Backend), text(s.Instrument), text(s.Outcome), text(s.Directory), text(s.ToolVersion))
	if err != nil {
		return 0, err
	}
	id, err := r.LastInsertId()
	if err != nil {
		return 0, err
	}
	return id, addMetrics(ctx, q, id, s.Start, metrics)
}

func addMetrics(ctx context.Context, q querier, session int64, start time.Time, metrics []Metric) error {
	if len(metrics) == 0 {
		return nil
	}
	stmt, err := q.(interface {
		PrepareContext(context.Context, string) (*sql.Stmt, error)
	}).PrepareContext(ctx, insert("metrics"))
	if err != nil {
		return err
	}
	defer stmt.Close()
	for i := range metrics {
		m := &metrics[i]
		at := m.Timestamp
		if at.IsZero() {
			at = start
		}
		if _, err := stmt.ExecContext(ctx, session, m.Kernel, m.DurationUS, writeTime(at), dim(m.Grid), dim(m.Block),
			m.Registers, m.SharedBytes, m.StaticShared, m.DynamicShared, m.Occupancy, m.MemoryGBps, m.ComputePct,
			m.L1HitRate, m.L2HitRate, m.DRAMReadBytes, m.DRAMWriteBytes, m.LocalBytes, m.Stream); err != nil {
			return err
		}
	}
	return nil
}

// insert is the statement for all columns of a table but its id.
func insert(table string) string {
	cols := names(table)[1:]
	return fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", table, strings.Join(cols, ", "),
		strings.TrimSuffix(strings.Repeat("?, ", len(cols)), ", "))
}

func text(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func optionalTime(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return writeTime(t)
}

func dim(d *Dim3) any {
	if d == nil {
		return nil
	}
	return d.String()
}
