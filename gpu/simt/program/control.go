package program

import (
	"slices"

	"mage/gpu/simt/lanes"
	"mage/gpu/simt/ptx"
	"mage/gpu/verdict"
)

// control lowers branches, calls and what ends a thread.
func (l *lowerer) control() error {
	switch l.in.Opcode {
	case "bra":
		l.mods.take("uni")
		if err := l.want(1); err != nil {
			return err
		}
		label, err := l.label(l.in.Operands[0])
		if err != nil {
			return err
		}
		return l.branch(label)
	case "brx":
		l.mods.take("idx")
		l.mods.take("uni")
		return l.branchIndexed()
	case "ret":
		l.mods.take("uni")
		if l.frame.end >= 0 {
			return l.branch(l.frame.end)
		}
		return l.add(Inst{Kind: Exit, Class: verdict.Control})
	case "exit":
		return l.add(Inst{Kind: Exit, Class: verdict.Control})
	case "trap", "brkpt":
		return l.add(Inst{Kind: Trap, Class: verdict.Control, Regs: lanes.Regs{A: -1}})
	}
	return l.call()
}

func (l *lowerer) label(o ptx.Operand) (int, error) {
	for s := l.scope; s != nil; s = s.outer {
		if n, ok := s.labels[o.Name]; ok && o.Kind == ptx.Name {
			return n, nil
		}
	}
	return 0, l.fail(o.Pos, "%s: there is no label %q", l.in.Name(), o.Name)
}

// branch adds a branch to a label that may not be placed yet.
func (l *lowerer) branch(label int) error {
	if err := l.add(Inst{Kind: Branch, Class: verdict.Control}); err != nil {
		return err
	}
	l.fixups = append(l.fixups, fixup{len(l.program.Code) - 1, -1, label})
	return nil
}

func (l *lowerer) branchIndexed() error {
	if err := l.want(2); err != nil {
		return err
	}
	index, err := l.source(l.in.Operands[0], word)
	if err != nil {
		return err
	}
	var table *ptx.Directive
	for s := l.scope; s != nil && table == nil; s = s.outer {
		table = s.tables[l.in.Operands[1].Name]
	}
	if table == nil || table.Name != "branchtargets" {
		return l.fail(l.in.Pos, "%s: there are no .branchtargets %q", l.in.Name(), l.in.Operands[1].Name)
	}
	in := Inst{Kind: Branch, Class: verdict.Control, Regs: lanes.Regs{A: index}, Target: -1}
	at := len(l.program.Code)
	for _, w := range table.Words {
		if w == "," {
			continue
		}
		label, err := l.label(ptx.Operand{Pos: table.Pos, Name: w})
		if err != nil {
			return err
		}
		l.fixups = append(l.fixups, fixup{at, len(in.Targets), label})
		in.Targets = append(in.Targets, 0)
	}
	if len(in.Targets) == 0 {
		return l.unknown()
	}
	return l.add(in)
}

// provided lowers a call of a function that the simulator provides: an instruction
// whose registers A, B and C are the places of parameters in local memory.
func (l *lowerer) provided(kind Kind, bytes [3]int, operands ...ptx.Operand) error {
	in := Inst{Kind: kind, Class: verdict.Control}
	for i, at := range []*int32{&in.Regs.A, &in.Regs.B, &in.Regs.C} {
		o := operands[i]
		p, ok := l.variable(o.Name)
		if !ok || o.Kind != ptx.Name || p.space != Local || int(p.address)+bytes[i] > l.program.LocalBytes {
			return l.lacks(o.Pos, "%s: the simulator passes arguments in .param variables only", l.in.Name())
		}
		*at = int32(p.address)
	}
	return l.add(in)
}

// call inlines a device function. Its parameters are the caller's own variables
// in .param memory, so nothing is copied.
func (l *lowerer) call() error {
	l.mods.take("uni")
	call := l.in
	operands := call.Operands
	var returns, args []ptx.Operand
	if len(operands) > 0 && operands[0].Kind == ptx.List {
		returns, operands = operands[0].List, operands[1:]
	}
	if len(operands) == 0 || operands[0].Kind != ptx.Name {
		return l.unknown()
	}
	name := operands[0].Name
	if len(operands) > 1 && operands[1].Kind == ptx.List {
		args = operands[1].List
	}
	f := find(l.symbols.Module, name)
	switch {
	case f == nil || len(operands) > 2:
		return l.lacks(call.Pos, "%s: the simulator cannot call %s: only functions of the module, by name", call.Name(), name)
	case f.Body == nil && name == "__assertfail" && len(args) == 5:
		return l.provided(Trap, [3]int{8, 8, 4}, args[0], args[1], args[2])
	case f.Body == nil && name == "vprintf" && len(args) == 2 && len(returns) == 1:
		return l.provided(Print, [3]int{8, 8, 4}, args[0], args[1], returns[0])
	case f.Body == nil:
		return l.lacks(call.Pos, "%s: function %s has no body here, and the simulator does not provide it", call.Name(), name)
	case slices.Contains(l.calls, name):
		return l.lacks(call.Pos, "%s: the simulator does not know recursion (%s)", call.Name(), name)
	case len(f.Returns) != len(returns) || len(f.Params) != len(args):
		return l.fail(call.Pos, "%s: %s takes %d arguments and returns %d", call.Name(), name, len(f.Params), len(f.Returns))
	}
	inner := newScope(nil)
	for i, v := range slices.Concat(f.Returns, f.Params) {
		actual := slices.Concat(returns, args)[i]
		p, ok := l.variable(actual.Name)
		if v.Space != "param" || actual.Kind != ptx.Name || !ok || p.space != Local {
			return l.lacks(actual.Pos, "%s: the simulator passes arguments in .param variables only", call.Name())
		}
		inner.memory[v.Name] = p
	}
	end := l.newLabel()
	if call.Guard != "" {
		around := *call
		around.Negated = !call.Negated
		l.in = &around
		if err := l.branch(end); err != nil {
			return err
		}
	}
	outerScope, outerFrame, outerMods := l.scope, l.frame, l.mods
	l.scope, l.frame = inner, &frame{function: f, end: end}
	l.calls = append(l.calls, name)
	err := l.block(f.Body)
	l.calls = l.calls[:len(l.calls)-1]
	l.scope, l.frame, l.mods, l.in = outerScope, outerFrame, outerMods, call
	l.labels[end] = int32(len(l.program.Code))
	return err
}
