package explain

import (
	"fmt"
	"strings"

	"mage/gpu/simt"
)

// Thresholds of the rules; docs/simulator.md explains them.
const (
	// alike is the relative difference up to which two counts are called the same.
	alike = 0.05
	// wasteful is the share of sectors beyond the necessary that is worth a remark.
	wasteful = 0.25
	// conflicting is the share of shared wavefronts due to bank conflicts.
	conflicting = 0.10
	// idle is the share of lanes that do nothing.
	idle = 0.25
	// again is how often each byte is moved, on average, to or from the caches.
	again = 2.0
)

// Remark is one sentence that a rule made.
type Remark struct {
	// Rule names what was found: "wasted-sectors". docs/simulator.md lists them.
	Rule string `json:"rule"`
	// Arm is whom it is about: a name, "both", or "" for a comparison.
	Arm  string `json:"arm,omitempty"`
	Text string `json:"text"`
}

// Remarks are what differs between the arms, then what stands out of each. What
// is true of both alike is said once.
func (e *Explanation) Remarks() []Remark {
	if e.B == nil {
		return e.A.remarks(nil)
	}
	all := e.differences()
	ours, theirs := e.A.observations(), e.B.observations()
	for i, o := range ours {
		if o.head != "" && o.head == theirs[i].head && o.tail == theirs[i].tail {
			where := ""
			if o.where != "" {
				where = o.where + " and " + theirs[i].where
			}
			all = append(all, Remark{o.rule, "both", o.text(where)})
		}
	}
	all = append(all, e.A.remarks(theirs)...)
	return append(all, e.B.remarks(ours)...)
}

// observation is a remark about one arm in parts, so that two can be compared
// but for the place.
type observation struct{ rule, head, where, tail string }

func (o observation) text(where string) string {
	if where == "" {
		return o.head + o.tail
	}
	return o.head + ", most at " + where + ": " + o.tail
}

// remarks leaves out what is also true of another arm.
func (p *Profile) remarks(except []observation) []Remark {
	var all []Remark
	for i, o := range p.observations() {
		if o.head == "" || except != nil && o.head == except[i].head && o.tail == except[i].tail {
			continue
		}
		all = append(all, Remark{o.rule, p.Arm.Name, o.text(o.where)})
	}
	return all
}

// observations has one element per rule; its head is empty where the rule found
// nothing.
func (p *Profile) observations() []observation {
	return []observation{
		p.wasted("loads", loadsOf(&p.Counters), isLoad),
		p.wasted("stores", p.Counters.GlobalStores, isStore),
		p.bankConflicts(), p.idleLanes(), p.readAgain(), p.narrow(), p.localMemory(),
	}
}

// loadsOf are all reads of global memory, those of cp.async included.
func loadsOf(c *simt.Counters) simt.Traffic {
	t := c.GlobalLoads
	addTraffic(&t, c.AsyncCopies)
	return t
}

// isLoad and isStore say whether a site reads or writes memory.
func isLoad(s simt.Site) bool  { return !isStore(s) }
func isStore(s simt.Site) bool { return strings.HasPrefix(s.Instruction, "st") }

func (p *Profile) wasted(what string, t simt.Traffic, of func(simt.Site) bool) observation {
	o := observation{rule: "wasted-sectors"}
	share := ratio(t.Sectors-t.Ideal, t.Sectors)
	if share <= wasteful {
		return o
	}
	o.head = fmt.Sprintf("%s of the sectors of global %s are wasted", percent(share), what)
	only := &Profile{Code: p.Code}
	for _, s := range p.Sites {
		if of(s) {
			only.Sites = append(only.Sites, s)
		}
	}
	if w := most(only.accesses(), func(l Place) int64 { return l.Global.Sectors - l.Global.Ideal }); w != nil {
		o.where = w.Where
		o.tail = fmt.Sprintf("%s, and a request takes %s sectors where %s would do",
			w.apart(), digits(ratio(w.Global.Sectors, w.Global.Requests)), digits(ratio(w.Global.Ideal, w.Global.Requests)))
	}
	return o
}

func (p *Profile) bankConflicts() observation {
	o := observation{rule: "bank-conflicts"}
	c := p.Counters
	share := ratio(c.SharedLoads.Conflicts()+c.SharedStores.Conflicts(), c.SharedLoads.Wavefronts+c.SharedStores.Wavefronts)
	if share <= conflicting {
		return o
	}
	o.head = fmt.Sprintf("bank conflicts cause %s of the shared wavefronts", percent(share))
	if w := most(p.accesses(), func(l Place) int64 { return l.Shared.Conflicts() }); w != nil {
		o.where = w.Where
		o.tail = fmt.Sprintf("%s, and a request takes %s wavefronts where %s would do",
			w.apart(), digits(ratio(w.Shared.Wavefronts, w.Shared.Requests)), digits(ratio(w.Shared.Ideal, w.Shared.Requests)))
	}
	return o
}

func (p *Profile) idleLanes() observation {
	o := observation{rule: "idle-lanes"}
	active := p.Counters.ActiveLanes()
	if p.Counters.Instructions.Total() == 0 || 1-active <= idle {
		return o
	}
	o.head = fmt.Sprintf("of 32 lanes %s are active on average", digits(32*active))
	if w := most(p.Places(), func(l Place) int64 { return 32*l.Executed - l.Lanes }); w != nil {
		o.where, o.tail = w.Where, fmt.Sprintf("%s of 32", digits(ratio(w.Lanes, w.Executed)))
		o.head += " and the others idle"
	}
	return o
}

func (p *Profile) readAgain() observation {
	o := observation{rule: "read-again"}
	c := p.Counters
	moved := 32 * loadsOf(&c).Sectors
	if n := ratio(moved, c.BytesRead); n > again {
		o.head = fmt.Sprintf("loads move %s, of which %s are distinct: each byte comes %s times, and caches must serve the repeats",
			size(float64(moved)), size(float64(c.BytesRead)), factor(n))
	}
	return o
}

// narrow is about accesses side by side that could be wider. A kernel that stages
// data in shared memory may have its reasons.
func (p *Profile) narrow() observation {
	o := observation{rule: "narrow-accesses"}
	var requests, all int64
	for _, l := range p.Places() {
		all += l.Global.Requests
		if l.Apart != nil && *l.Apart > 0 && *l.Apart <= 4 && l.Global.Bytes <= 32*4*l.Global.Requests {
			requests += l.Global.Requests
		}
	}
	if p.Counters.SharedLoads.Requests > 0 || 2*requests <= all {
		return o
	}
	which := percent(ratio(requests, all))
	if requests == all {
		which = "all"
	}
	o.head = fmt.Sprintf("%s of the %s global requests carry at most 4 bytes per lane, side by side: with 16 bytes per lane a quarter as many would do",
		which, count(float64(all)))
	return o
}

func (p *Profile) localMemory() observation {
	o := observation{rule: "local-memory"}
	if n := p.Counters.LocalLoads.Requests + p.Counters.LocalStores.Requests; n > 0 {
		o.head = fmt.Sprintf("local memory is accessed %s times: arrays whose index varies, or calls", count(float64(n)))
	}
	return o
}
