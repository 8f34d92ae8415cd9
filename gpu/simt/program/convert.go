package program

import (
	"math"

	"mage/gpu/simt/lanes"
	"mage/gpu/verdict"
)

// convert lowers cvt.
func (l *lowerer) convert() error {
	m := l.mods
	if m.take("pack") {
		return l.packIntegers()
	}
	rounding, integral := lanes.Nearest, false
	switch m.oneOf("rn", "rz", "rm", "rp", "rna", "rni", "rzi", "rmi", "rpi") {
	case "rz":
		rounding = lanes.Zero
	case "rm":
		rounding = lanes.Down
	case "rp":
		rounding = lanes.Up
	case "rna":
		rounding = lanes.NearestAway
	case "rni":
		integral = true
	case "rzi":
		rounding, integral = lanes.Zero, true
	case "rmi":
		rounding, integral = lanes.Down, true
	case "rpi":
		rounding, integral = lanes.Up, true
	}
	c := conversion{rounding: rounding, integral: integral, flush: m.take("ftz"),
		saturate: m.take("sat"), finite: m.take("satfinite"), relu: m.take("relu")}
	if f, last, ok := bytePair(m); ok {
		if last {
			return l.expandBytes(c, f)
		}
		return l.convertBytes(c, f)
	}
	d, ok := m.typ()
	if !ok {
		return l.unknown()
	}
	a, ok := m.typ()
	if !ok {
		return l.unknown()
	}
	if d.packed {
		return l.convertPair(c, d, a)
	}
	if d.name == "tf32" {
		return l.compute(pure{verdict.Conversion, 0, lanes.Each1(func(v float32) float32 {
			return lanes.TF32(v, c.rounding, c.relu, c.finite)
		})}, word, a)
	}
	return l.convertScalar(c, d, a)
}

// conversion is what a cvt asks for beside its types.
type conversion struct {
	rounding                                lanes.Rounding
	integral, flush, saturate, finite, relu bool
}

// convertScalar makes the Op from a function of a lane's 64 bits. The source may
// sit in a register wider than its type, and the destination too: integers are
// then extended.
func (l *lowerer) convertScalar(c conversion, d, a typ) error {
	if op := common(c, d, a); op != nil && l.fits(0, d) && l.fits(1, a) {
		return l.compute(pure{verdict.Conversion, 0, op}, d, a)
	}
	f := c.lane(d, a)
	dr, ar := d, a
	if r, ok := l.registerType(l.operand(0)); ok && d.kind != floating && r.bits > d.bits {
		to := r.bits
		g := f
		f = func(v uint64) uint64 { return lanes.Extend(g(v), d.bits, d.signed()) & (^uint64(0) >> (64 - to)) }
		dr = typ{name: r.name, bits: r.bits}
	}
	if r, ok := l.registerType(l.operand(1)); ok && r.bits > a.bits {
		ar = typ{name: r.name, bits: r.bits}
	}
	var op lanes.Op
	switch {
	case dr.wide() && ar.wide():
		op = lanes.Each1(f)
	case dr.wide():
		op = lanes.Each1(func(v uint32) uint64 { return f(uint64(v)) })
	case ar.wide():
		op = lanes.Each1(func(v uint64) uint32 { return uint32(f(v)) })
	default:
		op = lanes.Each1(func(v uint32) uint32 { return uint32(f(uint64(v))) })
	}
	return l.compute(pure{verdict.Conversion, 0, op}, dr, ar)
}

// fits reports whether an operand's register has the size of its type, in words.
func (l *lowerer) fits(i int, t typ) bool {
	r, ok := l.registerType(l.operand(i))
	return !ok || r.class() == t.class()
}

// common returns vectors for the conversions that kernels spend time in.
func common(c conversion, d, a typ) lanes.Op {
	if (c == conversion{integral: true, rounding: c.rounding}) && a.name == "f32" {
		switch d.name {
		case "s32":
			return lanes.ToSigned32(c.rounding)
		case "u32":
			return lanes.ToUnsigned32(c.rounding)
		}
	}
	if c != (conversion{}) {
		return nil
	}
	switch {
	case d.name == "f32" && a.name == "f32":
		return lanes.Unary(lanes.Move[uint32])
	case d.name == "f32" && a.name == "f16":
		return lanes.FromHalf()
	case d.name == "f16" && a.name == "f32":
		return lanes.ToHalf()
	case d.name == "f32" && a.name == "bf16":
		return lanes.FromBrain()
	case d.name == "bf16" && a.name == "f32":
		return lanes.ToBrain()
	case d.bits == 64 && d.kind != floating && a.name == "u32":
		return lanes.Unary(func(d *[lanes.Width]uint64, a *[lanes.Width]uint32) {
			for i := range d {
				d[i] = uint64(a[i])
			}
		})
	case d.bits == 64 && d.kind != floating && a.name == "s32":
		return lanes.Unary(func(d *[lanes.Width]int64, a *[lanes.Width]int32) {
			for i := range d {
				d[i] = int64(a[i])
			}
		})
	case d.bits == 32 && d.kind != floating && a.bits == 64 && a.kind != floating:
		return lanes.Unary(func(d *[lanes.Width]uint32, a *[lanes.Width]uint64) {
			for i := range d {
				d[i] = uint32(a[i])
			}
		})
	case d.name == "f32" && a.name == "u32":
		return lanes.Unary(func(d *[lanes.Width]float32, a *[lanes.Width]uint32) {
			for i := range d {
				d[i] = float32(a[i])
			}
		})
	case d.name == "f32" && a.name == "s32":
		return lanes.Unary(func(d *[lanes.Width]float32, a *[lanes.Width]int32) {
			for i := range d {
				d[i] = float32(a[i])
			}
		})
	}
	return nil
}

