package explain

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mage/kernels"
)

// Arm is a kernel implementation, perhaps with other values of its tunables than
// the defaults.
type Arm struct {
	Name   string         // as asked for: "cuda/vector:BLOCK=128"
	Family string         // "cuda/vector"
	Values kernels.Values // those that were given
}

// ArmError is a name of which nothing can be made.
type ArmError struct{ Name, Problem string }

func (e *ArmError) Error() string { return e.Name + ": " + e.Problem }

// ParseArm reads "cuda/first" or "cuda/vector:BLOCK=128,VECTOR=4", a kernel of the
// catalogue.
func ParseArm(text string, k Catalogue) (Arm, error) {
	name, values, given := strings.Cut(text, ":")
	a := Arm{Name: text, Family: name}
	if names := k.names(); !slices.Contains(names, name) {
		return Arm{}, &ArmError{text, fmt.Sprintf("no kernel has this name; the simulator runs device kernels: %s", strings.Join(names, ", "))}
	}
	if !given {
		return a, nil
	}
	a.Values = kernels.Values{}
	for part := range strings.SplitSeq(values, ",") {
		tunable, number, _ := strings.Cut(part, "=")
		n, err := strconv.Atoi(number)
		if err != nil {
			return Arm{}, &ArmError{text, fmt.Sprintf("%q is not TUNABLE=NUMBER", part)}
		}
		if _, again := a.Values[tunable]; again {
			return Arm{}, &ArmError{text, tunable + " is given twice"}
		}
		a.Values[tunable] = n
	}
	return a, nil
}
