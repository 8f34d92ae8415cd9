package python

import (
	"bytes"
	"debug/elf"
	"strings"
	"testing"

	"mage/contract"
	"mage/gpu"
)

// Triton compiles without a GPU. What it made is read here with an ELF reader of
// its own kind: the entry must exist and its parameters take the bytes that the
// arguments have.
func testExportedArguments(t *testing.T, w *Worker) {
	v, err := w.Versions()
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(v["triton"], "unavailable") {
		t.Skip("skipped: triton is ", v["triton"])
	}
	for _, c := range contract.All() {
		for _, d := range []contract.Dims{c.Default(), c.Small(), ones(c)} {
			e, err := w.ExportTriton(c, d, 90, nil)
			if err != nil {
				t.Fatal(err)
			}
			buffers := map[string]bool{"out": true}
			for _, s := range c.Inputs(d) {
				buffers[s.Name] = true
			}
			size := 0
			for _, a := range e.Arguments {
				arg := gpu.Pointer(256)
				if a.Buffer {
					delete(buffers, a.Name)
				} else if arg, err = a.scalar(); err != nil {
					t.Fatal(err)
				}
				for size%int(arg.Size) != 0 {
					size++
				}
				size += int(arg.Size)
			}
			if len(buffers) != 0 {
				t.Errorf("%s %v: the kernel takes no %v", c.Name(), d, buffers)
			}
			if got := parameterBytes(t, e); got != size {
				t.Errorf("%s %v: %s takes %d bytes of parameters, its arguments have %d: %+v", c.Name(), d, e.Entry, got, size, e.Arguments)
			}
		}
	}
	c := contract.GELU{}
	a, err := w.ExportTriton(c, c.Default(), 90, map[string]float64{"BLOCK": 1024, "num_warps": 8})
	if err != nil {
		t.Fatal(err)
	}
	if a.Block != [3]uint32{256, 1, 1} || a.Grid != [3]uint32{3072, 1, 1} || a.Params["BLOCK"] != 1024 {
		t.Errorf("%v %v %v", a.Grid, a.Block, a.Params)
	}
	if _, err := w.ExportTriton(c, c.Default(), 90, map[string]float64{"TILE": 4}); err == nil || !strings.Contains(err.Error(), "no tunable TILE") {
		t.Errorf("error %v", err)
	}
}

// ones is the shape whose integers Triton turns into constants.
func ones(c contract.Contract) contract.Dims {
	d := contract.Dims{}
	for _, n := range c.DimNames() {
		d[n] = 1
	}
	return d
}

// parameterBytes reads EIATTR_PARAM_CBANK or EIATTR_CBANK_PARAM_SIZE (0x1903),
// the size of an entry's parameters, from a cubin.
func parameterBytes(t *testing.T, e Exported) int {
	t.Helper()
	image := bytes.Clone(e.Cubin)
	copy(image[20:24], []byte{1, 0, 0, 0}) // NVIDIA counts versions of its own here
	f, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		t.Fatal(err)
	}
	s := f.Section(".nv.info." + e.Entry)
	if s == nil {
		t.Fatalf("the cubin has no entry %s", e.Entry)
	}
	data, err := s.Data()
	if err != nil {
		t.Fatal(err)
	}
	// Records are format, attribute, 16-bit size or value; format 4 has a body.
	for len(data) >= 4 {
		format, attribute, value := data[0], data[1], int(f.ByteOrder.Uint16(data[2:]))
		if attribute == 0x19 && format == 3 {
			return value
		}
		data = data[4:]
		if format == 4 {
			data = data[min(value, len(data)):]
		}
	}
	t.Fatalf("the cubin does not tell the size of the parameters of %s", e.Entry)
	return 0
}
