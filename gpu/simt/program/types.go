package program

import "mage/gpu/simt/lanes"

// kind of a type.
type kind uint8

const (
	untyped  kind = iota // b8…b64
	unsigned             // u8…u64
	signed               // s8…s64
	floating             // f16, bf16, f32, f64 and packed pairs
	predicate
)

// typ is a PTX type.
type typ struct {
	name string
	kind kind
	bits int
	// format is of f16, bf16 and their pairs; packed says that it is a pair.
	format *lanes.Format
	packed bool
}

func (t typ) signed() bool { return t.kind == signed }
func (t typ) wide() bool   { return t.bits == 64 }

// register is the size of the register that holds the type.
func (t typ) class() class {
	switch {
	case t.kind == predicate:
		return predicateClass
	case t.bits == 64:
		return wideClass
	}
	return wordClass
}

// parseType returns the type that a modifier names.
func parseType(s string) (typ, bool) {
	half, brain := lanes.Half, lanes.Brain
	switch s {
	case "pred":
		return typ{name: s, kind: predicate, bits: 1}, true
	case "f16":
		return typ{s, floating, 16, &half, false}, true
	case "bf16":
		return typ{s, floating, 16, &brain, false}, true
	case "f16x2":
		return typ{s, floating, 32, &half, true}, true
	case "bf16x2":
		return typ{s, floating, 32, &brain, true}, true
	case "f32x2":
		return typ{s, floating, 64, nil, true}, true
	case "f32", "tf32":
		return typ{s, floating, 32, nil, false}, true
	case "f64":
		return typ{s, floating, 64, nil, false}, true
	case "u16x2":
		return typ{s, unsigned, 32, nil, true}, true
	case "s16x2":
		return typ{s, signed, 32, nil, true}, true
	}
	if len(s) < 2 {
		return typ{}, false
	}
	k, ok := map[byte]kind{'b': untyped, 'u': unsigned, 's': signed}[s[0]]
	bits, known := map[string]int{"8": 8, "16": 16, "32": 32, "64": 64}[s[1:]]
	return typ{s, k, bits, nil, false}, ok && known
}

// class is the kind of storage a register has.
type class uint8

const (
	wordClass class = iota // up to 32 bits
	wideClass              // 64 bits
	predicateClass
)

// mods are the modifiers of an instruction, taken one by one. What is left over
// at the end is something that the simulator does not know.
type mods struct {
	list []string
	used []bool
}

func newMods(list []string) *mods { return &mods{list, make([]bool, len(list))} }

// take consumes a modifier if it is there.
func (m *mods) take(s string) bool {
	for i, v := range m.list {
		if v == s && !m.used[i] {
			m.used[i] = true
			return true
		}
	}
	return false
}

// oneOf consumes the first of the alternatives that is there, "" for none.
func (m *mods) oneOf(alternatives ...string) string {
	for _, a := range alternatives {
		if m.take(a) {
			return a
		}
	}
	return ""
}

// typ consumes the first type that is left.
func (m *mods) typ() (typ, bool) {
	for i, v := range m.list {
		if m.used[i] {
			continue
		}
		if t, ok := parseType(v); ok {
			m.used[i] = true
			return t, true
		}
	}
	return typ{}, false
}

// prefix consumes the modifiers that start with p.
func (m *mods) prefix(p string) bool {
	found := false
	for i, v := range m.list {
		if !m.used[i] && len(v) >= len(p) && v[:len(p)] == p {
			m.used[i] = true
			found = true
		}
	}
	return found
}

// rest reports whether something is left.
func (m *mods) rest() bool {
	for _, u := range m.used {
		if !u {
			return true
		}
	}
	return false
}

// rounding consumes a rounding mode; to nearest without one.
func (m *mods) rounding() lanes.Rounding {
	switch m.oneOf("rn", "rz", "rm", "rp") {
	case "rz":
		return lanes.Zero
	case "rm":
		return lanes.Down
	case "rp":
		return lanes.Up
	}
	return lanes.Nearest
}
