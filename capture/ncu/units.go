package ncu

import (
	"strings"

	"mage/capture"
)

// Nsight Compute writes units as quotients of nouns with decimal prefixes:
// "Kbyte/block", "cycle/nsecond", "Ghz", "%".
// https://docs.nvidia.com/nsight-compute/NsightComputeCli/index.html, "Print Units"

// bases are nouns with a symbol of their own.
var bases = map[string]string{
	"": "1", "second": "s", "s": "s", "byte": "B", "bytes": "B", "hz": "Hz", "%": "%", "bit": "bit",
}

// nouns are counted things, which prefixes may stand before as well.
var nouns = map[string]bool{
	"inst": true, "instruction": true, "cycle": true, "warp": true, "thread": true, "block": true, "sector": true,
	"request": true, "register": true, "access": true, "wavefront": true, "op": true, "bank": true, "packet": true,
}

var prefixes = map[byte]float64{'n': 1e-9, 'u': 1e-6, 'm': 1e-3, 'K': 1e3, 'k': 1e3, 'M': 1e6, 'G': 1e9, 'T': 1e12, 'P': 1e15}

// base converts a reading into base units. A unit that is not known is kept with
// the value as it is.
func base(value float64, unit string) capture.Counter {
	above, below, quotient := strings.Cut(strings.TrimSpace(unit), "/")
	factor, name := noun(above)
	if !quotient {
		return capture.Counter{Value: value * factor, Unit: name}
	}
	divisor, per := noun(below)
	return capture.Counter{Value: value * factor / divisor, Unit: name + "/" + per}
}

// noun takes the prefix off one noun.
func noun(s string) (factor float64, name string) {
	if symbol, ok := bases[strings.ToLower(s)]; ok {
		return 1, symbol
	}
	if nouns[s] || len(s) < 2 {
		return 1, s
	}
	factor, ok := prefixes[s[0]]
	rest := s[1:]
	if symbol, known := bases[strings.ToLower(rest)]; ok && known && rest != "" {
		return factor, symbol
	}
	if ok && nouns[rest] {
		return factor, rest
	}
	return 1, s
}
