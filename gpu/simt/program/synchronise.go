package program

import (
	"mage/gpu/simt/lanes"
	"mage/gpu/simt/ptx"
	"mage/gpu/verdict"
)

// synchronise lowers barriers and fences.
func (l *lowerer) synchronise() error {
	if l.in.Opcode == "membar" || l.in.Opcode == "fence" {
		m := &Memory{}
		scope := l.mods.oneOf("cta", "gl", "gpu", "sys", "cluster")
		l.mods.oneOf("sc", "acq_rel", "acquire", "release")
		if l.mods.prefix("proxy") {
			l.mods.oneOf("async", "async::generic", "alias", "tensormap::generic")
			l.mods.prefix("async")
			l.mods.prefix("sync_restrict")
			l.spaceModifier()
		}
		l.mods.prefix("mbarrier_init")
		m.Release = scope != "cta" && scope != ""
		return l.add(Inst{Kind: Fence, Class: verdict.Synchronisation, Memory: m})
	}
	if l.mods.take("warp") {
		if !l.mods.take("sync") {
			return l.unknown()
		}
		if err := l.want(1); err != nil {
			return err
		}
		members, err := l.source(l.in.Operands[0], word)
		if err != nil {
			return err
		}
		return l.add(Inst{Kind: WarpSync, Class: verdict.Synchronisation, Warp: &Warp{Members: members}})
	}
	l.mods.take("cta")
	w := &Warp{Mode: l.mods.oneOf("sync", "arrive", "red"), Threads: -1, Predicate: -1}
	w.Aligned = l.mods.take("aligned") || l.in.Opcode == "bar"
	in := Inst{Kind: Barrier, Class: verdict.Synchronisation, Warp: w, Regs: lanes.Regs{D: -1, P: -1}}
	operands := l.in.Operands
	var err error
	switch w.Mode {
	case "red":
		if operands, err = l.barrierReduction(&in, operands); err != nil {
			return err
		}
	case "":
		return l.unknown()
	}
	if len(operands) < 1 || len(operands) > 2 || w.Mode == "arrive" && len(operands) != 2 {
		return l.unknown()
	}
	if w.Barrier, err = l.source(operands[0], word); err != nil {
		return err
	}
	if len(operands) == 2 {
		if w.Threads, err = l.source(operands[1], word); err != nil {
			return err
		}
	}
	return l.add(in)
}

// barrierReduction reads the result and the predicate of bar.red and returns the
// operands between them.
func (l *lowerer) barrierReduction(in *Inst, operands []ptx.Operand) ([]ptx.Operand, error) {
	in.Warp.Mode = l.mods.oneOf("popc", "and", "or")
	t, ok := l.mods.typ()
	if in.Warp.Mode == "" || !ok || len(operands) < 3 {
		return nil, l.unknown()
	}
	d, err := l.destination(operands[0], t)
	if err != nil {
		return nil, err
	}
	in.Regs.D = d
	last := len(operands) - 1
	if in.Regs.P, in.Regs.PNot, err = l.predicateSource(operands[last]); err != nil {
		return nil, err
	}
	return operands[1:last], nil
}

// acrossLanes lowers shuffles, votes, matches and reductions.
func (l *lowerer) acrossLanes() error {
	w := &Warp{Members: -1, Predicate: -1}
	in := Inst{Class: verdict.WarpWide, Warp: w, Regs: lanes.Regs{D: -1, P: -1}}
	if l.in.Opcode == "activemask" {
		l.mods.take("b32")
		if err := l.want(1); err != nil {
			return err
		}
		in.Kind = ActiveMask
		return l.warpResult(&in, l.in.Operands[0], word)
	}
	if !l.mods.take("sync") {
		return l.unknown()
	}
	switch l.in.Opcode {
	case "shfl":
		in.Kind = Shuffle
		w.Mode = l.mods.oneOf("up", "down", "bfly", "idx")
		l.mods.take("b32")
		return l.warpInstruction(&in, 5, word, word, word, word)
	case "match":
		in.Kind = Match
		w.Mode = l.mods.oneOf("any", "all")
		t, ok := l.mods.typ()
		if !ok {
			return l.unknown()
		}
		w.Wide = t.wide()
		return l.warpInstruction(&in, 3, t, word)
	case "redux":
		in.Kind = Reduce
		w.Mode = l.mods.oneOf("add", "min", "max", "and", "or", "xor")
		t, ok := l.mods.typ()
		if !ok || t.bits != 32 || t.kind == floating {
			return l.unknown()
		}
		if t.signed() && (w.Mode == "min" || w.Mode == "max") {
			w.Mode += ".signed"
		}
		return l.warpInstruction(&in, 3, word, word)
	case "elect":
		in.Kind = Elect
		w.Mode = "elect"
		return l.warpInstruction(&in, 2, word)
	}
	in.Kind = Vote
	w.Mode = l.mods.oneOf("all", "any", "uni", "ballot")
	t, ok := l.mods.typ()
	if !ok || w.Mode == "" {
		return l.unknown()
	}
	if err := l.want(3); err != nil {
		return err
	}
	var err error
	if a := l.in.Operands[1]; a.Kind == ptx.Integer {
		// A literal predicate: every lane has it, which the register tells below.
		in.Regs.P = -1
		in.Regs.PNot = a.Bits != 0
	} else if in.Regs.P, in.Regs.PNot, err = l.predicateSource(a); err != nil {
		return err
	}
	if w.Members, err = l.source(l.in.Operands[2], word); err != nil {
		return err
	}
	return l.warpResult(&in, l.in.Operands[0], t)
}

