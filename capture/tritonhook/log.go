package tritonhook

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// formatVersion is that of the lines that runner/mage_timing/recorder.py writes.
const formatVersion = 1

// log is what one process wrote.
type log struct {
	process  int
	launches []entry
	problems []string
	versions map[string]string // python, torch, triton, and the device's name
	opened   bool              // recording began
	ended    bool              // the end was written: nothing is missing
}

// entry is one line. What does not belong to its type is absent.
type entry struct {
	Type string `json:"type"`

	Format int `json:"format"`
	PID    int `json:"pid"`

	Name      string    `json:"name"`
	Grid      [3]uint32 `json:"grid"`
	Block     *uint32   `json:"block"` // threads
	Registers *int      `json:"registers"`
	Shared    *int      `json:"shared"` // bytes, dynamic
	Stream    *uint64   `json:"stream"` // CUstream
	Device    *int      `json:"device"`
	US        *float64  `json:"us"`
	Captured  bool      `json:"captured"`

	Text string `json:"text"`

	Python     string `json:"python"`
	Torch      string `json:"torch"`
	Triton     string `json:"triton"`
	DeviceName string `json:"device_name"`

	Launches int  `json:"launches"`
	Opened   bool `json:"opened"`
}

func readFile(path string) (*log, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return read(f)
}

// read reads the lines of one process. A last line without an end is left out: the
// process was killed while it wrote.
func read(from io.Reader) (*log, error) {
	l := &log{}
	in := bufio.NewReader(from)
	for n := 1; ; n++ {
		text, err := in.ReadBytes('\n')
		if err == io.EOF {
			if n == 1 {
				return nil, errors.New("no whole line")
			}
			return l, nil
		}
		if err != nil {
			return nil, err
		}
		var e entry
		if err := json.Unmarshal(text, &e); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if err := l.add(e, n == 1); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
}

func (l *log) add(e entry, first bool) error {
	switch {
	case first != (e.Type == "start"):
		return errors.New(`the first line, and only that, is of the type "start"`)
	case l.ended:
		return errors.New("something follows the end")
	}
	switch e.Type {
	case "start":
		if e.Format != formatVersion {
			return fmt.Errorf("format %d, not %d: of another version of Mage", e.Format, formatVersion)
		}
		l.process = e.PID
	case "launch":
		l.launches = append(l.launches, e)
	case "problem":
		l.problems = append(l.problems, e.Text)
	case "versions":
		l.versions = map[string]string{"python": e.Python, "torch": e.Torch, "triton": e.Triton, "device": e.DeviceName}
	case "end":
		if e.Launches != len(l.launches) {
			return fmt.Errorf("there are %d launches, and the end counts %d", len(l.launches), e.Launches)
		}
		l.ended, l.opened = true, e.Opened
	default:
		return fmt.Errorf("a line of the type %q, which this version does not know", e.Type)
	}
	return nil
}
