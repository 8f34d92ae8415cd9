package ptx

import "fmt"

// Pos is where a node was read: a line and column, counted from 1.
type Pos struct {
	File      string
	Line, Col int
}

func (p Pos) String() string { return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col) }

// Error is a syntax error.
type Error struct {
	Pos     Pos
	Message string
}

func (e *Error) Error() string { return e.Pos.String() + ": " + e.Message }

// Module is one PTX file.
type Module struct {
	Version     string   // "9.0"
	Target      []string // "sm_75"
	AddressSize int      // 32 or 64
	Files       map[int]string
	Variables   []*Variable
	Functions   []*Function // entries and device functions, in order
}

// Linkage directives, as written.
const (
	Visible = "visible"
	Extern  = "extern"
	Weak    = "weak"
	Common  = "common"
)

// Function is an .entry or a .func.
type Function struct {
	Pos     Pos
	Name    string
	Entry   bool
	Linkage string // "", Visible, Extern, Weak, Common
	Returns []*Variable
	Params  []*Variable
	// MaxThreads and RequiredThreads are .maxntid and .reqntid, absent dimensions 1;
	// nil when not given.
	MaxThreads, RequiredThreads *[3]uint32
	// Body is nil for a declaration.
	Body *Block
}

// Variable declares registers or memory.
type Variable struct {
	Pos     Pos
	Linkage string
	Space   string // "reg", "param", "shared", "global", "const", "local"
	Align   int    // bytes; 0 when not given
	Vector  int    // elements of a vector type: 2 or 4, 0 for a scalar
	Type    string // "b32", "f16x2"
	Name    string
	// Count is the N of %r<N>, 0 when the name stands for itself.
	Count int
	// Dims are array dimensions; a first dimension of -1 was left empty.
	Dims []int64
	Init *Initializer
}

// Initializer is a value, an address, or a list of them.
type Initializer struct {
	Value Operand
	List  []*Initializer // nil for a single value
}

// Block is a sequence of statements with a scope of its own.
type Block struct {
	Pos        Pos
	Statements []Statement
}

// Statement is *Instruction, *Label, *Block, *Variable or *Directive.
type Statement interface{ statement() }

// Label names the place of the statement that follows.
type Label struct {
	Pos  Pos
	Name string
}

// Directive is a directive inside a body that is kept as it was written:
// .branchtargets, .calltargets, .callprototype or .pragma. Label is the label of
// the first three.
type Directive struct {
	Pos   Pos
	Label string
	Name  string
	Words []string
}

// Source is a position in the source that PTX was compiled from (.loc).
type Source struct{ File, Line int }

// Instruction is one instruction.
type Instruction struct {
	Pos       Pos
	Source    Source // zero without .loc
	Guard     string // predicate register; "" when unconditional
	Negated   bool   // @!p
	Opcode    string // "ld"
	Modifiers []string
	Operands  []Operand
}

// Name returns opcode and modifiers as written: "ld.global.nc.f32".
func (i *Instruction) Name() string {
	s := i.Opcode
	for _, m := range i.Modifiers {
		s += "." + m
	}
	return s
}

func (*Instruction) statement() {}
func (*Label) statement()       {}
func (*Block) statement()       {}
func (*Variable) statement()    {}
func (*Directive) statement()   {}

// OperandKind says which fields of an Operand hold.
type OperandKind uint8

// The kinds of operands.
const (
	// Name is a register, variable, label or special register, with Member for
	// ".x" of a vector or special register and Offset for name+8.
	Name OperandKind = iota
	// Integer is a literal whose value modulo 2⁶⁴ is Bits.
	Integer
	// Float is a literal: Bits are those of a float64, or of a float32 if Single.
	Float
	// Address is [Base+Offset] or [Offset]: Base is empty then. List holds what
	// follows a comma inside the brackets.
	Address
	// Vector is {List}.
	Vector
	// List is (List), the arguments of a call.
	List
	// Pair is List[0]|List[1], two destinations.
	Pair
)

// Operand is one operand.
type Operand struct {
	Pos     Pos
	Kind    OperandKind
	Name    string // of Name; base of Address
	Member  string
	Negated bool // !name
	Offset  int64
	Bits    uint64
	Single  bool
	List    []Operand
	// Generic says that the name was wrapped in generic(), in an initializer.
	Generic bool
}
