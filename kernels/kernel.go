package kernels

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"slices"

	"mage/contract"
)

// Kernel is one checked kernel: what computes a contract, and how it is launched.
type Kernel struct {
	Implementation string // "cuda/first"
	Contract       string // "gelu"
	Precisions     []contract.Precision
	Hypothesis     string
	// File is the description as the user knows it, for messages.
	File string
	// SourceName and Source are the device code; SourceSHA256 is its hash in hex.
	SourceName   string
	Source       string
	SourceSHA256 string
	Tunables     []Tunable
	// PTX is compiled code kept beside the source, for machines without a
	// compiler; nil when there is none.
	PTX *PTX

	constraints []expression // over tunables
	needs       []need       // over dims and tunables
	scratch     []scratch
	launches    []launch
}

// Tunable is a number that the source is compiled with.
type Tunable struct {
	Name    string
	Values  []int
	Default int
}

// Values gives each tunable of a kernel a value.
type Values map[string]int

type need struct {
	that    expression
	because string
}

type scratch struct {
	name  string
	bytes expression
}

type launch struct {
	entry  string
	params []param
	grid   [3]expression
	block  [3]expression
	shared *expression
	zero   []string
}

type param struct {
	buffer string
	name   string
	scalar ScalarType
	value  expression
}

// Name says which kernel this is, in messages: "cuda/first gelu".
func (k Kernel) Name() string { return k.Implementation + " " + k.Contract }

// Supports reports whether the kernel computes the contract in its precision mode.
func (k Kernel) Supports(c contract.Contract) bool {
	return k.Contract == c.Name() && slices.Contains(k.Precisions, c.Precision())
}

// Defaults returns the default value of every tunable.
func (k Kernel) Defaults() Values {
	v := Values{}
	for _, t := range k.Tunables {
		v[t.Name] = t.Default
	}
	return v
}

// Defines returns the compiler options that carry the tunables into CUDA C++,
// in the order of the description: "-DBLOCK=256".
func (k Kernel) Defines(v Values) []string {
	var options []string
	for _, t := range k.Tunables {
		options = append(options, fmt.Sprintf("-D%s=%d", t.Name, v[t.Name]))
	}
	return options
}

// Space yields every choice of values that satisfies the constraints, the last
// tunable varying fastest. A kernel without tunables has one empty choice.
func (k Kernel) Space() iter.Seq[Values] {
	return func(yield func(Values) bool) {
		k.walk(Values{}, 0, yield)
	}
}

func (k Kernel) walk(chosen Values, depth int, yield func(Values) bool) bool {
	if depth == len(k.Tunables) {
		if k.CheckValues(chosen) != nil {
			return true
		}
		v := Values{}
		for name, value := range chosen {
			v[name] = value
		}
		return yield(v)
	}
	t := k.Tunables[depth]
	for _, value := range t.Values {
		chosen[t.Name] = value
		if !k.walk(chosen, depth+1, yield) {
			return false
		}
	}
	return true
}

// CheckValues returns an error unless v gives every tunable, and nothing else,
// one of its values and satisfies the constraints.
func (k Kernel) CheckValues(v Values) error {
	env := scope{}
	var names []string
	for _, t := range k.Tunables {
		names = append(names, t.Name)
		value, ok := v[t.Name]
		if !ok {
			return fmt.Errorf("%s: tunable %s has no value", k.Name(), t.Name)
		}
		if !slices.Contains(t.Values, value) {
			return fmt.Errorf("%s: %s = %d is not one of its values %v", k.Name(), t.Name, value, t.Values)
		}
		env[t.Name] = value
	}
	for name := range v {
		if !slices.Contains(names, name) {
			return fmt.Errorf("%s: unknown tunable %q%s", k.Name(), name, suggest(name, names))
		}
	}
	for _, c := range k.constraints {
		ok, err := c.holds(env)
		if err != nil {
			return fmt.Errorf("%s: constraint %w", k.Name(), err)
		}
		if !ok {
			return fmt.Errorf("%s: %v breaks the constraint %q", k.Name(), v, c.text)
		}
	}
	return nil
}

func hash(data string) string {
	sum := sha256.Sum256([]byte(data))
	return hex.EncodeToString(sum[:])
}