// warpInstruction reads d|p and sources, the last of which is the member mask.
func (l *lowerer) warpInstruction(in *Inst, n int, sources ...typ) error {
	if in.Warp.Mode == "" {
		return l.unknown()
	}
	if err := l.want(n); err != nil {
		return err
	}
	at := [...]*int32{&in.Regs.A, &in.Regs.B, &in.Regs.C}
	for i, t := range sources {
		r, err := l.source(l.in.Operands[1+i], t)
		if err != nil {
			return err
		}
		if i == len(sources)-1 {
			in.Warp.Members = r
			break
		}
		*at[i] = r
	}
	return l.warpResult(in, l.in.Operands[0], word)
}

func (l *lowerer) warpResult(in *Inst, d ptx.Operand, t typ) error {
	var err error
	if d.Kind == ptx.Pair {
		if in.Warp.Predicate, err = l.destination(d.List[1], typ{kind: predicate, bits: 1}); err != nil {
			return err
		}
		d = d.List[0]
	}
	if in.Regs.D, err = l.destination(d, t); err != nil {
		return err
	}
	return l.add(*in)
}

// async lowers cp.async, its groups and waits.
func (l *lowerer) async() error {
	if !l.mods.take("async") {
		return l.unknown()
	}
	l.program.Async = true
	if l.mods.take("commit_group") {
		return l.add(Inst{Kind: AsyncCommit, Class: verdict.Asynchronous})
	}
	if l.mods.take("wait_all") {
		return l.add(Inst{Kind: AsyncWait, Class: verdict.Asynchronous, Warp: &Warp{Groups: -1}})
	}
	if l.mods.take("wait_group") {
		if err := l.want(1); err != nil {
			return err
		}
		n := l.in.Operands[0]
		if n.Kind != ptx.Integer || n.Bits > 1<<20 {
			return l.fail(n.Pos, "%s: the number of groups must be a literal", l.in.Name())
		}
		return l.add(Inst{Kind: AsyncWait, Class: verdict.Asynchronous, Warp: &Warp{Groups: int(n.Bits)}})
	}
	if l.mods.take("mbarrier") {
		return l.copiesArrive()
	}
	l.mods.oneOf("ca", "cg")
	if l.mods.oneOf("shared", "shared::cta") == "" || !l.mods.take("global") {
		return l.unknown()
	}
	hint := l.mods.take("L2::cache_hint")
	l.mods.prefix("L2::")
	operands := l.in.Operands
	if hint && len(operands) > 0 {
		operands = operands[:len(operands)-1]
	}
	if len(operands) != 3 && len(operands) != 4 {
		return l.unknown()
	}
	size := operands[2]
	if size.Kind != ptx.Integer || size.Bits != 4 && size.Bits != 8 && size.Bits != 16 {
		return l.fail(size.Pos, "%s: the size must be 4, 8 or 16", l.in.Name())
	}
	n := int(size.Bits)
	c := &Copy{From: &Memory{Space: Global, Size: n}, Bytes: n, SourceBytes: Element{Offset: -1}, Ignore: -1}
	to := &Memory{Space: Shared, Size: n, Copy: c}
	if err := l.address(to, operands[0], false); err != nil {
		return err
	}
	if err := l.address(c.From, operands[1], false); err != nil {
		return err
	}
	if len(operands) == 4 {
		var err error
		if t, ok := l.registerType(operands[3]); ok && t.kind == predicate || operands[3].Negated {
			c.Ignore, c.IgnoreNot, err = l.predicateSource(operands[3])
		} else {
			c.SourceBytes, err = l.atomicOperand(operands[3], word)
		}
		if err != nil {
			return err
		}
	}
	return l.add(Inst{Kind: AsyncCopy, Class: verdict.Asynchronous, Memory: to})
}
