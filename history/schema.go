package history

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
)

// Schema is the version of the tables that this package writes, kept in
// SQLite's user_version. Databases of every earlier version are brought up to
// it when they are opened for writing; the first versions wrote no number (0).
const Schema = 1

// column is one column of a table as this version creates it. added is the
// declaration with which it is added to an older table: SQLite cannot add
// NOT NULL without inventing a value for the rows that are there.
type column struct{ name, declared, added string }

type table struct {
	name    string
	columns []column
	more    string // constraints
	// needed are the columns without which a table of this name is not ours.
	needed []string
}

func optional(name, kind string) column { return column{name, kind, kind} }

// tables are those of schema 1. Columns are only ever added, at the end.
func tables() []table {
	return []table{{
		name: "sessions",
		columns: []column{
			{"id", "INTEGER PRIMARY KEY AUTOINCREMENT", ""},
			{"command", "TEXT NOT NULL", ""},
			{"start_time", "TEXT NOT NULL", "TEXT"},
			optional("end_time", "TEXT"),
			optional("device_name", "TEXT"),
			optional("backend", "TEXT"),
			optional("instrument", "TEXT"),
			optional("outcome", "TEXT"),
			optional("directory", "TEXT"),
			optional("tool_version", "TEXT"),
		},
		needed: []string{"id", "command"},
	}, {
		name: "metrics",
		columns: []column{
			{"id", "INTEGER PRIMARY KEY AUTOINCREMENT", ""},
			{"session_id", "INTEGER NOT NULL", ""},
			{"kernel_name", "TEXT NOT NULL", ""},
			{"duration_us", "REAL NOT NULL", ""},
			{"timestamp", "TEXT NOT NULL", "TEXT"},
			optional("grid_size", "TEXT"),
			optional("block_size", "TEXT"),
			optional("registers_per_thread", "INTEGER"),
			optional("shared_mem_bytes", "INTEGER"),
			optional("static_shared_mem_bytes", "INTEGER"),
			optional("dynamic_shared_mem_bytes", "INTEGER"),
			optional("occupancy", "REAL"),
			optional("memory_throughput_gbps", "REAL"),
			optional("compute_throughput_pct", "REAL"),
			optional("l1_hit_rate", "REAL"),
			optional("l2_hit_rate", "REAL"),
			optional("dram_read_bytes", "INTEGER"),
			optional("dram_write_bytes", "INTEGER"),
			optional("local_mem_bytes", "INTEGER"),
			optional("stream", "INTEGER"),
		},
		more:   "FOREIGN KEY (session_id) REFERENCES sessions(id) ON DELETE CASCADE",
		needed: []string{"id", "session_id", "kernel_name", "duration_us"},
	}}
}

const indexes = `
CREATE INDEX IF NOT EXISTS idx_metrics_session ON metrics(session_id);
CREATE INDEX IF NOT EXISTS idx_metrics_kernel ON metrics(kernel_name);
CREATE INDEX IF NOT EXISTS idx_sessions_start ON sessions(start_time);`

func (t table) create() string {
	parts := make([]string, 0, len(t.columns)+1)
	for _, c := range t.columns {
		parts = append(parts, c.name+" "+c.declared)
	}
	if t.more != "" {
		parts = append(parts, t.more)
	}
	return "CREATE TABLE " + t.name + " (\n    " + strings.Join(parts, ",\n    ") + "\n)"
}

// querier is a connection or a transaction.
type querier interface {
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
	QueryRowContext(context.Context, string, ...any) *sql.Row
	ExecContext(context.Context, string, ...any) (sql.Result, error)
}

// plan is what a database lacks of the current schema.
type plan struct {
	version    int
	empty      bool // there is no table yet
	statements []string
}

// inspect compares the database with the schema, changing nothing.
func inspect(ctx context.Context, q querier, path string) (plan, error) {
	var p plan
	if err := q.QueryRowContext(ctx, "PRAGMA user_version").Scan(&p.version); err != nil {
		return p, err
	}
	if p.version > Schema {
		return p, &NewerError{Path: path, Found: p.version, Supported: Schema}
	}
	var others int
	err := q.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_master WHERE type = 'table'
		AND name NOT LIKE 'sqlite_%' AND lower(name) NOT IN ('sessions', 'metrics')`).Scan(&others)
	if err != nil {
		return p, err
	}
	found := 0
	for _, t := range tables() {
		have, err := columnsOf(ctx, q, t.name)
		if err != nil {
			return p, err
		}
		if len(have) == 0 {
			p.statements = append(p.statements, t.create())
			continue
		}
		found++
		for _, c := range t.needed {
			if !have[c] {
				return p, &NotHistoryError{path, fmt.Sprintf("its table %s has no column %s", t.name, c)}
			}
		}
		for _, c := range t.columns {
			if !have[c.name] {
				p.statements = append(p.statements, fmt.Sprintf("ALTER TABLE %s ADD COLUMN %s %s", t.name, c.name, c.added))
			}
		}
	}
	if found == 0 && others > 0 {
		return p, &NotHistoryError{path, "it holds the tables of another program"}
	}
	p.empty = found == 0
	if len(p.statements) > 0 || p.version < Schema {
		p.statements = append(p.statements, strings.Split(strings.TrimSpace(indexes), "\n")...)
		p.statements = append(p.statements, fmt.Sprintf("PRAGMA user_version = %d", Schema))
	}
	return p, nil
}

// columnsOf returns the columns of a table, none when there is no such table.
// SQLite compares names without regard to case, and so does this.
func columnsOf(ctx context.Context, q querier, table string) (map[string]bool, error) {
	rows, err := q.QueryContext(ctx, "SELECT lower(name) FROM pragma_table_info(?)", table)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[string]bool{}
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		out[name] = true
	}
	return out, rows.Err()
}

// migrate brings the database up to the schema in one transaction: another
// process sees the old tables or the new, and a kill leaves the old. It asks
// again inside the transaction, since another process may have been faster.
func (d *DB) migrate(ctx context.Context) error {
	p, err := inspect(ctx, d.db, d.path)
	if err != nil || len(p.statements) == 0 {
		return err
	}
	return d.write(ctx, func(q querier) error {
		p, err := inspect(ctx, q, d.path)
		if err != nil {
			return err
		}
		for _, s := range p.statements {
			if _, err := q.ExecContext(ctx, s); err != nil {
				return err
			}
		}
		return nil
	})
}

// names lists the columns of a table of this version.
func names(table string) (out []string) {
	for _, t := range tables() {
		if t.name == table {
			for _, c := range t.columns {
				out = append(out, c.name)
			}
		}
	}
	return slices.Clip(out)
}
