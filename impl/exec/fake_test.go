package exec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"mage/contract"
	"mage/input"
)

// TestMain makes this binary a program of its own when the environment says so.
func TestMain(m *testing.M) {
	if what := os.Getenv("MAGE_EXEC_FAKE"); what != "" {
		if err := fake(what); err != nil {
			fmt.Fprintln(os.Stderr, "fake:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// call is one run of the fake program.
type call struct {
	dir        string
	set        input.Set
	output     []byte
	record     map[string]any
	mode       string
	operations int
	place      string // where the results go, relative to dir
	outputName string
	timingName string
}

// fake is a program that follows the contract, except in what its name says.
func fake(what string) error {
	switch what {
	case "sleep":
		time.Sleep(time.Minute)
		return nil
	case "crash":
		fmt.Println("about to fail")
		return fmt.Errorf("cannot read %s", filepath.Join(os.Args[1], "a.bin"))
	case "unavailable":
		fmt.Fprintln(os.Stderr, "no CUDA driver here")
		os.Exit(exitUnavailable)
	case "signal":
		if err := syscall.Kill(os.Getpid(), syscall.SIGKILL); err != nil {
			return err
		}
		time.Sleep(time.Minute) // the signal ends it
	case "hang":
		if err := leaveChild(); err != nil {
			return err
		}
		time.Sleep(time.Minute)
	case "silent":
		return nil
	case "parent":
		_, err := run(testContext, job{path: os.Args[0], args: os.Args[1:], deadline: time.Minute,
			env: append(os.Environ(), "MAGE_EXEC_FAKE=hang")})
		return err
	}
	c, err := honest()
	if err != nil {
		return err
	}
	if change, ok := lies[what]; ok {
		if err := change(c); err != nil {
			return err
		}
	} else if what != "honest" {
		return fmt.Errorf("no such fake: %s", what)
	}
	return c.leave()
}

// honest computes the reference and makes a record with samples of 5 µs.
func honest() (*call, error) {
	c := &call{dir: os.Args[1], mode: "span", operations: 1, place: ".", outputName: "rust-output.bin", timingName: "rust-timing.json"}
	set, meta, err := input.Load(c.dir)
	if err != nil {
		return nil, err
	}
	c.set = set
	iterations := meta.Iterations
	for i := 2; i < len(os.Args); i += 2 {
		switch os.Args[i] {
		case "--iterations":
			iterations, err = strconv.Atoi(os.Args[i+1])
		case "--batch":
			c.operations, err = strconv.Atoi(os.Args[i+1])
		case "--mode":
			c.mode = os.Args[i+1]
		case "--capture":
			i--
		default:
			err = fmt.Errorf("unknown flag %s", os.Args[i])
		}
		if err != nil {
			return nil, err
		}
	}
	c.output = reference(set)
	samples := make([]float64, iterations)
	for i := range samples {
		samples[i] = 5
	}
	c.record = map[string]any{
		"run_id": strconv.Itoa(os.Getpid()), "op": set.Contract.Name(), "dims": set.Dims, "iterations": iterations,
		"warmup": meta.Warmup, "samples_us": samples, "event_mean_us": 5, "capture": false, "precision": "fp32",
		"mode": c.mode, "operations": c.operations,
	}
	return c, nil
}

func reference(set input.Set) []byte {
	out := set.Contract.Output(set.Dims)
	var b bytes.Buffer
	values := make([]float32, out.Len())
	for i, v := range set.Contract.Reference(set.Dims, set.Tensors) {
		values[i] = float32(v)
	}
	for _, v := range values {
		b.Write(float32Bytes(v))
	}
	return b.Bytes()
}

func (c *call) leave() error {
	dir := filepath.Join(c.dir, c.place)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	text, err := json.Marshal(c.record)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, c.timingName), text, 0o644); err != nil {
		return err
	}
	if c.output == nil {
		return nil
	}
	return os.WriteFile(filepath.Join(dir, c.outputName), c.output, 0o644)
}

// lies are the ways in which the fake departs from the contract.
var lies = map[string]func(*call) error{
	"run directory": func(c *call) error {
		c.place, c.outputName, c.timingName = "runs/"+strconv.Itoa(os.Getpid()), "output.bin", "timing.json"
		return nil
	},
	"root": func(c *call) error {
		c.outputName, c.timingName = "output.bin", "timing.json"
		return nil
	},
	"mixed names": func(c *call) error {
		c.timingName = "timing.json"
		return nil
	},
	"older": func(c *call) error { // knows neither modes nor operations
		delete(c.record, "mode")
		delete(c.record, "operations")
		return nil
	},
	"copies": func(c *call) error { // the root's copy is not the run's
		c.place = "rust-runs/1"
		if err := os.WriteFile(filepath.Join(c.dir, "rust-timing.json"), []byte("{}"), 0o644); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(c.dir, "rust-output.bin"), nil, 0o644)
	},
	"two runs": func(c *call) error { // the older one is of another program
		c.place = "runs/1"
		older := filepath.Join(c.dir, "runs/2")
		if err := os.MkdirAll(older, 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(older, "timing.json"), []byte("{}"), 0o644); err != nil {
			return err
		}
		before := time.Now().Add(-time.Hour)
		return os.Chtimes(older, before, before)
	},
	"garbage":         func(c *call) error { return c.instead("rust-timing.json", "Segmentation fault\n") },
	"truncated":       func(c *call) error { return c.instead("rust-timing.json", `{"op": "gelu", "samples_us": [5, 5`) },
	"no output":       func(c *call) error { c.output = nil; return nil },
	"short output":    func(c *call) error { c.output = c.output[4:]; return nil },
	"long output":     func(c *call) error { c.output = append(c.output, 0); return nil },
	"wrong answer":    func(c *call) error { copy(c.output, float32Bytes(100)); return nil },
	"other dims":      func(c *call) error { c.record["dims"] = contract.Dims{"R": 1, "D": 1}; return nil },
	"other op":        func(c *call) error { c.record["op"] = "softmax"; return nil },
	"profiled":        func(c *call) error { c.record["capture"] = true; return nil },
	"host clock":      func(c *call) error { c.record["instrument"] = "host-clock"; return nil },
	"lower precision": func(c *call) error { c.record["precision"] = "tf32"; return nil },
	"zero sample":     func(c *call) error { c.record["samples_us"].([]float64)[0] = 0; return nil },
	"no samples":      func(c *call) error { delete(c.record, "samples_us"); return nil },
	"fewer samples":   func(c *call) error { c.record["samples_us"] = []float64{5}; return nil },
	"spoils input": func(c *call) error {
		return os.WriteFile(filepath.Join(c.dir, "b.bin"), make([]byte, len(c.set.Tensors["b"].Data)), 0o644)
	},
	"link": func(c *call) error {
		target := filepath.Join(c.dir, "a.bin")
		c.output = nil
		path := filepath.Join(c.dir, "rust-output.bin")
		_ = os.Remove(path)
		return os.Symlink(target, path)
	},
	"leaves a child": func(c *call) error { return leaveChild() },
	"chatty": func(c *call) error {
		_, err := fmt.Print(strings.Repeat("{\"op\": \"noise\"}\n", 100_000))
		return err
	},
}

func (c *call) instead(name, text string) error {
	if err := os.WriteFile(filepath.Join(c.dir, name), []byte(text), 0o644); err != nil {
		return err
	}
	os.Exit(0)
	return nil
}

// leaveChild starts a process that holds this one's output, and writes its number.
func leaveChild() error {
	cmd := osexec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "MAGE_EXEC_FAKE=sleep")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	pids := fmt.Sprintf("%d %d", os.Getpid(), cmd.Process.Pid)
	draft := os.Getenv("MAGE_EXEC_PIDS") + ".draft"
	if err := os.WriteFile(draft, []byte(pids), 0o644); err != nil {
		return err
	}
	return os.Rename(draft, os.Getenv("MAGE_EXEC_PIDS"))
}
