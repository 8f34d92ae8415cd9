package report

import "io"

// Draw writes tables that are no part of a Report, without the droppable columns
// that hold nothing. JSON is the caller's, who knows the data behind them.
func Draw(w io.Writer, f Format, tables []Table, o RenderOptions) error {
	o.Tables = nil
	compacted := make([]Table, len(tables))
	for i, t := range tables {
		compacted[i] = t.compact()
	}
	return renderTables(w, f, compacted, o)
}

// Word is a cell of text; an empty one is absent.
func Word(s string) Value { return word(s) }

// Number is a cell that reads s and holds x.
func Number(s string, x any) Value { return number(s, x) }

// Absent is a cell for what was not measured.
func Absent() Value { return none() }

// Microseconds is a cell for a time of one reading: four significant digits, in
// the unit that suits it.
func Microseconds(us float64) Value {
	u := unitFor(us)
	text, _ := timeText(us, nil, nil, u, timeDecimals(us, nil, nil, u))
	return number(text, us)
}

// Fraction is a cell for a fraction, written in per cent; nil is absent.
func Fraction(x *float64) Value { return fraction(x) }

// Bytes writes a count of bytes in decimal units.
func Bytes(n int64) string { return bytesText(n) }
