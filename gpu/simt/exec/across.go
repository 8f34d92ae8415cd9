package exec

import (
	"fmt"
	"math/bits"

	"mage/gpu/simt/lanes"
	"mage/gpu/simt/program"
	"mage/gpu/verdict"
)

func firstLane(mask uint32) int { return bits.TrailingZeros32(mask) }

// members checks the mask of lanes that take part against those that are here.
func (w *warp) members(in *program.Inst, mask uint32) {
	if in.Warp.Members < 0 {
		return
	}
	lane := firstLane(mask)
	want := lanes.At[uint32](&w.file, in.Warp.Members)[lane] & (w.lanes &^ w.exited)
	if want&^mask != 0 {
		w.block.report(in, w, lane, verdict.Finding{Kind: verdict.InvalidLanes,
			Detail: fmt.Sprintf("the member mask names lanes %#x, of which only %#x execute this together", want, mask)}, "")
	} else if want>>lane&1 == 0 {
		w.block.report(in, w, lane, verdict.Finding{Kind: verdict.InvalidLanes,
			Detail: fmt.Sprintf("the member mask %#x lacks the lane that executes it", want)}, "")
	}
}

// acrossLanes executes what reads other lanes' registers.
func (w *warp) acrossLanes(in *program.Inst, mask uint32) {
	w.members(in, mask)
	f := &w.file
	switch in.Kind {
	case program.ActiveMask:
		w.store32(in.Regs.D, mask, func(int) uint32 { return mask })
	case program.Shuffle:
		w.shuffle(in, mask)
	case program.Vote:
		w.vote(in, mask)
	case program.Match:
		w.match(in, mask)
	case program.Elect:
		lane := firstLane(mask & lanes.At[uint32](f, in.Warp.Members)[firstLane(mask)])
		w.store32(in.Regs.D, mask, func(int) uint32 { return uint32(lane) })
		w.predicate(in.Warp.Predicate, mask, 1<<lane)
	case program.Reduce:
		w.reduce(in, mask)
	}
}

func (w *warp) store32(at int32, mask uint32, f func(lane int) uint32) {
	d := lanes.At[uint32](&w.file, at)
	for i := range d {
		if mask>>i&1 != 0 {
			d[i] = f(i)
		}
	}
}

func (w *warp) predicate(at int32, mask, value uint32) {
	if at >= 0 {
		w.file.Predicates[at] = w.file.Predicates[at]&^mask | value&mask
	}
}

// shuffle follows the pseudo code of shfl.sync in the PTX manual. A source lane
// that does not execute it has no value to give: that is a finding.
func (w *warp) shuffle(in *program.Inst, mask uint32) {
	f := &w.file
	a, bs, cs := *lanes.At[uint32](f, in.Regs.A), lanes.At[uint32](f, in.Regs.B), lanes.At[uint32](f, in.Regs.C)
	var from [lanes.Width]int32
	var within uint32 // lanes whose source lies in their segment
	mode := in.Warp.Mode[0]
	for lane := range from {
		l, b, c := int32(lane), int32(bs[lane]&31), int32(cs[lane])
		segment, clamp := c>>8&31, c&31
		most := l&segment | clamp&^segment
		var source, room int32 // room is negative beyond the segment
		switch mode {
		case 'u': // up
			source = l - b
			room = source - most
		case 'd': // down
			source = l + b
			room = most - source
		case 'b': // bfly
			source = l ^ b
			room = most - source
		default: // idx
			source = l&segment | b&^segment
			room = most - source
		}
		outside := room >> 31 // all ones or zero
		from[lane] = source ^ (source^l)&outside
		within |= uint32(^outside&1) << lane
	}
	var missing uint32
	d := lanes.At[uint32](f, in.Regs.D)
	for lane, source := range from {
		if mask>>lane&1 != 0 {
			d[lane] = a[source&31]
			missing |= ^mask >> (source & 31) & 1 << lane
		}
	}
	w.predicate(in.Warp.Predicate, mask, within)
	if bad := missing & within & mask; bad != 0 {
		w.block.report(in, w, firstLane(bad), verdict.Finding{Kind: verdict.InvalidLanes, Detail: "a shuffle reads from a lane that does not take part"}, "source")
	}
}

func (w *warp) vote(in *program.Inst, mask uint32) {
	f := &w.file
	members := mask & lanes.At[uint32](f, in.Warp.Members)[firstLane(mask)]
	var p uint32
	switch {
	case in.Regs.P >= 0:
		p = f.Operand(&in.Regs) & members
	case in.Regs.PNot:
		p = members
	}
	yes := false
	switch in.Warp.Mode {
	case "ballot":
		w.store32(in.Regs.D, mask, func(int) uint32 { return p })
		return
	case "all":
		yes = p == members
	case "any":
		yes = p != 0
	case "uni":
		yes = p == 0 || p == members
	}
	var value uint32
	if yes {
		value = lanes.Full
	}
	w.predicate(in.Regs.D, mask, value)
}

func (w *warp) match(in *program.Inst, mask uint32) {
	f := &w.file
	members := mask & lanes.At[uint32](f, in.Warp.Members)[firstLane(mask)]
	value := func(lane int) uint64 {
		if in.Warp.Wide {
			return lanes.At[uint64](f, in.Regs.A)[lane]
		}
		return uint64(lanes.At[uint32](f, in.Regs.A)[lane])
	}
	var same [lanes.Width]uint32
	for i := range lanes.Width {
		for k := range lanes.Width {
			if members>>i&1 != 0 && members>>k&1 != 0 && value(i) == value(k) {
				same[i] |= 1 << k
			}
		}
	}
	if in.Warp.Mode == "any" {
		w.store32(in.Regs.D, mask, func(lane int) uint32 { return same[lane] })
		return
	}
	var all uint32
	if members != 0 && same[firstLane(members)] == members {
		all = members
	}
	w.store32(in.Regs.D, mask, func(int) uint32 { return all })
	if all != 0 {
		all = lanes.Full
	}
	w.predicate(in.Warp.Predicate, mask, all)
}

func (w *warp) reduce(in *program.Inst, mask uint32) {
	a := lanes.At[uint32](&w.file, in.Regs.A)
	members := mask & lanes.At[uint32](&w.file, in.Warp.Members)[firstLane(mask)]
	first := true
	var r uint32
	for i, v := range a {
		switch {
		case members>>i&1 == 0:
		case first:
			r, first = v, false
		default:
			switch in.Warp.Mode {
			case "add":
				r += v
			case "and":
				r &= v
			case "or":
				r |= v
			case "xor":
				r ^= v
			case "min":
				r = min(r, v)
			case "max":
				r = max(r, v)
			case "min.signed":
				r = uint32(min(int32(r), int32(v)))
			case "max.signed":
				r = uint32(max(int32(r), int32(v)))
			}
		}
	}
	w.store32(in.Regs.D, mask, func(int) uint32 { return r })
}
