package cupti

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/ebitengine/purego"

	"mage/capture"
	"mage/gpu/cuda"
	"mage/unavailable"
)

// Backend is --backend cupti. The zero value is ready.
type Backend struct{}

const (
	traces       = "trace.*.trace" // trace.PROCESS.COUNT.trace
	injectionEnv = "CUDA_INJECTION64_PATH"
	installCUPTI = "install CUPTI (CUDA toolkit, or the PyPI package nvidia-cuda-cupti) or set MAGE_CUPTI to its libcupti.so"
)

// Name is "cupti".
func (Backend) Name() string { return "cupti" }

// Prepare puts the library into dir. Whether CUPTI works in the program shows
// only there: Parse returns an *unavailable.Error when it did not. A Python script
// may also bring a CUPTI that is not found here; a program is refused without.
func (Backend) Prepare(ctx context.Context, dir string, r capture.Request) (capture.Plan, error) {
	switch {
	case r.Set != "" || len(r.Metrics) > 0:
		return capture.Plan{}, &capture.UsageError{Problem: "cupti reads no hardware counters: --set and --metrics are for ncu"}
	case r.Tool != "":
		return capture.Plan{}, &capture.UsageError{Problem: "cupti checks nothing: --sanitize is for compute-sanitizer"}
	}
	if other := os.Getenv(injectionEnv); other != "" {
		return capture.Plan{}, unavailable.New(what, injectionEnv+" is set already: another tool watches CUDA programs", "unset "+injectionEnv)
	}
	libraries := cuda.LibraryPaths("MAGE_CUPTI", "libcupti.so.13", "libcupti.so.12")
	if r.Script == "" || os.Getenv("MAGE_CUPTI") != "" {
		if err := opens(libraries); err != nil {
			return capture.Plan{}, unavailable.New(what, err.Error(), installCUPTI)
		}
	}
	dir, err := filepath.Abs(dir) // the program may change its directory
	if err != nil {
		return capture.Plan{}, err
	}
	library, err := install(ctx, dir, runtime.GOOS, runtime.GOARCH)
	if err != nil {
		return capture.Plan{}, err
	}
	if r.Range == "" {
		r.Range = capture.All
	}
	return capture.Plan{
		Run: capture.Command{Argv: r.Argv, Env: []string{
			injectionEnv + "=" + library,
			"MAGE_TRACE_FILE=" + filepath.Join(dir, "trace"),
			"MAGE_TRACE_LIBRARIES=" + strings.Join(libraries, ":"),
			"MAGE_TRACE_RANGE=" + string(r.Range),
		}},
		Reports: []string{traces},
	}, nil
}

// opens says why none of the libraries can be loaded, if none can.
func opens(libraries []string) (err error) {
	for _, path := range libraries {
		if _, err = cuda.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL); err == nil {
			return nil
		}
	}
	return err
}

// Parse reads the traces of all processes in dir.
func (Backend) Parse(_ context.Context, dir string, r capture.Request) (capture.Result, error) {
	_ = os.Remove(filepath.Join(dir, libraryFile)) // it is not evidence
	names, err := fs.Glob(os.DirFS(dir), traces)
	if err != nil {
		return capture.Result{}, err
	}
	if len(names) == 0 {
		return capture.Result{}, &capture.Failure{
			Outcome: capture.Empty,
			Reason:  "no process initialised CUDA, or the driver could not load the tracing library",
			Remedy:  "`mage doctor` says whether there is a CUDA driver",
		}
	}
	var all []*trace
	for _, name := range names {
		t, err := readFile(filepath.Join(dir, name))
		if err != nil {
			outcome := capture.Invalid
			if errors.Is(err, errFormat) {
				outcome = capture.Unsupported
			}
			return capture.Result{}, &capture.Failure{Outcome: outcome, Reason: fmt.Sprintf("%s: %v", name, err)}
		}
		all = append(all, t)
	}
	return result(all), judge(all)
}

func readFile(path string) (*trace, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return read(f)
}
