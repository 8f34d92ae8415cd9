package program

import (
	"math"
	"strconv"
	"strings"

	"mage/gpu/simt/lanes"
	"mage/gpu/simt/ptx"
)

// scope is what the names inside a pair of braces mean.
type scope struct {
	outer     *scope
	registers map[string]*registers
	memory    map[string]place
	labels    map[string]int
	tables    map[string]*ptx.Directive // .branchtargets by label
}

// registers are those of one declaration, placed when they are first used.
type registers struct {
	typ    typ
	count  int // of %r<count>, 0 for a single one
	offset map[int]int32
}

// place is where a variable in memory lies.
type place struct {
	space   Space
	address uint64
}

func newScope(outer *scope) *scope {
	return &scope{outer, map[string]*registers{}, map[string]place{}, map[string]int{}, map[string]*ptx.Directive{}}
}

// maxLocal is the local memory that a thread may have: 512 KiB (CUDA C++
// Programming Guide, technical specifications).
const maxLocal = 512 << 10

func (l *lowerer) declare(v *ptx.Variable) error {
	if v.Space == "reg" {
		t, ok := parseType(v.Type)
		if !ok || v.Vector != 0 {
			return l.lacks(v.Pos, "the simulator does not know registers of type .%s", v.Type)
		}
		l.scope.registers[v.Name] = &registers{typ: t, count: v.Count, offset: map[int]int32{}}
		return nil
	}
	size := variableSize(v)
	switch v.Space {
	case "shared":
		if isDynamic(v) {
			l.scope.memory[v.Name] = place{Shared, uint64(l.program.DynamicOffset)}
			return nil
		}
		l.scope.memory[v.Name] = place{Shared, l.placeShared(v)}
	case "local", "param":
		if size < 0 {
			return l.fail(v.Pos, "%s has no size", v.Name)
		}
		if v.Count > 0 || size > maxLocal-l.program.LocalBytes {
			return l.lacks(v.Pos, "the simulator does not know .%s variables like %s, numbered or beyond %d bytes", v.Space, v.Name, maxLocal)
		}
		at := roundUp(l.program.LocalBytes, alignment(v))
		l.program.LocalBytes = at + size
		l.scope.memory[v.Name] = place{Local, uint64(at)}
	default:
		return l.fail(v.Pos, "a .%s variable inside a function", v.Space)
	}
	return nil
}

// lookup finds a register by name: %r13 is the fourteenth of %r<26>.
func (l *lowerer) lookup(name string) (*registers, int, bool) {
	base := strings.TrimRight(name, "0123456789")
	index, err := strconv.Atoi(name[len(base):])
	numbered := err == nil && (name[len(base):] == "0" || name[len(base)] != '0')
	for s := l.scope; s != nil; s = s.outer {
		if r := s.registers[name]; r != nil && r.count == 0 {
			return r, 0, true
		}
		if !numbered {
			continue
		}
		if r := s.registers[base]; r != nil && index < r.count {
			return r, index, true
		}
	}
	return nil, 0, false
}

// variable finds a variable in memory.
func (l *lowerer) variable(name string) (place, bool) {
	for s := l.scope; s != nil; s = s.outer {
		if p, ok := s.memory[name]; ok {
			return p, true
		}
	}
	for _, v := range l.symbols.Module.Variables {
		if v.Name != name {
			continue
		}
		switch {
		case v.Space == "shared" && isDynamic(v):
			return place{Shared, uint64(l.program.DynamicOffset)}, true
		case v.Space == "shared":
			return place{Shared, l.placeShared(v)}, true
		case v.Space == "global" || v.Space == "const":
			a, ok := l.symbols.Address[name]
			space := Global
			if v.Space == "const" {
				space = Const
			}
			return place{space, a}, ok
		}
	}
	return place{}, false
}

// allocate makes room for a register.
func (l *lowerer) allocate(c class) int32 {
	if c == predicateClass {
		l.program.Predicates++
		return int32(l.program.Predicates - 1)
	}
	at := int32(l.program.Words)
	l.program.Words += lanes.Words32
	if c == wideClass {
		l.program.Words += lanes.Words64 - lanes.Words32
	}
	return at
}

// register returns the place of a register operand of the given class.
func (l *lowerer) register(o ptx.Operand, want class) (int32, error) {
	r, index, ok := l.lookup(o.Name)
	if o.Kind != ptx.Name || !ok || o.Member != "" || o.Offset != 0 {
		return 0, l.fail(o.Pos, "%s: %q is not a register", l.in.Name(), o.Name)
	}
	if r.typ.class() != want {
		return 0, l.fail(o.Pos, "%s: register %s is .%s, which does not fit", l.in.Name(), o.Name, r.typ.name)
	}
	at, ok := r.offset[index]
	if !ok {
		at = l.allocate(want)
		r.offset[index] = at
	}
	return at, nil
}

