package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"mage/internal/printable"
)

// Format is how a report is written.
type Format string

// The formats.
const (
	TableFormat    Format = "table"    // for a terminal
	Markdown       Format = "markdown" // pipe tables
	CSV            Format = "csv"      // every number at full precision
	JSON           Format = "json"     // the whole Report
	LaTeX          Format = "latex"    // booktabs
	BenchmarkLines Format = "benchfmt" // the Go benchmark format, for benchstat
)

// Formats lists the names of the formats.
func Formats() []string {
	return []string{string(TableFormat), string(Markdown), string(CSV), string(JSON), string(LaTeX), string(BenchmarkLines)}
}

// RenderOptions say how to draw. The zero value draws plain text of any width.
type RenderOptions struct {
	Color bool // ANSI colours, table format only
	Box   bool // box-drawing characters, table format only
	Width int  // columns of the terminal; 0: unlimited
	// Tables selects tables by ID (see TableIDs); none selects all but the overview. In CSV, none
	// selects the comparison alone, which has one row per case and cell, or the
	// counters of a record that times nothing.
	Tables []string
}

func (o RenderOptions) wants(id string) bool {
	if len(o.Tables) == 0 {
		return id != OverviewTable
	}
	return slices.Contains(o.Tables, id)
}

func (o RenderOptions) check() error {
	for _, id := range o.Tables {
		if !slices.Contains(TableIDs(), id) {
			return fmt.Errorf("unknown table %q (%s)", id, strings.Join(TableIDs(), ", "))
		}
	}
	return nil
}

// Render writes the report. The same report gives the same bytes.
func (r *Report) Render(w io.Writer, f Format, o RenderOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	switch f {
	case BenchmarkLines:
		return r.renderBenchmarkLines(w)
	case JSON:
		return renderJSON(w, r)
	case CSV:
		if len(o.Tables) == 0 {
			o.Tables = []string{ComparisonTable}
			if r.Header.Cells == 0 && len(r.Counters) > 0 {
				o.Tables = []string{CountersTable}
			}
		}
		return renderTables(w, f, r.flatTables(), o)
	}
	return renderTables(w, f, r.Tables(), o)
}

// renderTables draws the selected tables one below the other.
func renderTables(w io.Writer, f Format, all []Table, o RenderOptions) error {
	var tables []Table
	for _, t := range all {
		if o.wants(t.ID) {
			tables = append(tables, t)
		}
	}
	if f != CSV {
		tables = printableTables(tables)
	}
	var b strings.Builder
	switch f {
	case TableFormat:
		drawTerminal(&b, tables, o)
	case Markdown:
		drawMarkdown(&b, tables)
	case CSV:
		if err := drawCSV(&b, tables); err != nil {
			return err
		}
	case LaTeX:
		drawLaTeX(&b, tables)
	default:
		return fmt.Errorf("tables cannot be written as %q", f)
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}

// printableTables are tables fit for a terminal, whatever the names of kernels and
// programs in them hold. Titles and remarks may have several lines.
func printableTables(tables []Table) []Table {
	lines := func(s string) string {
		all := strings.Split(s, "\n")
		for i := range all {
			all[i] = printable.Line(all[i])
		}
		return strings.Join(all, "\n")
	}
	out := slices.Clone(tables)
	for i := range out {
		t := &out[i]
		t.Title, t.Lead, t.Rows = lines(t.Title), slices.Clone(t.Lead), slices.Clone(t.Rows)
		t.Notes, t.Remarks = slices.Clone(t.Notes), slices.Clone(t.Remarks)
		for _, texts := range [][]string{t.Lead, t.Notes, t.Remarks} {
			for j := range texts {
				texts[j] = lines(texts[j])
			}
		}
		for r := range t.Rows {
			cells := slices.Clone(t.Rows[r].Cells)
			for c := range cells {
				cells[c].Text = printable.Line(cells[c].Text)
			}
			t.Rows[r].Cells = cells
		}
	}
	return out
}

// RenderTables writes tables that somebody else built, all of them.
func RenderTables(w io.Writer, tables []Table, f Format, o RenderOptions) error {
	o.Tables = nil
	for _, t := range tables {
		o.Tables = append(o.Tables, t.ID)
	}
	return renderTables(w, f, tables, o)
}
