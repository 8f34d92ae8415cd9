package native

import (
	"errors"
	"testing"

	"mage/contract"
	"mage/impl"
	"mage/input"
)

// rangeDevice records what a profiler would see: the launches in its range.
type rangeDevice struct {
	*fakeDevice
	log  []string
	fail error
}

func (d *rangeDevice) ProfilerStart() error { d.log = append(d.log, "start"); return d.fail }
func (d *rangeDevice) ProfilerStop() error  { d.log = append(d.log, "stop"); return nil }

func TestProfileBracketsTheOperations(t *testing.T) {
	d := &rangeDevice{fakeDevice: newFakeDevice()}
	i := open(t, Options{Device: d}, builtinOf(t, first[0]))
	c, err := contract.Find("gelu", contract.FP32)
	if err != nil {
		t.Fatal(err)
	}
	test := casesOf(t, c, "small")[0]
	op := openCase(t, i, test, test.inputs(t, input.DefaultSeed))
	defer op.Close()
	if err := op.(impl.Profiled).Profile(2); err != nil {
		t.Fatal(err)
	}
	if len(d.log) != 2 || d.log[0] != "start" || d.log[1] != "stop" {
		t.Errorf("%q", d.log)
	}
	d.fail = errors.New("no profiler")
	if err := op.(impl.Profiled).Profile(2); !errors.Is(err, d.fail) {
		t.Errorf("error = %v", err)
	}
}