// registerType returns the declared type of a register operand.
func (l *lowerer) registerType(o ptx.Operand) (typ, bool) {
	if o.Kind != ptx.Name || o.Member != "" {
		return typ{}, false
	}
	r, _, ok := l.lookup(o.Name)
	if !ok {
		return typ{}, false
	}
	return r.typ, true
}

// constantRegister returns a register that holds bits in every lane.
func (l *lowerer) constantRegister(bits uint64, wide bool) int32 {
	key := constantKey{bits, wide}
	if at, ok := l.constant[key]; ok {
		return at
	}
	c := wordClass
	if wide {
		c = wideClass
	}
	at := l.allocate(c)
	l.constant[key] = at
	l.program.Constants = append(l.program.Constants, Constant{at, bits, wide})
	return at
}

// literal returns the bits of a literal as a value of type t.
func (l *lowerer) literal(o ptx.Operand, t typ) (uint64, error) {
	if o.Kind == ptx.Float {
		v := math.Float64frombits(o.Bits)
		if o.Single {
			v = float64(math.Float32frombits(uint32(o.Bits)))
		}
		switch {
		case t.bits == 64 && !o.Single:
			return o.Bits, nil
		case t.bits == 64:
			return math.Float64bits(v), nil
		case t.bits == 32 && o.Single:
			return o.Bits, nil
		case t.bits == 32:
			return uint64(math.Float32bits(float32(v))), nil
		}
		return 0, l.fail(o.Pos, "%s: a float literal does not fit .%s", l.in.Name(), t.name)
	}
	if t.bits < 64 {
		return o.Bits & (1<<t.bits - 1), nil
	}
	return o.Bits, nil
}

// source returns the register of an operand to be read as type t: a register, a
// literal, a special register or the address of a variable.
func (l *lowerer) source(o ptx.Operand, t typ) (int32, error) {
	switch o.Kind {
	case ptx.Integer, ptx.Float:
		bits, err := l.literal(o, t)
		if err != nil {
			return 0, err
		}
		return l.constantRegister(bits, t.wide()), nil
	case ptx.Name:
		if o.Negated {
			break
		}
		if at, ok := l.specialRegister(o, t); ok {
			return at, nil
		}
		if p, ok := l.variable(o.Name); ok && o.Member == "" {
			if _, _, shadowed := l.lookup(o.Name); !shadowed {
				return l.addressRegister(p, o.Offset, t), nil
			}
		}
		if r, ok := l.registerType(o); ok && r.bits != t.bits && r.class() == t.class() && t.bits > r.bits {
			return 0, l.fail(o.Pos, "%s: register %s is .%s, want %d bits", l.in.Name(), o.Name, r.name, t.bits)
		}
		if _, _, known := l.lookup(o.Name); !known && find(l.symbols.Module, o.Name) != nil {
			return 0, l.lacks(o.Pos, "%s: the simulator does not know addresses of functions (%s)", l.in.Name(), o.Name)
		}
		return l.register(o, t.class())
	}
	return 0, l.fail(o.Pos, "%s: this operand cannot be read", l.in.Name())
}

func (l *lowerer) addressRegister(p place, offset int64, t typ) int32 {
	a := p.address + uint64(offset)
	if p.space == EntryParam {
		a |= ParamWindow
	}
	if t.bits < 64 {
		a = uint64(uint32(a))
	}
	return l.constantRegister(a, t.wide())
}

// destination returns the register that an operand names for a result of type t,
// or a register that nobody reads for "_".
func (l *lowerer) destination(o ptx.Operand, t typ) (int32, error) {
	if o.Kind == ptx.Name && o.Name == "_" {
		return l.allocate(t.class()), nil
	}
	return l.register(o, t.class())
}

// predicateSource returns a predicate operand and whether it is negated.
func (l *lowerer) predicateSource(o ptx.Operand) (int32, bool, error) {
	if o.Kind == ptx.Integer { // true or false
		return 0, false, l.fail(o.Pos, "%s: a literal in place of a predicate", l.in.Name())
	}
	at, err := l.register(ptx.Operand{Pos: o.Pos, Kind: o.Kind, Name: o.Name, Member: o.Member, Offset: o.Offset}, predicateClass)
	return at, o.Negated, err
}
