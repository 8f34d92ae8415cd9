// Command compile writes probes.ptx beside probes.cu, with NVRTC:
//
//	go run ./agreement/probes/compile agreement/probes
package main

import (
	"fmt"
	"os"

	"mage/gpu/cuda"
	"mage/internal/ptxfile"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: compile DIR")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "compile:", err)
		os.Exit(1)
	}
}

func run(dir string) error {
	compiler, err := cuda.OpenNVRTC("")
	if err != nil {
		return err
	}
	// 80 is the first architecture with cp.async.
	return ptxfile.Write(compiler, "agreement/probes/compile", dir, "probes", "compute_80")
}
