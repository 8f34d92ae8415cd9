package explain

import (
	"context"
	"errors"
	"fmt"

	"mage/contract"
	"mage/gate"
	"mage/gpu/cuda"
	"mage/gpu/simt"
	"mage/impl"
	"mage/impl/native"
	"mage/input"
)

// Profile is what one arm did in one run on the simulator.
type Profile struct {
	Arm      Arm
	Code     Code
	Identity impl.Identity
	Counters simt.Counters
	// Sites are the executed instructions, by line.
	Sites    []simt.Site
	Findings []simt.Finding
	Gate     gate.Result
}

// Wrong says what is wrong with the kernel, "" for nothing: counters of a wrong
// kernel explain nothing.
func (p *Profile) Wrong() string {
	switch n := len(p.Findings); {
	case n == 1:
		return "the checks found a defect"
	case n > 1:
		return fmt.Sprintf("the checks found %d defects", n)
	case !p.Gate.Passed:
		return p.Gate.Failure
	}
	return ""
}

// Options say how arms are run.
type Options struct {
	Catalogue
	// Compiler makes PTX with positions of the source; nil runs the PTX beside the
	// sources, which has none.
	Compiler native.Compiler
}

// Run executes an arm once and checks its output. An error says why it could not
// be run, or that ctx ended it; a kernel that ran and is wrong is in the Profile.
func Run(ctx context.Context, o Options, a Arm, c Case, in contract.Tensors, reference []float64) (_ *Profile, err error) {
	dev, err := simt.Open(simt.Options{Sites: true})
	if err != nil {
		return nil, err
	}
	defer func() {
		var found *simt.CheckError // is in the profile
		if e := dev.Close(); e != nil && !errors.As(e, &found) {
			err = errors.Join(err, e)
		}
	}()
	defer context.AfterFunc(ctx, dev.Stop)()
	stream, err := dev.NewStream()
	if err != nil {
		return nil, err
	}
	op, code, err := o.open(a, c, in, native.Options{Device: dev, Stream: stream, DeviceID: "simt", Compiler: o.Compiler})
	if err != nil {
		return nil, err
	}
	defer op.Close()
	p := &Profile{Arm: a, Code: code, Identity: op.Identity()}
	if err := gate.Prepare(op); err != nil {
		return nil, err
	}
	dev.ResetCounters()
	var found *simt.CheckError
	if err := op.Run(); ctx.Err() != nil {
		return nil, ctx.Err()
	} else if err != nil && !errors.As(err, &found) {
		return nil, err
	}
	p.Counters, p.Sites, p.Findings = dev.Counters(), dev.Sites(), dev.Findings()
	p.Gate, err = gate.Check(op, gate.Spec{Contract: c.Contract, Dims: c.Dims, Inputs: in, Reference: reference,
		Stage: gate.LeftBehind, Seed: c.Seed})
	return p, err
}

// Explanation is one case and the one or two arms that computed it.
type Explanation struct {
	Case Case
	A, B *Profile // B is nil when there is one arm
}

// Explain runs one arm or two on a case.
func Explain(ctx context.Context, o Options, c Case, arms ...Arm) (*Explanation, error) {
	set, err := input.Generate(input.Case{Contract: c.Contract, Dims: c.Dims, Distribution: c.Distribution, Seed: c.Seed})
	if err != nil {
		return nil, err
	}
	reference := c.Contract.Reference(c.Dims, set.Tensors)
	e := &Explanation{Case: c}
	for i, a := range arms {
		p, err := Run(ctx, o, a, c, set.Tensors, reference)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			e.A = p
		} else {
			e.B = p
		}
	}
	return e, nil
}

// profiles returns the one or two.
func (e *Explanation) profiles() []*Profile {
	if e.B == nil {
		return []*Profile{e.A}
	}
	return []*Profile{e.A, e.B}
}

// Wrong lists what is wrong with the arms.
func (e *Explanation) Wrong() (all []string) {
	for _, p := range e.profiles() {
		if w := p.Wrong(); w != "" {
			all = append(all, p.Arm.Name+": "+w)
		}
	}
	return all
}

// withLines asks the compiler for positions of the source in its PTX.
type withLines struct{ native.Compiler }

func (c withLines) Compile(name, source string, options []string) (cuda.Compiled, error) {
	return c.Compiler.Compile(name, source, append(options[:len(options):len(options)], "--generate-line-info"))
}
