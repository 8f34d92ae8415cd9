package evidence

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// lineScanner parses lines of samples.jsonl. The arrays of samples, nearly all
// of the bytes, go through a scanner of its own; the fields around them through
// encoding/json. One goroutine uses it at a time.
type lineScanner struct {
	head  []byte            // the line without its samples, reused
	slab  []float64         // where the samples of many lines live
	words map[string]string // one copy of every case, arm, mode, …
}

const slabSize = 1 << 16

// parse reads one line, without its newline, into l.
func (s *lineScanner) parse(b []byte, l *Line) error {
	s.head = s.head[:0]
	done := 0 // b[:done] is in head, or was an array of samples
	var samples, replay []float64
	i, err := skipTo(b, 0, '{')
	if err != nil {
		return err
	}
	for more := true; more; {
		key, after, err := scanKey(b, i)
		if err != nil {
			return err
		}
		if key == nil { // an empty object
			break
		}
		i = skipSpace(b, after)
		var values *[]float64
		switch string(key) {
		case "samples":
			values = &samples
		case "replay_us":
			values = &replay
		}
		if values == nil && oddKey(key) || values != nil && *values != nil {
			return fmt.Errorf("the key %q is repeated or oddly spelt", key)
		}
		if values != nil && i < len(b) && b[i] == '[' {
			s.head = append(append(s.head, b[done:i]...), "null"...)
			if *values, i, err = s.floats(b, i); err != nil {
				return fmt.Errorf("%s: %w", key, err)
			}
			done = i
		} else if i, err = skipValue(b, i); err != nil {
			return err
		}
		i = skipSpace(b, i)
		more = i < len(b) && b[i] == ','
		if more {
			i++
		}
	}
	s.head = append(s.head, b[done:]...)
	if err := json.Unmarshal(s.head, l); err != nil {
		return err
	}
	if len(samples) == 0 {
		return errors.New("the line has no samples")
	}
	l.Samples, l.ReplayUS = samples, replay
	for _, w := range []*string{&l.Case, &l.Arm, &l.Mode, &l.Cache, &l.Instrument, &l.Unit} {
		*w = s.word(*w)
	}
	return nil
}

// oddKey reports a key that encoding/json could take for one of the arrays.
func oddKey(key []byte) bool {
	return bytes.IndexByte(key, '\\') >= 0 || bytes.EqualFold(key, []byte("samples")) || bytes.EqualFold(key, []byte("replay_us"))
}

func (s *lineScanner) word(w string) string {
	if one, ok := s.words[w]; ok {
		return one
	}
	s.words[w] = w
	return w
}

// floats reads the JSON array of numbers at b[i] and returns the index after it.
func (s *lineScanner) floats(b []byte, i int) ([]float64, int, error) {
	start := len(s.slab)
	if i = skipSpace(b, i+1); i < len(b) && b[i] == ']' {
		return []float64{}, i + 1, nil
	}
	for {
		v, after, err := scanNumber(b, i)
		if err != nil {
			return nil, i, err
		}
		if len(s.slab) == cap(s.slab) {
			grown := make([]float64, len(s.slab)-start, max(slabSize, 2*(len(s.slab)-start)))
			copy(grown, s.slab[start:])
			s.slab, start = grown, 0
		}
		s.slab = append(s.slab, v)
		i = skipSpace(b, after)
		if i >= len(b) {
			return nil, i, errShort
		}
		switch b[i] {
		case ',':
			i = skipSpace(b, i+1)
		case ']':
			return s.slab[start:len(s.slab):len(s.slab)], i + 1, nil
		default:
			return nil, i, fmt.Errorf("byte %d: %q in an array of numbers", i, b[i])
		}
	}
}

var errShort = errors.New("the line is cut short")

// powers of ten that a float64 holds exactly.
var powers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10,
	1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// scanNumber reads the JSON number at b[i]: by one exact multiplication or
