package roofline

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Place puts work under roofs. Each demand d on a resource of rate r takes d/r at
// least; the ceiling that binds is that of the longest, and the fraction is that
// time over the measured one:
//
//	fraction = max over resources (demand ÷ rate) ÷ time
//
// For bytes Q of DRAM at bandwidth β and FLOPs W at peak π that is the classic
// roofline, attained ÷ attainable: with P = W/time and I = W/Q,
//
//	P ÷ min(π, I·β) = (W/time) ÷ min(π, β·W/Q) = max(W/π, Q/β) ÷ time
//
// FLOPs of different units run beside each other, so each is a resource of its own.
func Place(w Work, roofs Roofs) Placement {
	p := Placement{Unknown: slices.Clone(w.Unknown)}
	unknown := func(format string, args ...any) { p.Unknown = append(p.Unknown, fmt.Sprintf(format, args...)) }
	if w.TimeUS == nil {
		unknown("time: not measured")
	}
	for _, d := range w.Demands {
		if roof, ok := roofs.over(d); ok {
			p.add(share(d, roof, w.TimeUS))
		}
	}
	if s, ok := roofs.launch(w); ok {
		p.add(s)
	}
	for _, d := range w.Demands {
		if _, ok := roofs.over(d); !ok && !p.outlasts(d, roofs) {
			unknown("%s: its ceiling was not measured%s", d.Resource, roofs.whyNot(d.Resource))
		}
	}
	if !w.demands(func(r Resource) bool { return r == DRAM }) && !w.lacks("bytes of DRAM") {
		unknown("bytes of DRAM: not measured")
	}
	if !w.demands(Resource.Arithmetic) && !w.lacks("FLOPs") {
		unknown("FLOPs: not measured")
	}
	p.classic(w, roofs)
	p.notes(w)
	return p
}

// add takes a share, and lets the longest bound bind.
func (p *Placement) add(s Share) {
	longest := p.longest()
	p.Shares = append(p.Shares, s)
	if s.BoundUS > longest {
		p.Binds, p.Roof, p.Fraction = s.Resource, s.Roof, s.Fraction
	}
}

func (p *Placement) longest() float64 {
	us := 0.0
	for _, s := range p.Shares {
		us = max(us, s.BoundUS)
	}
	return us
}

// outlasts reports whether what binds takes longer than a demand without a roof, so
// that the roof's lack changes nothing. That is said of FP16 only: no device that
// Nsight Compute profiles does fewer FLOPs of half precision per second than of single
// (CUDA C++ Programming Guide, "Throughput of Native Arithmetic Instructions").
func (p *Placement) outlasts(d Demand, roofs Roofs) bool {
	roof, ok := roofs.over(Demand{Resource: FP32})
	return ok && d.Resource == FP16 && share(d, roof, nil).BoundUS < p.longest()
}

func share(d Demand, roof Roof, time *Amount) Share {
	s := Share{Demand: d, Roof: roof.Name, Ceiling: roof.Rate, BoundUS: d.Amount.Value / roof.Rate * 1e6}
	if time != nil && time.Value > 0 {
		attained, fraction := d.Amount.Value/time.Value*1e6, s.BoundUS/time.Value
		s.Attained, s.Fraction = &attained, &fraction
	}
	return s
}

// over returns the roof of a demand: of bytes the one that mixes reads and writes
// most alike, or the highest where the mix is not known.
func (r Roofs) over(d Demand) (best Roof, ok bool) {
	nearer := func(a, b Roof) bool { return a.Rate > b.Rate }
	if d.Writes != nil {
		nearer = func(a, b Roof) bool {
			x, y := math.Abs(a.Writes-*d.Writes), math.Abs(b.Writes-*d.Writes)
			return x < y || x == y && a.Rate > b.Rate
		}
	}
	for _, roof := range r.Roofs {
		if roof.Resource == d.Resource && roof.Rate > 0 && (!ok || nearer(roof, best)) {
			best, ok = roof, true
		}
	}
	return best, ok
}

// whyNot is ": " and the reason, where it is known.
func (r Roofs) whyNot(of Resource) string {
	if why := r.Lacking[of]; why != "" {
		return ": " + why
	}
	return ""
}

