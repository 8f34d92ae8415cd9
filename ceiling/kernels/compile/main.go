// Command compile writes the PTX beside the sources of the ceilings' kernels, with
// NVRTC:
//
//	go run ./ceiling/kernels/compile ceiling/kernels
package main

import (
	"fmt"
	"os"

	"mage/gpu/cuda"
	"mage/internal/ptxfile"
)

// command is what the generated files say of their origin.
const command = "ceiling/kernels/compile"

// target is a source and the architecture that its PTX is for.
type target struct{ name, architecture string }

// targets are the oldest architectures that have what a source uses: a driver
// accepts PTX of an older one than the device, but of 90a only on that.
var targets = []target{
	{"general", "compute_75"},    // the oldest of CUDA 13
	{"matrix", "compute_80"},     // mma.sync of BF16 and TF32
	{"warpgroup", "compute_90a"}, // wgmma
}

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
	for _, t := range targets {
		if err := ptxfile.Write(compiler, command, dir, t.name, t.architecture); err != nil {
			return err
		}
	}
	return nil
}
