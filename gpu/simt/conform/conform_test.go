package conform

import (
	"bytes"
	"errors"
	"os"
	"reflect"
	"slices"
	"sync"
	"testing"

	"mage/gpu/simt"
)

// tried are the forms to try: with -short one in eight.
func tried() []Form {
	all := Forms()
	if !testing.Short() {
		return all
	}
	var some []Form
	for i := 0; i < len(all); i += 8 {
		some = append(some, all[i])
	}
	return some
}

// everyOutcome runs the forms once for all tests.
var everyOutcome = sync.OnceValues(func() ([]Outcome, error) {
	d, err := simt.Open(simt.Options{Unchecked: true})
	if err != nil {
		return nil, err
	}
	return Run(d, tried())
})

// onSimulator returns the forms and their outcomes; it fails for one that is not known.
func onSimulator(t *testing.T) ([]Form, []Outcome) {
	t.Helper()
	forms := tried()
	outcomes, err := everyOutcome()
	if err != nil {
		t.Fatal(err)
	}
	for i, o := range outcomes {
		if o.Refused != nil {
			t.Errorf("%s: %v", forms[i].Name, o.Refused)
		}
	}
	return forms, slices.Clone(outcomes)
}

func TestTheSimulatorKnowsEveryForm(t *testing.T) {
	forms, outcomes := onSimulator(t)
	names := map[string]bool{}
	for _, f := range forms {
		if names[f.Name] {
			t.Errorf("%s is there twice", f.Name)
		}
		names[f.Name] = true
	}
	for i, o := range outcomes {
		f := forms[i]
		for k, r := range o.Results {
			first, same := r[0], true
			for _, x := range r {
				same = same && x == first
			}
			if same && f.Name != "lop3.b32 0" {
				t.Errorf("%s: result %d is always %#x: the operands do not try it", f.Name, k, first)
			}
		}
	}
	outcomes[0] = Outcome{Refused: errors.New("no\nsuch\tthing")}
	var b bytes.Buffer
	if err := Write(&b, "a simulator", forms, outcomes); err != nil {
		t.Fatal(err)
	}
	if b.Len() > 3<<20 {
		t.Errorf("the file has %d bytes", b.Len())
	}
	back, err := Read(&b, forms)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range forms {
		if got, want := back[f.Name], f.Golden(outcomes[i]); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the file holds %v, want %v", f.Name, got, want)
		}
	}
}

// TestApproximationsOfTheSimulator checks all that it computes within the bounds of
// the manual.
func TestApproximationsOfTheSimulator(t *testing.T) {
	forms, outcomes := onSimulator(t)
	n := 0
	for i, o := range outcomes {
		if forms[i].Bound != nil {
			checkBound(t, forms[i], o.Results, "the simulator")
			n++
		}
	}
	if n == 0 {
		t.Fatal("there are none")
	}
}

func (f Form) set(k int) []uint64 {
	var operands []uint64
	for i := range f.Operands {
		operands = append(operands, f.Values(i)[k])
	}
	return operands
}

// checkBound holds the results of a device against the bound of a form.
func checkBound(t *testing.T, f Form, results [][]uint64, who string) {
	t.Helper()
	values := make([][]uint64, len(f.Operands))
	for i := range values {
		values[i] = f.Values(i)
	}
	for k, r := range results[0] {
		operands := make([]uint64, len(values))
		for i := range values {
			operands[i] = values[i][k]
		}
		if err := f.Check(operands, r); err != nil {
			t.Errorf("%s of %#x: %s computes %#x: %v", f.Name, operands, who, r, err)
			return
		}
	}
}

// TestTheSimulatorAgreesWithTheGPU replays what a GPU returned.
func TestTheSimulatorAgreesWithTheGPU(t *testing.T) {
	file, err := os.Open("testdata/gpu.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	forms, outcomes := onSimulator(t)
	want, err := Read(file, Forms())
	if err != nil {
		t.Fatal(err)
	}
	for i, o := range outcomes {
		f := forms[i]
		g, ok := want[f.Name]
		switch {
		case !ok:
			t.Errorf("%s: no GPU was asked", f.Name)
		case g.Refused != "":
			t.Errorf("%s: a GPU refused it: %s", f.Name, g.Refused)
		case f.Bound != nil:
			checkBound(t, f, g.Results, "a GPU")
		default:
			compare(t, f, o, g)
		}
	}
}

// compare reports the first difference of a form.
func compare(t *testing.T, f Form, got Outcome, want Golden) {
	t.Helper()
	for n, r := range want.Results {
		for k, w := range r {
			g := got.Results[n][k]
			if g != w {
				t.Errorf("%s of %#x: result %d is %#x, a GPU returns %#x", f.Name, f.set(k), n, g, w)
				return
			}
		}
	}
	groups := f.Golden(got).Groups
	for n, w := range want.Groups {
		if groups[n] != w {
			t.Errorf("%s: a result of sets %d to %d differs from a GPU's: record -show -group %d %q there shows them", f.Name, n*Group, (n+1)*Group-1, n, f.Name)
			return
		}
	}
}
