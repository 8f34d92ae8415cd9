package memory

import "sync/atomic"

// The shadow of memory notes, per granule and launch, the block that wrote it last
// and a block that read it. One word holds both: the writer in the lower half, the
// reader in the upper. A half is (block+1)·2 plus one if all its accesses were
// atomic or otherwise strong; several stands for more than one block.

const (
	chunkGranules = 1 << 12
	several       = 0x7fffffff << 1
	strongBit     = 1
	// MaxBlocks is the largest grid whose blocks can be told apart.
	MaxBlocks = 0x7ffffffd
)

type chunk [chunkGranules]atomic.Uint64

// Conflict is an access that races with an earlier one.
type Conflict uint8

// The conflicts, by what the earlier access and this one do.
const (
	None           Conflict = iota
	ReadAfterWrite          // another block wrote what this one reads
	WriteAfterRead
	WriteAfterWrite
)

// Access is one block's view of the shadow during a launch.
type Access struct {
	Block uint32 // number within the grid, from 0
	// Ordered reports whether a block's earlier work is known to come before this
	// access, because it was released and acquired. Block several asks whether
	// anything was acquired at all.
	Ordered func(block uint32) bool
}

// Several is passed to Ordered where more than one block read or wrote.
const Several = several>>1 - 1

// Prepare makes room for the shadow of a launch at a granule of 1<<shift bytes.
func (a *Allocation) Prepare(shift uint) {
	n := (uint64(a.Size)>>shift + chunkGranules) / chunkGranules
	if uint64(len(a.shadow)) < n {
		a.shadow = make([]atomic.Pointer[chunk], n)
	}
}

// Forget clears the shadow and returns how many granules were read and written.
func (a *Allocation) Forget() (read, written int64) {
	for i := range a.shadow {
		c := a.shadow[i].Load()
		if c == nil {
			continue
		}
		for k := range c {
			v := c[k].Load()
			if v == 0 {
				continue
			}
			if v>>32 != 0 {
				read++
			}
			if uint32(v) != 0 {
				written++
			}
			c[k].Store(0)
		}
	}
	return read, written
}

func (a *Allocation) word(granule uint64) *atomic.Uint64 {
	p := &a.shadow[granule/chunkGranules]
	c := p.Load()
	if c == nil {
		c = &chunk{}
		if !p.CompareAndSwap(nil, c) {
			c = p.Load()
		}
	}
	return &c[granule%chunkGranules]
}

// Read notes that the block reads a granule.
func (a *Allocation) Read(granule uint64, by *Access, strong bool) (Conflict, uint32) {
	w := a.word(granule)
	me := half(by.Block, strong)
	for {
		v := w.Load()
		writer, reader := uint32(v), uint32(v>>32)
		conflict, other := None, uint32(0)
		if writer > strongBit && writer>>1 != me>>1 && !(writer&strongBit != 0 && strong) {
			if other = writer>>1 - 1; !by.Ordered(other) {
				conflict = ReadAfterWrite
			}
		}
		now := merge(reader, me)
		if now == reader {
			return conflict, other
		}
		if w.CompareAndSwap(v, uint64(now)<<32|uint64(writer)) {
			return conflict, other
		}
	}
}

// Write notes that the block writes a granule.
func (a *Allocation) Write(granule uint64, by *Access, strong bool) (Conflict, uint32) {
	w := a.word(granule)
	me := half(by.Block, strong)
	for {
		v := w.Load()
		writer, reader := uint32(v), uint32(v>>32)
		conflict, other := None, uint32(0)
		if reader > strongBit && reader>>1 != me>>1 && !(reader&strongBit != 0 && strong) {
			if other = reader>>1 - 1; !by.Ordered(other) {
				conflict = WriteAfterRead
			}
		}
		now := me
		if writer > strongBit && writer>>1 != me>>1 {
			if writer&strongBit != 0 && strong {
				now = several | strongBit
			} else if other = writer>>1 - 1; !by.Ordered(other) {
				conflict = WriteAfterWrite
			}
		} else if writer != 0 {
			now = me & (writer | ^uint32(strongBit))
		}
		if now == writer {
			return conflict, other
		}
		if w.CompareAndSwap(v, uint64(reader)<<32|uint64(now)) {
			return conflict, other
		}
	}
}

func half(block uint32, strong bool) uint32 {
	v := (block + 1) << 1
	if strong {
		v |= strongBit
	}
	return v
}

// merge adds a reader to the readers so far.
func merge(readers, me uint32) uint32 {
	switch {
	case readers == 0:
		return me
	case readers>>1 == me>>1:
		return readers & (me | ^uint32(strongBit))
	case readers&strongBit != 0 && me&strongBit == 0:
		// Plain readers are what later writes conflict with: they are kept.
		return me
	case readers&strongBit == 0 && me&strongBit != 0:
		return readers
	}
	return several | readers&strongBit
}
