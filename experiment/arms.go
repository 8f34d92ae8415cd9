package experiment

import (
	"fmt"
	"slices"

	"mage/evidence"
	"mage/impl"
)

// arm is one participant and who computes it; impl is nil when unavailable.
type arm struct {
	evidence.Arm
	impl impl.Implementation
}

// arms lays out the participants: the implementations in declared order, each
// followed by its A/A control when it has one.
func (s *Spec) arms(lab *Lab) ([]arm, error) {
	var out []arm
	for _, name := range s.Implementations {
		i := lab.find(name)
		if i == nil {
			lack, known := lab.Lacking[name]
			if !known {
				doc := document{name: s.Name, text: s.Text}
				return nil, doc.errorAt(name, "unknown implementation %q%s", name, didYouMean(name, lab.names()))
			}
			out = append(out, arm{Arm: evidence.Arm{ID: name, Implementation: name,
				LaunchPath: unknownPath, Unavailable: unavailableRecord(lack)}})
			continue
		}
		a := arm{impl: i, Arm: evidence.Arm{
			ID:             fmt.Sprintf("%s@%s", name, i.LaunchPath()),
			Implementation: name, LaunchPath: i.LaunchPath(), Device: i.Device()}}
		out = append(out, a)
		if slices.Contains(s.Control, name) {
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
