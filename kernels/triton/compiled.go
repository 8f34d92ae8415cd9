package triton

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
)

//go:embed ptx
var compiled embed.FS

// Index lists PTX that Triton compiled for triton/fixed, and the launches that it
// is for. ptxgen writes it.
type Index struct {
	Compiler string            `json:"compiler"` // "triton 3.6.0"
	Target   string            `json:"target"`   // "sm_90"
	Sources  map[string]string `json:"sources"`  // SHA-256 of the module by contract
	Kernels  []Kernel          `json:"kernels"`
	Launches []Launch          `json:"launches"`
}

// Kernel is one compiled kernel. Triton compiles again for other tunables, and for
// integers that are 1, or that 16 divides.
type Kernel struct {
	File     string         `json:"file"`
	Contract string         `json:"contract"`
	Entry    string         `json:"entry"`
	Tunables map[string]int `json:"tunables"`
	// Specialisation says, by scalar, what it was compiled for: "1", "i32" or "i32
	// divisible by 16". Buffers are aligned to 16 bytes always.
	Specialisation map[string]string `json:"specialisation"`
	// Arguments are the parameters in order: buffers and scalars by name, without
	// scalars that are 1, then two pointers to scratch memory, which are null.
	Arguments []string `json:"arguments"`
	Warps     int      `json:"warps"`
	Shared    int      `json:"shared"` // bytes of dynamic shared memory
}

// Case is a contract at one shape.
type Case struct {
	Contract string         `json:"contract"`
	Dims     map[string]int `json:"dims"`
}

// Launch is how a kernel computes a case.
type Launch struct {
	Case
	Kernel  int              `json:"kernel"` // in Index.Kernels
	Grid    [3]uint32        `json:"grid"`
	Scalars map[string]int64 `json:"scalars"` // those that are arguments
}

// FileName is the name that says what a kernel was compiled for:
// "gelu_BLOCK256_D16_count.ptx" is for a D that 16 divides, and any count.
func (k Kernel) FileName() string {
	words := []string{k.Contract}
	for _, name := range slices.Sorted(maps.Keys(k.Tunables)) {
		words = append(words, fmt.Sprint(name, k.Tunables[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(k.Specialisation)) {
		suffix := map[string]string{"1": "1", "i32": "", "i32 divisible by 16": "16"}[k.Specialisation[name]]
		words = append(words, name+suffix)
	}
	return strings.Join(words, "_") + ".ptx"
}

// Compiled returns the index of the PTX that comes with Mage.
func Compiled() (Index, error) {
	var i Index
	text, err := compiled.ReadFile("ptx/index.json")
	if err == nil {
		err = json.Unmarshal(text, &i)
	}
	if err != nil {
		return i, fmt.Errorf("the PTX of Triton's kernels: %w", err)
	}
	return i, nil
}

// PTX returns the text of a compiled kernel.
func PTX(k Kernel) ([]byte, error) { return fs.ReadFile(compiled, "ptx/"+k.File) }

// Find returns the launch of a contract at a shape; false if there is none.
func (i Index) Find(contract string, dims map[string]int) (Launch, Kernel, bool) {
	for _, l := range i.Launches {
		if l.Contract == contract && maps.Equal(l.Dims, dims) {
			return l, i.Kernels[l.Kernel], true
		}
	}
	return Launch{}, Kernel{}, false
}
