package ncu

import (
	"regexp"

	"mage/capture"
)

// profiled is how ncu reports a kernel whose replays have ended:
// ==PROF== Profiling "gelu_kernel" - 3 (4/10): 0%....50%....100% - 9 passes
var profiled = regexp.MustCompile(`^==PROF== Profiling "(.+)" - \d+`)

// Follow counts the kernels that ncu names in the log. Their times are in the
// report, which is there at the end.
func (Backend) Follow(dir string) func(func(*capture.Kernel)) {
	var log capture.Growing
	return func(seen func(*capture.Kernel)) {
		log.Each(dir, capture.LogFile, func(_ string, line []byte) {
			if m := profiled.FindSubmatch(line); m != nil {
				seen(&capture.Kernel{Name: string(m[1])})
			}
		})
	}
}
