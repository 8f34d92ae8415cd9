package tritonhook

import (
	"fmt"
	"strings"

	"mage/capture"
	"mage/unavailable"
)

// result joins the processes, each in its own order of launch.
func result(all []*log) capture.Result {
	r := capture.Result{Versions: map[string]string{}}
	busy, captured, untimed := 0, 0, 0
	for _, l := range all {
		if len(l.launches) > 0 {
			busy++
		}
	}
	for _, l := range all {
		var process *int
		if busy > 1 {
			process = &l.process
		}
		for _, e := range l.launches {
			r.Kernels = append(r.Kernels, e.kernel(process))
			switch {
			case e.Captured:
				captured++
			case e.US == nil:
				untimed++
			}
		}
		for name, v := range l.versions {
			if name == "device" {
				r.Device = v
			} else if v != "" {
				r.Versions[name] = v
			}
		}
		r.Warnings = append(r.Warnings, l.problems...)
	}
	if busy > 0 {
		r.Warnings = append(r.Warnings, "times are spans between CUDA events: where the device waits for the host they are longer than the kernel")
	}
	if captured > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d launches were captured into CUDA graphs and have no time: Triton does not see the replays", captured))
	}
	if untimed > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d launches have no time", untimed))
	}
	return r
}

func (e entry) kernel(process *int) capture.Kernel {
	k := capture.Kernel{
		Name: e.Name, DurationUS: e.US, Process: process, Device: e.Device, Grid: e.Grid,
		Registers: e.Registers, DynamicShared: e.Shared,
	}
	if e.Block != nil {
		k.Block = capture.Dim{*e.Block, 1, 1}
	}
	return k
}

// judge says why the logs are no evidence, if they are not.
func judge(all []*log, on capture.Range) error {
	launches, opened := 0, false
	var problems []string
	for _, l := range all {
		launches += len(l.launches)
		opened = opened || l.opened
		problems = append(problems, l.problems...)
		if !l.ended {
			return &capture.Failure{
				Outcome: capture.Invalid,
				Reason:  fmt.Sprintf("process %d ended without waiting for its kernels; their times are missing", l.process),
				Remedy:  "a script that ends by itself, by sys.exit or by os._exit hands over everything",
			}
		}
	}
	switch {
	case launches > 0:
		return nil
	case len(problems) > 0:
		return unavailable.New("timing of Triton kernels", strings.Join(problems, "; "), "")
	case on == capture.CUDA && !opened:
		return &capture.Failure{
			Outcome: capture.Empty,
			Reason:  "the script never called cudaProfilerStart (torch.cuda.profiler.start)",
			Remedy:  "--capture-range all captures the whole script",
		}
	case on == capture.CUDA:
		return nil // the range was empty, which the capture says
	}
	return &capture.Failure{
		Outcome: capture.Empty,
		Reason:  "the script launched no Triton kernel",
		Remedy:  "kernels of other origin are seen by --backend cupti or nsys",
	}
}
