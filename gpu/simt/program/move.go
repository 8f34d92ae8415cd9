package program

import (
	"mage/gpu/simt/lanes"
	"mage/gpu/simt/ptx"
	"mage/gpu/verdict"
)

func (l *lowerer) move() error {
	t, ok := l.mods.typ()
	if !ok {
		return l.unknown()
	}
	if err := l.want(2); err != nil {
		return err
	}
	d, a := l.in.Operands[0], l.in.Operands[1]
	switch {
	case t.kind == predicate:
		return l.movePredicate(d, a)
	case a.Kind == ptx.Vector:
		return l.pack(d, a, t)
	case d.Kind == ptx.Vector:
		return l.unpack(d, a, t)
	}
	if name := specialName(a); isCounter(name) {
		r, err := l.destination(d, t)
		if err != nil {
			return err
		}
		return l.add(Inst{Kind: Counter, Class: verdict.Movement, Regs: lanes.Regs{D: r}, Warp: &Warp{Mode: name, Wide: t.wide()}})
	}
	if t.wide() {
		return l.compute(pure{verdict.Movement, 0, lanes.Unary(lanes.Move[uint64])}, t, t)
	}
	return l.compute(pure{verdict.Movement, 0, lanes.Unary(lanes.Move[uint32])}, t, t)
}

func (l *lowerer) movePredicate(d, a ptx.Operand) error {
	r, err := l.destination(d, typ{kind: predicate, bits: 1})
	if err != nil {
		return err
	}
	if a.Kind == ptx.Integer {
		var all uint32
		if a.Bits != 0 {
			all = lanes.Full
		}
		return l.add(Inst{Kind: Pure, Class: verdict.Movement,
			Run: lanes.Predicates(r, r, r, false, false, func(_, _ uint32) uint32 { return all })})
	}
	s, not, err := l.predicateSource(a)
	if err != nil {
		return err
	}
	return l.add(Inst{Kind: Pure, Class: verdict.Movement,
		Run: lanes.Predicates(r, s, s, not, not, func(a, _ uint32) uint32 { return a })})
}

// parts reads the registers of a vector whose elements share the bits of t.
func (l *lowerer) parts(v ptx.Operand, t typ, read bool) ([]lanes.Part, int, error) {
	n := len(v.List)
	if n == 0 || n&(n-1) != 0 || t.bits/n < 8 {
		return nil, 0, l.unknown()
	}
	width := t.bits / n
	e := typ{name: "b" + map[int]string{8: "8", 16: "16", 32: "32", 64: "64"}[width], bits: width}
	parts := make([]lanes.Part, n)
	for i, o := range v.List {
		var at int32
		var err error
		switch {
		case !read && o.Name == "_":
			at = -1
		case read:
			at, err = l.source(o, e)
		default:
			at, err = l.destination(o, e)
		}
		if err != nil {
			return nil, 0, err
		}
		parts[i] = lanes.Part{Offset: at, Wide: e.wide()}
	}
	return parts, width, nil
}

func (l *lowerer) pack(d, a ptx.Operand, t typ) error {
	parts, width, err := l.parts(a, t, true)
	if err != nil {
		return err
	}
	r, err := l.destination(d, t)
	if err != nil {
		return err
	}
	return l.add(Inst{Kind: Pure, Class: verdict.Movement, Run: lanes.Pack(lanes.Part{Offset: r, Wide: t.wide()}, parts, width)})
}

func (l *lowerer) unpack(d, a ptx.Operand, t typ) error {
	r, err := l.source(a, t)
	if err != nil {
		return err
	}
	parts, width, err := l.parts(d, t, false)
	if err != nil {
		return err
	}
	return l.add(Inst{Kind: Pure, Class: verdict.Movement, Run: lanes.Unpack(parts, lanes.Part{Offset: r, Wide: t.wide()}, width)})
}

// specialName is "%tid.x" for an operand that may be a special register.
func specialName(o ptx.Operand) string {
	if o.Kind != ptx.Name || len(o.Name) < 2 || o.Name[0] != '%' {
		return ""
	}
	if o.Member != "" {
		return o.Name + "." + o.Member
	}
	return o.Name
}

// isCounter tells the special registers whose value changes as the warp runs.
func isCounter(name string) bool {
	switch name {
	case "%clock", "%clock64", "%clock_hi", "%globaltimer", "%globaltimer_lo", "%globaltimer_hi":
		return true
	}
	return false
}

// specials are those that stay the same while a warp runs, with their width.
func isSpecial(name string) bool {
	switch name {
	case "%tid.x", "%tid.y", "%tid.z", "%ntid.x", "%ntid.y", "%ntid.z",
		"%ctaid.x", "%ctaid.y", "%ctaid.z", "%nctaid.x", "%nctaid.y", "%nctaid.z",
		"%laneid", "%warpid", "%nwarpid", "%smid", "%nsmid", "%gridid",
		"%lanemask_eq", "%lanemask_lt", "%lanemask_le", "%lanemask_gt", "%lanemask_ge",
		"%dynamic_smem_size", "%total_smem_size", "%aggr_smem_size",
		"%clusterid.x", "%clusterid.y", "%clusterid.z", "%nclusterid.x", "%nclusterid.y", "%nclusterid.z",
		"%cluster_ctaid.x", "%cluster_ctaid.y", "%cluster_ctaid.z",
		"%cluster_nctaid.x", "%cluster_nctaid.y", "%cluster_nctaid.z",
		"%cluster_ctarank", "%cluster_nctarank", "%is_explicit_cluster":
		return true
	}
	return false
}

// specialRegister returns the register that holds a special register.
func (l *lowerer) specialRegister(o ptx.Operand, t typ) (int32, bool) {
	name := specialName(o)
	if !isSpecial(name) {
		return 0, false
	}
	key := name
	if t.wide() {
		key += " wide"
	}
	if at, ok := l.special[key]; ok {
		return at, true
	}
	at := l.allocate(t.class())
	l.special[key] = at
	l.program.Specials = append(l.program.Specials, Special{at, name, t.wide()})
	return at, true
}
