package kernels

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mage/contract"
	"mage/gpu"
	"mage/unavailable"
)

func TestPlanEvaluatesShapeAndTunables(t *testing.T) {
	ks, err := load(t, good)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ks[0].Plan(contract.Dims{"R": 9, "D": 12}, Values{"BLOCK": 64, "VECTOR": 4})
	if err != nil {
		t.Fatal(err)
	}
	want := Plan{
		Scratch: []Scratch{{"partial", 36}},
		Launches: []Launch{
			{
				Entry: "first",
				Zero:  []string{"partial"},
				Params: []Param{
					{Buffer: "a"}, {Buffer: "partial"}, {Name: "count", Scalar: gpu.Uint32(108)},
				},
				Config: gpu.Config{Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{64, 1, 1}},
			},
			{
				Entry: "second",
				Params: []Param{
					{Buffer: "b"}, {Buffer: "out"},
					{Name: "inverse", Scalar: gpu.Float32(float32(1.0 / 12))}, {Name: "half", Scalar: gpu.Int64(6)},
				},
				Config: gpu.Config{Grid: [3]uint32{2, 16, 1}, Block: [3]uint32{32, 2, 1}, DynamicShared: 256},
			},
		},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}

	// R / 4 is 0 here: that launch is empty, not an error.
	got, err = ks[0].Plan(contract.Dims{"R": 3, "D": 12}, ks[0].Defaults())
	if err != nil || !got.Launches[1].Empty || got.Launches[0].Empty {
		t.Errorf("empty grid: %+v, %v", got, err)
	}
}

func TestPlanIsUnavailableWithoutItsNeeds(t *testing.T) {
	ks, err := load(t, good)
	if err != nil {
		t.Fatal(err)
	}
	_, err = ks[0].Plan(contract.Dims{"R": 4, "D": 257}, ks[0].Defaults())
	u, ok := unavailable.As(err)
	if !ok || !strings.Contains(u.Reason, "D % VECTOR == 0: rows are read in vectors") {
		t.Errorf("error = %v", err)
	}
	// pow2(D) blocks in y is beyond 65535.
	_, err = ks[0].Plan(contract.Dims{"R": 4, "D": 65540}, ks[0].Defaults())
	if u, ok = unavailable.As(err); !ok || !strings.Contains(u.Reason, "1×131072×1 blocks") {
		t.Errorf("error = %v", err)
	}
}

func TestPlanRefusesWhatDoesNotFit(t *testing.T) {
	for _, test := range []struct{ old, new, want string }{
		{`type = "u32", value = "R * D"`, `type = "i32", value = "R * D * 1000"`, "count = 4800000000 does not fit i32"},
		{`type = "u32", value = "R * D"`, `type = "u32", value = "R - D"`, "count = -1196 does not fit u32"},
		{`"R / 4"`, `"R / (D - 1200)"`, "divide by zero"},
		{`"R / 4"`, `"R - D"`, "is -1196"},
		{`"4 * R"`, `"R - D"`, "scratch partial has -1196 bytes"},
		{`"32", "2"`, `"64", "32"`, "1 to 1024"},
	} {
		ks, err := load(t, strings.Replace(good, test.old, test.new, 1))
		if err != nil {
			t.Fatal(err)
		}
		d := contract.Dims{"R": 4, "D": 1200}
		if strings.Contains(test.new, "1000") {
			d = contract.Dims{"R": 4000, "D": 1200}
		}
		if _, err = ks[0].Plan(d, ks[0].Defaults()); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error = %v", test.new, err)
		}
	}
}

func TestSpaceHoldsWhatTheConstraintsAllow(t *testing.T) {
	ks, err := load(t, good)
	if err != nil {
		t.Fatal(err)
	}
	k := ks[0]
	var got []string
	for v := range k.Space() {
		got = append(got, strings.Join(k.Defines(v), " "))
	}
	want := []string{"-DBLOCK=64 -DVECTOR=1", "-DBLOCK=64 -DVECTOR=4", "-DBLOCK=256 -DVECTOR=1", "-DBLOCK=256 -DVECTOR=4", "-DBLOCK=1024 -DVECTOR=1"}
	if !slices.Equal(got, want) {
		t.Errorf("space = %q", got)
	}
	for _, bad := range []Values{{"BLOCK": 64}, {"BLOCK": 65, "VECTOR": 1}, {"BLOCK": 1024, "VECTOR": 4}, {"BLOCK": 64, "VECTOR": 1, "VECTRO": 4}} {
		if k.CheckValues(bad) == nil {
			t.Errorf("%v is accepted", bad)
		}
	}
}

// TestBuiltinsPlanEveryShape plans the shapes at the ends of what contracts
// allow, where grids and 32-bit scalars overflow first.
func TestBuiltinsPlanEveryShape(t *testing.T) {
	const most = math.MaxInt32
	extremes := map[string][]contract.Dims{
		"matmul":    {{"M": most, "N": 1, "K": 1}, {"M": 1, "N": most, "K": 1}, {"M": 1, "N": 1, "K": most}, {"M": 46340, "N": 46340, "K": 46340}},
		"gelu":      {{"R": most, "D": 1}, {"R": 1, "D": most}},
		"layernorm": {{"R": most, "D": 1}, {"R": 1, "D": most}},
		"triangle":  {{"N": 1, "C": most}, {"N": 46340, "C": 1}},
		"neighbor":  {{"N": most - 1, "F": 1, "E": 0}, {"N": 1, "F": most, "E": 1}, {"N": 1, "F": 1, "E": most}},
	}
	for _, k := range builtins(t) {
		c, err := contract.Find(k.Contract, contract.FP32)
		if err != nil {
			t.Fatal(err)
		}
		shapes := append([]contract.Dims{c.Default(), c.Small()}, extremes[k.Contract]...)
		for _, family := range []string{"tails", "edge", "large"} {
			more, err := contract.Shapes(c, family)
			if err != nil {
				t.Fatal(err)
			}
			shapes = append(shapes, more...)
		}
		for _, d := range shapes {
			if err := c.CheckDims(d); err != nil {
				t.Errorf("%s %v: %v", k.Name(), d, err)
			}
			p, err := k.Plan(d, k.Defaults())
			if err != nil {
				t.Errorf("%s %v: %v", k.Name(), d, err)
				continue
			}
			threads := 0
			for _, l := range p.Launches {
				threads += int(l.Config.Grid[0]) * int(l.Config.Grid[1]) * int(l.Config.Grid[2]) *
					int(l.Config.Block[0]) * int(l.Config.Block[1]) * int(l.Config.Block[2])
			}
			// Every built-in first version has a thread per output at least.
			if k.Implementation == "cuda/first" && k.Contract != "layernorm" && threads < c.Output(d).Len() {
				t.Errorf("%s %v: %d threads for %d outputs", k.Name(), d, threads, c.Output(d).Len())
			}
		}
	}
}
