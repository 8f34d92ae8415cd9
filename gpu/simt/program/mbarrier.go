package program

import (
	"mage/gpu/simt/lanes"
	"mage/gpu/simt/ptx"
	"mage/gpu/verdict"
)

// Arrival is what an mbarrier instruction does with the object at its address.
type Arrival struct {
	// Op is "init", "inval", "expect_tx", "complete_tx", "arrive", "arrive_drop",
	// "test_wait", "try_wait" or "copies" (cp.async.mbarrier.arrive).
	Op string
	// Count is of arrivals or bytes, Tx of bytes that an arrival expects; State is
	// the state to wait for, or its parity. Their offset is -1 where there are none.
	Count, Tx, State Element
	Parity           bool
	// Result gets the state before an arrival, -1 for none.
	Result Element
	// Increment says that cp.async.mbarrier.arrive counts itself first.
	Increment bool
}

// mbarrier lowers mbarrier and its parts.
func (l *lowerer) mbarrier() error {
	op := l.mods.oneOf("arrive", "arrive_drop", "init", "inval", "expect_tx", "complete_tx", "test_wait", "try_wait", "pending_count")
	none := Element{Offset: -1}
	a := &Arrival{Op: op, Count: none, Tx: none, State: none, Result: none}
	m := &Memory{Size: 8, Arrival: a}
	l.semantics(m)
	m.Space, _ = l.spaceModifier()
	expect := (op == "arrive" || op == "arrive_drop") && l.mods.take("expect_tx")
	l.mods.take("noComplete")
	a.Parity = l.mods.take("parity")
	if !l.mods.take("b64") || m.Space != Shared && m.Space != Generic {
		return l.unknown()
	}
	operands := l.in.Operands
	next := func(t typ) (e Element, err error) {
		if len(operands) == 0 {
			return none, l.want(len(l.in.Operands) + 1)
		}
		e, err = l.atomicOperand(operands[0], t)
		operands = operands[1:]
		return e, err
	}
	in := Inst{Kind: MBarrier, Class: verdict.Synchronisation, Memory: m, Regs: lanes.Regs{D: -1, P: -1}}
	var err error
	switch op {
	case "":
		return l.unknown()
	case "pending_count":
		f := func(state uint64) uint32 { return PendingOf(state) }
		return l.compute(pure{verdict.Integer, 0, lanes.Each1(f)}, word, wide)
	case "arrive", "arrive_drop", "test_wait", "try_wait":
		if len(operands) < 2 {
			return l.want(2)
		}
		if err := l.arrivalResult(&in, operands[0]); err != nil {
			return err
		}
		operands = operands[1:]
	}
	if len(operands) == 0 {
		return l.want(1)
	}
	if err := l.address(m, operands[0], false); err != nil {
		return err
	}
	operands = operands[1:]
	switch {
	case op == "test_wait" || op == "try_wait":
		t := wide
		if a.Parity {
			t = word
		}
		if a.State, err = next(t); err != nil {
			return err
		}
		if op == "try_wait" && len(operands) == 1 { // how long to wait: as long as it takes
			_, err = next(word)
		}
	case expect:
		a.Tx, err = next(word)
	case op == "init" || op == "expect_tx" || op == "complete_tx" || len(operands) > 0 && op != "inval":
		a.Count, err = next(word)
	}
	if err != nil {
		return err
	}
	if len(operands) > 0 {
		return l.unknown()
	}
	return l.add(in)
}

// arrivalResult reads the state, or the predicate, that an instruction returns.
func (l *lowerer) arrivalResult(in *Inst, d ptx.Operand) error {
	op := in.Memory.Arrival.Op
	var err error
	switch {
	case op == "test_wait" || op == "try_wait":
		in.Regs.D, err = l.destination(d, typ{kind: predicate, bits: 1})
	case d.Name != "_":
		in.Memory.Arrival.Result, err = l.element(d, wide, false)
	}
	return err
}

// copiesArrive lowers cp.async.mbarrier.arrive.
func (l *lowerer) copiesArrive() error {
	none := Element{Offset: -1}
	m := &Memory{Size: 8, Arrival: &Arrival{Op: "copies", Count: none, Tx: none, State: none, Result: none}}
	if !l.mods.take("arrive") {
		return l.unknown()
	}
	m.Arrival.Increment = !l.mods.take("noinc")
	m.Space, _ = l.spaceModifier()
	if !l.mods.take("b64") || m.Space != Shared && m.Space != Generic {
		return l.unknown()
	}
	if err := l.want(1); err != nil {
		return err
	}
	if err := l.address(m, l.in.Operands[0], false); err != nil {
		return err
	}
	return l.add(Inst{Kind: MBarrier, Class: verdict.Asynchronous, Memory: m, Regs: lanes.Regs{D: -1, P: -1}})
}

// An mbarrier object is opaque to programs. Here its bits hold the arrivals that are
// pending (20), those that a phase expects (20), bytes in flight (21, signed), and
// the parity of the phase (the top bit).
const (
	arrivalBits = 20
	bytesBits   = 21
	// MaxArrivals is the largest count of an mbarrier (PTX manual).
	MaxArrivals = 1<<arrivalBits - 1
)

// PendingOf returns the arrivals that an mbarrier's state waits for.
func PendingOf(state uint64) uint32 { return uint32(state & MaxArrivals) }

// Phase is the content of an mbarrier object.
type Phase struct {
	Pending, Expected, Bytes int64
	Odd                      bool
}

// DecodePhase reads an object's bits.
func DecodePhase(v uint64) Phase {
	return Phase{
		Pending: int64(v & MaxArrivals), Expected: int64(v >> arrivalBits & MaxArrivals),
		Bytes: int64(v<<(64-bytesBits-2*arrivalBits)) >> (64 - bytesBits), Odd: v>>63 != 0,
	}
}

// Encode returns the object's bits.
func (p Phase) Encode() uint64 {
	v := uint64(p.Pending)&MaxArrivals | uint64(p.Expected)&MaxArrivals<<arrivalBits | uint64(p.Bytes)&(1<<bytesBits-1)<<(2*arrivalBits)
	if p.Odd {
		v |= 1 << 63
	}
	return v
}
