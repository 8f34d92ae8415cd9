// Package tool finds the profilers of the CUDA toolkit and asks for their
// versions.
package tool

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"mage/internal/process"
	"mage/unavailable"
)

// Tool is a program that was found.
type Tool struct {
	Path    string
	Version string // "2025.3.1.0", empty if it does not say
}

// Find looks for a profiler on PATH, in the CUDA toolkit, then in the places
// given as patterns; the last match, which is the newest, is taken. What is not
// there, or does not start, is an *unavailable.Error with the remedy.
func Find(ctx context.Context, name, remedy string, patterns ...string) (Tool, error) {
	path, err := look(name, patterns)
	if err != nil {
		return Tool{}, unavailable.New(name, "it is not on PATH, nor where its installers put it", remedy)
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second) // the first start of some reads gigabytes
	defer cancel()
	var out bytes.Buffer
	if err := process.Run(ctx, process.Job{Argv: []string{path, "--version"}, Stdout: &out, Stderr: &out}); err != nil {
		return Tool{}, unavailable.New(name, fmt.Sprintf("%s --version: %v", path, err), remedy)
	}
	return Tool{path, version(out.String())}, nil
}

func look(name string, patterns []string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	for _, root := range []string{os.Getenv("CUDA_HOME"), os.Getenv("CUDA_PATH"), "/usr/local/cuda"} {
		if root != "" {
			patterns = append([]string{filepath.Join(root, "bin", name)}, patterns...)
		}
	}
	for _, p := range patterns {
		found, _ := filepath.Glob(p) // the patterns are valid
		for _, f := range slices.Backward(found) {
			if path, err := exec.LookPath(f); err == nil {
				return path, nil
			}
		}
	}
	return "", exec.ErrNotFound
}

var number = regexp.MustCompile(`\d+(?:\.\d+){1,3}`)

// version is the first number of what a program said of itself: "NVIDIA (R)
// Nsight Compute Command Line Profiler\nCopyright …\nVersion 2025.3.1.0 (build …)".
func version(text string) string { return number.FindString(text) }
