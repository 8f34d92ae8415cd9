package history

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// ExportJSON writes sessions with their metrics as stored, every column of the
// file, unknown ones included, as one JSON object:
//
//	{"schema": 1, "sessions": [{"id": 1, …, "metrics": [{…}, …]}, …]}
//
// What is missing is left out. ids selects sessions; none selects all.
func (d *DB) ExportJSON(ctx context.Context, w io.Writer, ids ...int64) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "{\"schema\":%d,\"sessions\":[", Schema)
	session := int64(-1)
	opened := false
	r, err := d.dumping(ctx, ids)
	if err != nil {
		return explain(d.path, "export", err)
	}
	err = d.dump(ctx, r, func() error {
		if !opened || r.session != session {
			if opened {
				out.WriteString("]},")
			}
			opened, session = true, r.session
			out.WriteString("\n{")
			if err := object(out, r.sessionColumns, r.sessionValues); err != nil {
				return err
			}
			out.WriteString(",\"metrics\":[")
		} else {
			out.WriteByte(',')
		}
		if r.metricValues == nil {
			return nil
		}
		out.WriteString("\n{")
		if err := object(out, r.metricColumns, r.metricValues); err != nil {
			return err
		}
		return out.WriteByte('}')
	})
	if err != nil {
		return explain(d.path, "export", err)
	}
	if opened {
		out.WriteString("]}")
	}
	out.WriteString("\n]}\n")
	return out.Flush()
}

// object writes the members of a JSON object that are not NULL, nor infinite.
func object(w *bufio.Writer, columns []string, values []any) error {
	first := true
	for i, v := range values {
		if v == nil {
			continue
		}
		if b, ok := v.([]byte); ok {
			v = string(b)
		}
		if x, ok := v.(float64); ok && math.IsInf(x, 0) {
			continue // JSON has no word for it; nobody measured it
		}
		text, err := plain(v)
		if err != nil {
			return fmt.Errorf("column %s: %w", columns[i], err)
		}
		if !first {
			w.WriteByte(',')
		}
		first = false
		key, err := plain(columns[i])
		if err != nil {
			return fmt.Errorf("column %s: %w", columns[i], err)
		}
		fmt.Fprintf(w, "%s:%s", key, text)
	}
	return nil
}

// ExportCSV writes one line per metric, with the columns of its session first
// (named session_…); a session without metrics has one line. What is missing is
// empty. ids selects sessions; none selects all.
func (d *DB) ExportCSV(ctx context.Context, w io.Writer, ids ...int64) error {
	out := csv.NewWriter(w)
	r, err := d.dumping(ctx, ids)
	if err != nil {
		return explain(d.path, "export", err)
	}
	head := make([]string, 0, len(r.sessionColumns)+len(r.metricColumns))
	for _, c := range r.sessionColumns {
		head = append(head, "session_"+c)
	}
	for _, c := range r.metricColumns {
		if c != "session_id" { // said by the first column
			head = append(head, c)
		}
	}
	if err := out.Write(head); err != nil {
		return err
	}
	err = d.dump(ctx, r, func() error {
		line := make([]string, 0, len(r.sessionColumns)+len(r.metricColumns))
		for _, v := range r.sessionValues {
			line = append(line, field(v))
		}
		for i, c := range r.metricColumns {
			switch {
			case c == "session_id":
			case r.metricValues == nil:
				line = append(line, "")
			default:
				line = append(line, field(r.metricValues[i]))
			}
		}
		return out.Write(line)
	})
	if err != nil {
		return explain(d.path, "export", err)
	}
	out.Flush()
	return out.Error()
}

func field(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case []byte:
		return string(v)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return fmt.Sprint(v)
}

// dumped is one row of a dump; metricValues is nil for a session without metrics.
type dumped struct {
	ids                           []int64 // of the sessions; none is all
	session                       int64
	sessionColumns, metricColumns []string
	sessionValues, metricValues   []any
}

// dumping prepares a dump of the selected sessions, all of which must be there.
func (d *DB) dumping(ctx context.Context, ids []int64) (*dumped, error) {
	for _, id := range ids {
		if _, err := d.Session(ctx, id); err != nil {
			return nil, err
		}
	}
	r := &dumped{ids: ids}
	var err error
	if r.sessionColumns, err = d.storedColumns(ctx, "sessions"); err != nil {
		return nil, err
	}
	r.metricColumns, err = d.storedColumns(ctx, "metrics")
	return r, err
}

// dump calls f for every metric of the selected sessions, in the order of their
// ids, as one consistent view of the file.
func (d *DB) dump(ctx context.Context, r *dumped, f func() error) error {
	var cols []string
	for _, c := range r.sessionColumns {
		cols = append(cols, stored("s", c))
	}
	for _, c := range r.metricColumns {
		cols = append(cols, stored("m", c))
	}
	query := "SELECT s.id, m.id, " + strings.Join(cols, ", ") + " FROM sessions s LEFT JOIN metrics m ON m.session_id = s.id"
	args := make([]any, len(r.ids))
	if len(args) > 0 {
		query += " WHERE s.id IN (" + strings.TrimSuffix(strings.Repeat("?,", len(args)), ",") + ")"
		for i, id := range r.ids {
			args[i] = id
		}
	}
	rows, err := d.db.QueryContext(ctx, query+" ORDER BY s.id, m.id", args...)
	return each(rows, err, func() error {
		values := make([]any, len(cols))
		var metric any
		to := []any{&r.session, &metric}
		for i := range values {
			to = append(to, &values[i])
		}
		if err := rows.Scan(to...); err != nil {
			return err
		}
		r.sessionValues, r.metricValues = values[:len(r.sessionColumns)], values[len(r.sessionColumns):]
		if metric == nil {
			r.metricValues = nil
		}
		return f()
	})
}

// stored names a column in such a way that the driver does not interpret it by
// its declared type.
func stored(alias, column string) string {
	return "+" + alias + `."` + strings.ReplaceAll(column, `"`, `""`) + `"`
}

// storedColumns lists all columns of a table as the file has them.
func (d *DB) storedColumns(ctx context.Context, table string) (out []string, err error) {
	rows, err := d.db.QueryContext(ctx, "SELECT name FROM pragma_table_info(?) ORDER BY cid", table)
	err = each(rows, err, func() error {
		var name string
		if err := rows.Scan(&name); err != nil {
			return err
		}
		out = append(out, name)
		return nil
	})
	return out, err
}

// plain is JSON that leaves <, > and & of kernel names as they are.
func plain(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}
