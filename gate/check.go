package gate

import (
	"bytes"
	"fmt"

	"mage/contract"
	"mage/tensor"
)

// The stages of the gate, in the order that a measurement goes through them.
const (
	// Before timing: poison, run and compare, twice, with two different poisons.
	Before = "before"
	// LeftBehind: compare what the timed region left, without running anything.
	// Call Prepare before the timed region.
	LeftBehind = "left-behind"
	// Challenge: write fresh inputs in place, poison, run, compare, restore.
	Challenge = "challenge"
)

// Poisons. An element that is not written reads as NaN after the first, which
// always fails; the second is another byte, so that whatever a stray write into
// a guard zone holds, one of the two shows it. The third reads as an ordinary
// value: code that computes only when it sees a poison takes it for a result.
const (
	PoisonNaN   = 0xFF // float32 NaN
	PoisonHuge  = 0x7F // 3.396e38
	PoisonDecoy = 0x3C // 0.01149
)

// Spec is what a subject is checked against.
type Spec struct {
	Contract contract.Contract
	Dims     contract.Dims
	// Inputs are those that the reference was computed from. In Before and
	// LeftBehind the subject holds them already; Challenge writes them.
	Inputs    contract.Tensors
	Reference []float64
	Stage     string
	Seed      uint64 // of Inputs; retained in the result
	// Decoy says that PrepareDecoy, not Prepare, came before what LeftBehind judges.
	Decoy bool
	// Restore are the inputs that Challenge puts back when it is done.
	Restore contract.Tensors
}

// Prepare poisons the output ahead of a timed region that LeftBehind will judge.
func Prepare(s Subject) error { return poison(s, PoisonNaN) }

// PrepareDecoy is Prepare with a poison that looks like a result. An unwritten
// element shows unless its reference is within tolerance of the decoy, so use
// both, in different rounds.
func PrepareDecoy(s Subject) error { return poison(s, PoisonDecoy) }

// Check takes the subject through one stage. The Result is the verdict; the
// error is only for a check that could not be made: the subject failed to run
// or to copy, or the spec does not fit the contract.
func Check(s Subject, spec Spec) (Result, error) {
	if err := spec.check(); err != nil {
		return Result{}, fmt.Errorf("gate %s: %w", spec.Stage, err)
	}
	if spec.Stage != LeftBehind {
		// A subject that wrongly computes in place on the caller's own arrays
		// changes both sides of the comparison: compare with a copy.
		spec.Inputs = snapshot(spec.Inputs)
	}
	r, err := check(s, spec)
	if err != nil {
		return Result{}, fmt.Errorf("gate %s: %w", spec.Stage, err)
	}
	return r, nil
}

func check(s Subject, spec Spec) (Result, error) {
	switch spec.Stage {
	case Before:
		// The first poison is read back: a Poison that does nothing would let
		// results of an earlier run stand for unwritten elements.
		if err := provePoison(s, spec); err != nil {
			return Result{}, err
		}
		first, err := runAndCompare(s, spec, PoisonNaN)
		if err != nil || !first.Passed {
			return first, err
		}
		second, err := runAndCompare(s, spec, PoisonHuge)
		second.MaxAbsError = max(first.MaxAbsError, second.MaxAbsError)
		if second.MaxRelError != nil {
			second.MaxRelError = new(max(*first.MaxRelError, *second.MaxRelError))
		}
		return second, err
	case LeftBehind:
		if spec.Decoy {
			return compare(s, spec, PoisonDecoy)
		}
		return compare(s, spec, PoisonNaN)
	default: // Challenge
		if err := s.SetInputs(spec.Inputs); err != nil {
			return Result{}, fmt.Errorf("writing fresh inputs: %w", err)
		}
		r, err := runAndCompare(s, spec, PoisonHuge)
		if restoreErr := s.SetInputs(spec.Restore); err == nil && restoreErr != nil {
			err = fmt.Errorf("restoring the inputs: %w", restoreErr)
		}
		return r, err
	}
}

