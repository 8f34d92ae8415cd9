package doctor

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// cudaProgram lists the places of a program of the CUDA toolkit: PATH, then the
// toolkit's folders, then extra ones.
func cudaProgram(name string, extra ...string) []string {
	candidates := []string{name}
	for _, root := range []string{os.Getenv("CUDA_HOME"), os.Getenv("CUDA_PATH"), "/usr/local/cuda"} {
		if root != "" {
			candidates = append(candidates, filepath.Join(root, "bin", name))
		}
	}
	return append(candidates, extra...)
}

func nvcc(ctx context.Context, report func(Finding)) {
	report(program(ctx, "nvcc", "install the CUDA toolkit", cudaProgram("nvcc")...))
}

func nsys(ctx context.Context, report func(Finding)) {
	report(program(ctx, "nsys", "install Nsight Systems and put nsys on PATH",
		cudaProgram("nsys", "/opt/nvidia/nsight-systems/*/bin/nsys")...))
}

func ncu(ctx context.Context, report func(Finding)) {
	report(program(ctx, "ncu", "install Nsight Compute and put ncu on PATH",
		cudaProgram("ncu", "/opt/nvidia/nsight-compute/*/ncu")...))
}

func sanitizer(ctx context.Context, report func(Finding)) {
	report(program(ctx, "compute-sanitizer", "install the CUDA toolkit's compute-sanitizer and put it on PATH",
		cudaProgram("compute-sanitizer", "/usr/local/cuda/compute-sanitizer/compute-sanitizer")...))
}

func counters(ctx context.Context, report func(Finding)) {
	report(countersAllowed("/proc/driver/nvidia/params", os.Geteuid() == 0))
}

// countersAllowed reads from the kernel module's parameters whether this user may
// read hardware counters, which ncu needs.
func countersAllowed(params string, administrator bool) Finding {
	const item = "hardware counters"
	text, err := os.ReadFile(params)
	if err != nil {
		reason := "the NVIDIA kernel module's parameters cannot be read: " + err.Error()
		if errors.Is(err, fs.ErrNotExist) {
			reason = "no NVIDIA kernel module is loaded, or it hides its parameters"
		}
		return Finding{Item: item, Reason: reason, Remedy: "load the NVIDIA driver"}
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		if strings.TrimSpace(name) != "RmProfilingAdminOnly" {
			continue
		}
		switch {
		case strings.TrimSpace(value) == "0":
			return Finding{Item: item, Available: true, Detail: "allowed to every user"}
		case administrator:
			return Finding{Item: item, Available: true, Detail: "allowed to administrators, as now"}
		}
		return Finding{Item: item, Reason: "the driver reserves them to administrators",
			Remedy: "set the module parameter NVreg_RestrictProfilingToAdminUsers=0, or run as administrator"}
	}
	return Finding{Item: item, Reason: "the NVIDIA kernel module does not say who may read them"}
}
