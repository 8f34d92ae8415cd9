package ceiling

import (
	"testing"

	"mage/gpu/cuda"
	"mage/unavailable"
)

// TestOnGPU launches every shape once on a real GPU and compares its result. Under
// Nsight Compute it shows what each kernel asks of the device.
func TestOnGPU(t *testing.T) {
	dev, err := cuda.Open(0)
	if lacking, ok := unavailable.As(err); ok {
		t.Skip(lacking)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	stream, err := dev.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	l := newLab(dev, stream)
	defer l.close()
	for _, sub := range subjects(sizesFor(dev.Info())) {
		for _, sh := range sub.shapes {
			_, verify, err := l.ready(sh)
			if lacking, ok := unavailable.As(err); ok {
				t.Log(lacking)
				continue
			}
			if err != nil {
				t.Fatalf("%s, %s: %v", sh.entry, sh.text, err)
			}
			n, err := verify(true)
			if err != nil {
				t.Errorf("%s, %s: %v", sh.entry, sh.text, err)
			}
			t.Logf("%s, %s, grid %d: %g, %d compared", sh.entry, sh.text, sh.config.Grid[0], sh.amount, n)
			if err := l.free(); err != nil {
				t.Fatal(err)
			}
		}
	}
}
