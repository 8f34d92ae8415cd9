package explain

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mage/gpu/simt"
)

// Place is a line of a kernel and what it costs: of its source where the compiler
// told the lines, of its PTX otherwise.
type Place struct {
	Where string `json:"where"` // "gelu.cu:17", "gelu.ptx:52"
	Text  string `json:"text"`  // the line, or the instruction
	// Executed are warp instructions.
	Executed int64        `json:"warp_instructions"`
	Lanes    int64        `json:"lane_instructions"`
	Global   simt.Traffic `json:"global"`
	Shared   simt.Banks   `json:"shared"`
	// Apart is how many bytes the addresses of neighbouring lanes differ by, where
	// most requests of the line agree on it.
	Apart *int64 `json:"bytes_between_lanes,omitempty"`

	distances map[int64]int64
	ptx       int // line, 0 for a line of the source
}

// Places returns the executed lines in the order of the text.
func (p *Profile) Places() []Place {
	return p.unrolled(p.places(func(l Place) any { return l.Where }))
}

// accesses is Places for those that access memory, with what one line does in
// several ways apart: a line that reads two tables is two places.
func (p *Profile) accesses() []Place {
	type way struct {
		where   string
		apart   int64
		known   bool
		sectors float64
		waves   float64
	}
	return p.unrolled(p.places(func(l Place) any {
		w := way{where: l.Where, sectors: ratio(l.Global.Sectors, l.Global.Requests), waves: ratio(l.Shared.Wavefronts, l.Shared.Requests)}
		if l.Apart != nil {
			w.apart, w.known = *l.Apart, true
		}
		return w
	}))
}

// places makes a place of each instruction, and joins those with the same key.
func (p *Profile) places(key func(Place) any) []Place {
	source := strings.Split(p.Code.Source, "\n")
	index := map[any]int{}
	var all []Place
	for _, s := range p.Sites {
		one := Place{Where: fmt.Sprintf("%s:%d", p.Code.PTXName, s.Line), Text: s.Instruction, ptx: s.Line,
			Executed: s.Executed, Lanes: s.Lanes, Global: s.Global, Shared: s.Shared, distances: s.Distances}
		if s.Source == p.Code.SourceName && s.SourceLine > 0 && s.SourceLine <= len(source) {
			one.Where, one.Text = fmt.Sprintf("%s:%d", s.Source, s.SourceLine), strings.TrimSpace(source[s.SourceLine-1])
			one.ptx = 0
		}
		one.Apart = dominant(one.distances, one.Global.Requests+one.Shared.Requests)
		k := key(one)
		i, known := index[k]
		if !known {
			index[k] = len(all)
			one.distances = maps.Clone(one.distances)
			all = append(all, one)
			continue
		}
		all[i].join(one)
		if s.Global.Requests+s.Shared.Requests > 0 && one.ptx > 0 {
			all[i].Text = one.Text // of several instructions on a line the one that accesses memory
		}
	}
	return all
}

// join adds what another place costs.
func (l *Place) join(o Place) {
	l.Executed += o.Executed
	l.Lanes += o.Lanes
	addTraffic(&l.Global, o.Global)
	addBanks(&l.Shared, o.Shared)
	for d, n := range o.distances {
		if l.distances == nil {
			l.distances = map[int64]int64{}
		}
		l.distances[d] += n
	}
	l.Apart = dominant(l.distances, l.Global.Requests+l.Shared.Requests)
}

// unrolled joins lines of PTX that a compiler made of one by unrolling a loop: the
// same instruction at the same cost, again and again at short distances.
func (p *Profile) unrolled(lines []Place) []Place {
	const near = 24
	type key struct {
		text           string
		executed       int64
		lanes          int64
		global         simt.Traffic
		shared         simt.Banks
		apart, aligned int64
	}
	type run struct{ index, first, last, copies int }
	open := map[key]*run{}
	var all []Place
	for _, l := range lines {
		k := key{text: l.Text, executed: l.Executed, lanes: l.Lanes, global: l.Global, shared: l.Shared, apart: -1}
		if l.Apart != nil {
			k.apart, k.aligned = *l.Apart, 1
		}
		r := open[k]
		if l.ptx == 0 || r == nil || l.ptx-r.last > near {
			open[k] = &run{len(all), l.ptx, l.ptx, 1}
			all = append(all, l)
			continue
		}
		r.last = l.ptx
		r.copies++
		to := &all[r.index]
		to.Where = fmt.Sprintf("%s:%d–%d", p.Code.PTXName, r.first, r.last)
		to.Text = fmt.Sprintf("%s, %d times", l.Text, r.copies)
		to.join(l)
	}
	return all
}

// dominant is the distance of more than half of the requests; nil without one.
func dominant(distances map[int64]int64, requests int64) *int64 {
	for d, n := range distances {
		if 2*n > requests {
			return &d
		}
	}
	return nil
}

func addTraffic(t *simt.Traffic, u simt.Traffic) {
	t.Requests += u.Requests
	t.Sectors += u.Sectors
	t.Ideal += u.Ideal
	t.Bytes += u.Bytes
}

func addBanks(b *simt.Banks, c simt.Banks) {
	b.Requests += c.Requests
	b.Wavefronts += c.Wavefronts
	b.Ideal += c.Ideal
	b.Bytes += c.Bytes
}

// Hot returns the n lines that cost most: those with the largest shares of the
// kernel's instructions, sectors and wavefronts, added.
func (p *Profile) Hot(n int) []Place {
	all := p.Places()
	var executed, sectors, wavefronts int64
	for _, l := range all {
		executed += l.Executed
		sectors += l.Global.Sectors
		wavefronts += l.Shared.Wavefronts
	}
	weight := func(l Place) float64 {
		return ratio(l.Executed, executed) + ratio(l.Global.Sectors, sectors) + ratio(l.Shared.Wavefronts, wavefronts)
	}
	slices.SortStableFunc(all, func(a, b Place) int { return cmp.Compare(weight(b), weight(a)) })
	return all[:min(n, len(all))]
}

// most returns the place that costs most by a measure, nil if none costs anything.
func most(places []Place, cost func(Place) int64) *Place {
	var found *Place
	for i := range places {
		if c := cost(places[i]); c > 0 && (found == nil || c > cost(*found)) {
			found = &places[i]
		}
	}
	return found
}

// apart says in words how the lanes' addresses lie.
func (l Place) apart() string {
	switch {
	case l.Apart == nil:
		return "the lanes' addresses follow no one distance"
	case *l.Apart == 0:
		return "neighbouring lanes access one address"
	case *l.Apart == 1:
		return "lanes are 1 byte apart"
	}
	return fmt.Sprintf("lanes are %d bytes apart", max(*l.Apart, -*l.Apart))
}
