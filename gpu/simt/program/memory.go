package program

import (
	"mage/gpu/simt/ptx"
	"mage/gpu/verdict"
)

// space consumes the state space of an instruction.
func (l *lowerer) spaceModifier() (Space, bool) {
	switch l.mods.oneOf("global", "shared", "shared::cta", "shared::cluster", "local", "const", "param", "param::entry", "param::func") {
	case "global":
		return Global, false
	case "shared", "shared::cta", "shared::cluster": // of a cluster of one block
		return Shared, false
	case "local":
		return Local, false
	case "const":
		return Const, false
	case "param", "param::entry", "param::func":
		return EntryParam, true
	}
	return Generic, false
}

// address fills the address of a memory operand.
func (l *lowerer) address(m *Memory, o ptx.Operand, param bool) error {
	if o.Kind != ptx.Address || o.Member != "" || len(o.List) > 0 {
		return l.fail(o.Pos, "%s: an address is needed here", l.in.Name())
	}
	m.Base, m.Offset = -1, uint64(o.Offset)
	if o.Name == "" {
		return nil
	}
	if r, _, ok := l.lookup(o.Name); ok {
		want := wideClass
		if r.typ.bits == 32 {
			want, m.Base32 = wordClass, true
		}
		if param && (l.frame.end >= 0 || l.in.Opcode == "st") {
			m.Space = Local
		}
		var err error
		m.Base, err = l.register(ptx.Operand{Pos: o.Pos, Name: o.Name}, want)
		return err
	}
	p, ok := l.variable(o.Name)
	if !ok {
		return l.fail(o.Pos, "%s: there is no variable %q", l.in.Name(), o.Name)
	}
	switch {
	case param && (p.space == Local || p.space == EntryParam):
		m.Space = p.space
	case p.space != m.Space && !(m.Space == Generic && (p.space == Global || p.space == Const)):
		return l.fail(o.Pos, "%s: variable %s is in .%s memory", l.in.Name(), o.Name, p.space)
	}
	m.Offset += p.address
	return nil
}

// granule notes the size of an access to memory that threads share.
func (l *lowerer) granule(m *Memory) {
	if m.Space == Generic || m.Space == Global || m.Space == Shared {
		l.program.Granule = min(l.program.Granule, m.Size)
	}
}

func accessClass(s Space) verdict.Class {
	switch s {
	case Shared:
		return verdict.SharedAccess
	case Local:
		return verdict.LocalAccess
	case EntryParam, Const:
		return verdict.ParamAccess
	}
	return verdict.GlobalAccess
}

// access lowers ld and st.
func (l *lowerer) access() error {
	m := &Memory{}
	l.semantics(m)
	if l.mods.take("volatile") || l.mods.take("mmio") {
		m.Strong = true
	}
	var param bool
	m.Space, param = l.spaceModifier()
	l.mods.oneOf("ca", "cg", "cs", "lu", "cv", "wb", "wt")
	l.mods.take("nc")
	l.mods.take("unified")
	hint := l.mods.take("L2::cache_hint")
	l.mods.prefix("L1::")
	l.mods.prefix("L2::")
	vector := 1
	switch l.mods.oneOf("v2", "v4", "v8") {
	case "v2":
		vector = 2
	case "v4":
		vector = 4
	case "v8":
		vector = 8
	}
	t, ok := l.mods.typ()
	if !ok || t.kind == predicate {
		return l.unknown()
	}
	n := 2
	if hint {
		n = 3
	}
	if err := l.want(n); err != nil {
		return err
	}
	store := l.in.Opcode == "st"
	value, address := l.in.Operands[0], l.in.Operands[1]
	if store {
		value, address = address, value
	}
	if err := l.address(m, address, param); err != nil {
		return err
	}
	m.Size, m.Signed = t.bits/8, t.signed()
	l.granule(m)
	list := []ptx.Operand{value}
	if value.Kind == ptx.Vector {
		list = value.List
	}
	if len(list) != vector {
		return l.fail(l.in.Pos, "%s: %d registers for %d elements", l.in.Name(), len(list), vector)
	}
	for _, o := range list {
		e, err := l.element(o, t, store)
		if err != nil {
			return err
		}
		m.Elements = append(m.Elements, e)
	}
	in := Inst{Kind: Load, Class: accessClass(m.Space), Memory: m}
	if store {
		in.Kind = Store
		if m.Space == EntryParam || m.Space == Const {
			return l.fail(l.in.Pos, "%s: .%s memory cannot be written", l.in.Name(), m.Space)
		}
	}
	return l.add(in)
}

