package agreement

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Counted is what a profiler counted of one case, by metric. A metric that it
// could not collect is absent.
type Counted struct {
	Case    string
	Metrics map[string]int64
	// LoadsMatrices is that of the case.
	LoadsMatrices bool
}

// alone says that the launch was one warp, so that no access waited for another's.
func (c Counted) alone() bool { return strings.HasPrefix(c.Case, "probe ") }

// ReadNsight reads what `ncu --csv --page raw --print-units base` printed of a run
// of command record, whose outputs tell the case of each launch, in order.
func ReadNsight(text []byte, launches []Output) ([]Counted, error) {
	// Lines before the table are messages.
	start := bytes.Index(text, []byte(`"ID",`))
	if start < 0 {
		return nil, fmt.Errorf("no table of Nsight Compute: no line begins with \"ID\"")
	}
	rows, err := csv.NewReader(bytes.NewReader(text[start:])).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("table of Nsight Compute: %w", err)
	}
	if len(rows) < 2 {
		return nil, fmt.Errorf("table of Nsight Compute: no line of units")
	}
	header, rows := rows[0], rows[2:] // the second line holds the units
	name, grid, block := slices.Index(header, "Kernel Name"), slices.Index(header, "Grid Size"), slices.Index(header, "Block Size")
	if name < 0 || grid < 0 || block < 0 {
		return nil, fmt.Errorf("table of Nsight Compute: want the columns Kernel Name, Grid Size and Block Size")
	}
	if len(rows) != len(launches) {
		return nil, fmt.Errorf("table of Nsight Compute: %d launches, %d were recorded", len(rows), len(launches))
	}
	var all []Counted
	for i, row := range rows {
		l := launches[i]
		entry, _, _ := strings.Cut(row[name], "(")
		if entry != l.Entry || dims(row[grid]) != shape(l.Grid) || dims(row[block]) != shape(l.Block) {
			return nil, fmt.Errorf("launch %d is %s %s %s for Nsight Compute, and %s %s %s was recorded",
				i, entry, row[grid], row[block], l.Entry, shape(l.Grid), shape(l.Block))
		}
		c := Counted{Case: l.Case, Metrics: map[string]int64{}}
		for n, column := range header {
			if !strings.Contains(column, "__") || !strings.HasSuffix(column, ".sum") {
				continue
			}
			v, err := strconv.ParseFloat(strings.ReplaceAll(row[n], ",", ""), 64)
			if err != nil {
				continue // n/a
			}
			c.Metrics[column] = int64(v)
		}
		all = append(all, c)
	}
	return all, nil
}

// dims turns "(96, 1, 1)" into "96x1x1".
func dims(s string) string {
	return strings.ReplaceAll(strings.Trim(s, "()"), ", ", "x")
}
