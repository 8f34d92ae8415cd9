package doctor

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"

	"golang.org/x/sys/cpu"
)

func compiler(ctx context.Context, report func(Finding)) {
	candidates := []string{"cc", "gcc", "clang"}
	if cc := strings.Fields(os.Getenv("CC")); len(cc) > 0 { // it may hold flags too
		candidates = append(cc[:1], candidates...)
	}
	report(program(ctx, "C compiler", "install gcc or clang, or set CC", candidates...))
}

func processor(ctx context.Context, report func(Finding)) {
	text, err := os.ReadFile("/proc/cpuinfo")
	model := ""
	if err == nil {
		model = cpuModel(string(text))
	}
	if model == "" {
		model = "unknown model, " + runtime.GOARCH
	}
	report(Finding{Item: "processor", Available: true,
		Detail: fmt.Sprintf("%s, %d cores usable%s", model, runtime.NumCPU(), vectors())})
}

// cpuModel is the first "model name" of /proc/cpuinfo, empty if it has none.
func cpuModel(cpuinfo string) string {
	for line := range strings.Lines(cpuinfo) {
		name, value, _ := strings.Cut(line, ":")
		if strings.TrimSpace(name) == "model name" {
			return printable(value)
		}
	}
	return ""
}

// vectors lists the vector extensions that this processor and system offer.
func vectors() string {
	var s string
	for _, v := range []struct {
		name string
		has  bool
	}{
		{"AVX2", cpu.X86.HasAVX2}, {"FMA", cpu.X86.HasFMA}, {"AVX-512F", cpu.X86.HasAVX512F},
		{"AVX-512 BF16", cpu.X86.HasAVX512BF16}, {"AMX", cpu.X86.HasAMXTile}, {"SVE", cpu.ARM64.HasSVE},
	} {
		if v.has {
			s += ", " + v.name
		}
	}
	return s
}
