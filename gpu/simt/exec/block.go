package exec

import (
	"bytes"
	"fmt"

	"mage/gpu/simt/lanes"
	"mage/gpu/simt/memory"
	"mage/gpu/simt/program"
	"mage/gpu/verdict"
)

// block is a thread block. A worker reuses one for all that it executes.
type block struct {
	launch   *Launch
	run      *running
	code     []program.Inst
	counters verdict.Counters
	sites    []Site // per instruction; nil when nobody asked
	checked  bool

	number  uint64 // in the grid
	id      [3]uint32
	threads int
	warps   []warp
	shared  []byte
	local   []byte // of every thread, one after the other
	unset   []byte // what local holds at the start of a block
	shadow  sharedShadow
	bars    [maxBarriers]barrier
	// mbarriers are what is known of times, by address.
	mbarriers map[uint64]*mbarrierTimes
	access    memory.Access
	synced    acquired
	known     []uint32 // scratch of meet
	fenced    bool
	// cache holds, per instruction, the allocation it accessed last.
	cache        []*memory.Allocation
	patterns     []*pattern // per instruction
	instructions int64
	printed      []byte
	err          error
}

func newBlock(r *running) *block {
	l := r.launch
	p := l.Program
	b := &block{launch: l, run: r, code: p.Code, checked: !l.Unchecked,
		threads: int(l.Block[0] * l.Block[1] * l.Block[2])}
	b.shared = make([]byte, p.DynamicOffset+l.Dynamic)
	b.local = make([]byte, p.LocalBytes*b.threads)
	b.unset = bytes.Repeat([]byte{memory.Unwritten}, len(b.local))
	b.cache = make([]*memory.Allocation, len(p.Code))
	b.patterns = make([]*pattern, len(p.Code))
	b.warps = make([]warp, (b.threads+lanes.Width-1)/lanes.Width)
	b.known = make([]uint32, len(b.warps))
	for i := range b.warps {
		w := &b.warps[i]
		w.id, w.block = i, b
		w.file = lanes.File{Words: make([]uint64, p.Words), Predicates: make([]uint32, p.Predicates)}
		w.seen = make([]uint32, len(b.warps))
	}
	for i := range b.bars {
		b.bars[i].arrived = make([]uint32, len(b.warps))
	}
	if b.checked {
		b.shadow.init(len(b.shared), r.shift, len(b.warps), p.Async)
	}
	if l.Sites {
		b.sites = newSites(p)
	}
	b.access.Ordered = b.ordered
	return b
}

// start makes the block ready to execute number n of the grid.
func (b *block) start(n uint64) {
	g := b.launch.Grid
	b.number = n
	b.id = [3]uint32{uint32(n % uint64(g[0])), uint32(n / uint64(g[0]) % uint64(g[1])), uint32(n / uint64(g[0]) / uint64(g[1]))}
	b.access.Block = uint32(n)
	b.synced = acquired{}
	b.fenced = false
	b.instructions = 0
	b.printed = nil
	b.err = nil
	clear(b.shared)
	copy(b.local, b.unset)
	clear(b.mbarriers)
	b.shadow.reset()
	for i := range b.bars {
		b.bars[i].reset()
	}
	for i := range b.warps {
		b.warps[i].start()
	}
	b.counters.Blocks++
	b.counters.Warps += int64(len(b.warps))
	b.counters.Threads += int64(b.threads)
}

// quantum is how many instructions a warp executes before others get their turn:
// a warp may wait in a loop for what another one writes.
const quantum = 1 << 14

// maxPolls is how often all warps may ask an mbarrier in vain before that counts as
// waiting for ever.
const maxPolls = 1 << 16

// execute runs the warps in turn, and reports whether all have ended.
func (b *block) execute() (ended bool, err error) {
	polls := 0 // rounds in which every warp that ran went on waiting
	for {
		progress, done := false, true
		polls++
		for i := range b.warps {
			w := &b.warps[i]
			if w.done {
				continue
			}
			done = false
			if w.runnable() {
				progress = true
				before := b.instructions
				w.execute(quantum)
				b.run.executed.Add(b.instructions - before)
				if !w.yield {
					polls = 0
				}
				if b.err != nil {
					return false, b.err
				}
				if b.run.ends(b.number) {
					return false, nil
				}
			}
		}
		if done {
			return true, nil
		}
		if !progress {
			return false, b.deadlock()
		}
		if polls > maxPolls {
			return false, b.stalled()
		}
		if b.instructions > b.launch.MaxInstructions {
			return false, b.endless()
		}
	}
}

// endless is the error of a block that executed more instructions than it may.
func (b *block) endless() error {
	detail := fmt.Sprintf("endless: the block executed %d warp instructions and goes on", b.instructions)
	for i := range b.warps {
		w := &b.warps[i]
		for _, p := range append(w.ready, w.current) {
			if p != nil {
				return b.halt(&b.code[min(p.pc, len(b.code)-1)], w, firstLane(p.mask), verdict.Endless, detail)
			}
		}
	}
	return fmt.Errorf("kernel %s: %s", b.launch.Program.Name, detail)
}

// halt reports what keeps a kernel from going on, and returns it as an error.
func (b *block) halt(in *program.Inst, w *warp, lane int, k verdict.Kind, detail string) error {
	f := b.describe(in, w, lane, verdict.Finding{Kind: k, Detail: detail})
	b.run.findings.add(f, "")
	return &Error{f}
}

// failure is the error of a kernel that cannot go on.
func (b *block) failure(in *program.Inst, w *warp, lane int, format string, args ...any) error {
	return &Error{b.describe(in, w, lane, verdict.Finding{Detail: fmt.Sprintf(format, args...)})}
}

// thread is the index of a lane within the block.
func (b *block) thread(w *warp, lane int) [3]uint32 {
	n := uint32(w.id*lanes.Width + lane)
	d := b.launch.Block
	return [3]uint32{n % d[0], n / d[0] % d[1], n / d[0] / d[1]}
}
