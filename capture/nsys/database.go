package nsys

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"

	_ "modernc.org/sqlite" // the driver

	"mage/capture"
)

// newestMajor is the major version of the export schema that this reads. Minor
// versions add tables and columns only; before 2.0 (2020) none was written.
// https://docs.nvidia.com/nsight-systems/UserGuide/index.html#sqlite-schema-reference
const newestMajor = 3

// database is an export with what of it is there: tables come into being when
// something is written to them, and columns came with the versions.
type database struct {
	db      *sql.DB
	columns map[string]map[string]bool // by table
	strings map[int64]string
}

func unsupported(format string, args ...any) error {
	return &capture.Failure{Outcome: capture.Unsupported, Reason: "the SQLite export of nsys: " + fmt.Sprintf(format, args...)}
}

func invalid(format string, args ...any) error {
	return &capture.Failure{Outcome: capture.Invalid, Reason: "the SQLite export of nsys: " + fmt.Sprintf(format, args...)}
}

// open opens the export for reading and checks its version.
func open(ctx context.Context, path string) (*database, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: abs, RawQuery: "mode=ro&immutable=1"}).String())
	if err != nil {
		return nil, err
	}
	d := &database{db: db, columns: map[string]map[string]bool{}}
	if err := d.prepare(ctx); err != nil {
		db.Close()
		return nil, err
	}
	return d, nil
}

func (d *database) prepare(ctx context.Context) error {
	rows, err := d.db.QueryContext(ctx, `SELECT t.name, c.name FROM sqlite_master t, pragma_table_info(t.name) c WHERE t.type IN ('table','view')`)
	if err != nil {
		return unsupported("%v", err)
	}
	defer rows.Close()
	for rows.Next() {
		var table, column string
		if err := rows.Scan(&table, &column); err != nil {
			return err
		}
		if d.columns[table] == nil {
			d.columns[table] = map[string]bool{}
		}
		d.columns[table][column] = true
	}
	if err := rows.Err(); err != nil {
		return unsupported("%v", err)
	}
	if len(d.columns) == 0 {
		return unsupported("it has no tables")
	}
	if err := d.checkVersion(ctx); err != nil {
		return err
	}
	return d.readStrings(ctx)
}

// checkVersion refuses a schema whose meaning is not known.
func (d *database) checkVersion(ctx context.Context) error {
	meta, err := d.pairs(ctx, "META_DATA_EXPORT")
	if err != nil {
		return err
	}
	version := meta["EXPORT_SCHEMA_VERSION"]
	if version == "" {
		version = meta["EXPORT_SCHEMA_VERSION_MAJOR"]
	}
	if version == "" {
		return nil // an early export; its tables say whether it can be read
	}
	major, err := strconv.Atoi(strings.SplitN(version, ".", 2)[0])
	if err != nil || major > newestMajor {
		return unsupported("its schema is version %s, and this mage reads up to %d: export with an older nsys, or use a newer mage", version, newestMajor)
	}
	return nil
}

// pairs reads a table of names and values, empty where there is none.
func (d *database) pairs(ctx context.Context, table string) (map[string]string, error) {
	out := map[string]string{}
	if !d.has(table, "name") || !d.has(table, "value") {
		return out, nil
	}
	rows, err := d.db.QueryContext(ctx, "SELECT name, value FROM "+table)
	if err != nil {
		return nil, unsupported("%s: %v", table, err)
	}
	defer rows.Close()
	for rows.Next() {
		var name, value sql.NullString
		if err := rows.Scan(&name, &value); err != nil {
			return nil, unsupported("%s: %v", table, err)
		}
		out[name.String] = value.String
	}
	return out, rows.Err()
}

func (d *database) readStrings(ctx context.Context) error {
	d.strings = map[int64]string{}
	if !d.has("StringIds", "value") {
		return nil // names stand in the tables themselves then
	}
	rows, err := d.db.QueryContext(ctx, "SELECT id, value FROM StringIds")
	if err != nil {
		return unsupported("StringIds: %v", err)
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		var value sql.NullString
		if err := rows.Scan(&id, &value); err != nil {
			return unsupported("StringIds: %v", err)
		}
		d.strings[id] = valid(value.String)
	}
	return rows.Err()
}

func (d *database) has(table, column string) bool { return d.columns[table][column] }

// each calls f for every row of a table in order of start, with the columns asked
// for; one that the table lacks reads as NULL. A table that is not there has no
// rows; one without the needed columns is an error.
func (d *database) each(ctx context.Context, table string, needed, wanted []string, f func(row) error) error {
	if d.columns[table] == nil {
		return nil
	}
	names := append(append([]string{}, needed...), wanted...)
	list := make([]string, len(names))
	for i, n := range names {
		switch {
		case d.has(table, n):
			list[i] = `"` + n + `"`
		case i < len(needed):
			return unsupported("the table %s has no column %s", table, n)
		default:
			list[i] = "NULL"
		}
	}
	rows, err := d.db.QueryContext(ctx, "SELECT "+strings.Join(list, ", ")+" FROM "+table+` ORDER BY "start"`)
	if err != nil {
		return unsupported("%s: %v", table, err)
	}
	defer rows.Close()
	r := row{d: d, table: table, at: map[string]int{}, values: make([]any, len(names))}
	into := make([]any, len(names))
	for i, n := range names {
		r.at[n], into[i] = i, &r.values[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return unsupported("%s: %v", table, err)
		}
		if err := f(r); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return unsupported("%s: %v", table, err)
	}
	return nil
}

// row is one row by column; NULL and a column that is not there are nil.
type row struct {
	d      *database
	table  string
	at     map[string]int
	values []any
}

func (r row) value(column string) any { return r.values[r.at[column]] }

// integer is nil where there is none.
func (r row) integer(column string) *int64 {
	v, ok := r.value(column).(int64)
	if !ok {
		return nil
	}
	return &v
}

// small is a count or a number of something; one that cannot be is missing.
func (r row) small(column string) *int {
	v := r.integer(column)
	if v == nil || *v < 0 || *v > math.MaxInt32 {
		return nil
	}
	n := int(*v)
	return &n
}

// text is a name: a string's number, or the string itself. A number without a
// string stays visible as what it is.
func (r row) text(column string) string {
	switch v := r.value(column).(type) {
	case string:
		return valid(v)
	case []byte:
		return valid(string(v))
	case int64:
		if s, ok := r.d.strings[v]; ok {
			return s
		}
		if v != 0 {
			return fmt.Sprintf("string %d", v)
		}
	}
	return ""
}

func valid(s string) string { return strings.ToValidUTF8(s, "\ufffd") }

// span is the start in ns and the duration in µs.
func (r row) span() (start int64, us float64, err error) {
	a, b := r.integer("start"), r.integer("end")
	if a == nil || b == nil {
		return 0, 0, invalid("a row of %s has no start or end", r.table)
	}
	if ns := *b - *a; (ns < 0) == (*b < *a) {
		return *a, float64(ns) / 1e3, nil
	}
	return *a, (float64(*b) - float64(*a)) / 1e3, nil // too far apart for an int64
}
