package cupti

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// The format is text: a letter and fields between single spaces, all numbers
// decimal and unsigned, words without spaces (%XX for other bytes, a lone % for
// none). Times are in ns.
//
//	H format process range program   the first line; format is 1
//	I version                        of CUPTI's API
//	V number major minor name        a device
//	T start|stop time                tracing begins, ends
//	S time                           all is handed over, and nothing is under way
//	U time                           not any more: there is a context again
//	N number name                    a kernel's name, ahead of its first use
//	A domain id name                 the name of a driver (1) or runtime (2) call
//	K name start end device context stream correlation grid×3 block×3 registers static dynamic local graph node
//	C kind from to bytes start end device context stream correlation graph node
//	F memory bytes start end device context stream correlation graph node
//	D, R id start end thread correlation result
//	M operation memory bytes address time device context stream correlation
//	O kind start end                 CUPTI's own work
//	L count                          records that CUPTI dropped
//	E call code why                  a call that failed
//	Z K C F D R M O V lost lent      the end: how many lines of each letter, how
//	                                 many records were lost and buffers not returned
const formatVersion = 1

// counted are the letters whose lines the end counts, in its order.
const counted = "KCFDRMOV"

// errFormat says that a file is of another version of the format.
var errFormat = errors.New("the trace is of another version of Mage")

// reader turns the lines of one file into a trace.
type reader struct {
	t     *trace
	names map[uint64]string
	calls map[[2]uint32]string
	seen  [256]uint64
}

// read reads a trace. A last line without an end is left out and noted: the
// process was killed while it wrote. Anything else that is not as the library
// writes it is an error.
func read(from io.Reader) (*trace, error) {
	r := &reader{t: &trace{}, names: map[uint64]string{}, calls: map[[2]uint32]string{}}
	in := bufio.NewReaderSize(from, 1<<16)
	for n := 1; ; n++ {
		text, err := in.ReadBytes('\n')
		if err == io.EOF {
			r.t.torn = len(text) > 0
			if n == 1 {
				return nil, errors.New("the trace holds no whole line")
			}
			return r.t, nil
		}
		if err != nil {
			return nil, err
		}
		text = bytes.TrimSuffix(text, []byte("\n"))
		if err := r.line(string(text), n == 1); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
}

func (r *reader) line(text string, first bool) error {
	if len(text) < 2 || text[1] != ' ' {
		return errors.New("not of a trace")
	}
	letter, l := text[0], &line{rest: text[2:]}
	if first != (letter == 'H') {
		return errors.New("the first line, and only that, begins with H")
	}
	if r.t.ended {
		return errors.New("something follows the end")
	}
	err := r.fields(letter, l)
	switch {
	case err != nil:
		return err
	case l.err != nil:
		return l.err
	case l.rest != "":
		return fmt.Errorf("%q is more than the line holds", l.rest)
	}
	r.seen[letter]++
	return nil
}

func (r *reader) fields(letter byte, l *line) error {
	t := r.t
	switch letter {
	case 'H':
		if v := l.u32(); l.err == nil && v != formatVersion {
			return fmt.Errorf("%w: format %d, not %d", errFormat, v, formatVersion)
		}
		t.process, t.onRange, t.program = int(l.u32()), l.word() == "cuda", l.text()
	case 'I':
		t.version = l.u32()
	case 'V':
		l.u32()
		l.u32()
		l.u32()
		t.devices = append(t.devices, l.text())
	case 'T':
		if l.word() == "start" {
			t.starts++
			t.settled = false
		}
		l.u64()
	case 'S', 'U':
		t.settled = letter == 'S'
		l.u64()
	case 'N':
		number := l.u64()
		r.names[number] = l.text()
	case 'A':
		id := [2]uint32{l.u32(), l.u32()}
		r.calls[id] = l.text()
	case 'L':
		t.lost += l.u64()
	case 'E':
		t.problems = append(t.problems, problem{l.text(), l.u32(), l.text()})
	case 'Z':
		return r.end(l)
	default:
		return r.record(letter, l)
	}
	return nil
}

// end compares what was read with what was written.
func (r *reader) end(l *line) error {
	for _, letter := range []byte(counted) {
		if n := l.u64(); l.err == nil && n != r.seen[letter] {
			return fmt.Errorf("the trace has %d lines of %c, and its end counts %d", r.seen[letter], letter, n)
		}
	}
	if n := l.u64(); l.err == nil && n != r.t.lost {
		return fmt.Errorf("the trace lost %d records, and its end counts %d", r.t.lost, n)
	}
	r.t.notReturned = l.u64()
	r.t.ended = true
	return nil
}
