package conform

import (
	"encoding/binary"
	"errors"
	"fmt"

	"mage/gpu"
)

// Outcome is what a device made of a form: the results of every set, or why it
// refused the form.
type Outcome struct {
	Results [][]uint64 // by result, then by set
	Refused error
}

// chunk is the number of forms per module. A module that a device refuses is
// tried again form by form.
const chunk = 128

// Run executes forms on a device and returns the outcomes in their order. Forms
// that a device refuses do not stop it; the error is of a device that cannot go on,
// and comes with the outcomes so far.
func Run(d gpu.Device, forms []Form) ([]Outcome, error) {
	r, err := newRunner(d)
	if err != nil {
		return nil, err
	}
	var all []Outcome
	for len(forms) > 0 {
		n := min(chunk, len(forms))
		some, err := r.try(forms[:n])
		all = append(all, some...)
		if err != nil {
			return all, err
		}
		forms = forms[n:]
	}
	return all, nil
}

// The largest form, an mma of m16n8k16, has 10 operands and 4 results.
const (
	maxOperands = 10
	maxResults  = 4
)

type runner struct {
	device  gpu.Device
	stream  gpu.Stream
	out, in gpu.Ptr
}

func newRunner(d gpu.Device) (*runner, error) {
	s, err := d.NewStream()
	if err != nil {
		return nil, err
	}
	r := &runner{device: d, stream: s}
	if r.out, err = d.Alloc(8 * Sets * maxResults); err != nil {
		return nil, err
	}
	r.in, err = d.Alloc(8 * Sets * maxOperands)
	return r, err
}

func (r *runner) try(forms []Form) ([]Outcome, error) {
	m, err := r.device.Load([]byte(PTX(forms)))
	if err != nil && len(forms) == 1 {
		return []Outcome{{Refused: err}}, nil
	}
	var all []Outcome
	for i, f := range forms {
		o := Outcome{}
		if err != nil {
			one, err := r.try([]Form{f})
			if err != nil {
				return all, err
			}
			o = one[0]
		} else {
			var fatal error
			if o, fatal = r.run(m, i, f); fatal != nil {
				return all, fmt.Errorf("%s: %w", f.Name, fatal)
			}
		}
		all = append(all, o)
	}
	if m != nil && err == nil {
		return all, m.Unload()
	}
	return all, nil
}

// run executes one form of a module.
func (r *runner) run(m gpu.Module, number int, form Form) (Outcome, error) {
	f, err := m.Function(fmt.Sprintf("k%d", number))
	if err != nil {
		return Outcome{Refused: err}, nil
	}
	raw := make([]byte, 8*Sets*len(form.Operands))
	for i := range form.Operands {
		for k, v := range form.Values(i) {
			binary.LittleEndian.PutUint64(raw[8*(i*Sets+k):], v)
		}
	}
	if err := r.device.Upload(r.in, raw); err != nil {
		return Outcome{}, err
	}
	l, err := f.Bind(gpu.Config{Grid: [3]uint32{Sets / 64, 1, 1}, Block: [3]uint32{64, 1, 1}},
		gpu.Pointer(r.out), gpu.Pointer(r.in), gpu.Int64(8*Sets))
	if err != nil {
		return Outcome{}, err
	}
	if err := errors.Join(l.Submit(r.stream), r.stream.Synchronize()); err != nil {
		return Outcome{}, err
	}
	raw = make([]byte, 8*Sets*len(form.Results))
	if err := r.device.Download(raw, r.out); err != nil {
		return Outcome{}, err
	}
	o := Outcome{Results: make([][]uint64, len(form.Results))}
	for i := range o.Results {
		o.Results[i] = make([]uint64, Sets)
		for k := range o.Results[i] {
			o.Results[i][k] = binary.LittleEndian.Uint64(raw[8*(i*Sets+k):])
		}
	}
	return o, nil
}
