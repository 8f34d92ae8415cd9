package exec

import (
	"cmp"
	"slices"

	"mage/gpu/simt/lanes"
	"mage/gpu/simt/program"
	"mage/gpu/verdict"
)

// Site is one instruction of a kernel and what its executions cost.
type Site struct {
	Kernel      string          `json:"kernel"`
	Instruction string          `json:"instruction"`           // "ld.global.nc.f32"
	Line        int             `json:"line"`                  // in the PTX
	Source      string          `json:"source,omitempty"`      // file name, from .loc
	SourceLine  int             `json:"source_line,omitempty"` // 0 without .loc
	Class       verdict.Class   `json:"-"`
	Executed    int64           `json:"warp_instructions"`
	Lanes       int64           `json:"lane_instructions"`
	Divergent   int64           `json:"divergent"` // of a branch
	Global      verdict.Traffic `json:"global"`
	Shared      verdict.Banks   `json:"shared"`
	// Distances says how many bytes lie between the addresses of neighbouring lanes,
	// by the number of pairs of active lanes; both accesses to global and to shared
	// memory. It knows of the first pairs of each request only.
	Distances map[int64]int64 `json:"-"`
}

// add adds what o cost to the same instruction.
func (s *Site) add(o *Site) {
	s.Executed += o.Executed
	s.Lanes += o.Lanes
	s.Divergent += o.Divergent
	s.Global.Add(o.Global)
	s.Shared.Add(o.Shared)
	for d, n := range o.Distances {
		if s.Distances == nil {
			s.Distances = map[int64]int64{}
		}
		s.Distances[d] += n
	}
}

// distance notes how far the addresses of the first two neighbouring active lanes
// lie apart.
func (s *Site) distance(at *[lanes.Width]uint64, mask uint32) {
	both := mask & (mask >> 1)
	if both == 0 {
		return
	}
	if s.Distances == nil {
		s.Distances = map[int64]int64{}
	}
	l := firstLane(both)
	d := int64(at[l+1] - at[l])
	if _, known := s.Distances[d]; known || len(s.Distances) < maxDistances {
		s.Distances[d]++
	}
}

// maxDistances bounds what a site with scattered addresses remembers.
const maxDistances = 64

// newSites makes a site per instruction.
func newSites(p *program.Program) []Site {
	all := make([]Site, len(p.Code))
	for i := range all {
		in := &p.Code[i]
		s := Site{Kernel: p.Name, Instruction: in.Text, Line: in.Pos.Line, Class: in.Class}
		if name, ok := p.Files[in.Source.File]; ok && in.Source.Line > 0 {
			s.Source, s.SourceLine = base(name), in.Source.Line
		}
		all[i] = s
	}
	return all
}

// MergeSites adds sites of the same line of the same kernel, and sorts by both. An
// inlined function's instructions are one site, however often it is called.
func MergeSites(a, b []Site) []Site {
	type key struct {
		kernel string
		line   int
		text   string
	}
	index := map[key]int{}
	var all []Site
	for _, list := range [][]Site{a, b} {
		for i := range list {
			s := &list[i]
			if s.Executed == 0 {
				continue
			}
			k := key{s.Kernel, s.Line, s.Instruction}
			n, ok := index[k]
			if !ok {
				n = len(all)
				index[k] = n
				first := *s
				first.Distances = nil
				first.Executed, first.Lanes, first.Divergent, first.Global, first.Shared = 0, 0, 0, verdict.Traffic{}, verdict.Banks{}
				all = append(all, first)
			}
			all[n].add(s)
		}
	}
	slices.SortStableFunc(all, func(a, b Site) int {
		return cmp.Or(cmp.Compare(a.Kernel, b.Kernel), cmp.Compare(a.Line, b.Line))
	})
	return all
}
