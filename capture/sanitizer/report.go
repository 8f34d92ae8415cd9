package sanitizer

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"mage/capture"
)

// Every line of the report begins so; what a program prints does not.
const mark = "========="

var (
	// "at oob+0xb0", "at scale(float *, int)+0x70 in scale.cu:6:scale(float *, int)",
	// and of older versions "at 0x148 in scale(float *, int)".
	atKernel = regexp.MustCompile(`^at (.+?)\+0x[0-9a-f]+(?: in (.+))?$`)
	atOffset = regexp.MustCompile(`^at 0x[0-9a-f]+ in (.+)$`)
	byThread = regexp.MustCompile(`^by thread \((\d+),(\d+),(\d+)\) in block \((\d+),(\d+),(\d+)\)`)
	address  = regexp.MustCompile(`^(?:Address|Access to) (0x[0-9a-f]+)`)
	race     = regexp.MustCompile(`^(Error|Warning): (Race reported between \w+ access) at (.+)$`)
	hazards  = regexp.MustCompile(`^(.*?) ?\[(\d+) hazards?\]$`)
	total    = regexp.MustCompile(`^(?:ERROR|RACECHECK) SUMMARY: ([\d,]+) (?:errors?|hazards? displayed)`)
	summary  = regexp.MustCompile(`^(?:ERROR|\w+CHECK) SUMMARY: `)
	unshown  = regexp.MustCompile(`^ERROR SUMMARY: .*not printed`)
	source   = regexp.MustCompile(`^([^:]+:\d+)`)
)

// remarks are lines of the tool that report no error of a kernel.
var remarks = []string{"COMPUTE-SANITIZER", "ERROR SUMMARY", "RACECHECK SUMMARY", "LEAK SUMMARY", "SYNCCHECK SUMMARY",
	"Target application", "Error: process didn't terminate successfully", "Error: Target application", "Error: couldn't find exit code"}

// toolErrors say that the tool itself could not work.
var toolErrors = []string{"Error: No attachable process", "Internal Sanitizer Error", "Internal Error", "Error: Device not supported", "Error: Failed to", "ERROR: "}

// toolError finds a line by which the tool says that it could not work.
func toolError(text string) (string, bool) {
	for line := range strings.Lines(text) {
		said, _ := said(line)
		for _, e := range toolErrors {
			if strings.HasPrefix(said, e) {
				return said, true
			}
		}
	}
	return "", false
}

// unused says whether no process used CUDA, unless the program failed, which says more.
func unused(text string) bool {
	early := false
	for line := range strings.Lines(text) {
		switch s, _ := said(line); {
		case strings.HasSuffix(s, "process didn't terminate successfully"), strings.HasSuffix(s, "Target application returned an error"):
			return false
		case strings.Contains(s, "Target application terminated before first instrumented"):
			early = true
		}
	}
	return early
}

// said takes the mark off a line; deep is an indented line, which belongs to the
// report above it.
func said(line string) (text string, deep bool) {
	rest, ok := strings.CutPrefix(strings.TrimRight(line, " \r\n"), mark)
	if !ok {
		return "", false
	}
	return strings.TrimSpace(rest), strings.HasPrefix(rest, "   ")
}

// Parse reads a whole report, which ends with a summary: without one it was cut
// off, and says nothing about what was not found. Reports alike in kind, kernel and source become one
// finding with the first one's thread, block and address.
func Parse(text string) (capture.Result, error) {
	var r capture.Result
	index := map[[4]string]int{}
	var now *capture.Finding
	var stated int
	summed := false
	end := func() {
		if now == nil {
			return
		}
		key := [4]string{now.Level, now.Kind, now.Kernel, now.Source}
		if i, ok := index[key]; ok {
			r.Findings[i].Count += now.Count
		} else {
			index[key] = len(r.Findings)
			r.Findings = append(r.Findings, *now)
		}
		now = nil
	}
	for line := range strings.Lines(text) {
		s, deep := said(line)
		switch {
		case s == "":
			end()
		case !deep:
			end()
			summed = summed || summary.MatchString(s)
			if m := total.FindStringSubmatch(s); m != nil && !unshown.MatchString(s) {
				n, _ := strconv.Atoi(strings.ReplaceAll(m[1], ",", "")) // digits
				stated += n
			}
			if unshown.MatchString(s) {
				r.Warnings = append(r.Warnings, strings.TrimPrefix(s, "ERROR SUMMARY: "))
			}
			now = begin(s)
		case now != nil:
			detail(now, s)
		}
	}
	end()
	if !summed {
		return r, &capture.Failure{Outcome: capture.Invalid, Reason: "the report of compute-sanitizer has no summary: it is not whole"}
	}
	if stated > 0 && len(r.Findings) == 0 {
		return r, &capture.Failure{Outcome: capture.Unsupported,
			Reason: fmt.Sprintf("compute-sanitizer counts %d errors, and its report holds none that this version can read", stated)}
	}
	return r, nil
}

// begin starts a finding from its first line, or returns nil for a remark.
func begin(s string) *capture.Finding {
	for _, list := range [][]string{remarks, toolErrors} {
		for _, prefix := range list {
			if strings.HasPrefix(s, prefix) {
				return nil
			}
		}
	}
	f := &capture.Finding{Kind: s, Level: "error", Count: 1}
	if m := race.FindStringSubmatch(s); m != nil {
		f.Kind, f.Level = m[2], strings.ToLower(m[1])
		place(f, "at "+m[3])
	}
	return f
}

// detail adds what an indented line says; host backtraces are left out.
func detail(f *capture.Finding, s string) {
	if m := byThread.FindStringSubmatch(s); m != nil {
		if f.Thread == nil {
			f.Thread, f.Block = dim(m[1:4]), dim(m[4:7])
		}
		return
	}
	if m := address.FindStringSubmatch(s); m != nil && f.Address == "" {
		f.Address = m[1]
	}
	if m := hazards.FindStringSubmatch(s); m != nil {
		if n, err := strconv.Atoi(m[2]); err == nil {
			f.Count = n
		}
		s = m[1]
	}
	switch {
	case strings.HasPrefix(s, "Host Frame") || strings.HasPrefix(s, "Saved host backtrace") || strings.HasPrefix(s, "Device Frame"):
	case strings.HasPrefix(s, "at ") && f.Kernel == "":
		place(f, s)
	case s == "Address "+f.Address: // nothing more than the address
	case f.Detail == "":
		f.Detail = s
	default:
		f.Detail += " " + s
	}
}

// place reads where in the device code it happened.
func place(f *capture.Finding, s string) {
	if m := atKernel.FindStringSubmatch(s); m != nil {
		f.Kernel = m[1]
		f.Source = source.FindString(m[2])
	} else if m := atOffset.FindStringSubmatch(s); m != nil {
		f.Kernel = m[1]
	}
}

func dim(digits []string) *capture.Dim {
	var d capture.Dim
	for i, s := range digits {
		v, _ := strconv.ParseUint(s, 10, 32) // digits
		d[i] = uint32(v)
	}
	return &d
}
