package python

import (
	"encoding/json"
	"fmt"
	"math"

	"mage/gpu"
	"mage/timing"
)

// kernelRecord is [name, start, end], nanoseconds on the device's timeline.
type kernelRecord gpu.KernelRecord

func (k *kernelRecord) UnmarshalJSON(text []byte) error {
	parts := [3]any{&k.Name, &k.StartNS, &k.EndNS}
	return json.Unmarshal(text, &parts)
}

// reading checks the worker's answer against what was asked. Kernels are summed
// per operation by the code that sums those of every other arm.
func (a reading) reading(req timing.Request) (timing.Reading, error) {
	out := timing.Reading{Instrument: a.Instrument, Samples: a.Samples, Operations: a.Operations,
		Launches: a.Launches, ReplayUS: a.ReplayUS}
	if req.Mode.Kind == timing.Kernel {
		records := make([]gpu.KernelRecord, len(a.Records))
		for i, r := range a.Records {
			records[i] = gpu.KernelRecord(r)
		}
		if a.Operations < 1 {
			return out, fmt.Errorf("the worker traced %d operations", a.Operations)
		}
		samples, names, err := timing.SumPerOperation(records, a.Operations)
		if err != nil {
			return out, err
		}
		out.Samples, out.Kernels, out.Launches, out.Operations = samples, names, len(names), 1
	}
	if len(out.Samples) == 0 || out.Operations != req.Mode.N {
		return out, fmt.Errorf("the worker answered %s with %d samples of %d operations", req.Mode, len(out.Samples), out.Operations)
	}
	for _, us := range out.Samples {
		if !(us >= 0) || math.IsInf(us, 0) {
			return out, fmt.Errorf("the worker answered %s with a sample of %v µs", req.Mode, us)
		}
	}
	return out, nil
}
