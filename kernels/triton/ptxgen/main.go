// Command ptxgen compiles the kernels of triton/fixed to PTX for sm_90 and writes
// them to kernels/triton/ptx, with the launches that they are for:
//
//	go run ./kernels/triton/ptxgen -python venv/bin/python
//
// It needs Python with Triton and no GPU, and runs at the root of the repository.
// The shapes are those of the gate's suite, the default ones, and those that mage
// explain runs.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"mage/contract"
	"mage/explain"
	"mage/kernels/triton"
)

const (
	sources = "kernels/triton"
	target  = "kernels/triton/ptx"
	worker  = "impl/python/worker"
	arch    = 90
)

func main() {
	python := flag.String("python", "python3", "the interpreter")
	flag.Parse()
	if err := run(*python); err != nil {
		fmt.Fprintln(os.Stderr, "ptxgen:", err)
		os.Exit(1)
	}
}

type request struct {
	Arch  int           `json:"arch"`
	Cases []triton.Case `json:"cases"`
}

// reply is what compile.py answers: an index, with the texts beside the kernels.
type reply struct {
	Compiler string `json:"compiler"`
	Kernels  []struct {
		triton.Kernel
		PTX string `json:"ptx"`
	} `json:"kernels"`
	Launches []triton.Launch `json:"launches"`
}

func run(python string) error {
	in, err := json.Marshal(request{arch, cases()})
	if err != nil {
		return err
	}
	cmd := exec.Command(python, filepath.Join(sources, "ptxgen", "compile.py"))
	cmd.Env = append(os.Environ(), "PYTHONPATH="+worker, "PYTHONDONTWRITEBYTECODE=1")
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("compile.py: %w", err)
	}
	var r reply
	if err := json.Unmarshal(out, &r); err != nil {
		return fmt.Errorf("compile.py: %w", err)
	}
	return write(r)
}

// cases are the shapes of the gate's suite, the default ones, and the quick ones.
func cases() []triton.Case {
	var all []triton.Case
	for _, c := range contract.All() {
		for _, family := range []string{"small", "tails", "edge", "default"} {
			shapes, err := contract.Shapes(c, family)
			if err != nil {
				continue // a contract without tails
			}
			for _, d := range shapes {
				all = append(all, triton.Case{Contract: c.Name(), Dims: d})
			}
		}
		all = append(all, triton.Case{Contract: c.Name(), Dims: explain.Quick(c)})
	}
	return all
}

func write(r reply) error {
	if err := os.RemoveAll(target); err != nil {
		return err
	}
	if err := os.MkdirAll(target, 0o755); err != nil {
		return err
	}
	index := triton.Index{Compiler: r.Compiler, Target: fmt.Sprintf("sm_%d", arch), Sources: map[string]string{}, Launches: r.Launches}
	for _, c := range contract.All() {
		src, err := os.ReadFile(filepath.Join(sources, c.Name()+".py"))
		if err != nil {
			return err
		}
		sum := sha256.Sum256(src)
		index.Sources[c.Name()] = hex.EncodeToString(sum[:])
	}
	for _, k := range r.Kernels {
		k.File = k.FileName()
		text := fmt.Sprintf("// %s for sm_%d, %s: written by kernels/triton/ptxgen.\n%s", r.Compiler, arch, k.File, lean(k.PTX))
		if err := os.WriteFile(filepath.Join(target, k.File), []byte(text), 0o644); err != nil {
			return err
		}
		index.Kernels = append(index.Kernels, k.Kernel)
	}
	out, err := json.MarshalIndent(index, "", " ")
	if err != nil {
		return err
	}
	fmt.Printf("%d kernels, %d launches by %s\n", len(index.Kernels), len(index.Launches), r.Compiler)
	return os.WriteFile(filepath.Join(target, "index.json"), append(out, '\n'), 0o644)
}

// lean drops comments and blank lines, which are a fifth of what LLVM writes.
func lean(ptx string) string {
	var b strings.Builder
	for line := range strings.Lines(ptx) {
		line, _, _ = strings.Cut(line, "//")
		if line = strings.TrimRight(line, " \t\r\n"); line != "" {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}
