package program

import (
	"fmt"

	"mage/gpu/simt/ptx"
	"mage/gpu/verdict"
)

// Symbols are what a module declares beside functions.
type Symbols struct {
	Module *ptx.Module
	// Address is where each .global and .const variable lies.
	Address map[string]uint64
}

// Lower makes the program of an entry. The error is an *Unknown or a *ptx.Error that
// names the instruction, file and line; or says that there is no such entry.
func Lower(s Symbols, entry string) (*Program, error) {
	f := find(s.Module, entry)
	if f == nil || !f.Entry || f.Body == nil {
		return nil, fmt.Errorf("there is no entry %q", entry)
	}
	l := &lowerer{
		symbols:  s,
		program:  &Program{Name: entry, File: f.Pos.File, Files: s.Module.Files, Granule: 4},
		constant: map[constantKey]int32{},
		special:  map[string]int32{},
		shared:   map[*ptx.Variable]uint64{},
	}
	if err := l.entry(f); err != nil {
		return nil, err
	}
	return l.program, nil
}

func find(m *ptx.Module, name string) *ptx.Function {
	var declared *ptx.Function
	for _, f := range m.Functions {
		if f.Name == name {
			if f.Body != nil {
				return f
			}
			declared = f
		}
	}
	return declared
}

type constantKey struct {
	bits uint64
	wide bool
}

type lowerer struct {
	symbols Symbols
	program *Program
	scope   *scope
	frame   *frame
	in      *ptx.Instruction // being lowered
	mods    *mods

	constant map[constantKey]int32
	special  map[string]int32
	shared   map[*ptx.Variable]uint64
	labels   []int32 // pc by label number, -1 while unknown
	fixups   []fixup
	calls    []string // being inlined, outermost first
}

// frame is one function being lowered.
type frame struct {
	function *ptx.Function
	end      int // label of what follows an inlined call; -1 in the entry
}

// fixup is a branch whose target label was not known yet.
type fixup struct{ inst, target, label int }

func (l *lowerer) fail(pos ptx.Pos, format string, args ...any) error {
	return &ptx.Error{Pos: pos, Message: fmt.Sprintf(format, args...)}
}

// Unknown is what the simulator cannot execute, though a GPU may.
type Unknown struct{ Why *ptx.Error }

func (e *Unknown) Error() string { return e.Why.Error() }

// lacks is the error of what may well be right and cannot be executed here.
func (l *lowerer) lacks(pos ptx.Pos, format string, args ...any) error {
	return &Unknown{&ptx.Error{Pos: pos, Message: fmt.Sprintf(format, args...)}}
}

// unknown is the error of an instruction that cannot be executed.
func (l *lowerer) unknown() error {
	return l.lacks(l.in.Pos, "the simulator does not know the instruction %s", l.in.Name())
}

func (l *lowerer) entry(f *ptx.Function) error {
	p := l.program
	for _, d := range []*[3]uint32{f.MaxThreads, f.RequiredThreads} {
		if d != nil {
			p.MaxThreads = int(min(uint64(d[0])*uint64(d[1])*uint64(d[2]), 1<<30))
		}
	}
	p.Required = f.RequiredThreads
	l.scope = newScope(nil)
	l.frame = &frame{function: f, end: -1}
	for _, v := range f.Params {
		size := variableSize(v)
		if size < 0 {
			return l.fail(v.Pos, "parameter %s has no size", v.Name)
		}
		at := roundUp(p.ParamBytes, alignment(v))
		p.Params = append(p.Params, Param{at, size})
		p.ParamBytes = at + size
		l.scope.memory[v.Name] = place{EntryParam, uint64(at)}
	}
	l.sharedVariables(f)
	if err := l.block(f.Body); err != nil {
		return err
	}
	// Falling off the end is a return.
	l.emit(Inst{Kind: Exit, Class: verdict.Control, Guard: -1, Pos: f.Pos, Text: "exit"})
	for _, x := range l.fixups {
		at := l.labels[x.label]
		in := &p.Code[x.inst]
		if x.target < 0 {
			in.Target = at
		} else {
			in.Targets[x.target] = at
		}
	}
	joins(p)
	return nil
}

