package cuda

import (
	"fmt"
	"regexp"
)

// ptxVersion reads the PTX ISA version ("9.0") from a ".version" directive.
func ptxVersion(image []byte) string {
	m := regexp.MustCompile(`(?m)^\s*\.version\s+(\d+\.\d+)`).FindSubmatch(image)
	if m == nil {
		return ""
	}
	return string(m[1])
}

// cudaOfPTX returns the first CUDA release whose driver understands a PTX ISA
// version: PTX ISA, "Release Notes", "PTX Release History". Empty if unlisted.
func cudaOfPTX(isa string) string {
	switch isa {
	case "6.3":
		return "10.0"
	case "6.4":
		return "10.1"
	case "6.5":
		return "10.2"
	case "7.0":
		return "11.0"
	case "7.1":
		return "11.1"
	case "7.2":
		return "11.2"
	case "7.3":
		return "11.3"
	case "7.4":
		return "11.4"
	case "7.5":
		return "11.5"
	case "7.6":
		return "11.6"
	case "7.7":
		return "11.7"
	case "7.8":
		return "11.8"
	case "8.0":
		return "12.0"
	case "8.1":
		return "12.1"
	case "8.2":
		return "12.2"
	case "8.3":
		return "12.3"
	case "8.4":
		return "12.4"
	case "8.5":
		return "12.5"
	case "8.6":
		return "12.7"
	case "8.7":
		return "12.8"
	case "8.8":
		return "12.9"
	case "9.0":
		return "13.0"
	}
	return ""
}

// explainPTX says why a driver does not understand an image, and what to do.
func explainPTX(image []byte, driverVersion int) string {
	isa := ptxVersion(image)
	if isa == "" {
		isa = "of unknown version"
	}
	s := "the PTX is " + isa
	if v := cudaOfPTX(isa); v != "" {
		s += fmt.Sprintf(" (CUDA %s)", v)
	}
	return s + fmt.Sprintf(", the driver understands CUDA %s: update the driver, or compile with an NVRTC of CUDA %s or older",
		formatVersion(driverVersion), formatVersion(driverVersion))
}
