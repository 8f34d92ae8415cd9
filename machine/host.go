package machine

import (
	"bufio"
	"os"
	"runtime"
	"strconv"
	"strings"

	"mage/evidence"
	"mage/impl/cpu"
)

// host describes the computer without naming it.
func host() evidence.Host {
	return evidence.Host{
		OS: runtime.GOOS, Arch: runtime.GOARCH, Kernel: firstLine("/proc/sys/kernel/osrelease"),
		CPU: cpu.Info().Name, Cores: runtime.NumCPU(), MemoryBytes: memoryBytes(),
	}
}

func firstLine(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(b), "\n")
	return line
}

// memoryBytes is MemTotal of /proc/meminfo, 0 where there is no such file.
func memoryBytes() int64 {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0
	}
	defer f.Close()
	for sc := bufio.NewScanner(f); sc.Scan(); {
		if rest, ok := strings.CutPrefix(sc.Text(), "MemTotal:"); ok {
			kib, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(rest, "kB")), 10, 64)
			return kib << 10
		}
	}
	return 0
}
