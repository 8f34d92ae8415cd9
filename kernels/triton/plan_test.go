package triton

import (
	"testing"

	"mage/gpu"
)

func TestPlan(t *testing.T) {
	k := Kernel{Entry: "k", Arguments: []string{"a", "out", "M", "scratch"}, Warps: 4, Shared: 512}
	l := Launch{Grid: [3]uint32{7, 1, 1}, Scalars: map[string]int64{"M": 5}}
	p := l.Plan(k, "a", "out").Launches[0]
	if p.Entry != "k" || p.Config != (gpu.Config{Grid: [3]uint32{7, 1, 1}, Block: [3]uint32{128, 1, 1}, DynamicShared: 512}) {
		t.Errorf("%+v", p)
	}
	if len(p.Params) != 4 || p.Params[0].Buffer != "a" || p.Params[1].Buffer != "out" ||
		p.Params[2].Scalar != gpu.Int32(5) || p.Params[3].Buffer != "" || p.Params[3].Scalar != gpu.Pointer(0) {
		t.Errorf("%+v", p.Params)
	}
}
