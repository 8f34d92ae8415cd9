package conform

import (
	"encoding/binary"
	"fmt"

	"mage/gpu"
)

// Run executes the forms on a device and returns their results by name.
func Run(d gpu.Device, forms []Form) (map[string][]uint64, error) {
	m, err := d.Load([]byte(PTX(forms)))
	if err != nil {
		return nil, err
	}
	s, err := d.NewStream()
	if err != nil {
		return nil, err
	}
	var at [5]gpu.Ptr
	for i := range at {
		if at[i], err = d.Alloc(8 * N); err != nil {
			return nil, err
		}
		if err := d.Fill(at[i], 0, 8*N); err != nil {
			return nil, err
		}
	}
	results := map[string][]uint64{}
	raw := make([]byte, 8*N)
	for number, f := range forms {
		for i := range f.Operands {
			for k, v := range f.Values(i) {
				binary.LittleEndian.PutUint64(raw[8*k:], v)
			}
			if err := d.Upload(at[1+i], raw); err != nil {
				return nil, err
			}
		}
		if err := launch(m, s, fmt.Sprintf("k%d", number), at); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		if err := d.Download(raw, at[0]); err != nil {
			return nil, err
		}
		out := make([]uint64, N)
		for k := range out {
			out[k] = binary.LittleEndian.Uint64(raw[8*k:])
		}
		results[f.Name] = out
	}
	return results, nil
}

func launch(m gpu.Module, s gpu.Stream, name string, at [5]gpu.Ptr) error {
	f, err := m.Function(name)
	if err != nil {
		return err
	}
	var args []gpu.Arg
	for _, p := range at {
		args = append(args, gpu.Pointer(p))
	}
	l, err := f.Bind(gpu.Config{Grid: [3]uint32{N / 64, 1, 1}, Block: [3]uint32{64, 1, 1}}, args...)
	if err != nil {
		return err
	}
	if err := l.Submit(s); err != nil {
		return err
	}
	return s.Synchronize()
}
