package conform

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"reflect"
	"testing"

	"mage/gpu/simt"
)

func onSimulator(t *testing.T) map[string][]uint64 {
	t.Helper()
	d, err := simt.Open(simt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	results, err := Run(d, Forms())
	if err != nil {
		t.Fatal(err)
	}
	return results
}

func TestTheSimulatorKnowsEveryForm(t *testing.T) {
	results := onSimulator(t)
	if len(results) != len(Forms()) {
		t.Errorf("%d results of %d forms: a name is there twice", len(results), len(Forms()))
	}
	for name, v := range results {
		first, same := v[0], true
		for _, x := range v {
			same = same && x == first
		}
		if same {
			t.Errorf("%s: every result is %#x: the operands do not try it", name, first)
		}
	}
	var b bytes.Buffer
	if err := Write(&b, "a simulator", results); err != nil {
		t.Fatal(err)
	}
	if back, err := Read(&b); err != nil || !reflect.DeepEqual(back, results) {
		t.Errorf("results do not survive the file: %v", err)
	}
}

// TestTheSimulatorAgreesWithTheGPU replays what a GPU returned.
func TestTheSimulatorAgreesWithTheGPU(t *testing.T) {
	f, err := os.Open("testdata/gpu.txt")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("no results of a GPU yet: go run ./gpu/simt/conform/record gpu/simt/conform/testdata/gpu.txt")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want, err := Read(f)
	if err != nil {
		t.Fatal(err)
	}
	got := onSimulator(t)
	for _, form := range Forms() {
		w, ok := want[form.Name]
		if !ok {
			t.Errorf("%s: no result of a GPU", form.Name)
			continue
		}
		for k := range w {
			if got[form.Name][k] != w[k] {
				var operands []uint64
				for i := range form.Operands {
					operands = append(operands, form.Values(i)[k])
				}
				t.Errorf("%s of %#x: %#x, a GPU returns %#x", form.Name, operands, got[form.Name][k], w[k])
				break
			}
		}
	}
}
