package report

// Table is a table before it is drawn: what its columns mean, its rows as data
// and as text, its footnotes.
type Table struct {
	ID      string   `json:"id"`    // "comparison", "gates": the same in every report
	Title   string   `json:"title"` // one line
	Lead    []string `json:"lead,omitempty"`
	Columns []Column `json:"columns"`
	Rows    []Row    `json:"rows"`
	// Notes are footnotes; a cell's mark n refers to Notes[n-1].
	Notes []string `json:"notes,omitempty"`
	// Remarks stand below the table without a mark.
	Remarks []string `json:"remarks,omitempty"`
}

// Align places a column's texts.
type Align int

// Left and Right are what they say; Decimal puts points below each other, Range
// the dashes.
const (
	Left Align = iota
	Right
	Decimal
	Range
)

// Column describes one column.
type Column struct {
	Key   string `json:"key"`            // machine name
	Head  string `json:"head"`           // what a reader sees
	Unit  string `json:"unit,omitempty"` // of Value.Data where it is a number
	Align Align  `json:"-"`
	// Drop orders what a narrow terminal leaves out: the largest first, 0 never.
	Drop int `json:"-"`
	// Prose may be wrapped.
	Prose bool `json:"-"`
}

// Row is one row; a Rule sets it off from the row above.
type Row struct {
	Cells []Value `json:"cells"`
	Rule  bool    `json:"-"`
}

// Tone is a meaning that a terminal may colour.
type Tone int

// The tones.
const (
	Plain Tone = iota
	Good
	Bad
	Caution
	Faint
	Strong
)

// Value is one cell: the text that people read, the datum that programs read.
type Value struct {
	Text  string `json:"text"`
	Data  any    `json:"data,omitempty"` // string, float64, int, bool; nil: absent
	Marks []int  `json:"marks,omitempty"`
	Tone  Tone   `json:"-"`
}

const absent = "–"

func word(s string) Value {
	if s == "" {
		return Value{Text: absent, Tone: Faint}
	}
	return Value{Text: s, Data: s}
}

func number(s string, x any) Value { return Value{Text: s, Data: x} }

func none() Value { return Value{Text: absent, Tone: Faint} }

func (v Value) tone(t Tone) Value { v.Tone = t; return v }

// footnote returns the mark of a note, adding the note when it is new.
func (t *Table) footnote(note string) int {
	for i, n := range t.Notes {
		if n == note {
			return i + 1
		}
	}
	t.Notes = append(t.Notes, note)
	return len(t.Notes)
}

// without returns the table less the columns that are absent in every row.
func (t Table) without(keep func(Column) bool) Table {
	var cols []Column
	var index []int
	for i, c := range t.Columns {
		if keep(c) {
			cols = append(cols, c)
			index = append(index, i)
		}
	}
	rows := make([]Row, len(t.Rows))
	for r, row := range t.Rows {
		cells := make([]Value, len(index))
		for j, i := range index {
			cells[j] = row.Cells[i]
		}
		rows[r] = Row{Cells: cells, Rule: row.Rule}
	}
	t.Columns, t.Rows = cols, rows
	return t
}

// compact drops droppable columns that hold nothing.
func (t Table) compact() Table {
	used := map[string]bool{}
	for _, row := range t.Rows {
		for i, v := range row.Cells {
			if v.Text != absent && v.Text != "" {
				used[t.Columns[i].Key] = true
			}
		}
	}
	return t.without(func(c Column) bool { return used[c.Key] || c.Drop == 0 })
}
