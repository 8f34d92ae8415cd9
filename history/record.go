package history

import (
	"context"
	"fmt"
	"slices"
	"time"

	"mage/evidence"
	"mage/timing"
)

// runBackend marks sessions that index a record.
const runBackend = "run"

// KnownError reports a record that the history holds already.
type KnownError struct {
	Record  string // "mage-001/20260910T101500Z-1a2b3c"
	Session int64
}

func (e *KnownError) Error() string {
	return fmt.Sprintf("%s is in the history already, as session %d", e.Record, e.Session)
}

// AddRecord indexes the kernel times of a record: what its arms took in the
// kernel mode, in the rounds that count, where the gate was passed. It adds a
// session for each session, device and instrument of the record, since their
// numbers do not belong together, and returns the ids. A metric is one operation;
// its kernel_name is the case and the arm. It is a *KnownError when the record is
// there already.
func (d *DB) AddRecord(ctx context.Context, run *evidence.Run, toolVersion string) (ids []int64, err error) {
	rec := run.Record
	name := rec.Namespace + "/" + rec.RunID
	parts := partsOf(run)
	if len(parts) == 0 {
		return nil, fmt.Errorf("%s holds no kernel times: only runs with the mode \"kernel\" can be indexed", name)
	}
	for _, p := range parts {
		s := &p.session
		s.Command, s.Backend, s.Directory, s.ToolVersion = "mage run "+name, runBackend, run.Dir, toolVersion
		if rec.Imported != nil {
			s.Command, s.Outcome = "mage import "+name, "imported; when it was measured is not known"
			s.End = time.Time{}
			if at := rec.Imported.Measured; !at.IsZero() {
				s.Start, s.Outcome = at, "imported"
			}
		}
		if err := check(*s, p.metrics); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	err = d.write(ctx, func(q querier) error {
		if err := unknownRecord(ctx, q, parts[0].session.Command, name); err != nil {
			return err
		}
		for _, p := range parts {
			id, err := addSession(ctx, q, p.session, p.metrics)
			if err != nil {
				return err
			}
			ids = append(ids, id)
		}
		return nil
	})
	if err != nil {
		return nil, explain(d.path, "add a record", err)
	}
	return ids, nil
}

func unknownRecord(ctx context.Context, q querier, command, name string) error {
	rows, err := q.QueryContext(ctx, "SELECT id FROM sessions WHERE backend = ? AND command = ? ORDER BY id LIMIT 1", runBackend, command)
	return each(rows, err, func() error {
		known := &KnownError{Record: name}
		if err := rows.Scan(&known.Session); err != nil {
			return err
		}
		return known
	})
}

type part struct {
	id         int // evidence.Session.ID
	device     string
	instrument string
	session    Session
	metrics    []Metric
}

// partsOf sorts a record's kernel times by what may not be mixed.
func partsOf(run *evidence.Run) (parts []*part) {
	rec := run.Record
	for _, cell := range run.Cells() {
		if cell.Mode != string(timing.Kernel) {
			continue
		}
		for _, round := range run.Rounds(cell) {
			for _, l := range round.Lines {
				entry := entryOf(rec, l)
				if entry == nil {
					continue
				}
				p := partOf(&parts, rec, l)
				for _, us := range l.Samples {
					p.metrics = append(p.metrics, metricOf(l, entry, us))
				}
			}
		}
	}
	return parts
}

// entryOf returns the line's entry if the arm passed its gate there, else nil. An
// imported record may hold none.
func entryOf(rec *evidence.Record, l *evidence.Line) *evidence.Entry {
	for i := range rec.Entries {
		e := &rec.Entries[i]
		if e.Case != l.Case || e.Arm != l.Arm || e.Session != l.Session {
			continue
		}
		if e.Error != "" || len(e.Gates) == 0 && rec.Imported == nil {
			return nil
		}
		for _, g := range e.Gates {
			if !g.Passed {
				return nil
			}
		}
		return e
	}
	return nil
}

func partOf(parts *[]*part, rec *evidence.Record, l *evidence.Line) *part {
	device := ""
	for _, a := range rec.Arms {
		if a.ID == l.Arm {
			device = a.Device
		}
	}
	i := slices.IndexFunc(*parts, func(p *part) bool {
		return p.id == l.Session && p.device == device && p.instrument == l.Instrument
	})
	if i >= 0 {
		return (*parts)[i]
	}
	p := &part{id: l.Session, device: device, instrument: l.Instrument,
		session: Session{Start: rec.Created, Device: device, Instrument: l.Instrument, Outcome: rec.Status}}
	for _, s := range rec.Sessions {
		if s.ID == l.Session {
			p.session.Start, p.session.End = s.Started, s.Ended
		}
	}
	for _, d := range rec.Devices {
		if d.ID == device && d.Name != "" {
			p.session.Device = d.Name
		}
	}
	*parts = append(*parts, p)
	return p
}

// metricOf is one operation. Sizes and registers are those of its kernel when it
// is a single one.
func metricOf(l *evidence.Line, e *evidence.Entry, us float64) Metric {
	m := Metric{Kernel: l.Case + " " + l.Arm, DurationUS: us}
	if l.Launches > 1 {
		return m
	}
	m.Grid, m.Block = dimOf(e.Identity.Grid), dimOf(e.Identity.Block)
	if r := e.Identity.Resources; r != nil {
		registers, local := int64(r.Registers), int64(r.LocalBytes)
		static, dynamic := int64(r.StaticSharedBytes), int64(e.Identity.Shared)
		both := static + dynamic
		m.Registers, m.LocalBytes, m.StaticShared, m.DynamicShared, m.SharedBytes = &registers, &local, &static, &dynamic, &both
	}
	return m
}

func dimOf(d *[3]uint32) *Dim3 {
	if d == nil {
		return nil
	}
	return &Dim3{int64(d[0]), int64(d[1]), int64(d[2])}
}
