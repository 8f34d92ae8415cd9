package cuda

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// TestStateOfDevice checks the readings of a real device against what any GPU
// under a running context must show.
func TestStateOfDevice(t *testing.T) {
	d := openTraced(t)
	if d.nvmlErr != nil {
		t.Skip(d.nvmlErr)
	}
	if got := d.nvml.uuid(); got != d.Info().UUID {
		t.Errorf("NVML found %q, the driver %q", got, d.Info().UUID)
	}
	s, err := d.State()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("state %s, other processes %v", text, s.OtherProcesses)
	most, known := d.nvml.maxSMClockMHz()
	if s.SMClockMHz != nil && known && (*s.SMClockMHz <= 0 || *s.SMClockMHz > most) {
		t.Errorf("SM clock %d MHz, at most %d", *s.SMClockMHz, most)
	}
	limit := d.nvml.powerLimitW()
	if s.PowerW != nil && limit != nil && (*s.PowerW <= 0 || *s.PowerW > 1.5**limit) {
		t.Errorf("power %g W, limit %g W", *s.PowerW, *limit)
	}
	if s.TemperatureC != nil && (*s.TemperatureC <= 0 || *s.TemperatureC > 120) {
		t.Errorf("temperature %d °C", *s.TemperatureC)
	}
	if s.UtilisationPct != nil && (*s.UtilisationPct < 0 || *s.UtilisationPct > 100) {
		t.Errorf("utilisation %d %%", *s.UtilisationPct)
	}
	if v := d.nvml.driverVersion(); strings.Count(v, ".") < 1 {
		t.Errorf("driver version %q", v)
	}
	if p := d.nvml.persistenceMode(); p != nil {
		t.Logf("persistence mode %v", *p)
	}
	if limit != nil {
		t.Logf("power limit %g W", *limit)
	}
}

// BenchmarkState measures a reading of the device's state, whole and by part.
func BenchmarkState(b *testing.B) {
	d := openTraced(b)
	if d.nvmlErr != nil {
		b.Skip(d.nvmlErr)
	}
	n := d.nvml // NVML, unlike the driver, may be called from b.Run's goroutines
	for _, part := range []struct {
		name string
		read func()
	}{
		{"all", func() { _, _ = n.state() }},
		{"clock", func() { n.readInt(n.symbol.clock, nvmlClockSM) }},
		{"temperature", func() { n.readInt(n.symbol.temperature, nvmlTemperatureGPU) }},
		{"power", func() { n.readInt(n.symbol.power) }},
		{"utilisation", func() { n.readInt(n.symbol.utilisation) }},
		{"throttle", func() { n.throttle() }},
		{"processes", func() { n.otherProcesses(uint32(os.Getpid())) }},
	} {
		b.Run(part.name, func(b *testing.B) {
			for b.Loop() {
				part.read()
			}
		})
	}
}
