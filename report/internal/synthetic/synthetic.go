// Package synthetic makes records whose truth is known, for tests: nothing in
// them was measured, and nothing of them is ever published.
package synthetic

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"mage/contract"
	"mage/evidence"
	"mage/gate"
	"mage/gpu"
	"mage/impl"
)

// Cell is the truth of one arm on one case in one mode and cache state.
type Cell struct {
	Case, Arm, Mode, Cache, Instrument string
	US                                 float64 // true time of one operation
	// Noise is the relative standard deviation of a sample, RoundNoise that of
	// what all samples of a round share; both log-normal.
	Noise, RoundNoise float64
	Operations        int
	Launches          int
	ReplayUS          float64 // true replay latency; 0: none recorded
	Drift             float64 // relative, from first to last sample of a round
	OtherState        float64 // relative distance of a second state that half of the samples have
	Lag               float64 // correlation of neighbouring samples
}

// Builder collects a record and its cells.
type Builder struct {
	Record evidence.Record
	Cells  []Cell
	// Rounds and Samples of every cell.
	Rounds, Samples int
	// Common is the relative standard deviation of a round that all arms share:
	// what pairing removes.
	Common float64
	// Disturb names rounds whose first attempt is disturbed, with the reason; the
	// disturbed times are three times as long.
	Disturb map[int]string
	// Step quantises the samples, µs; 0: not.
	Step float64
	Seed uint64
}

// New returns a builder with a GPU, a CPU and a plan of n rounds.
func New(rounds, samples int) *Builder {
	start := time.Date(2026, 9, 10, 10, 15, 0, 0, time.UTC)
	overhead, step := 1.9, 0.032
	b := &Builder{Rounds: rounds, Samples: samples, Common: 0.02, Seed: 20260910}
	b.Record = evidence.Record{
		Schema: evidence.Schema, Namespace: "mage-001", RunID: "20260910T101500Z-1a2b3c", Status: evidence.Complete,
		Created: start, Updated: start.Add(4*time.Minute + 12*time.Second),
		Tool: evidence.Tool{Version: "0.1.0", Commit: "0123456789abcdef0123", Go: "go1.26"},
		Spec: evidence.Spec{Name: "mage-001.toml", SHA256: strings.Repeat("5f", 32)},
		Host: evidence.Host{OS: "linux", Arch: "amd64", CPU: "Synthetic CPU", Cores: 16},
		Devices: []evidence.Device{
			{ID: "cpu", Info: gpu.Info{Backend: "cpu", Name: "Synthetic CPU"}},
			{ID: "cuda:0", Info: gpu.Info{Backend: "cuda", Name: "Synthetic H", ComputeCapability: "9.0", L2Bytes: 60 << 20,
				PeakBandwidth: 4.8e12, PeakFP32: 67e12, DriverVersion: "580.159.04", CUDAVersion: "13.0"}},
		},
		Versions: map[string]string{"nvrtc": "13.0", "cupti": "13.0"},
		Plan: evidence.Plan{Seed: 20260910, Rounds: rounds, MaxRounds: rounds, Samples: samples, Repeats: 2, Margin: 0.02,
			Confidence: 0.95, Baseline: []string{"cuda/first", "cpu/naive"},
			Modes: []string{"span", "batch:100", "graph:100", "submit", "latency", "kernel"}, Caches: []string{"hot", "cold"}},
		Sessions: []evidence.Session{{ID: 1, Started: start, Ended: start.Add(4*time.Minute + 12*time.Second), Outcome: "complete"}},
		Calibration: []evidence.Calibration{
			{Device: "cuda:0", Session: 1, EventOverheadUS: &overhead, EventOverheadSamples: []float64{1.85, 1.9, 1.95},
				EventResolutionUS: &step, ClockOverheadUS: 0.04, ClockResolutionUS: 0.001, FlushBytes: 120 << 20,
				ReadBytes: 8 << 20, ReadHotUS: 3.1, ReadColdUS: 7.4, FlushProved: true},
			{Device: "cpu", Session: 1, ClockOverheadUS: 0.04, ClockResolutionUS: 0.001},
		},
	}
	return b
}

// Case adds a case and returns its ID.
func (b *Builder) Case(name string, dims contract.Dims, order []string, flops float64, bytes int64) string {
	id := fmt.Sprintf("%s/fp32/%s/normal", name, dims.Format(order))
	b.Record.Cases = append(b.Record.Cases, evidence.Case{ID: id, Contract: name, Precision: "fp32", Dims: dims, DimOrder: order,
		Distribution: "normal", Seed: 20260910, FLOPs: flops, CompulsoryBytes: bytes,
		Tolerance: contract.Tolerance{Rtol: 1e-4, Atol: 1e-4}})
	return id
}

