package gate

import (
	"fmt"
	"strings"
)

// Kind is what is wrong.
type Kind string

// The kinds of problem.
const (
	StillPoisoned  Kind = "still poisoned" // never written, or added onto the poison
	NonFinite      Kind = "non-finite"
	OutOfTolerance Kind = "out of tolerance"
	GuardBefore    Kind = "guard zone before the output overwritten"
	GuardAfter     Kind = "guard zone after the output overwritten"
	InputModified  Kind = "input modified"
)

// Problem is one thing that a gate found wrong: what, where, how many.
type Problem struct {
	Kind   Kind
	Buffer string // "out", or the input's name
	Count  int    // bad elements; bytes in a guard zone
	Total  int    // of so many
	// First are the first bad ones, three at most.
	First []Mismatch
	// MaxAbs is the largest error of a finite element (OutOfTolerance only).
	MaxAbs float64
}

// Mismatch is one bad element, or one byte of a guard zone.
type Mismatch struct {
	// Index has one entry per dimension. In a guard zone it is the byte's
	// distance from the output: negative before its first byte, from 0 on after
	// its last.
	Index []int
	Got   float64
	Want  float64
}

// Failure says that a subject does not compute its contract.
type Failure struct {
	Stage    string
	Seed     uint64
	Problems []Problem // nil when read back from a record
	Line     string    // the problems in one line
}

func (f *Failure) Error() string {
	return fmt.Sprintf("gate %s (seed %d) failed: %s", f.Stage, f.Seed, f.Line)
}

func describe(problems []Problem) string {
	parts := make([]string, len(problems))
	for i, p := range problems {
		parts[i] = p.String()
	}
	return strings.Join(parts, "; ")
}

// String writes the problem as one clause, such as "output out of tolerance: 1 of
// 6 elements, first [0 1] = 3.5 (want 1); max abs error 2.5".
func (p Problem) String() string {
	var b strings.Builder
	guard := p.Kind == GuardBefore || p.Kind == GuardAfter
	unit := "elements"
	switch {
	case guard:
		b.WriteString(string(p.Kind))
		unit = "bytes"
	case p.Kind == InputModified:
		fmt.Fprintf(&b, "input %s modified", p.Buffer)
	default:
		fmt.Fprintf(&b, "output %s", p.Kind)
	}
	fmt.Fprintf(&b, ": %d of %d %s, first ", p.Count, p.Total, unit)
	for i, m := range p.First {
		if i > 0 {
			b.WriteString(", ")
		}
		switch {
		case p.Kind == StillPoisoned:
			fmt.Fprintf(&b, "%v (want %.9g)", m.Index, m.Want)
		case guard:
			fmt.Fprintf(&b, "byte %+d = 0x%02x (poison 0x%02x)", m.Index[0], int(m.Got), int(m.Want))
		default:
			fmt.Fprintf(&b, "%v = %.9g (want %.9g)", m.Index, m.Got, m.Want)
		}
	}
	if p.Kind == OutOfTolerance {
		fmt.Fprintf(&b, "; max abs error %.3g", p.MaxAbs)
	}
	return b.String()
}
