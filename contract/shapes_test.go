package contract_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"mage/contract"
	"mage/input"
)

func TestFamiliesAreValidAndDistinct(t *testing.T) {
	for _, c := range contract.All() {
		for _, family := range contract.Families() {
			shapes, err := contract.Shapes(c, family)
			if err != nil || len(shapes) == 0 {
				t.Fatalf("%s %s: %v, %v", c.Name(), family, shapes, err)
			}
			seen := map[string]bool{}
			for _, d := range shapes {
				if err := c.CheckDims(d); err != nil {
					t.Errorf("%s: %v", family, err)
				}
				key := d.Format(c.DimNames())
				if seen[key] {
					t.Errorf("%s %s: %s twice", c.Name(), family, key)
				}
				seen[key] = true
			}
		}
		_, err := contract.Shapes(c, "tail")
		var e *contract.Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), `did you mean "tails"`) {
			t.Errorf("%s: %v", c.Name(), err)
		}
	}
}

// Every tile and vector width that kernels use is missed by one, from below and
// from above, in every contract.
func TestTailsMissEveryTile(t *testing.T) {
	for _, c := range contract.All() {
		shapes, err := contract.Shapes(c, "tails")
		if err != nil {
			t.Fatal(err)
		}
		for _, tile := range []int{2, 4, 16, 32, 64} {
			var below, above bool
			for _, d := range shapes {
				for _, v := range d {
					below = below || v%tile == tile-1
					above = above || v > tile && v%tile == 1
				}
			}
			if !below || !above {
				t.Errorf("%s: tile %d: one below %v, one above %v", c.Name(), tile, below, above)
			}
		}
	}
}

func TestEdgeCases(t *testing.T) {
	var names []string
	for _, c := range contract.All() {
		for _, e := range contract.EdgeCases(c) {
			names = append(names, c.Name()+": "+e.Name)
			if err := c.CheckDims(e.Dims); err != nil {
				t.Errorf("%s: %v", e.Name, err)
			}
			if err := input.CheckDistribution(c.Name(), e.Distribution); err != nil {
				t.Errorf("%s: %v", e.Name, err)
			}
		}
	}
	for _, must := range []string{
		"matmul: one element", "layernorm: single feature", "layernorm: constant rows",
		"neighbor: no edges", "neighbor: duplicate edges", "neighbor: one hub row",
	} {
		if !strings.Contains(strings.Join(names, "\n"), must) {
			t.Errorf("%q is missing", must)
		}
	}
}

func ExampleFind() {
	_, err := contract.Find("neighbour", contract.FP32)
	fmt.Println(err)
	// Output: neighbour: unknown contract "neighbour": did you mean "neighbor"? (valid: matmul, gelu, layernorm, triangle, neighbor)
}
