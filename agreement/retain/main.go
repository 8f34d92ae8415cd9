// Command retain keeps what a run of record/ncu.sh brought back, without what
// names the machine, as the tests replay it:
//
//	go run ./agreement/retain OUT agreement/testdata
package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mage/agreement"
	"mage/gpu"
)

// rawBytes is the largest output that is kept byte for byte.
const rawBytes = 8 << 10

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: retain FROM TO")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "retain:", err)
		os.Exit(1)
	}
}

func run(from, to string) error {
	if err := os.MkdirAll(filepath.Join(to, "raw"), 0o755); err != nil {
		return err
	}
	if err := device(from, to); err != nil {
		return err
	}
	outputs, err := readOutputs(filepath.Join(from, "outputs", "outputs.csv"))
	if err != nil {
		return err
	}
	if err := write(filepath.Join(to, "outputs.csv"), func(f *os.File) error { return agreement.WriteOutputs(f, outputs) }); err != nil {
		return err
	}
	launches, err := readOutputs(filepath.Join(from, "counted", "outputs.csv"))
	if err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(from, "counters.csv"))
	if err != nil {
		return err
	}
	counted, err := agreement.ReadNsight(text, launches)
	if err != nil {
		return err
	}
	for _, c := range counted {
		maps.DeleteFunc(c.Metrics, func(m string, _ int64) bool { return !slices.Contains(agreement.Metrics(), m) })
	}
	if err := write(filepath.Join(to, "nsight.csv"), func(f *os.File) error { return agreement.WriteCounted(f, counted) }); err != nil {
		return err
	}
	return raw(from, to)
}

// device keeps what kind of GPU, driver and profiler it was, and not which.
func device(from, to string) error {
	text, err := os.ReadFile(filepath.Join(from, "outputs", "device.json"))
	if err != nil {
		return err
	}
	var info gpu.Info
	if err := json.Unmarshal(text, &info); err != nil {
		return err
	}
	version, err := os.ReadFile(filepath.Join(from, "ncu-version.txt"))
	if err != nil {
		return err
	}
	profiler := ""
	for line := range strings.Lines(string(version)) {
		if strings.HasPrefix(line, "Version ") {
			profiler = strings.TrimSpace(line)
		}
	}
	return write(filepath.Join(to, "device.txt"), func(f *os.File) error {
		_, err := fmt.Fprintf(f, "%s, driver %s, CUDA %s, Nsight Compute %s\n", info.Name, info.DriverVersion, info.CUDAVersion, strings.TrimPrefix(profiler, "Version "))
		return err
	})
}

// raw keeps small outputs as they are: those of approximations are compared within
// a tolerance.
func raw(from, to string) error {
	files, err := filepath.Glob(filepath.Join(from, "outputs", "raw", "*.bin"))
	if err != nil {
		return err
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		name := filepath.Base(f)
		if len(b) > rawBytes || !strings.Contains(name, "gelu") && !strings.Contains(name, "layernorm") {
			continue
		}
		if err := os.WriteFile(filepath.Join(to, "raw", name), b, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func readOutputs(path string) ([]agreement.Output, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return agreement.ReadOutputs(f)
}

func write(path string, fill func(*os.File) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := fill(f); err != nil {
		return err
	}
	return f.Close()
}
