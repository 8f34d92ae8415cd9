package agreement

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// WriteCounted writes a line per case and a column per metric; what is absent
// stays empty.
func WriteCounted(w io.Writer, all []Counted) error {
	var metrics []string
	for _, c := range all {
		for m := range c.Metrics {
			if !slices.Contains(metrics, m) {
				metrics = append(metrics, m)
			}
		}
	}
	slices.Sort(metrics)
	out := csv.NewWriter(w)
	_ = out.Write(append([]string{"case"}, metrics...)) // the error comes with Flush
	for _, c := range all {
		row := []string{c.Case}
		for _, m := range metrics {
			text := ""
			if v, ok := c.Metrics[m]; ok {
				text = strconv.FormatInt(v, 10)
			}
			row = append(row, text)
		}
		_ = out.Write(row)
	}
	out.Flush()
	return out.Error()
}

// ReadCounted reads what WriteCounted wrote.
func ReadCounted(r io.Reader) ([]Counted, error) {
	rows, err := csv.NewReader(r).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 || rows[0][0] != "case" {
		return nil, fmt.Errorf("counters: the first column must be case")
	}
	var all []Counted
	for _, row := range rows[1:] {
		c := Counted{Case: row[0], Metrics: map[string]int64{}}
		for i, text := range row[1:] {
			if text == "" {
				continue
			}
			v, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return nil, fmt.Errorf("counters: %s, %s: %w", row[0], rows[0][1+i], err)
			}
			c.Metrics[rows[0][1+i]] = v
		}
		all = append(all, c)
	}
	return all, nil
}
