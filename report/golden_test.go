package report_test

import (
	"strings"

	"mage/evidence"
	"mage/report/internal/synthetic"
)

// laboratory is a record with one of everything: two cases, five arms on two
// devices, three instruments, a control, identical binaries, an impossible time,
// a disturbed round, something unavailable.
func laboratory() *synthetic.Builder {
	b := synthetic.New(20, 50)
	gelu := b.Gelu(4096, 768)
	large := b.Gelu(16384, 4096)
	first := b.Arm("cuda/first", "driver", "cuda:0")
	control := b.Control(first)
	vector := b.Arm("cuda/vector", "driver", "cuda:0")
	copied := b.Arm("cuda/copy", "driver", "cuda:0")
	naive := b.Arm("cpu/naive", "go", "cpu")
	parallel := b.Arm("cpu/parallel", "go", "cpu")
	for _, c := range []string{gelu, large} {
		scale := 1.0
		if c == large {
			scale = 26
		}
		b.Entry(c, first, strings.Repeat("1a", 32), 22)
		b.Entry(c, control, strings.Repeat("1a", 32), 22)
		b.Entry(c, vector, strings.Repeat("2b", 32), 40)
		b.Entry(c, copied, strings.Repeat("1a", 32), 22)
		b.Entry(c, naive, "", 0)
		b.Entry(c, parallel, "", 0)
		device := func(arm, mode string, us float64, n int) synthetic.Cell {
			x := synthetic.Cell{Case: c, Arm: arm, Mode: mode, Cache: "hot", Instrument: "cuda-event", US: us * scale,
				Noise: 0.01, RoundNoise: 0.002, Operations: n, Launches: 1}
			if n > 1 {
				x.ReplayUS = us*scale*float64(n) + 9
			}
			return x
		}
		b.Add(device(first, "span", 11.2, 1), device(control, "span", 11.2, 1), device(vector, "span", 9.1, 1), device(copied, "span", 11.25, 1))
		b.Add(device(first, "graph:100", 6.9, 100), device(control, "graph:100", 6.9, 100), device(vector, "graph:100", 4.46, 100), device(copied, "graph:100", 6.9, 100))
		for i, arm := range []string{naive, parallel} {
			b.Add(synthetic.Cell{Case: c, Arm: arm, Mode: "span", Cache: "hot", Instrument: "host-clock", US: 61000 * scale / float64(1+i),
				Noise: 0.02, RoundNoise: 0.01, Operations: 1})
		}
		b.Add(synthetic.Cell{Case: c, Arm: first, Mode: "submit", Cache: "hot", Instrument: "host-clock", US: 4.3, Noise: 0.05, RoundNoise: 0.01, Operations: 1})
	}
	// Faster than the memory allows.
	b.Add(synthetic.Cell{Case: large, Arm: vector, Mode: "kernel", Cache: "hot", Instrument: "cupti", US: 60, Noise: 0.01, Operations: 1, Launches: 1},
		synthetic.Cell{Case: large, Arm: first, Mode: "kernel", Cache: "hot", Instrument: "cupti", US: 176, Noise: 0.01, Operations: 1, Launches: 1})
	b.Disturb = map[int]string{7: "sw-power-cap"}
	b.Record.Unavailable = []evidence.Unavailable{{What: "torch", Reason: "python3: no module named torch", Remedy: "pip install torch"}}
	for i := range b.Record.Entries {
		if e := &b.Record.Entries[i]; strings.HasPrefix(e.Arm, "cpu/") {
			e.Unavailable = []evidence.Unavailable{{What: "graph:100", Reason: "graph replay needs a device stream", Remedy: ""},
				{What: "kernel", Reason: "there are no kernels to trace on a CPU"}}
		}
	}
	return b
}
