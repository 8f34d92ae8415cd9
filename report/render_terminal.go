package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// wrapWidth is the narrowest that a column of prose is squeezed to.
const wrapWidth = 24

// drawTerminal draws tables for a terminal of o.Width columns. Columns that do
// not fit are left out, the least important first; only prose is wrapped.
func drawTerminal(b *strings.Builder, tables []Table, o RenderOptions) {
	cut := false
	for i, t := range tables {
		if i > 0 {
			b.WriteByte('\n')
		}
		cut = drawTerminalTable(b, t, o) || cut
	}
	if cut {
		b.WriteByte('\n')
		b.WriteString(hang("", fmt.Sprintf(
			"Columns that do not fit %d characters are left out; markdown, csv and json have all.", o.Width), Faint, o))
	}
}

func drawTerminalTable(b *strings.Builder, t Table, o RenderOptions) (cut bool) {
	title := t.Title
	if len(t.Lead) > 0 {
		title += ": " + strings.Join(t.Lead, "; ")
	}
	b.WriteString(hang("", title, Strong, o))
	if len(t.Rows) > 0 {
		fitted, texts, widths, ok := fit(t, o)
		if !ok && o.Box {
			// Lines between columns cost less than the columns.
			o.Box = false
			fitted, texts, widths, _ = fit(t, o)
		}
		cut = len(fitted.Columns) < len(t.Columns)
		b.WriteString(drawGrid(fitted, texts, widths, o))
	}
	for i, n := range t.Notes {
		b.WriteString(hang(superscript([]int{i + 1})+" ", n, Faint, o))
	}
	for _, n := range t.Remarks {
		b.WriteString(hang("", n, Faint, o))
	}
	return cut
}

// hang writes a note, wrapped to the width below its mark.
func hang(mark, note string, tone Tone, o RenderOptions) string {
	indent := text.StringWidth(mark)
	if o.Width > 0 {
		note = text.WrapSoft(note, max(wrapWidth, o.Width-indent))
	}
	lines := strings.Split(note, "\n")
	for i, l := range lines {
		lead := strings.Repeat(" ", indent)
		if i == 0 {
			lead = mark
		}
		lines[i] = o.paint(tone, strings.TrimRight(lead+l, " ")) + "\n"
	}
	return strings.Join(lines, "")
}

// fit drops columns until the rest fits the width. It returns what is left, the
// aligned texts by row and column, the width of every column, and whether it fits.
func fit(t Table, o RenderOptions) (_ Table, texts [][]string, widths []int, ok bool) {
	for {
		texts, widths = layout(t)
		between := 2
		total := -between
		if o.Box {
			between, total = 3, 1
		}
		var prose []int
		for i, w := range widths {
			total += w + between
			if t.Columns[i].Prose {
				prose = append(prose, i)
			}
		}
		over := total - o.Width
		if o.Width <= 0 || over <= 0 {
			return t, texts, widths, true
		}
		give := 0
		for _, i := range prose {
			give += max(0, widths[i]-wrapWidth)
		}
		drop := -1
		for i, c := range t.Columns {
			if c.Drop > 0 && (drop < 0 || c.Drop > t.Columns[drop].Drop) {
				drop = i
			}
		}
		if over > give && drop >= 0 {
			key := t.Columns[drop].Key
			t = t.without(func(c Column) bool { return c.Key != key })
			continue
		}
		shrink(widths, prose, over)
		return t, texts, widths, over <= give
	}
}

// shrink takes n columns in all from the widest prose, a column at a time.
func shrink(widths, prose []int, n int) {
	for ; n > 0 && len(prose) > 0; n-- {
		widest := slices.MaxFunc(prose, func(a, b int) int { return widths[a] - widths[b] })
		if widths[widest] <= wrapWidth {
			return
		}
		widths[widest]--
	}
}

// layout returns every cell's text with its marks, decimals aligned, and the
// width of every column.
func layout(t Table) (texts [][]string, widths []int) {
	texts = make([][]string, len(t.Rows))
	for r := range texts {
		texts[r] = make([]string, len(t.Columns))
	}
	widths = make([]int, len(t.Columns))
	for c, col := range t.Columns {
		column := make([]string, len(t.Rows))
		for r, row := range t.Rows {
			column[r] = row.Cells[c].Text
			if m := row.Cells[c].Marks; len(m) > 0 {
				column[r] += " " + superscript(m)
			}
		}
		switch col.Align {
		case Decimal:
			column = alignDecimals(column)
		case Range:
			column = alignRanges(column)
		}
		widths[c] = text.StringWidth(col.Head)
		for r, s := range column {
			texts[r][c] = s
			widths[c] = max(widths[c], text.StringWidth(s))
		}
	}
	return texts, widths
}

func drawGrid(t Table, texts [][]string, widths []int, o RenderOptions) string {
	w := table.NewWriter()
	w.SetStyle(style(o))
	var head table.Row
	configs := make([]table.ColumnConfig, len(t.Columns))
	for i, c := range t.Columns {
		head = append(head, o.paint(Faint, c.Head))
		align := text.AlignLeft
		if c.Align != Left {
			align = text.AlignRight
		}
		configs[i] = table.ColumnConfig{Number: i + 1, Align: align, AlignHeader: align,
			WidthMax: widths[i], WidthMaxEnforcer: text.WrapSoft}
	}
	w.SetColumnConfigs(configs)
	if !headless(t) {
		w.AppendHeader(head)
	}
	for r, row := range t.Rows {
		if row.Rule {
			if o.Box {
				w.AppendSeparator()
			} else {
				empty := make(table.Row, len(t.Columns))
				for i := range empty {
					empty[i] = ""
				}
				w.AppendRow(empty)
			}
		}
		cells := make(table.Row, len(t.Columns))
		for c := range t.Columns {
			cells[c] = o.paint(row.Cells[c].Tone, texts[r][c])
		}
		w.AppendRow(cells)
	}
	lines := strings.Split(w.Render(), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ") + "\n"
	}
	return strings.Join(lines, "")
}

// headless says that a table's columns explain themselves: field and value.
func headless(t Table) bool {
	return len(t.Columns) == 2 && t.Columns[0].Key == "field" && t.Columns[1].Key == "value"
}

func style(o RenderOptions) table.Style {
	s := table.StyleLight
	s.Format.Header = text.FormatDefault
	if !o.Box {
		s.Options = table.Options{}
		s.Box.PaddingLeft, s.Box.PaddingRight = "", "  "
	}
	return s
}

// paint colours s by its tone when colours are wanted.
func (o RenderOptions) paint(t Tone, s string) string {
	if !o.Color || strings.TrimSpace(s) == "" {
		return s
	}
	code := map[Tone]string{Good: "32", Bad: "31", Caution: "33", Faint: "2", Strong: "1"}[t]
	if code == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}
