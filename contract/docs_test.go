package contract_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"mage/contract"
	"mage/input"
)

// The tables of docs/contracts.md are written here and compared, so that a
// number there cannot grow old.
func TestTablesOfTheGuide(t *testing.T) {
	guide, err := os.ReadFile("../docs/contracts.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range contract.All() {
		d := c.Default()
		set, err := input.Generate(input.Case{Contract: c, Dims: d, Seed: input.DefaultSeed})
		if err != nil {
			t.Fatal(err)
		}
		bytes := c.CompulsoryBytes(d, set.Tensors)
		rows := []string{fmt.Sprintf("| `%s` | %s | %.0f | %d | %.2f |", c.Name(), d.Format(c.DimNames()),
			c.FLOPs(d), bytes, c.FLOPs(d)/float64(bytes))}
		sizes := []string{}
		for _, family := range []string{"small", "medium", "default", "large"} {
			shapes, err := contract.Shapes(c, family)
			if err != nil {
				t.Fatal(err)
			}
			sizes = append(sizes, sizeOf(c, shapes[0]))
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %s |", c.Name(), strings.Join(c.DimNames(), ", "), strings.Join(sizes, " | ")))
		for _, e := range contract.EdgeCases(c) {
			rows = append(rows, fmt.Sprintf("| `%s` | %s | %s | `%s` |", c.Name(), e.Name, sizeOf(c, e.Dims), e.Distribution))
		}
		for _, row := range rows {
			if !strings.Contains(string(guide), row+"\n") {
				t.Errorf("docs/contracts.md lacks the row\n%s", row)
			}
		}
	}
}

func sizeOf(c contract.Contract, d contract.Dims) string {
	var parts []string
	for _, n := range c.DimNames() {
		parts = append(parts, fmt.Sprint(d[n]))
	}
	return strings.Join(parts, "×")
}
