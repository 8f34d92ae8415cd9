package cpu

// naiveMatmul is C_ij = Σ_k A_ik B_kj, as written.
func naiveMatmul(b *buffers, _ *pool) func() {
	m, n, k := b.dims["M"], b.dims["N"], b.dims["K"]
	x, y, out := b.float["a"], b.float["b"], b.out
	return func() {
		for i := range m {
			for j := range n {
				sum := float32(0)
				for l := range k {
					sum += x[i*k+l] * y[l*n+j]
				}
				out[i*n+j] = sum
			}
		}
	}
}

// parallelMatmul packs both matrices into panels and multiplies tile by tile.
func parallelMatmul(b *buffers, p *pool) func() {
	m, n, k := b.dims["M"], b.dims["N"], b.dims["K"]
	x, y, out := b.float["a"], b.float["b"], b.out
	left := newPanels(m, k, leftRows)
	right := newPanels(n, k, rightRows)
	pr := product{left: left, right: right, out: out, rowStride: n, columnStride: 1}

	leftPieces, rightPieces := left.pieces(), right.pieces()
	pack := func(piece int) {
		if piece < leftPieces {
			left.pack(piece, x, k, 1)
		} else {
			right.pack(piece-leftPieces, y, 1, n)
		}
	}
	multiply := pr.tile // bound here: a method value allocates
	return func() {
		p.each(leftPieces+rightPieces, pack)
		p.each(pr.tiles(), multiply)
	}
}
