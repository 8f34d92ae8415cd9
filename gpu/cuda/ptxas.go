package cuda

import (
	"regexp"
	"strconv"
	"strings"
)

// PTXASInfo is what ptxas says about one kernel when it is verbose. Sizes are
// bytes; spills and stack are per thread.
type PTXASInfo struct {
	Function    string
	Arch        string // "sm_90"
	Registers   int
	StackBytes  int
	SpillStores int
	SpillLoads  int
	SharedBytes int // static
	ConstBytes  int // bank 0: the parameters
	Barriers    int
}

// ParsePTXASInfo reads the log of a compilation with "--ptxas-options=-v", of
// ptxas -v, or of JITLog: one entry per kernel, in the order of the log. Lines
// that it does not know are skipped.
func ParsePTXASInfo(log string) []PTXASInfo {
	var (
		compiling  = regexp.MustCompile(`Compiling entry function '([^']+)'(?: for '([^']+)')?`)
		properties = regexp.MustCompile(`(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads`)
		owner      = regexp.MustCompile(`Function properties for '?([^'\s]+)`)
		used       = regexp.MustCompile(`Used (\d+) registers`)
		barriers   = regexp.MustCompile(`used (\d+) barriers`)
		shared     = regexp.MustCompile(`(\d+)(?:\+\d+)? bytes smem`)
		constant   = regexp.MustCompile(`(\d+) bytes cmem\[0\]`)
	)
	var out []PTXASInfo
	var of string // whose properties the next line holds: maybe a device function
	for line := range strings.Lines(log) {
		if m := compiling.FindStringSubmatch(line); m != nil {
			out = append(out, PTXASInfo{Function: m[1], Arch: m[2]})
			of = m[1]
			continue
		}
		if m := owner.FindStringSubmatch(line); m != nil {
			of = m[1]
			continue
		}
		if len(out) == 0 {
			continue
		}
		k := &out[len(out)-1]
		if m := properties.FindStringSubmatch(line); m != nil && of == k.Function {
			k.StackBytes, k.SpillStores, k.SpillLoads = atoi(m[1]), atoi(m[2]), atoi(m[3])
		}
		if m := used.FindStringSubmatch(line); m != nil {
			k.Registers = atoi(m[1])
			k.Barriers = first(barriers, line)
			k.SharedBytes = first(shared, line)
			k.ConstBytes = first(constant, line)
		}
	}
	return out
}

// first returns the number that the pattern finds in a line, or 0.
func first(re *regexp.Regexp, line string) int {
	if m := re.FindStringSubmatch(line); m != nil {
		return atoi(m[1])
	}
	return 0
}

// atoi reads digits that a pattern has matched.
func atoi(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}
