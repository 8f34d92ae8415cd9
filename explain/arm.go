package explain

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mage/contract"
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

// ParseArm reads "cuda/first" or "cuda/vector:BLOCK=128,VECTOR=4". The kernels are
// those that exist.
func ParseArm(text string, ks []kernels.Kernel) (Arm, error) {
	name, values, given := strings.Cut(text, ":")
	a := Arm{Name: text, Family: name}
	var names []string
	for _, k := range ks {
		if !slices.Contains(names, k.Implementation) {
			names = append(names, k.Implementation)
		}
	}
	if !slices.Contains(names, name) {
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

// Kernel returns the arm's kernel for a contract and the values of its tunables.
func (a Arm) Kernel(c contract.Contract, ks []kernels.Kernel) (kernels.Kernel, kernels.Values, error) {
	for _, k := range ks {
		if k.Implementation != a.Family || !k.Supports(c) {
			continue
		}
		v := k.Defaults()
		for name, n := range a.Values {
			v[name] = n
		}
		if err := k.CheckValues(v); err != nil {
			return k, nil, &ArmError{a.Name, err.Error()}
		}
		return k, v, nil
	}
	return kernels.Kernel{}, nil, &ArmError{a.Name, fmt.Sprintf("%s has no kernel for %s in %s", a.Family, c.Name(), c.Precision())}
}

// Computes reports whether the arm has a kernel for the contract.
func (a Arm) Computes(c contract.Contract, ks []kernels.Kernel) bool {
	return slices.ContainsFunc(ks, func(k kernels.Kernel) bool { return k.Implementation == a.Family && k.Supports(c) })
}
