package ncu

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"mage/capture"
)

// unsupported is a file that this version cannot read.
func unsupported(format string, args ...any) error {
	return &capture.Failure{Outcome: capture.Unsupported, Reason: "the CSV of ncu: " + fmt.Sprintf(format, args...)}
}

// torn is a file that lacks something: what it lacks would pass for not measured.
func torn(format string, args ...any) error {
	return &capture.Failure{Outcome: capture.Invalid, Reason: "the CSV of ncu is not whole: " + fmt.Sprintf(format, args...)}
}

// Parse reads what ncu --csv --page raw prints: a line per launch, with the units
// in the second line. What precedes the header, such as ==PROF== lines, is skipped.
func Parse(text []byte) ([]capture.Kernel, error) {
	t, rows, err := read(text)
	if err != nil {
		return nil, err
	}
	return t.raw(rows)
}

// read returns the lines below the header.
func read(text []byte) (*file, [][]string, error) {
	start := headerAt(text)
	if start < 0 {
		return nil, nil, unsupported("there is no header line that begins with \"ID\"")
	}
	if !bytes.HasSuffix(text, []byte("\n")) {
		return nil, nil, torn("its last line has no end")
	}
	r := csv.NewReader(bytes.NewReader(text[start:]))
	r.FieldsPerRecord = -1
	r.LazyQuotes = true // names of kernels hold anything
	var rows [][]string
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, nil, unsupported("%v", err)
		}
		if strings.HasPrefix(row[0], "==") {
			continue // the profiler's remark, in between or after
		}
		if rows != nil && len(row) != len(rows[0]) {
			line, _ := r.FieldPos(0)
			return nil, nil, torn("line %d below the header has %d fields of %d", line-1, len(row), len(rows[0]))
		}
		rows = append(rows, row)
	}
	t := file{columns: map[string]int{}, header: rows[0]}
	for i, name := range rows[0] {
		t.columns[strings.TrimSpace(name)] = i
	}
	if !t.has("Kernel Name") {
		return nil, nil, unsupported("there is no column \"Kernel Name\"")
	}
	if t.has("Metric Name") {
		return nil, nil, unsupported("it is of another page than raw")
	}
	return &t, rows[1:], nil
}

func headerAt(text []byte) int {
	at := 0
	for line := range bytes.Lines(text) {
		trimmed := bytes.TrimPrefix(line, []byte("\ufeff"))
		if bytes.HasPrefix(trimmed, []byte(`"ID",`)) || bytes.HasPrefix(trimmed, []byte("ID,")) {
			return at + len(line) - len(trimmed)
		}
		at += len(line)
	}
	return -1
}

// file is a table by its header.
type file struct {
	header  []string
	columns map[string]int
	n       notation
}

func (t *file) has(name string) bool { _, ok := t.columns[name]; return ok }

func (t *file) cell(row []string, name string) string {
	if i, ok := t.columns[name]; ok && i < len(row) {
		return strings.TrimSpace(row[i])
	}
	return ""
}

// fixed are the columns that describe the launch and are no counters. Those that
// name the host and the process are not kept.
var fixed = []string{"ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Kernel Time", "Context", "Stream",
	"Block Size", "Grid Size", "Device", "CC", "Invocations"}

// device is what all lines call the device in an attribute that every table has,
// whatever was asked for; "" where it is missing, or where there are several.
func (t *file) device(rows [][]string) string {
	name := ""
	for i, row := range rows {
		if i == 0 {
			continue // units
		}
		n := t.cell(row, "device__attribute_display_name")
		if n == "" || name != "" && n != name {
			return ""
		}
		name = n
	}
	return name
}

// raw reads one launch per line; the first line holds the units.
func (t *file) raw(rows [][]string) ([]capture.Kernel, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	units := rows[0]
	if t.cell(units, "ID") != "" {
		return nil, unsupported("the raw page has no line of units")
	}
	rows = rows[1:]
	var counters []int
	var values []string
	for i, name := range t.header {
		if slices.Contains(fixed, strings.TrimSpace(name)) {
			continue
		}
		counters = append(counters, i)
		for _, row := range rows {
			if i < len(row) {
				values = append(values, row[i])
			}
		}
	}
	t.n = detect(values)
	var out []capture.Kernel
	for _, row := range rows {
		k, err := t.launch(row)
		if err != nil {
			return nil, err
		}
		for _, i := range counters {
			if i < len(row) && i < len(units) {
				t.add(&k, t.header[i], units[i], row[i])
			}
		}
		out = append(out, k)
	}
	return out, nil
}

// launch reads what every line says of its launch.
func (t *file) launch(row []string) (capture.Kernel, error) {
	k := capture.Kernel{Name: t.cell(row, "Kernel Name"), Counters: map[string]capture.Counter{}}
	var err error
	if k.Grid, err = dim(t.cell(row, "Grid Size")); err != nil {
		return k, err
	}
	if k.Block, err = dim(t.cell(row, "Block Size")); err != nil {
		return k, err
	}
	k.Device, k.Context, k.Stream = integer(t.cell(row, "Device")), integer(t.cell(row, "Context")), integer(t.cell(row, "Stream"))
	return k, nil
}

// dim reads "(128, 1, 1)".
func dim(s string) (d capture.Dim, err error) {
	parts := strings.Split(strings.Trim(s, "() "), ",")
	if len(parts) != 3 {
		return d, unsupported("%q is not a size in three dimensions", s)
	}
	for i, p := range parts {
		v, err := strconv.ParseUint(strings.TrimSpace(p), 10, 32)
		if err != nil {
			return d, unsupported("%q is not a size in three dimensions", s)
		}
		d[i] = uint32(v)
	}
	return d, nil
}

func integer(s string) *int {
	v, err := strconv.Atoi(s)
	if err != nil {
		return nil
	}
	return &v
}

// add takes one reading. A counter without a number stays missing.
func (t *file) add(k *capture.Kernel, name, unit, value string) {
	v, ok := t.n.parse(value)
	if !ok {
		return
	}
	c := base(v, unit)
	k.Counters[name] = c
	whole := func() *int {
		if c.Value < 0 || c.Value > math.MaxInt32 {
			return nil
		}
		return new(int(math.Round(c.Value)))
	}
	switch name {
	case capture.Duration:
		if c.Unit == "s" {
			us := math.Round(c.Value*1e12) / 1e6 // the profiler's step is a nanosecond
			k.DurationUS = &us
		}
	case "launch__registers_per_thread":
		k.Registers = whole()
	case "launch__shared_mem_per_block_static":
		k.StaticShared = whole()
	case "launch__shared_mem_per_block_dynamic":
		k.DynamicShared = whole()
	}
}
