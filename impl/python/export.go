package python

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"mage/contract"
	"mage/gpu"
	"mage/unavailable"
)

// Exported is a kernel that Triton compiled, for Inductor perhaps, with all that
// another launcher needs to run it.
type Exported struct {
	Cubin  []byte `json:"cubin"`
	SHA256 string `json:"sha256"` // of Cubin
	Entry  string `json:"entry"`
	// Grid, Block and Shared (bytes) are Triton's own launch of the case.
	Grid   [3]uint32 `json:"grid"`
	Block  [3]uint32 `json:"block"`
	Shared uint32    `json:"shared"`
	// Arguments are the kernel's parameters in order, without those that Triton
	// turned into constants.
	Arguments    []ExportedArgument `json:"arguments"`
	Params       map[string]float64 `json:"params"` // tunables
	Compiler     string             `json:"compiler"`
	CompileMS    float64            `json:"compile_ms"`
	SourceSHA256 string             `json:"source_sha256"`
}

// ExportedArgument is a buffer of the contract, a scalar, or a null pointer.
type ExportedArgument struct {
	Name   string `json:"name"`
	Buffer bool   `json:"buffer"`
	Null   bool   `json:"null"`
	Type   string `json:"type"` // "i32", "i64"
	Value  int64  `json:"value"`
}

// scalar returns the launch argument of anything but a buffer.
func (a ExportedArgument) scalar() (gpu.Arg, error) {
	switch {
	case a.Null:
		return gpu.Pointer(0), nil
	case a.Type == "i32" && a.Value == int64(int32(a.Value)):
		return gpu.Int32(int32(a.Value)), nil
	case a.Type == "i64":
		return gpu.Int64(a.Value), nil
	}
	return gpu.Arg{}, fmt.Errorf("the kernel's argument %s = %d is of type %q", a.Name, a.Value, a.Type)
}

// ExportTriton compiles the kernel of "triton/fixed" for a contract, a shape and
// a GPU (90 for sm_90) exactly as a launch by Triton would. params overrides
// tunables, "num_warps" and "num_stages": with those of an identity of
// "triton/autotuned" it exports that kernel. No GPU is needed.
func (w *Worker) ExportTriton(c contract.Contract, d contract.Dims, arch int, params map[string]float64) (Exported, error) {
	if err := c.CheckDims(d); err != nil {
		return Exported{}, err
	}
	var e Exported
	err := w.call(request{Do: "export", Implementation: "triton/fixed", Contract: c.Name(), Dims: d, Arch: arch, Params: params},
		w.options.OpenDeadline, "compiling triton/fixed "+c.Name(), &e)
	if err != nil {
		return Exported{}, err
	}
	return e, e.check("triton/fixed " + c.Name())
}

// check says whether the cubin is the one that the worker hashed.
func (e Exported) check(name string) error {
	if sum := sha256.Sum256(e.Cubin); hex.EncodeToString(sum[:]) != e.SHA256 {
		return fmt.Errorf("%s: the exported cubin is not the one that was hashed", name)
	}
	return nil
}

// exported is the outcome of exporting from an operation.
type exported struct {
	kernel Exported
	lacks  *unavailable.Error
}

// exportCompiled opens an implementation of torch.compile and asks for its
// kernel: once a case, whatever number of launchers wants it.
func (w *Worker) exportCompiled(name string, c contract.Contract, d contract.Dims) (Exported, error) {
	key := choiceOf(name, c, d)
	x, known := w.exports[key]
	if !known {
		op, err := w.openDefault(name, c, d)
		if err != nil {
			return Exported{}, err
		}
		defer op.Close()
		err = op.(*operation).do(request{Do: "export"}, w.options.Deadline, "exporting the kernel of", &x.kernel)
		if err == nil {
			err = x.kernel.check(name + " " + c.Name())
		}
		if u, ok := unavailable.As(err); ok {
			x.lacks = u
		} else if err != nil {
			return Exported{}, err
		}
		w.exports[key] = x
	}
	if x.lacks != nil {
		return Exported{}, x.lacks
	}
	return x.kernel, nil
}
