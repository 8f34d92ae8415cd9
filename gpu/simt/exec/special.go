package exec

import (
	"strings"

	"mage/gpu/simt/lanes"
	"mage/gpu/simt/program"
)

// Multiprocessors is what kernels are told that the device has: as many as an H200,
// and not the cores of this machine, so that what they do is the same on each.
const Multiprocessors = 132

// constants fills the registers that hold the same for every block.
func (w *warp) constants() {
	f := &w.file
	for _, c := range w.block.launch.Program.Constants {
		if c.Wide {
			lanes.Broadcast(lanes.At[uint64](f, c.Offset), c.Bits)
		} else {
			lanes.Broadcast(lanes.At[uint32](f, c.Offset), uint32(c.Bits))
		}
	}
	for _, s := range w.block.launch.Program.Specials {
		for lane := range lanes.Width {
			w.setSpecial(s, lane, w.special(s.Name, lane))
		}
	}
}

// perBlock fills those that depend on the block.
func (w *warp) perBlock() {
	for _, s := range w.block.launch.Program.Specials {
		var v uint64
		switch {
		case s.Name == "%smid":
			v = w.block.number % Multiprocessors
		case strings.HasPrefix(s.Name, "%ctaid."), strings.HasPrefix(s.Name, "%clusterid."):
			v = uint64(axis(w.block.id, s.Name))
		default:
			continue
		}
		for lane := range lanes.Width {
			w.setSpecial(s, lane, v)
		}
	}
}

func (w *warp) setSpecial(s program.Special, lane int, v uint64) {
	if s.Wide {
		lanes.At[uint64](&w.file, s.Offset)[lane] = v
		return
	}
	lanes.At[uint32](&w.file, s.Offset)[lane] = uint32(v)
}

// axis picks x, y or z by the end of a name.
func axis(v [3]uint32, name string) uint32 { return v[name[len(name)-1]-'x'] }

func (w *warp) special(name string, lane int) uint64 {
	b := w.block
	l := b.launch
	bit := uint64(1) << lane
	switch name {
	case "%tid.x", "%tid.y", "%tid.z":
		return uint64(axis(b.thread(w, lane), name))
	case "%ntid.x", "%ntid.y", "%ntid.z":
		return uint64(axis(l.Block, name))
	case "%nctaid.x", "%nctaid.y", "%nctaid.z", "%nclusterid.x", "%nclusterid.y", "%nclusterid.z":
		return uint64(axis(l.Grid, name))
	case "%laneid":
		return uint64(lane)
	case "%warpid":
		return uint64(w.id)
	case "%nwarpid":
		return uint64(len(b.warps))
	case "%nsmid":
		return Multiprocessors
	case "%gridid":
		return l.Number
	case "%lanemask_eq":
		return bit
	case "%lanemask_lt":
		return bit - 1
	case "%lanemask_le":
		return bit<<1 - 1
	case "%lanemask_gt":
		return uint64(lanes.Full) &^ (bit<<1 - 1)
	case "%lanemask_ge":
		return uint64(lanes.Full) &^ (bit - 1)
	case "%dynamic_smem_size":
		return uint64(l.Dynamic)
	case "%total_smem_size", "%aggr_smem_size":
		return uint64(len(b.shared))
	case "%cluster_nctaid.x", "%cluster_nctaid.y", "%cluster_nctaid.z", "%cluster_nctarank":
		return 1
	}
	return 0 // what is left counts within a cluster of one block
}

// readCounter is mov from %clock and its kin. Time is the number of instructions
// that the block has executed: it goes on, and means nothing else.
func (w *warp) readCounter(in *program.Inst, mask uint32) {
	v := uint64(w.block.instructions)
	if strings.HasSuffix(in.Warp.Mode, "_hi") {
		v >>= 32
	}
	for lane := range lanes.Width {
		if mask>>lane&1 == 0 {
			continue
		}
		if in.Warp.Wide {
			lanes.At[uint64](&w.file, in.Regs.D)[lane] = v
		} else {
			lanes.At[uint32](&w.file, in.Regs.D)[lane] = uint32(v)
		}
	}
}
