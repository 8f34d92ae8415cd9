package cupti

import (
	"fmt"
	"strings"

	"mage/capture"
	"mage/unavailable"
)

// judge says why the traces are no evidence, if they are not: something is
// missing from them, or nothing was traced.
func judge(all []*trace) error {
	used := false
	for _, t := range all {
		if err := t.complete(); err != nil {
			return err
		}
		used = used || t.starts > 0
	}
	if !used && all[0].onRange {
		return &capture.Failure{
			Outcome: capture.Empty,
			Reason:  "the program never called cudaProfilerStart",
			Remedy:  "--capture-range all captures the whole program",
		}
	}
	return nil
}

// complete returns an *unavailable.Error when CUPTI did not work in the process,
// and a *capture.Failure when the trace lacks something.
func (t *trace) complete() error {
	for _, p := range t.problems {
		if p.call == "write" {
			return t.invalid("the trace could not be written any further (system error %d%s)", p.code, knownErrno(p.code))
		}
		if reason, remedy, fatal := t.fatal(p); fatal {
			return unavailable.New(what, reason, remedy)
		}
	}
	switch {
	case t.lost > 0:
		return t.invalid("CUPTI dropped %d records", t.lost)
	case t.notReturned > 0 && len(t.kernels)+len(t.copies)+len(t.fills)+len(t.calls)+len(t.allocations) == 0:
		return t.invalid("something else in it took over CUPTI (torch.profiler does), and all records went there")
	case t.ended || t.settled:
		return nil
	case t.torn:
		return t.invalid("it ended while its last records were being written; they are missing")
	}
	return t.invalid("it ended without handing over its last records: up to the last 0.2 s are missing")
}

func (t *trace) invalid(format string, args ...any) error {
	f := &capture.Failure{Outcome: capture.Invalid, Reason: t.String() + ": " + fmt.Sprintf(format, args...)}
	if !t.ended && t.lost == 0 {
		f.Remedy = "a program hands over everything when it exits, releases its last context, or calls cudaProfilerStop with --capture-range cuda"
	}
	return f
}

// String is "process 12 (python3.11)".
func (t *trace) String() string {
	if t.program == "" {
		return fmt.Sprintf("process %d", t.process)
	}
	return fmt.Sprintf("process %d (%s)", t.process, t.program)
}

// fatal says whether tracing is impossible because of the problem.
func (t *trace) fatal(p problem) (reason, remedy string, fatal bool) {
	kernels := p.call == "cuptiActivityEnable:10"
	switch p.call {
	case "dlopen":
		return p.why, remedyOf(p), true
	case "dlsym":
		return "the CUPTI that was found has no " + p.why, remedyOf(p), true
	case "cuptiGetVersion":
		if t.version != 0 {
			return fmt.Sprintf("CUPTI's API version is %d; 22 (CUDA 12.4) is the oldest that works", t.version), installCUPTI, true
		}
	case "cuptiSubscribe", "cuptiActivityRegisterCallbacks", "cuptiEnableCallback":
	default:
		if !kernels {
			return "", "", false
		}
	}
	return p.String(), remedyOf(p), true
}

// String is "cuptiSubscribe: CUPTI_ERROR_NOT_INITIALIZED (15)".
func (p problem) String() string {
	call, kind, enabling := strings.Cut(p.call, ":")
	if enabling {
		call += " of " + kindName(kind)
	}
	if p.why == "" {
		return fmt.Sprintf("%s: CUPTI error %d", call, p.code)
	}
	return fmt.Sprintf("%s: %s (%d)", call, p.why, p.code)
}

func kindName(number string) string {
	switch number {
	case "01":
		return "copies"
	case "02":
		return "fills"
	case "04":
		return "driver calls"
	case "05":
		return "runtime calls"
	case "08":
		return "devices"
	case "10":
		return "kernels"
	case "17":
		return "overhead"
	case "22":
		return "copies between devices"
	case "49":
		return "allocations"
	}
	return "activity " + number
}

func remedyOf(p problem) string {
	switch p.code {
	case 0:
		return installCUPTI
	case 15: // CUPTI_ERROR_NOT_INITIALIZED
		return "use a CUPTI that is not newer than the driver (MAGE_CUPTI)"
	case 35, 40: // CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, …VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES
		return "allow profiling to users: NVreg_RestrictProfilingToAdminUsers=0, or run as administrator"
	case 12, 26, 36, 38, 39: // MAX_LIMIT_REACHED, HARDWARE_BUSY, OLD_PROFILER_API_INITIALIZED, LEGACY_PROFILER_NOT_SUPPORTED, MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED
		return "run without another profiler in or around the program"
	}
	return ""
}

func knownErrno(code uint32) string {
	switch code {
	case 2:
		return ": its directory is gone"
	case 28:
		return ": the disk is full"
	case 122:
		return ": the disk quota is used up"
	}
	return ""
}