// division where the digits fit 53 bits and the power of ten is exact (Clinger
// 1990, "How to read floating point numbers accurately"), else by strconv.
func scanNumber(b []byte, i int) (float64, int, error) {
	start := i
	negative := i < len(b) && b[i] == '-'
	if negative {
		i++
	}
	first := i
	var mantissa uint64
	for ; i < len(b) && b[i]-'0' < 10; i++ {
		mantissa = mantissa*10 + uint64(b[i]-'0')
	}
	digits, exponent := i-first, 0
	good := digits > 0 && (digits == 1 || b[first] != '0')
	if good && i < len(b) && b[i] == '.' {
		i++
		point := i
		for ; i < len(b) && b[i]-'0' < 10; i++ {
			mantissa = mantissa*10 + uint64(b[i]-'0')
		}
		digits += i - point
		exponent = point - i
		good = i > point
	}
	if good && i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		i++
		minus := i < len(b) && b[i] == '-'
		if minus || i < len(b) && b[i] == '+' {
			i++
		}
		from, e := i, 0
		for ; i < len(b) && b[i]-'0' < 10; i++ {
			e = min(e*10+int(b[i]-'0'), 10000)
		}
		good = i > from
		if minus {
			e = -e
		}
		exponent += e
	}
	if !good {
		if i >= len(b) {
			return 0, i, errShort
		}
		return 0, i, fmt.Errorf("byte %d: %q in a number", i, b[i])
	}
	if digits <= 19 && mantissa < 1<<53 && -22 <= exponent && exponent <= 22 {
		v := float64(mantissa)
		if exponent < 0 {
			v /= powers[-exponent]
		} else {
			v *= powers[exponent]
		}
		if negative {
			v = -v
		}
		return v, i, nil
	}
	v, err := strconv.ParseFloat(string(b[start:i]), 64)
	if err != nil {
		return 0, i, fmt.Errorf("byte %d: the number %s is out of range", start, b[start:i])
	}
	return v, i, nil
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// skipTo returns the index after c, which is the next byte but for spaces.
func skipTo(b []byte, i int, c byte) (int, error) {
	if i = skipSpace(b, i); i >= len(b) {
		return i, errShort
	}
	if b[i] != c {
		return i, fmt.Errorf("byte %d: %q instead of %q", i, b[i], c)
	}
	return i + 1, nil
}

// scanKey reads `"key":` at b[i]; key is nil at the end of an object.
func scanKey(b []byte, i int) (key []byte, after int, err error) {
	if i = skipSpace(b, i); i < len(b) && b[i] == '}' {
		return nil, i, nil
	}
	if i, err = skipTo(b, i, '"'); err != nil {
		return nil, i, err
	}
	end, err := stringEnd(b, i)
	if err != nil {
		return nil, i, err
	}
	after, err = skipTo(b, end, ':')
	return b[i : end-1], after, err
}

// stringEnd returns the index after the closing quote of a string whose first
// byte is b[i].
func stringEnd(b []byte, i int) (int, error) {
	for {
		n := bytes.IndexAny(b[min(i, len(b)):], `"\`)
		if n < 0 {
			return len(b), errShort
		}
		if i += n; b[i] == '"' {
			return i + 1, nil
		}
		i += 2
	}
}

// skipValue returns the index after the value at b[i]. It finds where the value
// ends, no more: encoding/json judges it.
func skipValue(b []byte, i int) (int, error) {
	depth := 0
	for i < len(b) {
		switch c := b[i]; {
		case c == '"':
			end, err := stringEnd(b, i+1)
			if err != nil {
				return i, err
			}
			i = end - 1
		case c == '{' || c == '[':
			depth++
		case depth > 0 && (c == '}' || c == ']'):
			if depth--; depth == 0 {
				return i + 1, nil
			}
		case depth == 0 && (c == ',' || c == '}'):
			return i, nil
		}
		if i++; depth == 0 && b[i-1] == '"' {
			return i, nil
		}
	}
	return i, errShort
}
