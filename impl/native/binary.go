package native

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"mage/gpu"
	"mage/gpu/cuda"
	"mage/kernels"
	"mage/unavailable"
)

// binary is device code that is ready to load, and where it came from.
type binary struct {
	image     []byte
	sha256    string
	kind      string // "cubin", "ptx"
	compiler  string // "NVRTC 13.0", "committed PTX, NVRTC 13.0 (V13.0.88)"
	compileMS float64
	// resources is the compiler's report by entry; nil when it gave none.
	resources map[string]cuda.PTXASInfo
}

// binaries compiles kernels for one device, each source and set of options once.
type binaries struct {
	compiler Compiler
	info     gpu.Info
	done     map[string]binary // by source hash and options
}

func newBinaries(c Compiler, info gpu.Info) *binaries {
	return &binaries{compiler: c, info: info, done: map[string]binary{}}
}

// of returns the code of a kernel with the given tunables: CUDA C++ compiled when
// there is a compiler, otherwise, and for Rust always, the PTX beside the source
// if it is current. Without either it returns an *unavailable.Error; a source
// that does not compile is a *cuda.CompileError.
func (b *binaries) of(k kernels.Kernel, v kernels.Values) (binary, error) {
	if k.Language() == kernels.Rust {
		if err := k.CheckPTX(v); err != nil {
			return binary{}, unavailable.New(k.Name(), err.Error(), "kernels/rust/build.sh compiles it")
		}
		return committed(k), nil
	}
	if b.compiler == nil {
		if err := k.CheckPTX(v); err != nil {
			return binary{}, unavailable.New(k.Name(), "there is no compiler, and "+err.Error(),
				"install the CUDA toolkit or the Python package nvidia-cuda-nvrtc, or set MAGE_NVRTC to libnvrtc.so")
		}
		return committed(k), nil
	}
	architecture, err := b.architecture()
	if err != nil {
		return binary{}, err
	}
	options := append(k.CompileOptions(architecture, v), "--ptxas-options=-v")
	if b.info.Backend != "cuda" {
		// What runs PTX finds faults in it, and can then say where in the source.
		options = append(options, "--generate-line-info")
	}
	key := k.SourceSHA256 + " " + strings.Join(options, " ")
	if done, ok := b.done[key]; ok {
		return done, nil
	}
	start := time.Now()
	compiled, err := b.compiler.Compile(k.SourceName, k.Source, options)
	if err != nil {
		return binary{}, fmt.Errorf("%s: %w", k.File, err)
	}
	made := binary{
		image:     compiled.CUBIN,
		kind:      "cubin",
		compiler:  "NVRTC " + b.compiler.Version(),
		compileMS: float64(time.Since(start)) / float64(time.Millisecond),
	}
	if len(made.image) == 0 {
		made.image, made.kind = compiled.PTX, "ptx"
	}
	made.sha256 = hash(made.image)
	for _, r := range cuda.ParsePTXASInfo(compiled.Log) {
		if made.resources == nil {
			made.resources = map[string]cuda.PTXASInfo{}
		}
		made.resources[r.Function] = r
	}
	b.done[key] = made
	return made, nil
}

// architecture is the device's own, which gives a cubin. A backend that runs PTX
// gets its own as PTX, and a device newer than the compiler the newest PTX that
// there is.
func (b *binaries) architecture() (string, error) {
	major, minor, _ := strings.Cut(b.info.ComputeCapability, ".")
	own, err := strconv.Atoi(major + minor)
	if err != nil {
		return "", fmt.Errorf("compute capability %q of %s is not a version", b.info.ComputeCapability, b.info.Name)
	}
	supported, err := b.compiler.SupportedArchs()
	if err != nil {
		return "", fmt.Errorf("architectures of NVRTC %s: %w", b.compiler.Version(), err)
	}
	if slices.Contains(supported, own) && b.info.Backend == "cuda" {
		return fmt.Sprintf("sm_%d", own), nil
	}
	newest := 0
	for _, s := range supported {
		if s <= own {
			newest = max(newest, s)
		}
	}
	if newest == 0 {
		return "", unavailable.New("code for "+b.info.Name,
			fmt.Sprintf("NVRTC %s compiles for none of sm_%d and before", b.compiler.Version(), own), "use an older CUDA toolkit")
	}
	return fmt.Sprintf("compute_%d", newest), nil
}

// committed is the PTX beside the source, which CheckPTX has found current.
func committed(k kernels.Kernel) binary {
	return binary{
		image:    k.PTX.Image,
		sha256:   hash(k.PTX.Image),
		kind:     "ptx",
		compiler: "committed PTX, " + k.PTX.Compiler,
	}
}

func hash(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
