package cpu

// naiveTriangle is O_ijc = Σ_k A_ikc B_jkc, as written.
func naiveTriangle(b *buffers, _ *pool) func() {
	n, c := b.dims["N"], b.dims["C"]
	x, y, out := b.float["a"], b.float["b"], b.out
	return func() {
		for i := range n {
			for j := range n {
				for ch := range c {
					sum := float32(0)
					for k := range n {
						sum += x[(i*n+k)*c+ch] * y[(j*n+k)*c+ch]
					}
					out[(i*n+j)*c+ch] = sum
				}
			}
		}
	}
}

// parallelTriangle is one matrix product per channel: O_c = A_c B_cᵀ. The
// channels are interleaved in memory, so packing pays for itself at once.
func parallelTriangle(b *buffers, p *pool) func() {
	n, c := b.dims["N"], b.dims["C"]
	x, y, out := b.float["a"], b.float["b"], b.out
	left, right := make([]*panels, c), make([]*panels, c)
	products := make([]product, c)
	for ch := range c {
		left[ch], right[ch] = newPanels(n, n, leftRows), newPanels(n, n, rightRows)
		products[ch] = product{left: left[ch], right: right[ch], out: out[ch:], rowStride: n * c, columnStride: c}
	}
	leftPieces, rightPieces := left[0].pieces(), right[0].pieces()
	pack := func(piece int) {
		// All channels of the same rows together: they share cache lines.
		for ch := range c {
			if piece < leftPieces {
				left[ch].pack(piece, x[ch:], n*c, c)
			} else {
				right[ch].pack(piece-leftPieces, y[ch:], n*c, c)
			}
		}
	}
	tiles := products[0].tiles()
	multiply := func(piece int) { products[piece/tiles].tile(piece % tiles) }
	return func() {
		p.each(leftPieces+rightPieces, pack)
		p.each(c*tiles, multiply)
	}
}
