package evidence

import (
	"bytes"
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
	// round returns how many lines the round that starts at i has, or the line
	// that keeps it from being whole, and why.
	round := func(i int) (n, bad int, err error) {
		if err := failed[i]; err != nil {
			return 0, i, err
		}
		first := &parsed[i]
		if first.Part != 1 || first.Of < 1 {
			return 0, i, fmt.Errorf("part %d of %d without the parts before it", first.Part, first.Of)
		}
		for k := i + 1; k < i+first.Of; k++ {
			switch {
			case k >= len(lines):
				return 0, i, fmt.Errorf("the round ends after %d of %d lines", k-i, first.Of)
			case failed[k] != nil:
				return 0, k, failed[k]
			case !follows(first, &parsed[k], k-i):
				return 0, k, fmt.Errorf("the round before it ends after %d of %d lines", k-i, first.Of)
			}
		}
		return first.Of, 0, nil
	}
	end := 0
	for end < len(lines) {
		n, bad, err := round(end)
		if err == nil {
			end += n
			continue
		}
		for j := end + 1; j < len(lines); j++ {
			if _, _, e := round(j); e == nil {
				return nil, tail{}, &CorruptError{File: path, Line: lines[bad].number, Offset: lines[bad].from, Err: err}
			}
		}
		if end == 0 && len(failed) == len(lines) && len(lines) > 1 {
			return nil, tail{}, &CorruptError{File: path, Line: lines[0].number,
				Err: fmt.Errorf("no line of it is one of samples: %w", err)}
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

// follows reports whether l is the line of a round that comes n after its first.
func follows(first, l *Line, n int) bool {
	return l.Part == n+1 && l.Of == first.Of && l.Session == first.Session &&
		l.Case == first.Case && l.Round == first.Round && l.Attempt == first.Attempt
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
