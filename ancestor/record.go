package ancestor

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	"mage/evidence"
	"mage/gate"
	"mage/gpu"
	"mage/impl"
	"mage/timing"
)

// draft is a record before it is written, with its rounds.
type draft struct {
	record evidence.Record
	rounds [][]evidence.Line
}

const device = "cuda:0"

// draft turns the results into a record. Arms keep the names that the file gives
// to its implementations.
func (r *results) draft(imported evidence.Imported) draft {
	imported.Experiment, imported.Measured, imported.Timing = r.experiment, r.measured, r.timing
	imported.Precision, imported.Excluded, imported.Sources = r.precision, r.excluded, r.sources
	d := draft{record: evidence.Record{
		Host:     host(r.platform),
		Devices:  []evidence.Device{{ID: device, Info: gpu.Info{Backend: "cuda", Name: r.gpu, DriverVersion: r.driver, CUDAVersion: r.versions["cuda"]}}},
		Versions: r.versions, Imported: &imported,
		Plan: evidence.Plan{Rounds: r.rounds, MaxRounds: r.rounds, Repeats: 1, Samples: r.iterations, MinSamples: r.iterations,
			Warmup: r.warmup, Margin: 0.02, Confidence: 0.95, Modes: []string{string(timing.Span)}, Caches: []string{string(timing.Hot)}},
	}}
	d.record.Plan.Seed = r.operations[0].seed
	for _, o := range r.operations {
		c := o.evidence(string(r.mode))
		d.record.Cases = append(d.record.Cases, c)
		for i, round := range o.rounds {
			var lines []evidence.Line
			for at, name := range round.order {
				lines = append(lines, evidence.Line{Round: i + 1, Attempt: 1, Order: at, Case: c.ID, Arm: armID(name),
					Mode: string(timing.Span), Cache: string(timing.Hot), Instrument: string(timing.CUDAEvent), Operations: 1,
					Before: round.state, Samples: round.cells[name].samples})
			}
			d.rounds = append(d.rounds, lines)
		}
		for _, name := range o.implementations {
			d.arm(name)
			d.record.Entries = append(d.record.Entries, o.entry(c.ID, name, r.binary))
		}
	}
	d.record.Plan.Baseline = d.baseline()
	return d
}

func (d *draft) arm(name string) {
	if !slices.ContainsFunc(d.record.Arms, func(a evidence.Arm) bool { return a.Implementation == name }) {
		d.record.Arms = append(d.record.Arms, evidence.Arm{ID: armID(name), Implementation: name, LaunchPath: launchPath(name), Device: device})
	}
}

func armID(name string) string { return name + "@" + launchPath(name) }

// launchPath is how the ancestor submitted what it called by that name.
func launchPath(name string) string {
	switch name {
	case "python":
		return "torch"
	case "triton":
		return "triton"
	}
	return "exec" // a native program of its own
}

// baseline is the PyTorch expression where there is one.
func (d *draft) baseline() []string {
	for _, a := range d.record.Arms {
		if a.Implementation == "python" {
			return []string{a.ID}
		}
	}
	return []string{d.record.Arms[0].ID}
}

func (o *operation) evidence(precision string) evidence.Case {
	c := evidence.Case{ID: o.name + "/" + precision + "/" + o.dims.Format(o.dimOrder), Contract: o.name, Precision: precision,
		Dims: o.dims, DimOrder: o.dimOrder, Seed: o.seed, InputSHA256: o.inputs, Tolerance: o.tolerance}
	if o.contract != nil {
		c.FLOPs = o.contract.FLOPs(o.dims)
		if o.name != "neighbor" { // there it depends on the graph, which the file does not hold
			c.CompulsoryBytes = o.contract.CompulsoryBytes(o.dims, nil)
		}
	}
	return c
}

// entry has a check for every round, as published.
func (o *operation) entry(caseID, name, binary string) evidence.Entry {
	e := evidence.Entry{Case: caseID, Arm: armID(name), Session: 1}
	var runs []string
	for i, r := range o.rounds {
		c := r.cells[name]
		e.Gates = append(e.Gates, gate.Result{Stage: fmt.Sprint("round ", i+1), Seed: o.seed, Passed: true, MaxAbsError: c.maxAbsError, Checked: c.checked})
		if c.runID != "" {
			runs = append(runs, c.runID)
		}
		if c.precision != "" {
			e.Identity.Notes = map[string]string{"precision": c.precision}
		}
	}
	if len(runs) > 0 { // a native program: the one that the file gives the hash of
		if e.Identity.Notes == nil {
			e.Identity.Notes = map[string]string{}
		}
		e.Identity.Notes["run_ids"] = strings.Join(runs, ", ")
		if binary != "" {
			e.Identity.BinarySHA256, e.Identity.BinaryKind = binary, "executable"
		}
	}
	return e
}

// draft turns the profiles into a record, with the shapes of the timed run. The
// captures were taken one after the other, so that there is no baseline.
func (p *profiles) draft(f *file, imported evidence.Imported, base *evidence.Record) draft {
	cases, arms := p.belong(f, base)
	if f.err != nil {
		return draft{}
	}
	imported.Experiment, imported.Timing, imported.Clock = base.Imported.Experiment, p.timing, p.clock
	d := draft{record: evidence.Record{Host: base.Host, Devices: base.Devices, Versions: base.Versions, Imported: &imported,
		Plan: evidence.Plan{Seed: base.Plan.Seed, Rounds: 1, MaxRounds: 1, Repeats: 1, Margin: base.Plan.Margin, Confidence: base.Plan.Confidence,
			Modes: []string{string(timing.Kernel)}, Caches: []string{string(timing.Hot)}}}}
	lines := map[string][]evidence.Line{}
	for i, c := range p.captures {
		id := cases[i].ID
		if !slices.ContainsFunc(d.record.Cases, func(o evidence.Case) bool { return o.ID == id }) {
			d.record.Cases = append(d.record.Cases, *cases[i])
		}
		d.arm(c.language)
		e := evidence.Entry{Case: id, Arm: arms[i].ID, Session: 1, Identity: impl.Identity{Notes: map[string]string{"kernels": c.kernels()}}}
		e.Identity.Grid, e.Identity.Block = c.shape()
		d.record.Entries = append(d.record.Entries, e)
		l := evidence.Line{Round: 1, Attempt: 1, Order: len(lines[id]), Case: id, Arm: arms[i].ID, Mode: string(timing.Kernel),
			Cache: string(timing.Hot), Instrument: p.backend, Operations: 1, Launches: c.perLaunches, Samples: c.samples()}
		if c.perLaunches == 0 {
			l.Operations = c.iterations
		}
		d.record.Plan.Samples = max(d.record.Plan.Samples, len(l.Samples))
		lines[id] = append(lines[id], l)
	}
	for _, c := range d.record.Cases {
		d.rounds = append(d.rounds, lines[c.ID])
	}
	return d
}

// host reads what Python's platform.platform() prints. The number of cores is not
// in it.
func host(platform string) evidence.Host {
	h := evidence.Host{OS: "unknown", Arch: "unknown", Kernel: platform}
	os, _, _ := strings.Cut(platform, "-")
	if os != "" {
		h.OS = strings.ToLower(os)
	}
	for name, arch := range map[string]string{"x86_64": "amd64", "AMD64": "amd64", "aarch64": "arm64", "arm64": "arm64"} {
		if strings.Contains(platform, "-"+name) {
			h.Arch = arch
		}
	}
	return h
}

// tool is the mage that imports.
func tool(version, commit string) evidence.Tool {
	return evidence.Tool{Version: version, Commit: commit, Go: runtime.Version()}
}
