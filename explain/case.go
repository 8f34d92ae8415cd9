package explain

import (
	"fmt"

	"mage/contract"
)

// Case is what both arms compute.
type Case struct {
	Contract     contract.Contract
	Dims         contract.Dims
	Distribution string
	Seed         uint64
}

func (c Case) String() string {
	return fmt.Sprintf("%s %s %s", c.Contract.Name(), c.Contract.Precision(), c.Dims.Format(c.Contract.DimNames()))
}

// Quick returns the shape that is used when none is asked for: the contract's
// default, cut where cutting changes no ratio of counters (fewer rows, nodes or
// tiles; rows as long as before), so that the simulator answers at once.
func Quick(c contract.Contract) contract.Dims {
	d := contract.Dims{}
	for n, v := range c.Default() {
		d[n] = v
	}
	switch c.Name() {
	case "matmul":
		d["M"], d["N"], d["K"] = 128, 128, 128
	case "gelu", "layernorm":
		d["R"] = 64
	case "triangle":
		d["N"] = 32
	case "neighbor":
		d["N"], d["E"] = 256, 4096
	}
	return d
}