// semantics consumes memory ordering and scope.
func (l *lowerer) semantics(m *Memory) {
	switch l.mods.oneOf("weak", "relaxed", "acquire", "release", "acq_rel", "sc") {
	case "relaxed", "acquire":
		m.Strong = true
	case "release", "acq_rel", "sc":
		m.Strong, m.Release = true, true
	}
	l.mods.oneOf("cta", "cluster", "gpu", "sys")
}

// element is a register of an access, which may be wider than its type.
func (l *lowerer) element(o ptx.Operand, t typ, read bool) (Element, error) {
	if r, ok := l.registerType(o); ok {
		if r.bits < t.bits || r.kind == predicate {
			return Element{}, l.fail(o.Pos, "%s: register %s is .%s", l.in.Name(), o.Name, r.name)
		}
		at, err := l.register(o, r.class())
		return Element{at, r.wide()}, err
	}
	if !read {
		if o.Kind == ptx.Name && o.Name == "_" {
			return Element{-1, t.wide()}, nil
		}
		return Element{}, l.fail(o.Pos, "%s: %q is not a register", l.in.Name(), o.Name)
	}
	at, err := l.source(o, t)
	return Element{at, t.wide()}, err
}

// convertAddress lowers cvta: to and from the windows of the generic space.
func (l *lowerer) convertAddress() error {
	to := l.mods.take("to")
	space, _ := l.spaceModifier()
	t, ok := l.mods.typ()
	if !ok || !t.wide() || space == Generic {
		return l.unknown()
	}
	if err := l.want(2); err != nil {
		return err
	}
	in := Inst{Kind: Pure, Class: verdict.Movement}
	var err error
	if in.Regs.A, err = l.source(l.in.Operands[1], t); err != nil {
		return err
	}
	if in.Regs.D, err = l.destination(l.in.Operands[0], t); err != nil {
		return err
	}
	in.Run = addressOp(space, to)
	return l.add(in)
}

// isSpace lowers isspacep.
func (l *lowerer) isSpace() error {
	space, _ := l.spaceModifier()
	if err := l.want(2); err != nil {
		return err
	}
	in := Inst{Kind: Pure, Class: verdict.Comparison}
	in.Regs.D2 = -1
	var err error
	if in.Regs.A, err = l.source(l.in.Operands[1], wide); err != nil {
		return err
	}
	in.Regs.B = in.Regs.A
	if in.Regs.D, err = l.destination(l.in.Operands[0], typ{kind: predicate, bits: 1}); err != nil {
		return err
	}
	in.Run = isSpaceOp(space)
	return l.add(in)
}

// hint lowers what changes no result: prefetches, cache policies, delays.
func (l *lowerer) hint() error {
	for i := range l.mods.used {
		l.mods.used[i] = true
	}
	if l.in.Opcode == "createpolicy" {
		if err := l.want(max(2, len(l.in.Operands))); err != nil {
			return err
		}
		d, err := l.destination(l.in.Operands[0], wide)
		if err != nil {
			return err
		}
		return l.add(Inst{Kind: Pure, Class: verdict.Movement, Run: zeroWide(d)})
	}
	return l.add(Inst{Kind: Pure, Class: verdict.Control, Run: nothing})
}