// launch is what as many empty kernels take at least in the mode of the time: one
// is at least in a span of several, too.
func (r Roofs) launch(w Work) (Share, bool) {
	us, name := r.launchUS(w.Mode)
	if us <= 0 || w.TimeUS == nil || w.TimeUS.Value <= 0 {
		return Share{}, false
	}
	n := 1
	if strings.Contains(w.Mode, ":") { // batches and graphs put launches one after the other
		n = max(1, w.Launches)
	}
	bound := us * float64(n)
	fraction := bound / w.TimeUS.Value
	return Share{Demand: Demand{Resource: Launch, Amount: Amount{float64(n), w.TimeUS.From}}, Roof: name,
		Ceiling: 1e6 / us, BoundUS: bound, Fraction: &fraction}, true
}

// manyLaunches share a sample so that its fixed cost no longer shows: batch:50 and
// batch:100 are alike, batch:1 is not.
const manyLaunches = 50

// launchUS is what an empty kernel takes in a mode, or in the same with another
// large count.
func (r Roofs) launchUS(mode string) (us float64, name string) {
	if us, ok := r.LaunchUS[mode]; ok {
		return us, "launch-" + mode
	}
	kind, n := counted(mode)
	for _, m := range slices.Sorted(maps.Keys(r.LaunchUS)) {
		if k, many := counted(m); k == kind && n >= manyLaunches && many >= manyLaunches {
			return r.LaunchUS[m], "launch-" + m
		}
	}
	return 0, ""
}

// counted parts "graph:100" into "graph" and 100.
func counted(mode string) (kind string, n int) {
	kind, count, _ := strings.Cut(mode, ":")
	n, _ = strconv.Atoi(count) // 0 without one
	return kind, n
}

func (w Work) demands(of func(Resource) bool) bool {
	return slices.ContainsFunc(w.Demands, func(d Demand) bool { return of(d.Resource) })
}

// lacks reports whether the caller said that something was not counted.
func (w Work) lacks(what string) bool {
	return slices.ContainsFunc(w.Unknown, func(s string) bool { return strings.HasPrefix(s, what) })
}

// classic fills in intensity, ridge and rate: the ridge is of the unit that would take
// longest.
func (p *Placement) classic(w Work, roofs Roofs) {
	bytes := 0.0
	var memory, compute Share
	for _, s := range p.Shares {
		switch {
		case s.Resource == DRAM:
			memory = s
		case s.Resource.Arithmetic() && s.BoundUS >= compute.BoundUS:
			compute = s
		}
	}
	for _, d := range w.Demands {
		if d.Resource == DRAM {
			bytes += d.Amount.Value
		}
	}
	flops := w.FLOPs()
	if flops != nil && bytes > 0 {
		x := *flops / bytes
		p.Intensity = &x
	}
	if flops != nil && w.TimeUS != nil && w.TimeUS.Value > 0 {
		x := *flops / w.TimeUS.Value * 1e6
		p.FLOPRate = &x
	}
	if memory.Ceiling > 0 && compute.Ceiling > 0 {
		x := compute.Ceiling / memory.Ceiling
		p.Ridge = &x
	}
}

// beyond is how far above a ceiling is more than the noise of both.
const beyond = 1.05

func (p *Placement) notes(w Work) {
	instruments, contract := []string{}, false
	add := func(from Source) {
		contract = contract || from == Contract
		if from != Contract && !slices.Contains(instruments, string(from)) {
			instruments = append(instruments, string(from))
		}
	}
	if w.TimeUS != nil {
		add(w.TimeUS.From)
	}
	for _, d := range w.Demands {
		add(d.Amount.From)
	}
	if len(instruments) > 1 {
		p.Notes = append(p.Notes, "put together from several instruments: "+strings.Join(instruments, ", "))
	}
	if contract {
		p.Notes = append(p.Notes, "bytes or FLOPs are those that the contract needs at least: the kernel may do more")
	}
	for _, s := range p.Shares {
		if s.Fraction == nil || *s.Fraction <= beyond {
			continue
		}
		why := "what was measured there is not the most that the device can do"
		switch {
		case s.Resource == Launch:
			why = "an empty kernel was launched more slowly in the session of the ceilings"
		case s.Amount.From != Contract:
			why += fmt.Sprintf(", or %s counts too much", s.Amount.From)
		}
		p.Notes = append(p.Notes, fmt.Sprintf("beyond the ceiling %s: %s", s.Roof, why))
	}
}
