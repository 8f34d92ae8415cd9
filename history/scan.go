package history

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// columns are where the columns of the table sessions go, in their order.
func (s *Session) columns() []any {
	return []any{&s.ID, orEmpty{&s.Command}, clock{&s.Start}, clock{&s.End}, orEmpty{&s.Device}, orEmpty{&s.Backend},
		orEmpty{&s.Instrument}, orEmpty{&s.Outcome}, orEmpty{&s.Directory}, orEmpty{&s.ToolVersion}}
}

// columns are where the columns of the table metrics go, in their order.
func (m *Metric) columns() []any {
	return []any{&m.ID, &m.SessionID, orEmpty{&m.Kernel}, &m.DurationUS, clock{&m.Timestamp}, size{&m.Grid}, size{&m.Block},
		&m.Registers, &m.SharedBytes, &m.StaticShared, &m.DynamicShared, &m.Occupancy, &m.MemoryGBps, &m.ComputePct,
		&m.L1HitRate, &m.L2HitRate, &m.DRAMReadBytes, &m.DRAMWriteBytes, &m.LocalBytes, &m.Stream}
}

// orEmpty scans a text that may be NULL.
type orEmpty struct{ to *string }

func (o orEmpty) Scan(v any) error {
	s, err := textOf(v)
	*o.to = s
	return err
}

// clock scans a time; an unreadable one is zero.
type clock struct{ to *time.Time }

func (c clock) Scan(v any) error {
	s, err := textOf(v)
	*c.to = readTime(s)
	return err
}

// size scans "x,y,z"; anything else is missing.
type size struct{ to **Dim3 }

func (z size) Scan(v any) error {
	s, err := textOf(v)
	if d, e := parseDim3(s); e == nil {
		*z.to = &d
	}
	return err
}

func textOf(v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	case []byte:
		return string(v), nil
	}
	return "", fmt.Errorf("a %T where text was expected", v)
}

// newestFirst sorts by start, then id, descending.
func newestFirst(all []Summary) {
	slices.SortStableFunc(all, func(a, b Summary) int {
		return cmp.Or(b.Start.Compare(a.Start), cmp.Compare(b.ID, a.ID))
	})
}
