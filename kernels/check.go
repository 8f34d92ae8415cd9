package kernels

import (
	"fmt"
	"regexp"
	"slices"

	"mage/contract"
)

// checker turns a description into a Kernel and collects every fault with its
// line, so that one run of the loader shows all of them.
type checker struct {
	file string
	at   locator
	errs []error
}

func (c *checker) fail(line int, format string, args ...any) {
	c.errs = append(c.errs, &Error{c.file, line, fmt.Sprintf(format, args...)})
}

var (
	implementationName = regexp.MustCompile(`^[a-z][a-z0-9-]*/[a-z0-9][a-z0-9._-]*$`)
	identifier         = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	sourceName         = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*\.(cu|rs)$`)
)

func (c *checker) kernel(d description) Kernel {
	k := Kernel{
		Implementation: d.Implementation,
		Contract:       d.Contract,
		Hypothesis:     d.Hypothesis,
		File:           c.file,
		SourceName:     d.Source,
	}
	if !implementationName.MatchString(d.Implementation) {
		c.fail(c.at.key("", 0, "implementation"), "implementation = %q: want a family and a name, such as \"cuda/mine\"", d.Implementation)
	}
	if d.Hypothesis == "" {
		c.fail(c.at.key("", 0, "hypothesis"), "hypothesis is missing: say in one line why this kernel exists")
	}
	if !sourceName.MatchString(d.Source) {
		c.fail(c.at.key("", 0, "source"), "source = %q: want the name of a .cu or .rs file in the same directory", d.Source)
	}
	if k.Language() == Rust && len(d.Tunable) > 0 {
		c.fail(c.at.table("tunable", 0), "a Rust kernel takes no tunables: it is compiled ahead, to one PTX file")
	}
	computes := c.contract(&k, d)
	tunables := c.tunables(&k, d)
	if computes == nil {
		return k // buffers and dims are unknown: the rest cannot be judged
	}
	dims := computes.DimNames()
	for i, t := range k.Tunables {
		if slices.Contains(dims, t.Name) {
			c.fail(c.at.key("tunable", i, "name"), "tunable %s has the name of a dimension of %s", t.Name, d.Contract)
		}
	}
	all := newScope(append(tunables, dims...)...)
	for _, text := range d.Constraints {
		line := c.at.value("", 0, "constraints", text)
		k.constraints = append(k.constraints, c.expression(line, "constraint", text, condition, newScope(tunables...)))
	}
	for i, n := range d.Need {
		if n.Because == "" {
			c.fail(c.at.table("need", i), "because is missing: say what fails when the need is not met")
		}
		line := c.at.key("need", i, "that")
		k.needs = append(k.needs, need{c.expression(line, "that", n.That, condition, all), n.Because})
	}
	buffers := c.buffers(&k, d, computes, all)
	if len(d.Launch) == 0 {
		c.fail(1, "no [[launch]]: a kernel needs one at least")
	}
	for i, l := range d.Launch {
		k.launches = append(k.launches, c.launch(i, l, all, buffers))
	}
	if len(c.errs) == 0 {
		if err := k.CheckValues(k.Defaults()); err != nil {
			c.fail(c.at.key("", 0, "constraints"), "the default values are not allowed: %v", err)
		}
	}
	return k
}

// contract resolves contract and precision; nil when the contract is unknown.
func (c *checker) contract(k *Kernel, d description) contract.Contract {
	if len(d.Precision) == 0 {
		c.fail(c.at.key("", 0, "precision"), "precision is missing, such as [\"fp32\"]")
	}
	var found contract.Contract
	for _, p := range d.Precision {
		f, err := contract.Find(d.Contract, contract.Precision(p))
		if err != nil {
			key := "precision"
			if _, unknown := contract.Find(d.Contract, contract.FP32); unknown != nil {
				key = "contract"
			}
			c.fail(c.at.key("", 0, key), "%v", err)
			continue
		}
		found = f
		k.Precisions = append(k.Precisions, contract.Precision(p))
	}
	return found
}

func (c *checker) tunables(k *Kernel, d description) (names []string) {
	for i, t := range d.Tunable {
		line := c.at.table("tunable", i)
		switch {
		case !identifier.MatchString(t.Name):
			c.fail(line, "tunable name = %q: want an identifier, since it becomes a macro", t.Name)
			continue
		case slices.Contains(names, t.Name):
			c.fail(c.at.key("tunable", i, "name"), "tunable %s is declared twice", t.Name)
			continue
		case len(t.Values) == 0:
			c.fail(line, "tunable %s has no values", t.Name)
		case t.Default == nil:
			c.fail(line, "tunable %s has no default", t.Name)
		case !slices.Contains(t.Values, *t.Default):
			c.fail(c.at.key("tunable", i, "default"), "default %d of tunable %s is not one of its values %v", *t.Default, t.Name, t.Values)
		}
		tunable := Tunable{Name: t.Name, Values: t.Values}
		if t.Default != nil {
			tunable.Default = *t.Default
		}
		k.Tunables = append(k.Tunables, tunable)
		names = append(names, t.Name)
	}
	return names
}

// buffers checks the scratch buffers and returns the names of all buffers.
func (c *checker) buffers(k *Kernel, d description, computes contract.Contract, all scope) []string {
	names := bufferNames(computes)
	for i, s := range d.Scratch {
		if !identifier.MatchString(s.Name) {
			c.fail(c.at.table("scratch", i), "scratch name = %q: want an identifier", s.Name)
		}
		if slices.Contains(names, s.Name) {
			c.fail(c.at.key("scratch", i, "name"), "there is already a buffer %q", s.Name)
		}
		names = append(names, s.Name)
		line := c.at.key("scratch", i, "bytes")
		k.scratch = append(k.scratch, scratch{s.Name, c.expression(line, "bytes", s.Bytes, wholeNumber, all)})
	}
	return names
}

// bufferNames lists inputs and output; the names do not depend on the shape.
func bufferNames(c contract.Contract) (names []string) {
	for _, s := range c.Inputs(c.Small()) {
		names = append(names, s.Name)
	}
	return append(names, c.Output(c.Small()).Name)
}

func (c *checker) expression(line int, what, text string, compile func(string, scope) (expression, error), s scope) expression {
	e, err := compile(text, s)
	if err != nil {
		c.fail(line, "%s %q: %v", what, text, err)
	}
	return e
}
