package main

import (
	"fmt"
	"strings"

	"mage/contract"
	"mage/impl"
	"mage/input"
	"mage/unavailable"
)

// profileArmCommand performs operations of one arm for a profiler around it.
type profileArmCommand struct {
	Arm          string `required:"" help:"Implementation@path."`
	Contract     string `required:"" help:"Contract."`
	Precision    string `required:"" help:"Precision mode."`
	Dims         string `required:"" help:"Dims, such as R=4096,D=768."`
	Distribution string `required:"" help:"Distribution of the inputs."`
	Seed         uint64 `required:"" help:"Seed of the inputs."`
	Operations   int    `default:"1" help:"Operations in the profiler's range."`
	laboratoryFlags
}

func (c *profileArmCommand) Run(s *session) error {
	k, err := contract.Find(c.Contract, contract.Precision(c.Precision))
	if err != nil {
		return err
	}
	dims, err := parseDims(c.Dims)
	if err != nil {
		return err
	}
	set, err := input.Generate(input.Case{Contract: k, Dims: dims, Distribution: c.Distribution, Seed: c.Seed})
	if err != nil {
		return err
	}
	name, path, _ := strings.Cut(c.Arm, "@")
	m, err := c.open(s.ctx, []string{name})
	if err != nil {
		return err
	}
	defer m.Close()
	for _, i := range m.Implementations {
		if i.Name() != name || path != "" && i.LaunchPath() != path {
			continue
		}
		op, err := i.Open(k, dims, set.Tensors)
		if err != nil {
			return err
		}
		defer op.Close()
		p, ok := op.(impl.Profiled)
		if !ok {
			return unavailable.New("profiling of "+c.Arm, "it does not run on a GPU", "")
		}
		return p.Profile(c.Operations)
	}
	if lacking := m.Lacking[name]; lacking != nil {
		return lacking
	}
	return fmt.Errorf("there is no arm %s", c.Arm)
}
