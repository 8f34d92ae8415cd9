package report

import (
	"fmt"
	"slices"

	"mage/stats"
	"mage/timing"
)

// measuredResolution is the resolution of one group, by one control.
type measuredResolution struct {
	mode, cache, device string
	stats.Resolution
}

// controls judges the A/A controls of a group and sets its resolution: the
// largest that any of them gives.
func (b *builder) controls(g *Group, all []*series) ([]measuredResolution, error) {
	var out []measuredResolution
	for i := range g.Cells {
		cell := &g.Cells[i]
		of := b.arm(cell.Arm).ControlOf
		if of == "" || cell.Verdict != "" {
			continue
		}
		cell.Verdict = Control
		twin := slices.IndexFunc(all, func(s *series) bool { return s.Arm == of })
		if twin < 0 || g.Cells[twin].MedianUS == nil || g.Cells[twin].Verdict != "" {
			cell.Why = "what it repeats, " + b.report.label(of) + ", was not measured here"
			continue
		}
		control, base := pair(all[i], all[twin])
		if len(control) == 0 {
			cell.Why = "no round in common with " + b.report.label(of)
			continue
		}
		e, err := b.paired(of, control, base, 0)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", cell.Arm, g.Mode, err)
		}
		step := b.step(g)
		r, err := stats.NewResolution(control, base, stats.TimerFloor(step, *g.Cells[twin].MedianUS, cell.Operations),
			b.opts.stats(b.rec.Plan, 0))
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", cell.Arm, g.Mode, err)
		}
		cell.Effect = e
		for _, w := range r.Warnings {
			cell.Warnings = append(cell.Warnings, fromStats(w))
		}
		if finite(r.Effect) {
			if g.Resolution == nil || r.Effect > *g.Resolution {
				g.Resolution = &r.Effect
			}
			out = append(out, measuredResolution{g.Mode, g.Cache, g.Device, r})
		}
	}
	return out, nil
}

// step is the smallest step of a group's instrument, µs, 0 if unknown.
func (b *builder) step(g *Group) float64 {
	c := b.calibration(g.Device)
	switch {
	case c == nil:
		return 0
	case g.Instrument == string(timing.HostClock):
		return c.ClockResolutionUS
	case g.Instrument == string(timing.CUDAEvent) && c.EventResolutionUS != nil:
		return *c.EventResolutionUS
	}
	return 0
}

// pool joins the controls that were measured alike over the cases.
func (b *builder) pool(all []measuredResolution) {
	type alike struct{ mode, cache, device string }
	var order []alike
	groups := map[alike][]stats.Resolution{}
	for _, m := range all {
		k := alike{m.mode, m.cache, m.device}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], m.Resolution)
	}
	for _, k := range order {
		p := stats.PoolResolutions(groups[k])
		r := Resolution{Mode: k.mode, Cache: k.cache, Device: k.device, Low: p.Effect, High: p.Effect,
			Controls: p.Cells, FalsePositives: p.FalsePositives, P: p.P}
		for _, one := range groups[k] {
			r.Low = min(r.Low, one.Effect)
		}
		b.report.Header.Resolution = append(b.report.Header.Resolution, r)
		for _, w := range p.Warnings {
			w := fromStats(w)
			w.Text, w.Mode, w.Cache = "more A/A controls differ from themselves than chance allows", k.mode, k.cache
			b.report.Warnings = append(b.report.Warnings, w)
		}
	}
}
