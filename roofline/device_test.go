package roofline

import (
	"strings"
	"testing"
)

func TestOf(t *testing.T) {
	r := Roofs{Device: "H", UUID: "GPU-1"}
	for _, c := range []struct {
		ran  Device
		same bool
		want string // of the error
	}{
		{Device{"H", "GPU-1"}, true, ""},
		{Device{"", "GPU-1"}, true, ""},
		{Device{"H", "GPU-2"}, false, ""}, // the same model
		{Device{"H", ""}, false, ""},
		{Device{"A", "GPU-2"}, false, "the ceilings are of H (GPU-1), and the kernels ran on A (GPU-2)"},
		{Device{"", "GPU-2"}, false, "ran on GPU-2"},
		{Device{"A", ""}, false, "ran on A"},
		{Device{}, false, "which device ran the kernels is not known"},
	} {
		same, err := r.Of(c.ran)
		if same != c.same || (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, %v", c.ran, same, err)
		}
	}
	if _, err := (Roofs{}).Of(Device{}); err == nil {
		t.Error("two unknown devices pass for one")
	}
}
