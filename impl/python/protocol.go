package python

import (
	"encoding/json"
	"strings"

	"mage/contract"
	"mage/gate"
	"mage/tensor"
	"mage/timing"
	"mage/unavailable"
)

// request is one line to the worker. Fields that a request does not use are
// left out.
type request struct {
	Seq            int                `json:"seq"`
	Do             string             `json:"do"`
	ID             int                `json:"id,omitempty"`
	Implementation string             `json:"implementation,omitempty"`
	Device         string             `json:"device,omitempty"`
	Contract       string             `json:"contract,omitempty"`
	Dims           contract.Dims      `json:"dims,omitempty"`
	Inputs         []array            `json:"inputs,omitempty"`
	Output         *array             `json:"output,omitempty"`
	Guard          int                `json:"guard,omitempty"`
	Arena          int64              `json:"arena,omitempty"`  // bytes of it that hold the places
	Places         map[string]place   `json:"places,omitempty"` // of arrays in the arena, by name
	Value          byte               `json:"value"`
	Arch           int                `json:"arch,omitempty"`
	Params         map[string]float64 `json:"params,omitempty"`
	Cubin          *cubinLaunch       `json:"cubin,omitempty"`
	*measurement
}

type array struct {
	Name  string `json:"name"`
	DType string `json:"dtype"`
	Shape []int  `json:"shape"`
}

func arrayOf(s tensor.Spec) array { return array{s.Name, string(s.DType), s.Shape} }

// measurement is a timing.Request.
type measurement struct {
	Kind       string  `json:"kind"`
	N          int     `json:"n"`
	Cache      string  `json:"cache"`
	Warmup     int     `json:"warmup"`
	Samples    int     `json:"samples"`
	MinSamples int     `json:"min_samples"`
	BudgetUS   float64 `json:"budget_us"`
}

func measurementOf(r timing.Request) *measurement {
	return &measurement{string(r.Mode.Kind), r.Mode.N, string(r.Cache), r.Warmup, r.Samples, r.MinSamples, r.BudgetUS}
}

// openRequest describes a case to the worker.
func openRequest(implementation, device string, c contract.Contract, d contract.Dims) request {
	out := arrayOf(c.Output(d))
	r := request{Do: "open", Implementation: implementation, Device: device,
		Contract: c.Name(), Dims: d, Output: &out, Guard: gate.GuardBytes}
	for _, s := range c.Inputs(d) {
		r.Inputs = append(r.Inputs, arrayOf(s))
	}
	return r
}

// reply is one line from the worker: exactly one of the three parts.
type reply struct {
	Seq         *int            `json:"seq"`
	Result      json.RawMessage `json:"result"`
	Unavailable *struct {
		What, Reason, Remedy string
	} `json:"unavailable"`
	Failure *struct {
		Reason string
		Fatal  bool
	} `json:"failure"`
}

func (r reply) unavailable() error {
	return unavailable.New(r.Unavailable.What, oneLine(r.Unavailable.Reason), r.Unavailable.Remedy)
}

// oneLine makes printable text of what a library said.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "?")), " ")
	if len(s) > 600 {
		s = s[:600] + "…"
	}
	return s
}
