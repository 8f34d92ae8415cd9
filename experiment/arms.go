package experiment

import (
	"fmt"
	"slices"
	"strings"

	"mage/evidence"
	"mage/impl"
)

// arm is one participant and who computes it; impl is nil when unavailable.
type arm struct {
	evidence.Arm
	spec    string // its name in the spec: "cuda/first", "cuda/first@cuda-python"
	impl    impl.Implementation
	untimed *Untimed // nil on a device that measures time
}

// arms lays out the participants: the implementations in declared order, each
// followed by its A/A control when it has one. Exact counts need no control.
func (s *Spec) arms(lab *Lab) ([]arm, error) {
	doc := document{name: s.Name, text: s.Text}
	var out []arm
	for _, name := range s.Implementations {
		i := lab.find(name)
		if i == nil {
			lack := lab.lacking(name)
			if lack == nil {
				hint := didYouMean(name, lab.names())
				if hint == "" {
					hint = "; --kernels and --exec add your own"
				}
				return nil, doc.errorAt(name, "unknown implementation %q%s", name, hint)
			}
			implementation, path, crossed := strings.Cut(name, "@")
			if !crossed {
				path = unknownPath
			}
			out = append(out, arm{spec: name, Arm: evidence.Arm{ID: name, Implementation: implementation,
				LaunchPath: path, Unavailable: unavailableRecord(lack)}})
			continue
		}
		a := arm{spec: name, impl: i, untimed: lab.Untimed[i.Device()], Arm: evidence.Arm{
			ID:             fmt.Sprintf("%s@%s", i.Name(), i.LaunchPath()),
			Implementation: i.Name(), LaunchPath: i.LaunchPath(), Device: i.Device()}}
		if slices.ContainsFunc(out, func(o arm) bool { return o.ID == a.ID }) {
			return nil, doc.errorAt(name, "implementation %q is listed twice, as %s; the control repeats an arm", name, a.ID)
		}
		out = append(out, a)
		if slices.Contains(s.Control, name) && a.untimed == nil {
			c := a
			c.ControlOf = a.ID
			c.ID += controlSuffix
			out = append(out, c)
		}
	}
	return out, nil
}

// order is the sequence in which n arms are measured in a round (from 1). It
// rotates, so that every arm takes every position, and turns round after each
// full turn, so that no arm always follows the same one.
func order(n, round int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = (i + round - 1) % n
	}
	if n > 0 && (round-1)/n%2 == 1 {
		slices.Reverse(out)
	}
	return out
}

// controlSuffix turns an arm's id into that of its A/A control.
const controlSuffix = "#control"
