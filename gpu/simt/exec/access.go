package exec

import (
	"encoding/binary"
	"fmt"

	"mage/gpu/simt/lanes"
	"mage/gpu/simt/memory"
	"mage/gpu/simt/program"
	"mage/gpu/verdict"
)

var little = binary.LittleEndian

// addresses computes the address of every lane.
func (w *warp) addresses(m *program.Memory, out *[lanes.Width]uint64) {
	switch {
	case m.Base < 0:
		for i := range out {
			out[i] = m.Offset
		}
	case m.Base32:
		base := lanes.At[uint32](&w.file, m.Base)
		for i := range out {
			out[i] = uint64(base[i] + uint32(m.Offset))
		}
	default:
		base := lanes.At[uint64](&w.file, m.Base)
		for i := range out {
			out[i] = base[i] + m.Offset
		}
	}
}

// locate computes the addresses of an access and sorts its lanes by the space that
// they lie in; addresses in windows become addresses within their space.
func (w *warp) locate(m *program.Memory, mask uint32) (masks [program.Const + 1]uint32) {
	w.addresses(m, &w.at)
	switch m.Space {
	case program.Generic:
		for i := range w.at {
			if mask>>i&1 != 0 {
				var s program.Space
				s, w.at[i] = program.Window(w.at[i])
				masks[s] |= 1 << i
			}
		}
	case program.Const:
		masks[program.Global] = mask
	default:
		masks[m.Space] = mask
	}
	return masks
}

// globalBounds returns the allocation that holds n bytes at an address, or reports
// why there is none and returns nil.
func (w *warp) globalBounds(pc int, in *program.Inst, address uint64, n, align, lane int, write bool) *memory.Allocation {
	b := w.block
	a := b.cache[pc]
	if a == nil || address-a.Base >= uint64(a.Size) {
		if a = b.launch.Memory.Find(address); a != nil {
			b.cache[pc] = a
		}
	}
	f := verdict.Finding{Space: program.Global.String(), Address: address, Bytes: n}
	switch {
	case a == nil:
		f.Kind, f.Detail = verdict.OutOfBounds, b.launch.Memory.Describe(address)
		b.report(in, w, lane, f, "")
		return nil
	case address&uint64(align-1) != 0:
		f.Kind, f.Detail = verdict.Misaligned, fmt.Sprintf("the address is not a multiple of %d", align)
		b.report(in, w, lane, f, "")
		return nil
	case uint64(n) > uint64(a.Size)-(address-a.Base):
		f.Kind, f.Detail = verdict.OutOfBounds, "it passes the end of "+a.Describe()
		b.report(in, w, lane, f, "")
		return nil
	case write && a.ReadOnly:
		f.Kind, f.Detail = verdict.WriteToConstant, "constant memory is written: "+a.Name
		b.report(in, w, lane, f, "")
		return nil
	}
	return a
}

// sharedBounds checks an access to shared memory.
func (w *warp) sharedBounds(in *program.Inst, at uint64, n, align, lane int) bool {
	return w.bounds(in, program.Shared, at, n, align, lane, len(w.block.shared))
}

// bounds checks an access to memory that begins at address 0.
func (w *warp) bounds(in *program.Inst, s program.Space, at uint64, n, align, lane, size int) bool {
	if at <= uint64(size) && uint64(n) <= uint64(size)-at && at&uint64(align-1) == 0 {
		return true
	}
	return w.outside(in, s, at, n, align, lane, size)
}

func (w *warp) outside(in *program.Inst, s program.Space, at uint64, n, align, lane, size int) bool {
	f := verdict.Finding{Kind: verdict.OutOfBounds, Space: s.String(), Address: at, Bytes: n, Detail: beyond(s, at, size)}
	if at%uint64(align) != 0 {
		f.Kind, f.Detail = verdict.Misaligned, fmt.Sprintf("the address is not a multiple of %d", align)
	}
	w.block.report(in, w, lane, f, "")
	return false
}

// beyond says where an address lies beside the size bytes of a space that begin at 0.
// One before their start has wrapped around 32 bits or 64.
func beyond(s program.Space, at uint64, size int) string {
	of := fmt.Sprintf("the kernel's parameters (%d bytes)", size)
	switch s {
	case program.Shared:
		of = fmt.Sprintf("the block's shared memory (%d bytes)", size)
	case program.Local:
		of = fmt.Sprintf("the thread's local memory (%d bytes)", size)
	}
	switch before := -int32(at); {
	case at < uint64(size):
		return "it passes the end of " + of
	case before > 0 && (at>>32 == 0 || at>>32 == 1<<32-1):
		return fmt.Sprintf("%d bytes before the start of %s", before, of)
	}
	return fmt.Sprintf("%d bytes past the end of %s", at-uint64(size), of)
}

func globalFinding(k verdict.Kind, a *memory.Allocation, at int64, n int, detail string) verdict.Finding {
	return verdict.Finding{Kind: k, Space: program.Global.String(), Address: a.Base + uint64(at), Bytes: n, Detail: detail}
}

func (w *warp) globalRace(in *program.Inst, a *memory.Allocation, g uint64, n, lane int, c memory.Conflict, other uint32) {
	b := w.block
	who := "several blocks"
	if other != memory.Several {
		grid := b.launch.Grid
		who = fmt.Sprintf("block (%d,%d,%d)", other%grid[0], other/grid[0]%grid[1], other/grid[0]/grid[1])
	}
	did, what := "wrote", "read after write"
	switch c {
	case memory.WriteAfterRead:
		did, what = "read", "write after read"
	case memory.WriteAfterWrite:
		what = "write after write"
	}
	b.report(in, w, lane, globalFinding(verdict.GlobalRace, a, int64(g<<b.run.shift), n,
		fmt.Sprintf("race in global memory, %s: %s %s it in the same launch, in no order", what, who, did)), what)
}

// fetch reads an element of n bytes.
func fetch(b []byte, n int) uint64 {
	switch n {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(little.Uint16(b))
	case 4:
		return uint64(little.Uint32(b))
	}
	return little.Uint64(b)
}

// put writes an element of n bytes.
func put(b []byte, n int, v uint64) {
	switch n {
	case 1:
		b[0] = byte(v)
	case 2:
		little.PutUint16(b, uint16(v))
	case 4:
		little.PutUint32(b, uint32(v))
	default:
		little.PutUint64(b, v)
	}
}

// get reads a register as 64 bits.
func (w *warp) get(e program.Element, lane int) uint64 {
	if e.Wide {
		return lanes.At[uint64](&w.file, e.Offset)[lane]
	}
	return uint64(lanes.At[uint32](&w.file, e.Offset)[lane])
}

// set writes a register; a loaded value is extended to its width.
func (w *warp) set(e program.Element, lane int, v uint64) {
	switch {
	case e.Offset < 0:
	case e.Wide:
		lanes.At[uint64](&w.file, e.Offset)[lane] = v
	default:
		lanes.At[uint32](&w.file, e.Offset)[lane] = uint32(v)
	}
}
