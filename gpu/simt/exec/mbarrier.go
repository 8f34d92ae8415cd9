package exec

import (
	"fmt"

	"mage/gpu/simt/lanes"
	"mage/gpu/simt/program"
	"mage/gpu/verdict"
)

// mbarrierTimes are what the warps that arrive at an mbarrier have seen: of the
// phase that is open, and of the last one that was completed.
type mbarrierTimes struct{ open, done []uint32 }

// mbarrier executes an instruction on mbarrier objects, lane after lane.
func (w *warp) mbarrier(in *program.Inst, mask uint32) {
	b := w.block
	masks := w.locate(in.Memory, mask)
	a := in.Memory.Arrival
	if a.Op == "copies" {
		w.asyncArrive(in, mask)
	}
	var waited uint32
	for lane := range lanes.Width {
		bit := uint32(1) << lane
		if mask&bit == 0 {
			continue
		}
		if masks[program.Shared]&bit == 0 {
			b.report(in, w, lane, verdict.Finding{Kind: verdict.OutOfBounds, Space: program.Global.String(), Address: w.at[lane], Bytes: 8,
				Detail: "an mbarrier lies in shared memory"}, "")
			continue
		}
		at := w.at[lane]
		if !w.sharedBounds(in, at, 8, 8, lane) || !w.checkMbarrier(in, uint32(at), lane) {
			continue
		}
		if w.apply(in, at, lane) {
			waited |= bit
		}
		if b.err != nil {
			return
		}
	}
	if in.Regs.D >= 0 {
		w.predicate(in.Regs.D, mask, waited)
		if waited != mask {
			w.yield, w.waiting, w.waitingLane = true, in, firstLane(mask&^waited)
		}
	}
	if a.Op == "arrive" || a.Op == "arrive_drop" || a.Op == "copies" {
		w.tick()
	}
}

// checkMbarrier checks and notes the access to an object. Instructions on it do not
// race with each other, but with init and with plain accesses.
func (w *warp) checkMbarrier(in *program.Inst, at uint32, lane int) bool {
	b := w.block
	op := in.Memory.Arrival.Op
	if op == "init" || op == "inval" {
		if b.checked {
			w.writeShared(in, at, 8, lane, false, false)
		}
		return true
	}
	if !b.checked {
		return true
	}
	s := &b.shadow
	g := at >> s.shift
	if s.wrote[g] == 0 {
		b.report(in, w, lane, w.sharedFinding(verdict.UnwrittenShared, g, 8, "an mbarrier that was not initialised is used"), "")
		return true
	}
	if op != "test_wait" && op != "try_wait" {
		w.writeShared(in, at, 8, lane, true, false)
	} else if warp, other, conflict := w.afterWrite(g, lane, true); conflict {
		w.sharedRace(in, g, 8, lane, "read after write", "wrote", warp, other)
	}
	return true
}

// apply changes the object of one lane, and reports whether the phase that a wait
// asks for is complete.
func (w *warp) apply(in *program.Inst, at uint64, lane int) bool {
	b := w.block
	a := in.Memory.Arrival
	word := b.shared[at:]
	v := fetch(word, 8)
	p := program.DecodePhase(v)
	count := int64(1)
	if a.Count.Offset >= 0 {
		count = int64(uint32(w.get(a.Count, lane)))
	}
	times := b.times(at)
	switch a.Op {
	case "init":
		if count < 1 || count > program.MaxArrivals {
			b.err = b.failure(in, w, lane, "an mbarrier of %d arrivals: from 1 to %d are allowed", count, program.MaxArrivals)
			return false
		}
		p = program.Phase{Pending: count, Expected: count}
		clear(times.open)
		clear(times.done)
	case "inval":
		p = program.Phase{}
	case "expect_tx":
		p.Bytes += count
	case "complete_tx":
		p.Bytes -= count
	case "test_wait", "try_wait":
		of := w.get(a.State, lane) >> 63
		if a.Parity {
			of = w.get(a.State, lane) & 1
		}
		if (of != 0) == p.Odd {
			return false
		}
		for i, c := range times.done {
			w.seen[i] = max(w.seen[i], c)
		}
		return true
	default: // arrivals
		if a.Tx.Offset >= 0 {
			p.Bytes += int64(uint32(w.get(a.Tx, lane)))
		}
		if a.Increment {
			count = 0 // it counts itself, and arrives
		}
		if a.Op == "arrive_drop" {
			p.Expected -= count
		}
		p.Pending -= count
		w.set(a.Result, lane, v)
		for i, c := range w.seen {
			times.open[i] = max(times.open[i], c)
		}
		times.open[w.id] = max(times.open[w.id], w.clock)
	}
	if p.Pending < 0 || p.Expected < 0 {
		b.err = b.failure(in, w, lane, "%s more arrivals at an mbarrier than the %d that its phase expects", overflow(p), program.DecodePhase(v).Expected)
		return false
	}
	if p.Pending == 0 && p.Bytes == 0 && a.Op != "init" && a.Op != "inval" && a.Op != "expect_tx" {
		p.Odd, p.Pending = !p.Odd, p.Expected
		times.open, times.done = times.done, times.open
		clear(times.open)
	}
	put(word, 8, p.Encode())
	return false
}

func overflow(p program.Phase) string { return fmt.Sprint(max(-p.Pending, -p.Expected)) }

// times are those of the object at an address.
func (b *block) times(at uint64) *mbarrierTimes {
	t := b.mbarriers[at]
	if t == nil {
		if b.mbarriers == nil {
			b.mbarriers = map[uint64]*mbarrierTimes{}
		}
		t = &mbarrierTimes{make([]uint32, len(b.warps)), make([]uint32, len(b.warps))}
		b.mbarriers[at] = t
	}
	return t
}

// asyncArrive lets all copies of the lanes arrive: the arrival that follows makes
// them known to those who wait.
func (w *warp) asyncArrive(in *program.Inst, mask uint32) {
	all := *in
	all.Warp = &program.Warp{Groups: -1}
	w.asyncWait(&all, mask)
}

// stalled is the error when all warps that could run wait at mbarriers in vain.
func (b *block) stalled() error {
	for i := range b.warps {
		w := &b.warps[i]
		if w.done || !w.yield {
			continue
		}
		p := program.DecodePhase(fetch(b.shared[w.at[w.waitingLane]:], 8))
		return b.halt(w.waiting, w, w.waitingLane, verdict.Deadlock, fmt.Sprintf("deadlock: warp %d waits for ever at an mbarrier that lacks %d arrivals and %d bytes", i, p.Pending, p.Bytes))
	}
	return b.endless()
}

// tick begins a new time of a warp: what its lanes do from now on comes later than
// what others have seen of it. Where the clock cannot go on it stands still, which
// misses races and invents none.
func (w *warp) tick() {
	if w.clock < maxClock-1 {
		w.clock++
	}
}