func (spec Spec) check() error {
	if spec.Contract == nil {
		return fmt.Errorf("no contract")
	}
	if err := spec.Contract.CheckDims(spec.Dims); err != nil {
		return err
	}
	out := spec.Contract.Output(spec.Dims)
	if out.DType != tensor.F32 {
		return fmt.Errorf("outputs of type %q cannot be compared", out.DType)
	}
	if len(spec.Reference) != out.Len() {
		return fmt.Errorf("reference holds %d elements, want %d (%s)", len(spec.Reference), out.Len(), out)
	}
	sets := []contract.Tensors{spec.Inputs}
	switch spec.Stage {
	case Before, LeftBehind:
	case Challenge:
		sets = append(sets, spec.Restore)
	default:
		return fmt.Errorf("unknown stage %q", spec.Stage)
	}
	for _, set := range sets {
		for _, s := range spec.Contract.Inputs(spec.Dims) {
			if t, ok := set[s.Name]; !ok || len(t.Data) != s.Bytes() {
				return fmt.Errorf("the spec lacks input %s", s)
			}
		}
	}
	return nil
}

func snapshot(in contract.Tensors) contract.Tensors {
	out := contract.Tensors{}
	for name, t := range in {
		out[name] = t.Clone()
	}
	return out
}

func poison(s Subject, value byte) error {
	if err := s.Poison(value); err != nil {
		return fmt.Errorf("poisoning the output: %w", err)
	}
	return nil
}

func provePoison(s Subject, spec Spec) error {
	if err := poison(s, PoisonHuge); err != nil {
		return err
	}
	all, err := output(s, spec)
	if err != nil {
		return err
	}
	if n := len(all) - bytes.Count(all, []byte{PoisonHuge}); n > 0 {
		return fmt.Errorf("poisoning the output left %d of %d bytes as they were", n, len(all))
	}
	return nil
}

func runAndCompare(s Subject, spec Spec, value byte) (Result, error) {
	if err := poison(s, value); err != nil {
		return Result{}, err
	}
	if err := s.Run(); err != nil {
		return Result{}, fmt.Errorf("running: %w", err)
	}
	return compare(s, spec, value)
}

// output copies back the whole allocation, guard zones included.
func output(s Subject, spec Spec) ([]byte, error) {
	all, err := s.Output()
	if err != nil {
		return nil, fmt.Errorf("reading the output: %w", err)
	}
	if want := spec.Contract.Output(spec.Dims).Bytes() + 2*GuardBytes; len(all) != want {
		return nil, fmt.Errorf("the output allocation holds %d bytes, want %d with its guard zones", len(all), want)
	}
	return all, nil
}

// compare is the one comparison of every stage: guard zones, every element,
// every input.
func compare(s Subject, spec Spec, value byte) (Result, error) {
	all, err := output(s, spec)
	if err != nil {
		return Result{}, err
	}
	now, err := s.Inputs()
	if err != nil {
		return Result{}, fmt.Errorf("reading the inputs back: %w", err)
	}
	out := tensor.Tensor{Spec: spec.Contract.Output(spec.Dims), Data: all[GuardBytes : len(all)-GuardBytes]}
	found := compareElements(out.Float32s(), spec.Reference, spec.Contract.Tolerance(), value)
	problems := found.problems(out.Spec)
	problems = append(problems, checkGuards(all, value)...)
	for _, in := range spec.Contract.Inputs(spec.Dims) {
		got, ok := now[in.Name]
		if !ok || len(got.Data) != in.Bytes() {
			return Result{}, fmt.Errorf("the subject returned %d bytes of input %s, want %d", len(got.Data), in.Name, in.Bytes())
		}
		if len(got.Data) > 0 && &got.Data[0] == &spec.Inputs[in.Name].Data[0] {
			return Result{}, fmt.Errorf("the subject computes on the caller's own input %s: it must hold a copy", in.Name)
		}
		problems = append(problems, checkInput(in, got, spec.Inputs[in.Name])...)
	}
	r := Result{
		Stage: spec.Stage, Seed: spec.Seed, Passed: len(problems) == 0, Problems: problems,
		MaxAbsError: found.maxAbs, MaxRelError: &found.maxRel, Checked: len(spec.Reference),
	}
	if !r.Passed {
		r.Failure = describe(problems)
	}
	return r, nil
}