// Gelu adds gelu at R×D.
func (b *Builder) Gelu(r, d int) string {
	n := int64(r) * int64(d)
	return b.Case("gelu", contract.Dims{"R": r, "D": d}, []string{"R", "D"}, 9*float64(n), 8*n+4*int64(d))
}

// Arm adds an arm and returns its ID.
func (b *Builder) Arm(implementation, path, device string) string {
	id := implementation + "@" + path
	b.Record.Arms = append(b.Record.Arms, evidence.Arm{ID: id, Implementation: implementation, LaunchPath: path, Device: device})
	return id
}

// Control adds the A/A control of an arm and returns its ID.
func (b *Builder) Control(arm string) string {
	for _, a := range b.Record.Arms {
		if a.ID == arm {
			a.ID, a.ControlOf = arm+"#control", arm
			b.Record.Arms = append(b.Record.Arms, a)
			return a.ID
		}
	}
	panic("synthetic: no arm " + arm)
}

// Entry adds a gated entry; binary, when given, is the hash of a cubin.
func (b *Builder) Entry(caseID, arm, binary string, registers int) *evidence.Entry {
	spill := 0
	e := evidence.Entry{Case: caseID, Arm: arm, Session: 1, Gates: []gate.Result{
		{Stage: "before", Seed: 20260910, Passed: true, MaxAbsError: 2.1e-6, MaxRelError: new(3e-6), Checked: 3145728},
		{Stage: "left-behind", Seed: 20260910, Passed: true, MaxAbsError: 2.1e-6, MaxRelError: new(3e-6), Checked: 3145728}}}
	if binary != "" {
		e.Identity = impl.Identity{SourceSHA256: strings.Repeat("ab", 32), BinarySHA256: binary, BinaryKind: "cubin",
			Compiler: "NVRTC 13.0", CompileMS: 12.4, LoadMS: 0.3, Entry: "gelu", Grid: &[3]uint32{12288, 1, 1},
			Block: &[3]uint32{256, 1, 1}, Resources: &gpu.Attributes{Registers: registers, StaticSharedBytes: 1024},
			SpillLoad: &spill, SpillStor: &spill}
	}
	b.Record.Entries = append(b.Record.Entries, e)
	return &b.Record.Entries[len(b.Record.Entries)-1]
}

// Add adds cells.
func (b *Builder) Add(cells ...Cell) { b.Cells = append(b.Cells, cells...) }

// Run draws the samples: round by round, the arms of a case, mode and cache
// state in rotating order.
func (b *Builder) Run() *evidence.Run {
	rng := rand.New(rand.NewPCG(b.Seed, 1))
	groups, order := map[[3]string][]Cell{}, [][3]string{}
	for _, c := range b.Cells {
		k := [3]string{c.Case, c.Mode, c.Cache}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], c)
	}
	rec := b.Record
	run := &evidence.Run{Record: &rec}
	for round := 1; round <= b.Rounds; round++ {
		for _, k := range order {
			attempt := 1
			if why := b.Disturb[round]; why != "" {
				run.Lines = append(run.Lines, b.round(rng, groups[k], round, attempt, why, 3)...)
				attempt++
			}
			run.Lines = append(run.Lines, b.round(rng, groups[k], round, attempt, "", 1)...)
		}
	}
	return run
}

func (b *Builder) round(rng *rand.Rand, cells []Cell, round, attempt int, disturbed string, slow float64) []evidence.Line {
	common := math.Exp(b.Common * rng.NormFloat64())
	var out []evidence.Line
	for at := range cells {
		c := cells[(at+round)%len(cells)]
		l := evidence.Line{Session: 1, Round: round, Attempt: attempt, Order: at, Case: c.Case, Arm: c.Arm, Mode: c.Mode,
			Cache: c.Cache, Instrument: c.Instrument, Unit: "us", Operations: max(1, c.Operations), Launches: c.Launches}
		if disturbed != "" {
			l.Disturbed = []string{disturbed}
		}
		level := c.US * common * slow * math.Exp(c.RoundNoise*rng.NormFloat64())
		last := rng.NormFloat64()
		for i := range b.Samples {
			last = c.Lag*last + math.Sqrt(1-c.Lag*c.Lag)*rng.NormFloat64()
			x := level * math.Exp(c.Noise*last)
			if b.Samples > 1 {
				x *= 1 + c.Drift*(float64(i)/float64(b.Samples-1)-0.5)
			}
			if c.OtherState != 0 && rng.IntN(2) == 0 {
				x *= 1 + c.OtherState
			}
			if b.Step > 0 {
				x = math.Max(1, math.Round(x/b.Step)) * b.Step
			}
			l.Samples = append(l.Samples, x)
			if c.ReplayUS > 0 {
				l.ReplayUS = append(l.ReplayUS, c.ReplayUS*common*math.Exp(c.Noise*rng.NormFloat64()))
			}
		}
		out = append(out, l)
	}
	return out
}
