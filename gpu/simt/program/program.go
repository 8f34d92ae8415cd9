package program

import (
	"mage/gpu/simt/lanes"
	"mage/gpu/simt/ptx"
	"mage/gpu/verdict"
)

// Program is one kernel, ready to be executed.
type Program struct {
	Name, File string
	Files      map[int]string // of Inst.Source
	Code       []Inst

	// Words and Predicates are the size of a warp's register file.
	Words, Predicates int
	Constants         []Constant
	Specials          []Special

	Params     []Param
	ParamBytes int
	// SharedBytes is static shared memory. Dynamic shared memory starts at
	// DynamicOffset, which is after it and aligned.
	SharedBytes, DynamicOffset int
	LocalBytes                 int // per thread
	// MaxThreads is what .maxntid or .reqntid allows per block, 0 for no limit.
	MaxThreads int
	Required   *[3]uint32 // .reqntid
	// Granule is the smallest access to memory that threads share, in bytes: 1, 2
	// or 4. Conflicts are tracked at this size.
	Granule int
	// Async says that the kernel copies with cp.async.
	Async bool
}

// Constant is a register that holds the same value in every lane.
type Constant struct {
	Offset int32
	Bits   uint64
	Wide   bool // 64 bits
}

// Special is a register that stands for a special register of PTX. Those of 64
// bits are Wide.
type Special struct {
	Offset int32
	Name   string // "%tid.x"
	Wide   bool
}

// Param is a kernel parameter.
type Param struct{ Offset, Size int }

// Kind says who executes an instruction.
type Kind uint8

// The kinds. Pure instructions are computed by their Op alone.
const (
	Pure Kind = iota
	Branch
	Exit
	Trap // of __assertfail: Regs A, B and C are the places of message, file and line in local memory, else A is -1
	Load
	Store
	Atomic
	Barrier
	WarpSync
	Fence
	Shuffle
	Vote
	Match
	Reduce
	ActiveMask
	Elect
	Clock
	Counter // reads %clock and its kin
	AsyncCopy
	AsyncCommit
	AsyncWait
	LoadMatrix
	StoreMatrix
	MultiplyMatrix
	WarpMatrix // wmma
	MBarrier
	Print // vprintf: Regs A and B are the places of its parameters in local memory, C that of its result
	ConvertAddress
	IsSpace
)

// Inst is one instruction.
type Inst struct {
	Run  lanes.Op // of Pure
	Regs lanes.Regs
	// Guard is a predicate, -1 for none; GuardNot negates it.
	Guard    int32
	GuardNot bool
	Kind     Kind
	Class    verdict.Class
	// Flops are floating-point operations per lane. Of a MultiplyMatrix they are
	// for the whole warp.
	Flops int32

	// Target and Join are of a Branch: where it goes, and where its lanes meet the
	// others again (the immediate post-dominator), len(Code) for the end. Targets
	// are of an indexed branch, whose index is in Regs.A.
	Target, Join int32
	Targets      []int32
	Memory       *Memory
	Warp         *Warp
	Matrix       *MatrixShape
	Wmma         *Wmma
	Pos          ptx.Pos
	Source       ptx.Source
	Text         string // "ld.global.nc.f32"
}

// Space is a state space.
type Space uint8

// The spaces. Constants lie in global memory that nothing may write. FrameParam
// holds the parameters of inlined calls, in local memory.
const (
	Generic Space = iota
	Global
	Shared
	Local
	EntryParam
	Const
)

var spaceNames = [...]string{"generic", "global", "shared", "local", "param", "const"}

func (s Space) String() string { return spaceNames[s] }

// The windows of the generic address space in which the other spaces lie.
const (
	SharedWindow = uint64(1) << 60
	LocalWindow  = uint64(1) << 61
	ParamWindow  = uint64(1) << 62
	windowBytes  = uint64(1) << 32
)

// Window returns the space of a generic address, and the address within it.
func Window(address uint64) (Space, uint64) {
	switch address >> 32 {
	case SharedWindow >> 32:
		return Shared, address % windowBytes
	case LocalWindow >> 32:
		return Local, address % windowBytes
	case ParamWindow >> 32:
		return EntryParam, address % windowBytes
	}
	return Global, address
}

// Memory is what a memory instruction accesses.
type Memory struct {
	Space Space
	// Base is a register, -1 for none; Base32 says that it has 32 bits.
	Base   int32
	Base32 bool
	Offset uint64
	// Size is bytes per element: 1, 2, 4, 8 or 16; Elements are the registers.
	Size     int
	Elements []Element
	Signed   bool // sign-extends into wider registers
	// Strong accesses (volatile, relaxed, acquire, release) may conflict with each
	// other.
	Strong  bool
	Release bool
	// Atomic is what an Atomic does.
	Atomic *AtomicOp
	// Arrival is what an MBarrier does.
	Arrival *Arrival
	// Copy describes the source of a cp.async.
	Copy *Copy
}

// Element is one register of an access: an offset, -1 for none.
type Element struct {
	Offset int32
	Wide   bool
}

// AtomicOp computes the new value of memory.
type AtomicOp struct {
	// Apply gets the old value and the operands, of Memory.Size bytes.
	Apply func(old, b, c uint64) uint64
	// Elements are changed one by one: of a vector there are several.
	Elements []AtomicElement
	// Blind says that the new value does not depend on the old one (exch).
	Blind bool
}

// AtomicElement are the registers of one element: D gets the old value. D is -1 for
// red, C for all but cas.
type AtomicElement struct{ D, B, C Element }

// Copy is a cp.async: from global memory to the shared address in Memory.
type Copy struct {
	From *Memory
	// Bytes are copied, of which those beyond the register SourceBytes, if any,
	// are zero. Ignore is a predicate (-1: none) that reads nothing.
	Bytes       int
	SourceBytes Element
	Ignore      int32
	IgnoreNot   bool
}

// Warp is what an instruction across lanes does.
type Warp struct {
	Mode string // "up", "down", "bfly", "idx"; "all", "any", "uni", "ballot"; "add", …
	// Members is the register with the lanes that take part, -1 for all active.
	Members int32
	// Predicate is the second result of shfl, match.all and elect, -1 for none.
	Predicate int32
	Wide      bool // match.b64
	// Barrier is the register with the barrier's number, Threads the one with the
	// number of threads, -1 for all.
	Barrier, Threads int32
	Aligned          bool
	// Counts of groups that cp.async.wait_group leaves; -1 waits for all.
	Groups int
}
