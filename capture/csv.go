package capture

import (
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
)

// column is one column of kernels.csv.
type column struct {
	name string
	of   func(*Kernel) string // empty where the profiler did not say
}

// columnsOf are those of the launches: the fixed ones, then a column for each
// counter and unit that occurs, by name.
func columnsOf(kernels []Kernel) []column {
	columns := []column{
		{"name", func(k *Kernel) string { return k.Name }},
		{"start_ns", func(k *Kernel) string { return number(k.StartNS) }},
		{"duration_us", func(k *Kernel) string { return number(k.DurationUS) }},
		{"process", func(k *Kernel) string { return number(k.Process) }},
		{"device", func(k *Kernel) string { return number(k.Device) }},
		{"context", func(k *Kernel) string { return number(k.Context) }},
		{"stream", func(k *Kernel) string { return number(k.Stream) }},
		{"grid", func(k *Kernel) string { return k.Grid.String() }},
		{"block", func(k *Kernel) string { return k.Block.String() }},
		{"registers", func(k *Kernel) string { return number(k.Registers) }},
		{"static_shared_bytes", func(k *Kernel) string { return number(k.StaticShared) }},
		{"dynamic_shared_bytes", func(k *Kernel) string { return number(k.DynamicShared) }},
		{"local_bytes", func(k *Kernel) string { return number(k.Local) }},
		{"correlation", func(k *Kernel) string { return number(k.Correlation) }},
		{"graph_node", func(k *Kernel) string { return number(k.GraphNode) }},
	}
	type counter struct{ name, unit string }
	seen := map[counter]bool{}
	for _, k := range kernels {
		for name, c := range k.Counters {
			seen[counter{name, c.Unit}] = true
		}
	}
	order := slices.SortedFunc(maps.Keys(seen), func(a, b counter) int {
		return slices.Compare([]string{a.name, a.unit}, []string{b.name, b.unit})
	})
	for _, c := range order {
		columns = append(columns, column{fmt.Sprintf("%s [%s]", c.name, c.unit), func(k *Kernel) string {
			v, ok := k.Counters[c.name]
			if !ok || v.Unit != c.unit {
				return ""
			}
			return strconv.FormatFloat(v.Value, 'g', -1, 64)
		}})
	}
	return columns
}

func number[T int | int64 | uint64 | float64](v *T) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(*v)
}

func writeCSV(dir string, kernels []Kernel) error {
	return writeFile(dir, TableFile, func(out io.Writer) error {
		w := csv.NewWriter(out)
		columns := columnsOf(kernels)
		row := make([]string, len(columns))
		for i, c := range columns {
			row[i] = c.name
		}
		if err := w.Write(row); err != nil {
			return err
		}
		for i := range kernels {
			for j, c := range columns {
				row[j] = c.of(&kernels[i])
			}
			if err := w.Write(row); err != nil {
				return err
			}
		}
		w.Flush()
		return w.Error()
	})
}
