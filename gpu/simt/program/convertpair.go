package program

import (
	"mage/gpu/simt/lanes"
	"mage/gpu/verdict"
)

// packIntegers lowers cvt.pack.sat d, a, b: a and b clamped, a in the upper half; of
// bytes the upper two are the lower half of a third operand.
func (l *lowerer) packIntegers() error {
	sat := l.mods.take("sat")
	d, ok := l.mods.typ()
	a, ok2 := l.mods.typ()
	if !sat || !ok || !ok2 || a.name != "s32" || d.kind != signed && d.kind != unsigned || d.bits > 16 {
		return l.unknown()
	}
	clamp := func(v int32) uint32 { return uint32(lanes.Clamp(uint64(int64(v)), true, d.bits, d.signed())) }
	if d.bits == 16 {
		return l.compute(pure{verdict.Conversion, 0, lanes.Each2(func(a, b int32) uint32 { return clamp(a)<<16 | clamp(b) })}, word, a, a)
	}
	if !l.mods.take("b32") {
		return l.unknown()
	}
	return l.compute(pure{verdict.Conversion, 0, lanes.Each3(func(a, b int32, c uint32) uint32 {
		return c<<16 | clamp(a)<<8 | clamp(b)
	})}, word, a, a, word)
}

// bytePair consumes a type of two 8-bit floats, and tells whether it is the last
// modifier and so the source.
func bytePair(m *mods) (f lanes.Format, last, ok bool) {
	n := len(m.list)
	last = n > 0 && (m.list[n-1] == "e4m3x2" || m.list[n-1] == "e5m2x2")
	switch m.oneOf("e4m3x2", "e5m2x2") {
	case "e4m3x2":
		return lanes.E4M3, last, true
	case "e5m2x2":
		return lanes.E5M2, last, true
	}
	return lanes.Format{}, false, false
}

// convertPair lowers cvt.f16x2.f32 d, a, b: a goes to the upper half.
func (l *lowerer) convertPair(c conversion, d, a typ) error {
	if d.format == nil || a.name != "f32" {
		return l.unknown()
	}
	if c == (conversion{}) {
		return l.compute(pure{verdict.Conversion, 0, lanes.ToPair(*d.format)}, d, a, a)
	}
	encode := c.encoder(d)
	return l.compute(pure{verdict.Conversion, 0, lanes.Each2(func(hi, lo float32) uint32 {
		return uint32(encode(float64(lo)) | encode(float64(hi))<<16)
	})}, d, a, a)
}

// convertBytes lowers conversions to a pair of 8-bit floats.
func (l *lowerer) convertBytes(c conversion, f lanes.Format) error {
	a, ok := l.mods.typ()
	if !ok {
		return l.unknown()
	}
	short := typ{name: "b16", bits: 16}
	encode := func(x float64) uint32 {
		if c.relu && !(x > 0) && x == x {
			x = 0
		}
		return f.Encode(x, c.rounding, true)
	}
	switch a.name {
	case "f32":
		return l.compute(pure{verdict.Conversion, 0, lanes.Each2(func(hi, lo float32) uint32 {
			return encode(float64(lo)) | encode(float64(hi))<<8
		})}, short, a, a)
	case "f16x2":
		return l.compute(pure{verdict.Conversion, 0, lanes.Each1(func(v uint32) uint32 {
			return encode(lanes.Half.Decode(v&0xffff)) | encode(lanes.Half.Decode(v>>16))<<8
		})}, short, a)
	}
	return l.unknown()
}

// expandBytes lowers conversions from a pair of 8-bit floats to f16x2.
func (l *lowerer) expandBytes(c conversion, f lanes.Format) error {
	d, ok := l.mods.typ()
	if !ok || d.name != "f16x2" {
		return l.unknown()
	}
	encode := c.encoder(d)
	return l.compute(pure{verdict.Conversion, 0, lanes.Each1(func(v uint32) uint32 {
		return uint32(encode(f.Decode(v&0xff)) | encode(f.Decode(v>>8&0xff))<<16)
	})}, d, typ{name: "b16", bits: 16})
}
