package experiment

import (
	"fmt"
	"slices"
	"strings"

	"mage/contract"
	"mage/input"
)

// Plan lists the cases in declared order, each once.
func (s *Spec) Plan() ([]input.Case, error) {
	return s.plan(document{name: s.Name, text: s.Text})
}

func (s *Spec) plan(doc document) ([]input.Case, error) {
	var out []input.Case
	seen := map[string]bool{}
	for i, cs := range s.Cases {
		at := doc.caseAt(i)
		c, err := contract.Find(cs.Contract, contract.Precision(cs.Precision))
		if err != nil {
			word := cs.Contract
			if _, named := contract.Find(cs.Contract, contract.FP32); named == nil {
				word = cs.Precision
			}
			return nil, at.errorAt(word, "%v", err)
		}
		var shapes []contract.Dims
		for _, family := range cs.Shapes {
			d, err := contract.Shapes(c, family)
			if err != nil {
				return nil, at.errorAt(family, "%v", err)
			}
			shapes = append(shapes, d...)
		}
		for _, d := range cs.Dims {
			if err := c.CheckDims(d); err != nil {
				return nil, at.errorAt("dims", "%v", err)
			}
			shapes = append(shapes, d)
		}
		for _, dist := range cs.Distributions {
			known := input.Distributions(cs.Contract)
			if !slices.Contains(known, dist) {
				return nil, at.errorAt(dist, "contract %s has no distribution %q (%s)%s", cs.Contract, dist, strings.Join(known, ", "), didYouMean(dist, known))
			}
			for _, d := range shapes {
				for _, seed := range cs.Seeds {
					ic := input.Case{Contract: c, Dims: d, Distribution: dist, Seed: seed}
					if id := CaseID(ic); !seen[id] {
						seen[id] = true
						out = append(out, ic)
					}
				}
			}
		}
	}
	return out, nil
}

// CaseID names a case: "gelu/fp32/R=4096,D=768/normal/20260910".
func CaseID(c input.Case) string {
	return fmt.Sprintf("%s/%s/%s/%s/%d", c.Contract.Name(), c.Contract.Precision(),
		c.Dims.Format(c.Contract.DimNames()), c.Distribution, c.Seed)
}
