// Command ptxgen writes the PTX beside the CUDA C++ sources of kernels, for
// machines with a driver and no compiler:
//
//	go run ./kernels/ptxgen            # regenerate
//	go run ./kernels/ptxgen -check     # exit with 1 if something is out of date
//
// It takes the directories to work on, by default kernels and examples/kernels,
// and needs NVRTC (MAGE_NVRTC names the library) to write. -check does without:
// then it compares the hashes of sources and the compiler options only. Kernels in
// Rust are passed over: kernels/rust/build.sh compiles and checks those.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"mage/gpu/cuda"
	"mage/kernels"
)

func main() {
	check := flag.Bool("check", false, "change nothing; exit with 1 if a file is out of date")
	flag.Parse()
	dirs := flag.Args()
	if len(dirs) == 0 {
		dirs = []string{"kernels", "examples/kernels"}
	}
	if err := run(dirs, *check); err != nil {
		fmt.Fprintln(os.Stderr, "ptxgen:", err)
		os.Exit(1)
	}
}

func run(dirs []string, check bool) error {
	compiler, err := cuda.OpenNVRTC("")
	if err != nil && !check {
		return err
	}
	stale, count := 0, 0
	how := "by hash: " + fmt.Sprint(err)
	for _, dir := range dirs {
		ks, err := kernels.Load(os.DirFS(dir), dir)
		if err != nil {
			return err
		}
		for _, k := range ks {
			if k.Language() != kernels.CUDA {
				continue // kernels/rust/build.sh
			}
			count++
			path := filepath.Join(filepath.Dir(k.File), k.PTXName())
			if !check {
				if err := write(compiler, k, path); err != nil {
					return err
				}
				continue
			}
			problem := k.CheckPTX(k.Defaults())
			if compiler != nil {
				how = "by hash, and by compiling again where " + compilerName(compiler.Version()) + " wrote it"
				if problem == nil {
					problem = compareBytes(compiler, k)
				}
			}
			if problem != nil {
				stale++
				fmt.Printf("%s: %v\n", path, problem)
			}
		}
	}
	if stale > 0 {
		return fmt.Errorf("%d of %d PTX files are out of date: run go run ./kernels/ptxgen", stale, count)
	}
	if check {
		fmt.Printf("%d PTX files are up to date (checked %s)\n", count, how)
	}
	return nil
}

func write(compiler *cuda.NVRTC, k kernels.Kernel, path string) error {
	ptx, err := generate(compiler, k)
	if err != nil {
		return err
	}
	if k.PTX != nil && string(k.PTX.Image) == string(ptx) {
		return nil
	}
	fmt.Println(path)
	return os.WriteFile(path, ptx, 0o644)
}

// compareBytes compiles again, if this compiler is the build that wrote the file.
func compareBytes(compiler *cuda.NVRTC, k kernels.Kernel) error {
	if !strings.HasPrefix(k.PTX.Compiler, compilerName(compiler.Version())) {
		return nil
	}
	ptx, err := generate(compiler, k)
	if err != nil {
		return err
	}
	if k.PTX.SameCompiler(ptx) && string(ptx) != string(k.PTX.Image) {
		return fmt.Errorf("differs from what %s generates", k.PTX.Compiler)
	}
	return nil
}

func generate(compiler *cuda.NVRTC, k kernels.Kernel) ([]byte, error) {
	compiled, err := compiler.Compile(k.SourceName, k.Source, k.CompileOptions(kernels.PTXTarget, k.Defaults()))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", k.File, err)
	}
	return k.FormatPTX(compiled.PTX, compilerName(compiler.Version())), nil
}

func compilerName(version string) string { return "NVRTC " + version }