// sharedVariables places all that the entry and the functions it may call have in
// shared memory, the dynamic part last.
func (l *lowerer) sharedVariables(f *ptx.Function) {
	m := l.symbols.Module
	seen := mentions{names: map[string]bool{}}
	seen.block(f.Body)
	visited := map[*ptx.Function]bool{f: true}
	for changed := true; changed; {
		changed = false
		for _, g := range m.Functions {
			if seen.names[g.Name] && g.Body != nil && !visited[g] {
				visited[g], changed = true, true
				seen.block(g.Body)
			}
		}
	}
	align := 16
	for _, v := range m.Variables {
		switch {
		case v.Space != "shared" || !seen.names[v.Name]:
		case isDynamic(v):
			align = max(align, alignment(v))
		default:
			l.placeShared(v)
		}
	}
	for _, v := range seen.shared {
		l.placeShared(v)
	}
	l.program.DynamicOffset = roundUp(l.program.SharedBytes, align)
}

// isDynamic tells the memory whose size the launch decides.
func isDynamic(v *ptx.Variable) bool { return v.Linkage == ptx.Extern || variableSize(v) < 0 }

func (l *lowerer) placeShared(v *ptx.Variable) uint64 {
	if at, ok := l.shared[v]; ok {
		return at
	}
	at := roundUp(l.program.SharedBytes, alignment(v))
	l.program.SharedBytes = at + variableSize(v)
	l.shared[v] = uint64(at)
	return uint64(at)
}

// mentions are the names that blocks use, and the shared variables they declare.
type mentions struct {
	names  map[string]bool
	shared []*ptx.Variable
}

func (m *mentions) block(b *ptx.Block) {
	for _, s := range b.Statements {
		switch s := s.(type) {
		case *ptx.Block:
			m.block(s)
		case *ptx.Variable:
			if s.Space == "shared" && !isDynamic(s) {
				m.shared = append(m.shared, s)
			}
		case *ptx.Instruction:
			m.operands(s.Operands)
		}
	}
}

func (m *mentions) operands(list []ptx.Operand) {
	for _, o := range list {
		m.names[o.Name] = true
		m.operands(o.List)
	}
}

// emit appends an instruction.
func (l *lowerer) emit(in Inst) int {
	l.program.Code = append(l.program.Code, in)
	return len(l.program.Code) - 1
}

// add completes an instruction from the statement being lowered and appends it.
func (l *lowerer) add(in Inst) error {
	in.Guard, in.Pos, in.Source, in.Text = -1, l.in.Pos, l.in.Source, l.in.Name()
	if l.in.Guard != "" {
		r, err := l.register(ptx.Operand{Pos: l.in.Pos, Name: l.in.Guard}, predicateClass)
		if err != nil {
			return err
		}
		in.Guard, in.GuardNot = r, l.in.Negated
	}
	l.emit(in)
	return nil
}

func (l *lowerer) block(b *ptx.Block) error {
	outer := l.scope
	l.scope = newScope(outer)
	defer func() { l.scope = outer }()
	return l.statements(b)
}

func (l *lowerer) statements(b *ptx.Block) error {
	for _, s := range b.Statements {
		if label, ok := s.(*ptx.Label); ok {
			if _, twice := l.scope.labels[label.Name]; twice {
				return l.fail(label.Pos, "label %s is there twice", label.Name)
			}
			l.scope.labels[label.Name] = l.newLabel()
		}
		if d, ok := s.(*ptx.Directive); ok && d.Label != "" {
			l.scope.tables[d.Label] = d
		}
	}
	for _, s := range b.Statements {
		var err error
		switch s := s.(type) {
		case *ptx.Label:
			l.labels[l.scope.labels[s.Name]] = int32(len(l.program.Code))
		case *ptx.Block:
			err = l.block(s)
		case *ptx.Variable:
			err = l.declare(s)
		case *ptx.Instruction:
			l.in, l.mods = s, newMods(s.Modifiers)
			err = l.instruction()
		}
		if err != nil {
			return err
		}
		if len(l.program.Code) > maxCode {
			return l.lacks(b.Pos, "the simulator takes %d instructions at most, after inlining", maxCode)
		}
	}
	return nil
}

// maxCode bounds what inlining may make of a module.
const maxCode = 1 << 20

func (l *lowerer) newLabel() int {
	l.labels = append(l.labels, -1)
	return len(l.labels) - 1
}

func roundUp(n, to int) int { return (n + to - 1) / to * to }

// alignment is the declared or natural alignment of a variable.
func alignment(v *ptx.Variable) int {
	return max(v.Align, ptx.SizeOf(v.Type)*max(v.Vector, 1), 1)
}

// variableSize is the bytes of a variable, -1 for an array without a size.
func variableSize(v *ptx.Variable) int {
	n := int64(ptx.SizeOf(v.Type) * max(v.Vector, 1))
	for _, d := range v.Dims {
		if d < 0 {
			return -1
		}
		if n *= d; n > 1<<32 {
			return -1
		}
	}
	return int(n)
}
