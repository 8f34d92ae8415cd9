package evidence

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"sync"
)

// span is one line of a file: data[from:to], without its newline.
type span struct {
	from, to int64
	number   int // from 1
}

// splitLines finds the lines that are not empty.
func splitLines(data []byte) []span {
	lines := make([]span, 0, 1+len(data)/512)
	number := 0
	for from := 0; from < len(data); {
		number++
		to := len(data)
		if n := bytes.IndexByte(data[from:], '\n'); n >= 0 {
			to = from + n
		}
		if len(bytes.TrimSpace(data[from:to])) > 0 {
			lines = append(lines, span{int64(from), int64(to), number})
		}
		from = to + 1
	}
	return lines
}

// parseLines parses every line, on all cores. failed holds the errors by index.
func parseLines(data []byte, lines []span) (parsed []Line, failed map[int]error) {
	parsed = make([]Line, len(lines))
	failed = map[int]error{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	workers := min(runtime.GOMAXPROCS(0), 1+len(lines)/64)
	for w := range workers {
		wg.Go(func() {
			s := &lineScanner{words: map[string]string{}}
			for i := w * len(lines) / workers; i < (w+1)*len(lines)/workers; i++ {
				if err := s.parse(data[lines[i].from:lines[i].to], &parsed[i]); err != nil {
					mu.Lock()
					failed[i] = err
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	return parsed, failed
}

// wholeRounds keeps the lines of whole rounds. What follows the last of them is
// the tail that a kill left; anything else that is not a whole round is an error.
func wholeRounds(path string, data []byte, lines []span, parsed []Line, failed map[int]error) ([]Line, tail, error) {
	size := func(i int) (int, error) { // lines of the round that starts at i
		if err := failed[i]; err != nil {
			return 0, err
		}
		of := parsed[i].Of
		if parsed[i].Part != 1 || of < 1 {
			return 0, fmt.Errorf("part %d of %d without the parts before it", parsed[i].Part, of)
		}
		for k := 1; k < of; k++ {
			if i+k >= len(lines) {
				return 0, fmt.Errorf("the round ends after %d of %d lines", k, of)
			}
			if err := failed[i+k]; err != nil {
				return 0, fmt.Errorf("line %d, part %d of the round: %w", lines[i+k].number, k+1, err)
			}
			a, b := &parsed[i], &parsed[i+k]
			if b.Part != k+1 || b.Of != of || b.Case != a.Case || b.Round != a.Round || b.Attempt != a.Attempt || b.Session != a.Session {
				return 0, fmt.Errorf("the round ends after %d of %d lines", k, of)
			}
		}
		return of, nil
	}
	end := 0
	for end < len(lines) {
		n, err := size(end)
		if err == nil {
			end += n
			continue
		}
		for j := end + 1; j < len(lines); j++ {
			if _, e := size(j); e == nil {
				return nil, tail{}, &CorruptError{File: path, Line: lines[end].number, Offset: lines[end].from, Err: err}
			}
		}
		if end == 0 && len(failed) == len(lines) && len(lines) > 1 {
			return nil, tail{}, &CorruptError{File: path, Line: lines[0].number, Offset: 0,
				Err: errors.Join(errors.New("no line of it is one of samples"), err)}
		}
		break
	}
	bad := end
	if end == len(lines) {
		bad = -1
	}
	t := newTail(data, lines, bad)
	for i := end; i < len(lines); i++ {
		if failed[i] != nil {
			t.torn++
		} else {
			t.whole++
		}
	}
	return parsed[:end:end], t, nil
}

// newTail describes data from line bad on; bad is -1 when every line is good.
func newTail(data []byte, lines []span, bad int) tail {
	t := tail{good: int64(len(data))}
	if bad >= 0 {
		t.good, t.firstLine = lines[bad].from, lines[bad].number
	}
	t.bytes = int64(len(data)) - t.good
	t.unended = t.good > 0 && data[t.good-1] != '\n'
	return t
}
