package python

import (
	"fmt"

	"mage/contract"
	"mage/gate"
	"mage/tensor"
)

// arrays says where the arrays of one operation lie in the arena of its worker.
type arrays struct {
	specs  []tensor.Spec // of inputs
	places map[string]place
	size   int64
}

// arraysOf places the output, with its guard zones, and every input in pages of
// their own.
func arraysOf(c contract.Contract, d contract.Dims) arrays {
	a := arrays{specs: c.Inputs(d), places: map[string]place{}}
	const page = 4096
	add := func(name string, bytes int) {
		a.places[name] = place{a.size, int64(bytes)}
		a.size += (int64(bytes) + page - 1) / page * page
	}
	add(output, c.Output(d).Bytes()+2*gate.GuardBytes)
	for _, s := range a.specs {
		add(s.Name, s.Bytes())
	}
	return a
}

// output is the name of the output's place.
const output = "out"

func (a arrays) inputNames() []string {
	var names []string
	for _, s := range a.specs {
		names = append(names, s.Name)
	}
	return names
}

// about tells the worker where arrays of these names lie, and makes room for them.
func (o *operation) about(r *request, names []string) error {
	if err := o.worker.arena.grow(o.arrays.size); err != nil {
		return fmt.Errorf("%s: %w", o.name, err)
	}
	r.Arena, r.Places = o.arrays.size, map[string]place{}
	for _, n := range names {
		r.Places[n] = o.arrays.places[n]
	}
	return nil
}

// sending puts the inputs where the worker will read them.
func (o *operation) sending(r request) (request, error) {
	if err := o.about(&r, o.arrays.inputNames()); err != nil {
		return r, err
	}
	for name, p := range r.Places {
		copy(o.worker.arena.at(p), o.inputs[name].Data)
	}
	return r, nil
}

// receive has the worker write arrays, and returns them where they lie: they are
// valid until the next request about arrays of this worker.
func (o *operation) receive(do, what string, names ...string) (map[string][]byte, error) {
	// Opening, if it has to be, comes before the canaries: it sends the inputs.
	if err := o.ready(); err != nil {
		return nil, err
	}
	r := request{Do: do, ID: o.id}
	if err := o.about(&r, names); err != nil {
		return nil, err
	}
	written, c := map[string][]byte{}, newCanaries()
	for n, p := range r.Places {
		written[n] = o.worker.arena.at(p)
		c.put(written[n])
	}
	if err := o.call(r, o.deadline(), what, nil); err != nil {
		return nil, err
	}
	for _, n := range names {
		if at := c.alive(written[n]); at >= 0 {
			return nil, &Failure{Request: what + " " + o.name, Reason: fmt.Sprintf("the worker did not write %s, from byte %d of %d on", n, at, len(written[n]))}
		}
	}
	return written, nil
}
