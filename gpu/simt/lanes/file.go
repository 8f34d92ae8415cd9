package lanes

import "unsafe"

// Width is the number of lanes of a warp; Full is the mask of all of them.
const (
	Width = 32
	Full  = ^uint32(0)
)

// Word is what a lane of a register holds. Registers of 8 and 16 bits live in
// uint32, zero-extended.
type Word interface {
	uint32 | uint64 | int32 | int64 | float32 | float64
}

// File is the register file of one warp. A register is Width consecutive lanes at
// an offset in words of 8 bytes: Width/2 words for 32 bits, Width for 64.
type File struct {
	Words []uint64
	// Predicates hold one bit per lane.
	Predicates []uint32
	// Carry is the condition code of add.cc and its kin, one bit per lane.
	Carry uint32
}

// Words32 and Words64 are the sizes of registers in words of a File.
const (
	Words32 = Width / 2
	Words64 = Width
)

// At returns the lanes of the register at an offset. The offset must leave room
// for them in Words, which program lowering guarantees and the conversion of the
// slice checks.
func At[T Word](f *File, offset int32) *[Width]T {
	var t T
	n := int(unsafe.Sizeof(t)) * Width / 8
	s := f.Words[offset:]
	_ = s[n-1]
	return (*[Width]T)(unsafe.Pointer(&s[0]))
}

// Regs are the operands of one instruction: offsets into a File, or indices of
// predicates, -1 when absent.
type Regs struct {
	D, D2, A, B, C int32
	// P is a predicate operand, PNot its negation.
	P    int32
	PNot bool
}

// Op computes one instruction for the lanes of mask.
type Op func(f *File, r *Regs, mask uint32)

// blend stores the lanes of mask.
func blend[T Word](d, t *[Width]T, mask uint32) {
	for i := range d {
		if mask>>i&1 != 0 {
			d[i] = t[i]
		}
	}
}

// Broadcast sets all lanes.
func Broadcast[T Word](d *[Width]T, v T) {
	for i := range d {
		d[i] = v
	}
}
