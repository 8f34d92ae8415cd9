package capture

import "fmt"

// unnamed stands for a name that the report does not have.
const unnamed = "the name is missing"

// name gives a name to kernels without one: whoever groups by name must not take
// them for nothing.
func (r *Result) name() {
	n := 0
	for i := range r.Kernels {
		if r.Kernels[i].Name == "" {
			r.Kernels[i].Name = unnamed
			n++
		}
	}
	if n > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("the report has no name for %d kernels", n))
	}
}

// check refuses a result that contradicts itself: a time that runs backwards is
// no time.
func (r *Result) check() error {
	bad := func(what string, i int, name string, us float64) error {
		return &Failure{Outcome: Invalid, Reason: fmt.Sprintf("%s %d (%s) has a duration of %g µs: the report contradicts itself", what, i+1, name, us)}
	}
	for i, k := range r.Kernels {
		if k.DurationUS != nil && !isTime(*k.DurationUS) {
			return bad("kernel", i, k.Name, *k.DurationUS)
		}
	}
	for i, c := range r.Copies {
		if !isTime(c.DurationUS) {
			return bad("copy", i, c.Kind, c.DurationUS)
		}
	}
	for i, c := range r.Calls {
		if !isTime(c.DurationUS) {
			return bad("call", i, c.Name, c.DurationUS)
		}
	}
	return nil
}

// isTime is false for what no kernel takes: 10⁶ s are more than 11 days.
func isTime(us float64) bool { return us >= 0 && us <= 1e12 }
