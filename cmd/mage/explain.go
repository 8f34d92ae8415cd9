package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"mage/contract"
	"mage/explain"
	"mage/gpu/cuda"
	"mage/input"
	"mage/kernels"
	"mage/kernels/triton"
	"mage/unavailable"
)

type explainCommand struct {
	A        string   `arg:"" help:"A device kernel: cuda/first, or with tunables cuda/NAME:BLOCK=128."`
	B        string   `arg:"" optional:"" help:"Another one, to be compared with A."`
	Contract string   `help:"One of ${contracts}; by default all that the arms compute." placeholder:"NAME"`
	Shape    []string `help:"A family (small, default, medium, large, tails) or dims such as R=4096,D=768; may be repeated. By default one that answers at once: the contract's default with fewer rows, nodes or tiles." placeholder:"SHAPE" sep:"none"`
	Dist     string   `help:"Input distribution." placeholder:"NAME"`
	Seed     uint64   `help:"Seed of the inputs." default:"20260910"`
	Hot      int      `help:"How many lines of each kernel to show." default:"5"`
	Kernels  []string `help:"Directory of your own kernels (kernel.toml + source); may be repeated." placeholder:"DIR" type:"path"`
	PTX      bool     `name:"ptx" help:"Run the PTX beside the sources even if there is a compiler."`
	JSON     bool     `help:"Print JSON."`
}

func (c *explainCommand) Run(s *session) error {
	o, err := c.options()
	if err != nil {
		return err
	}
	arms, err := c.arms(o.Catalogue)
	if err != nil {
		return &exitError{exitUsage, err.Error()}
	}
	cases, err := c.cases(arms, o.Catalogue)
	if err != nil {
		return &exitError{exitUsage, err.Error()}
	}
	var all []*explain.Explanation
	var wrong []string
	for _, k := range cases {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		e, err := explain.Explain(s.ctx, o, k, arms...)
		if lacking, ok := unavailable.As(err); ok && len(cases) > 1 {
			fmt.Fprintf(s.stderr, "%s: %v\n", k, lacking)
			continue
		}
		if err != nil {
			return err
		}
		all = append(all, e)
		wrong = append(wrong, e.Wrong()...)
		if c.JSON {
			continue
		}
		if err := e.Render(s.stdout, c.render(s)); err != nil {
			return err
		}
	}
	if c.JSON {
		enc := json.NewEncoder(s.stdout)
		enc.SetIndent("", "  ")
		if err := enc.Encode(all); err != nil {
			return err
		}
	}
	switch {
	case len(wrong) > 0:
		return &exitError{exitFailed, strings.Join(wrong, "; ")}
	case len(all) == 0:
		return &exitError{exitFailed, "nothing could be explained"}
	}
	return nil
}

func (c *explainCommand) render(s *session) explain.RenderOptions {
	o := explain.RenderOptions{Hot: c.Hot}
	if width, ok := terminalWidth(s.stdout); ok {
		o.Width, o.Box, o.Color = width, true, colour()
	}
	return o
}

// options loads the kernels, and the compiler if there is one.
func (c *explainCommand) options() (o explain.Options, err error) {
	builtin, err := kernels.Load(kernels.Builtin(), "built-in kernels")
	if err != nil {
		return o, err
	}
	lists := [][]kernels.Kernel{builtin}
	for _, dir := range c.Kernels {
		own, err := kernels.Load(os.DirFS(dir), relative(dir))
		if err != nil {
			return o, err
		}
		lists = append(lists, own)
	}
	if o.Triton, err = triton.Compiled(); err != nil {
		return o, err
	}
	if o.Kernels, err = kernels.Merge(lists...); err != nil || c.PTX {
		return o, err
	}
	compiler, err := cuda.OpenNVRTC("")
	if err == nil {
		o.Compiler = compiler
		return o, nil
	}
	if _, lacking := unavailable.As(err); lacking {
		return o, nil // then it is the PTX beside the sources
	}
	return o, err
}

func (c *explainCommand) arms(k explain.Catalogue) (arms []explain.Arm, err error) {
	for _, name := range []string{c.A, c.B} {
		if name == "" {
			continue
		}
		a, err := explain.ParseArm(name, k)
		if err != nil {
			return nil, err
		}
		arms = append(arms, a)
	}
	return arms, nil
}

// cases are those of one contract, or of each that all arms compute.
func (c *explainCommand) cases(arms []explain.Arm, k explain.Catalogue) (all []explain.Case, err error) {
	for _, which := range contract.All() {
		wanted := c.Contract == "" || c.Contract == which.Name()
		for _, a := range arms {
			wanted = wanted && (c.Contract != "" || k.Computes(a, which))
		}
		if !wanted {
			continue
		}
		shapes, err := c.shapes(which)
		if err != nil {
			return nil, err
		}
		distribution := c.Dist
		if distribution == "" {
			distribution = input.DefaultDistribution(which.Name())
		}
		if err := input.CheckDistribution(which.Name(), distribution); err != nil {
			return nil, err
		}
		for _, d := range shapes {
			all = append(all, explain.Case{Contract: which, Dims: d, Distribution: distribution, Seed: c.Seed})
		}
	}
	if len(all) > 0 {
		return all, nil
	}
	if c.Contract != "" {
		_, err := contract.Find(c.Contract, contract.FP32)
		return nil, err
	}
	return nil, fmt.Errorf("%s and %s compute no contract in common", c.A, c.B)
}

func (c *explainCommand) shapes(k contract.Contract) (all []contract.Dims, err error) {
	if len(c.Shape) == 0 {
		return []contract.Dims{explain.Quick(k)}, nil
	}
	for _, text := range c.Shape {
		if !strings.ContainsRune(text, '=') {
			family, err := contract.Shapes(k, text)
			if err != nil {
				return nil, err
			}
			all = append(all, family...)
			continue
		}
		d, err := parseDims(text)
		if err != nil {
			return nil, err
		}
		if err := k.CheckDims(d); err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	return all, nil
}
