package ceiling

import (
	"fmt"
	"strings"

	"mage/roofline"
)

// Roofs are the ceilings as package roofline takes them: medians of what was
// confirmed. What was not measured is absent, with the reason in Lacking.
func (f *File) Roofs() roofline.Roofs {
	r := roofline.Roofs{Device: f.Device.Name, UUID: f.Device.UUID, LaunchUS: map[string]float64{},
		About: fmt.Sprintf("measured %s, driver %s", f.Measured.UTC().Format("2006-01-02 15:04 UTC"), f.Device.DriverVersion)}
	writes := map[string]float64{"dram-write": 1, "dram-copy": 0.5, "dram-triad": 1. / 3, "l2-copy": 0.5}
	resources := map[string]roofline.Resource{
		"dram-read": roofline.DRAM, "dram-write": roofline.DRAM, "dram-copy": roofline.DRAM, "dram-triad": roofline.DRAM,
		"l2-read": roofline.L2, "l2-copy": roofline.L2, "shared-read": roofline.Shared,
		"fp32-fma": roofline.FP32, "fp64-fma": roofline.FP64,
		"tensor-fp16": roofline.TensorFP16, "tensor-bf16": roofline.TensorBF16, "tensor-tf32": roofline.TensorTF32,
	}
	const noKernel = "there is no kernel for it"
	r.Lacking = map[roofline.Resource]string{roofline.FP16: noKernel + ", and its FLOPs may be constants that HFMA2 moved",
		roofline.TensorFP8: noKernel, roofline.TensorFP64: noKernel,
		roofline.TensorINT8: noKernel + ", and its operations are no FLOPs", roofline.TensorINT1: noKernel + ", and its operations are no FLOPs"}
	for _, c := range f.Ceilings {
		if c.Confirmed == nil {
			if to, ok := resources[c.Name]; ok && c.Reason != "" {
				r.Lacking[to] = c.Reason
			}
			continue
		}
		if mode, ok := strings.CutPrefix(c.Name, "launch-"); ok {
			r.LaunchUS[mode] = c.Confirmed.Median
		} else if to, ok := resources[c.Name]; ok {
			r.Roofs = append(r.Roofs, roofline.Roof{Name: c.Name, Resource: to, Rate: c.Confirmed.Median, Writes: writes[c.Name]})
		}
	}
	return r
}
