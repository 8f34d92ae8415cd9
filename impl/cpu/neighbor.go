package cpu

import "sort"

// naiveNeighbor adds the edges of each row, one by one. A long row is summed in
// runs: one sum over all edges of a hub would lose digits in proportion to its
// degree.
func naiveNeighbor(b *buffers, _ *pool) func() {
	n, f := b.dims["N"], b.dims["F"]
	x, w, rowptr, indices, out := b.float["a"], b.float["b"], b.index["rowptr"], b.index["indices"], b.out
	const run = 1024
	return func() {
		for i := range n {
			for j := range f {
				total := float32(0)
				for first := int(rowptr[i]); first < int(rowptr[i+1]); first += run {
					sum := float32(0)
					for e := first; e < min(first+run, int(rowptr[i+1])); e++ {
						sum += w[e] * x[int(indices[e])*f+j]
					}
					total += sum
				}
				out[i*f+j] = total
			}
		}
	}
}

// parallelNeighbor cuts rows and edges together into equal pieces, so that
// neither a hub nor a desert of empty rows unbalances the cores: the merge path
// of Merrill and Garland, Merge-based parallel sparse matrix-vector
// multiplication, SC '16, https://doi.org/10.1109/SC.2016.57. A piece that ends
// inside a row leaves its part of that row as a carry, added afterwards.
func parallelNeighbor(b *buffers, p *pool) func() {
	// A piece is also a run of the sum, which bounds its rounding error.
	const grain = 2048 // rows + edges
	n, edges, f := b.dims["N"], len(b.float["b"]), b.dims["F"]
	pieces := (n + edges + grain - 1) / grain
	m := &merge{
		f: f, x: b.float["a"], w: b.float["b"], rowptr: b.index["rowptr"], indices: b.index["indices"], out: b.out,
		pieces: pieces, carries: make([]float32, pieces*f), carryRow: make([]int, pieces),
	}
	piece := m.piece // bound here: a method value allocates
	return func() {
		p.each(m.pieces, piece)
		for i, row := range m.carryRow {
			if row >= 0 {
				addTo(m.out[row*f:(row+1)*f], m.carries[i*f:(i+1)*f])
			}
		}
	}
}

// merge is the work of parallelNeighbor: the rows and the edges, merged into
// one path on which a row comes after its last edge.
type merge struct {
	f               int
	x, w            []float32
	rowptr, indices []uint32
	out             []float32
	pieces          int
	carries         []float32 // f sums per piece
	carryRow        []int     // the row they belong to, −1 for none
}

// split returns the rows and edges that lie before step t of the path.
func (m *merge) split(t int) (row, edge int) {
	n := len(m.rowptr) - 1
	// Row i is at step i + rowptr[i+1]: the first row at or after t.
	row = sort.Search(n, func(i int) bool { return i+int(m.rowptr[i+1]) >= t })
	return row, t - row
}

func (m *merge) piece(i int) {
	n, edges := len(m.rowptr)-1, len(m.indices)
	from, to := divide(n+edges, m.pieces, i)
	row, edge := m.split(from)
	lastRow, lastEdge := m.split(to)
	for ; row < lastRow; row++ {
		end := int(m.rowptr[row+1])
		y := m.out[row*m.f : (row+1)*m.f]
		clear(y)
		m.accumulate(y, edge, end)
		edge = end
	}
	m.carryRow[i] = -1
	if edge < lastEdge {
		m.carryRow[i] = row
		y := m.carries[i*m.f : (i+1)*m.f]
		clear(y)
		m.accumulate(y, edge, lastEdge)
	}
}

// accumulate adds the edges [from, to) to y.
func (m *merge) accumulate(y []float32, from, to int) {
	f := m.f
	e := from
	for ; e+1 < to; e += 2 {
		w0, w1 := m.w[e], m.w[e+1]
		s0, s1 := int(m.indices[e])*f, int(m.indices[e+1])*f
		x0, x1 := m.x[s0:s0+len(y)], m.x[s1:s1+len(y)]
		for j := range y {
			y[j] += w0*x0[j] + w1*x1[j]
		}
	}
	if e < to {
		w0, s0 := m.w[e], int(m.indices[e])*f
		x0 := m.x[s0 : s0+len(y)]
		for j := range y {
			y[j] += w0 * x0[j]
		}
	}
}

func addTo(y, x []float32) {
	x = x[:len(y)]
	for j := range y {
		y[j] += x[j]
	}
}