// lane returns the conversion of one lane.
func (c conversion) lane(d, a typ) func(uint64) uint64 {
	switch {
	case a.kind != floating && d.kind != floating:
		if c.saturate {
			return func(v uint64) uint64 {
				return lanes.Clamp(lanes.Extend(v, a.bits, a.signed()), a.signed(), d.bits, d.signed())
			}
		}
		mask := ^uint64(0) >> (64 - d.bits)
		return func(v uint64) uint64 { return lanes.Extend(v, a.bits, a.signed()) & mask }
	case a.kind != floating:
		if d.name == "f64" {
			clamp := c.clamp()
			return func(v uint64) uint64 {
				return math.Float64bits(clamp(lanes.IntegerTo64(lanes.Extend(v, a.bits, a.signed()), a.signed(), c.rounding)))
			}
		}
		encode := c.encoder(d)
		return func(v uint64) uint64 {
			return encode(lanes.IntegerOdd(lanes.Extend(v, a.bits, a.signed()), a.signed()))
		}
	}
	if d.name == "f16" {
		c.flush = false // the hardware does not, which directed rounding shows
	}
	decode := c.decoder(a)
	if d.kind != floating {
		f := lanes.ToInteger(d.bits, d.signed(), a.bits == 64, c.rounding)
		return func(v uint64) uint64 { return f(decode(v)) }
	}
	encode := c.encoder(d)
	if c.integral {
		mode := c.rounding
		return func(v uint64) uint64 { return encode(lanes.Integral(decode(v), mode)) }
	}
	nan := c.nan(d, a)
	return func(v uint64) uint64 {
		x := decode(v)
		if x != x {
			return nan(v)
		}
		return encode(x)
	}
}

// nan returns what becomes of NaN between floating-point types. The manual leaves it
// open; this is what an H200 does: where one of the types is f64 sign and upper bits
// stay, of bf16 to f32 all bits, and otherwise there is one NaN.
func (c conversion) nan(d, a typ) func(uint64) uint64 {
	encode := c.encoder(d)
	canonical := func(uint64) uint64 { return encode(math.NaN()) }
	switch {
	case c.saturate, c.relu:
		return canonical
	case a.name == "bf16" && d.name == "f32" && !c.flush:
		return func(v uint64) uint64 { return v & 0xffff << 16 }
	case a.name == "f32" && d.name == "f64" && c.flush:
		return func(uint64) uint64 { return lanes.MoveNaN(lanes.NaN32, shape(a), shape(d)) }
	case a.bits != 64 && d.bits != 64:
		return canonical
	}
	from, to := shape(a), shape(d)
	return func(v uint64) uint64 { return lanes.MoveNaN(v, from, to) }
}

// shape is the format of a floating-point type.
func shape(t typ) lanes.Format {
	switch {
	case t.format != nil:
		return *t.format
	case t.bits == 64:
		return lanes.Format{Exponent: 11, Mantissa: 52}
	}
	return lanes.Format{Exponent: 8, Mantissa: 23}
}

// decoder returns the value of a floating-point source.
func (c conversion) decoder(a typ) func(uint64) float64 {
	switch {
	case a.format != nil:
		return func(v uint64) float64 { return a.format.Decode(uint32(v)) }
	case a.bits == 64:
		return math.Float64frombits
	}
	return func(v uint64) float64 {
		x := math.Float32frombits(uint32(v))
		if c.flush {
			x = lanes.Flush32(x)
		}
		return float64(x)
	}
}

// clamp returns what .relu and .sat do to a value.
func (c conversion) clamp() func(float64) float64 {
	return func(x float64) float64 {
		if c.relu && !(x > 0) && x == x {
			x = 0
		}
		if c.saturate {
			if !(x > 0) {
				return 0
			}
			return min(x, 1)
		}
		return x
	}
}

// encoder rounds to a floating-point destination.
func (c conversion) encoder(d typ) func(float64) uint64 {
	clamp := c.clamp()
	switch {
	case d.format != nil:
		return func(x float64) uint64 { return uint64(d.format.Encode(clamp(x), c.rounding, c.finite)) }
	case d.bits == 64:
		return func(x float64) uint64 { return math.Float64bits(clamp(x)) }
	}
	return func(x float64) uint64 {
		x = clamp(x)
		if x != x {
			return lanes.NaN32
		}
		f := lanes.Narrow32(x, c.rounding)
		if c.flush {
			f = lanes.Flush32(f)
		}
		return uint64(math.Float32bits(f))
	}
}
