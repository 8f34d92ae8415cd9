package python

import (
	"testing"

	"mage/gate"
	"mage/impl"
	"mage/unavailable"
)

// TestProfileNeedsADriver: where there is none that is the reason, and the arm
// goes on.
func TestProfileNeedsADriver(t *testing.T) {
	w := plain(t, Options{})
	x := smallCase(t, "gelu")
	op := x.open(t, w.implementation("pure/python", nil))
	err := op.(impl.Profiled).Profile(2)
	if _, lacking := unavailable.As(err); err != nil && !lacking {
		t.Errorf("error = %v", err)
	}
	x.pass(t, op, gate.Before)
}
