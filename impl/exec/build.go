package exec

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"time"

	"mage/internal/tail"
	"mage/unavailable"
)

// buildTimeout is generous: the first build of a cargo-oxide project compiles
// the compiler's back end.
const buildTimeout = 20 * time.Minute

// executable is a program that is ready to run.
type executable struct {
	path    string
	sha256  string
	built   string // the command, empty when nothing was built
	buildMS float64
	stamp   os.FileInfo
}

// OxideToolchain returns an *unavailable.Error unless `cargo oxide` is installed.
func OxideToolchain() error {
	for _, tool := range []string{"cargo", "cargo-oxide"} {
		if _, err := osexec.LookPath(tool); err != nil {
			return unavailable.New("cargo oxide", tool+" is not on PATH",
				"install Rust and cargo-oxide: https://github.com/NVlabs/cuda-oxide")
		}
	}
	return nil
}

// prepare builds the program if it is to be built, finds it and hashes it.
func (d *Declaration) prepare(ctx context.Context) (executable, error) {
	var e executable
	command := d.Build
	if d.Oxide {
		if err := OxideToolchain(); err != nil {
			return e, err
		}
		command = []string{"cargo", "oxide", "build"}
	}
	if len(command) > 0 {
		start := time.Now()
		if err := d.build(ctx, command); err != nil {
			return e, err
		}
		e.built = strings.Join(command, " ")
		e.buildMS = float64(time.Since(start)) / float64(time.Millisecond)
	}
	path, err := d.find(ctx)
	if err != nil {
		return e, err
	}
	if e.path, err = filepath.Abs(path); err != nil {
		return e, err
	}
	return e, e.identify()
}

// build runs a command in the declaration's directory.
func (d *Declaration) build(ctx context.Context, command []string) error {
	if _, err := osexec.LookPath(command[0]); err != nil && !strings.ContainsRune(command[0], filepath.Separator) {
		return unavailable.New("exec/"+d.Name, command[0]+", which builds it, is not on PATH", "install it")
	}
	// A compiler does not always make the directory that it writes to.
	if dir := filepath.Dir(d.Program); d.Program != "" && dir != "." && !filepath.IsAbs(dir) {
		if err := os.MkdirAll(filepath.Join(d.Dir, dir), 0o755); err != nil {
			return fmt.Errorf("building exec/%s: %w", d.Name, err)
		}
	}
	log, err := run(ctx, job{path: command[0], args: command[1:], dir: d.Dir, env: os.Environ(), deadline: buildTimeout})
	if err != nil {
		return fmt.Errorf("building exec/%s with %s: %w\n%s", d.Name, strings.Join(command, " "), err, log)
	}
	return nil
}

// find returns where the executable is.
func (d *Declaration) find(ctx context.Context) (string, error) {
	if d.Oxide {
		return d.findOxide(ctx)
	}
	if !strings.ContainsRune(d.Program, '/') {
		if path, err := osexec.LookPath(d.Program); err == nil {
			return path, nil
		}
	}
	path := d.Program
	if !filepath.IsAbs(path) {
		path = filepath.Join(d.Dir, path)
	}
	if _, err := os.Stat(path); err != nil {
		return "", unavailable.New("exec/"+d.Name, d.Program+" does not exist", "build it, or give exec.toml a build command")
	}
	return path, nil
}

// findOxide asks cargo for the project's binaries. cargo oxide builds releases,
// but a project may be set up otherwise.
func (d *Declaration) findOxide(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cmd := osexec.CommandContext(ctx, "cargo", "metadata", "--no-deps", "--offline", "--format-version=1")
	cmd.Dir, cmd.WaitDelay = d.Dir, time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("exec/%s: cargo metadata: %w: %s", d.Name, err, tail.Line(stderr.String()))
	}
	return oxideBinary(d.Name, d.Program, out, func(path string) bool {
		info, err := os.Stat(path)
		return err == nil && info.Mode().IsRegular()
	})
}

// oxideBinary picks the executable from what cargo metadata printed.
func oxideBinary(name, program string, metadata []byte, exists func(string) bool) (string, error) {
	var m struct {
		TargetDirectory string `json:"target_directory"`
		Packages        []struct {
			Targets []struct {
				Name string   `json:"name"`
				Kind []string `json:"kind"`
			} `json:"targets"`
		} `json:"packages"`
	}
	if err := json.Unmarshal(metadata, &m); err != nil {
		return "", fmt.Errorf("exec/%s: cargo metadata: %w", name, err)
	}
	var binaries []string
	for _, p := range m.Packages {
		for _, t := range p.Targets {
			if len(t.Kind) > 0 && t.Kind[0] == "bin" && (program == "" || t.Name == program) {
				binaries = append(binaries, t.Name)
			}
		}
	}
	if len(binaries) != 1 {
		return "", fmt.Errorf("exec/%s: the project has %d binaries that fit, want one: name it with program = \"…\"", name, len(binaries))
	}
	for _, profile := range []string{"release", "debug"} {
		if path := filepath.Join(m.TargetDirectory, profile, binaries[0]); exists(path) {
			return path, nil
		}
	}
	return "", fmt.Errorf("exec/%s: cargo oxide build left no %s below its target directory", name, binaries[0])
}

// identify hashes the file and remembers it, so that a change shows.
func (e *executable) identify() error {
	f, err := os.Open(e.path)
	if err != nil {
		return err
	}
	defer f.Close()
	if e.stamp, err = f.Stat(); err != nil {
		return err
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return err
	}
	e.sha256 = hex.EncodeToString(sum.Sum(nil))
	return nil
}

// unchanged returns an error when the file is another one than was hashed.
func (e *executable) unchanged() error {
	now, err := os.Stat(e.path)
	if err != nil {
		return fmt.Errorf("the program is gone: %w", errors.Unwrap(err))
	}
	if !os.SameFile(now, e.stamp) || now.Size() != e.stamp.Size() || !now.ModTime().Equal(e.stamp.ModTime()) {
		return errors.New("the program was replaced while it was measured")
	}
	return nil
}
