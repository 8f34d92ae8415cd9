package conform

import (
	"bytes"
	"errors"
	"testing"

	"mage/gpu"
	"mage/gpu/simt"
)

// picky refuses modules that mention an instruction.
type picky struct {
	gpu.Device
	mention []byte
}

func (p picky) Load(image []byte) (gpu.Module, error) {
	if bytes.Contains(image, p.mention) {
		return nil, errors.New("no kernel image")
	}
	return p.Device.Load(image)
}

// TestARefusedFormStopsNothing checks that a device that refuses a form runs those
// that share a module with it.
func TestARefusedFormStopsNothing(t *testing.T) {
	d, err := simt.Open(simt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	forms := Select(Forms(), []string{"add.u*", "sub.u*"})
	outcomes, err := Run(picky{d, []byte("\tsub.u32 ")}, forms)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range forms {
		refused := outcomes[i].Refused != nil
		if refused != (f.Name == "sub.u32") || !refused && len(outcomes[i].Results) != 1 {
			t.Errorf("%s: refused: %v; %d results", f.Name, outcomes[i].Refused, len(outcomes[i].Results))
		}
	}
}
