package simt_test

import (
	"os"
	"testing"

	"mage/gpu"
	"mage/gpu/simt"
	"mage/gpu/simt/ptx"
)

// FuzzExecute checks that whatever loads also runs: to its end, or to an error,
// without panicking and without hanging.
func FuzzExecute(f *testing.F) {
	for _, d := range defects() {
		f.Add([]byte(header + prologue + d.wrong + "\nret;\n}"))
	}
	for _, k := range builtin(f) {
		if k.PTX != nil {
			f.Add(k.PTX.Image)
		}
	}
	features, err := os.ReadFile("testdata/features.ptx")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(features)
	f.Fuzz(func(t *testing.T, src []byte) {
		tree, err := ptx.Parse("fuzz.ptx", src)
		if err != nil {
			return
		}
		d, err := simt.Open(simt.Options{Workers: 1, MemoryBytes: 1 << 20, MaxBlockInstructions: 1 << 16})
		if err != nil {
			t.Fatal(err)
		}
		m, err := d.Load(src)
		if err != nil {
			return
		}
		s, err := d.NewStream()
		if err != nil {
			t.Fatal(err)
		}
		p, err := d.Alloc(4096)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range tree.Functions {
			fn, err := m.Function(e.Name)
			if err != nil {
				continue
			}
			var args []gpu.Arg
			for _, v := range e.Params {
				args = append(args, gpu.Arg{Bits: uint64(p), Size: uint8(ptx.SizeOf(v.Type))})
			}
			l, err := fn.Bind(gpu.Config{Grid: [3]uint32{2, 1, 1}, Block: [3]uint32{40, 1, 1}, DynamicShared: 1024}, args...)
			if err != nil {
				continue
			}
			if err := l.Submit(s); err != nil {
				t.Fatal(err)
			}
			_ = s.Synchronize() // findings and errors are expected
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	})
}
