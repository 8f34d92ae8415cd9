package cupti

import (
	"fmt"
	"strconv"
	"strings"
)

// line takes the fields of a line one by one and keeps the first problem.
type line struct {
	rest string
	err  error
}

func (l *line) word() string {
	if l.err != nil {
		return ""
	}
	if l.rest == "" {
		l.err = fmt.Errorf("a field is missing")
		return ""
	}
	var w string
	w, l.rest, _ = strings.Cut(l.rest, " ")
	return w
}

func (l *line) u64() uint64 {
	w := l.word()
	if l.err != nil {
		return 0
	}
	n, err := strconv.ParseUint(w, 10, 64)
	if err != nil {
		l.err = fmt.Errorf("%q is no number", w)
	}
	return n
}

func (l *line) u32() uint32 {
	n := l.u64()
	if l.err == nil && n > 1<<32-1 {
		l.err = fmt.Errorf("%d is too large", n)
	}
	return uint32(n)
}

func (l *line) triple() [3]uint32 { return [3]uint32{l.u32(), l.u32(), l.u32()} }

// text reads a word in which bytes are written as %XX; a lone % is no text.
func (l *line) text() string {
	w := l.word()
	if w == "%" || !strings.Contains(w, "%") {
		return strings.TrimSuffix(w, "%")
	}
	var b strings.Builder
	for i := 0; i < len(w); i++ {
		if w[i] != '%' {
			b.WriteByte(w[i])
			continue
		}
		if i+2 >= len(w) {
			l.fail(w)
			return ""
		}
		n, err := strconv.ParseUint(w[i+1:i+3], 16, 8)
		if err != nil {
			l.fail(w)
			return ""
		}
		b.WriteByte(byte(n))
		i += 2
	}
	return b.String()
}

func (l *line) fail(w string) {
	if l.err == nil {
		l.err = fmt.Errorf("%q has a broken escape", w)
	}
}
