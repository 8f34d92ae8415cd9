package lanes

// Lop3Op is lop3 with a table of eight bits. The table is turned into an exclusive or
// of products (its algebraic normal form), each of which is there or not.
func Lop3Op(table uint8) Op {
	var m [8]uint32
	for i := range m {
		// The product of the operands in i is there if an odd number of the entries
		// for subsets of i are one. a is bit 2 of an index, c bit 0.
		for k := range m {
			if k&^i == 0 && table>>k&1 != 0 {
				m[i] ^= Full
			}
		}
	}
	return Ternary(func(d, a, b, c *[Width]uint32) {
		for i := range d {
			x, y, z := a[i], b[i], c[i]
			d[i] = m[0] ^ z&(m[1]^y&m[3]) ^ y&m[2] ^ x&(m[4]^z&m[5]^y&(m[6]^z&m[7]))
		}
	})
}

// Extract32 is bfe of 32 bits.
func Extract32(signed bool) Op {
	if signed {
		return Ternary(func(d, a *[Width]int32, b, c *[Width]uint32) {
			for i := range d {
				pos, n := b[i]&0xff, c[i]&0xff
				left := max(32-int32(pos+n), 0) // above the field
				v := a[i] << left >> left >> pos
				if n == 0 {
					v = 0
				}
				d[i] = v
			}
		})
	}
	return Ternary(func(d, a, b, c *[Width]uint32) {
		for i := range d {
			d[i] = a[i] >> (b[i] & 0xff) & (1<<(c[i]&0xff) - 1)
		}
	})
}

// PermuteOp is prmt without a mode.
func PermuteOp() Op {
	return Ternary(func(d, a, b, c *[Width]uint32) {
		for i := range d {
			v, s := uint64(b[i])<<32|uint64(a[i]), c[i]
			if s&0x8888 != 0 {
				d[i] = Permute(a[i], b[i], s)
				continue
			}
			d[i] = uint32(v>>(s&7*8))&0xff | uint32(v>>(s>>4&7*8))&0xff<<8 | uint32(v>>(s>>8&7*8))&0xff<<16 | uint32(v>>(s>>12&7*8))<<24
		}
	})
}

// insert is bfi: the low n bits of a placed into b from bit pos on.
func insert[T uint32 | uint64](a, b T, pos, n uint32) T {
	if is32[T]() {
		pos, n = pos&0xff, n&0xff
	}
	mask := (T(1)<<n - 1) << pos
	return b&^mask | a<<pos&mask
}
