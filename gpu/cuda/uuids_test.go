package cuda_test

import (
	"testing"

	"mage/gpu/cuda"
	"mage/gpu/cuda/cudatest"
)

func TestUUIDs(t *testing.T) {
	path := cudatest.BuildStub(t)
	c := cudatest.NewControl(t, path)
	c.SetDevices(3)
	o := cuda.Options{DriverPath: path}
	all, err := o.UUIDs()
	check(t, err)
	if len(all) != 3 || all[0] != "GPU-00112233-4455-6677-8899-aabbccddeeff" || all[1] == all[0] || all[2] == all[1] {
		t.Errorf("%q", all)
	}
	d, err := o.Open(1)
	check(t, err)
	if got := d.Info().UUID; got != all[1] {
		t.Errorf("GPU 1 is %s, and %s when it is open", all[1], got)
	}
	check(t, d.Close())
	c.SetDevices(0)
	if _, err := o.UUIDs(); err == nil {
		t.Error("UUIDs without a GPU")
	}
}
