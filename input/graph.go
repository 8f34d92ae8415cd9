package input

import (
	"sort"

	"mage/tensor"
)

// fillGraph draws the edges of a graph with n nodes in compressed sparse rows.
// Edge k draws its row from stream "rows"; sorting the edges by row (only the
// counts matter) gives the row pointers. Then the edge that lies at position e
// draws its source from stream "indices".
func fillGraph(rowptr, indices tensor.Tensor, n, edges int, distribution string, seed uint64) error {
	g := graph{n: uint64(n)}
	for name, s := range map[string]*stream{"rows": &g.rows, "indices": &g.indices, "ranks": &g.ranks, "pick": &g.picks} {
		var err error
		if *s, err = newStream(seed, name); err != nil {
			return err
		}
	}
	row, source := g.choosers(distribution)

	ptr := make([]uint32, n+1)
	for k := range edges {
		ptr[row(uint64(k))+1]++
	}
	for i := range n {
		ptr[i+1] += ptr[i]
	}
	idx := make([]uint32, edges)
	for i := range n {
		for e := ptr[i]; e < ptr[i+1]; e++ {
			idx[e] = uint32(source(uint64(i), uint64(e)))
		}
	}
	rowptr.PutUint32s(ptr)
	indices.PutUint32s(idx)
	return nil
}

type graph struct {
	n                           uint64
	rows, indices, ranks, picks stream
}

// choosers returns the row of the k-th edge drawn, and the source of the edge
// at position e, which lies in the given row.
func (g *graph) choosers(distribution string) (row func(k uint64) uint64, source func(row, e uint64) uint64) {
	row = func(k uint64) uint64 { return g.rows.below(k, g.n) }
	source = func(_, e uint64) uint64 { return g.indices.below(e, g.n) }
	switch distribution {
	case PowerLaw:
		// Both ends follow the same popularity: a node with many edges is also
		// read by many rows, as in social and web graphs.
		node, popular := g.permutation(), popularity(g.n)
		total := popular[g.n-1]
		row = func(k uint64) uint64 { return node[rank(popular, g.rows.below(k, total))] }
		source = func(_, e uint64) uint64 { return node[rank(popular, g.indices.below(e, total))] }
	case Hub:
		hub := g.rows.below(0, g.n)
		row = func(uint64) uint64 { return hub }
	case EmptyRows:
		node, filled := g.permutation(), max(1, g.n/16)
		row = func(k uint64) uint64 { return node[g.rows.below(k, filled)] }
	case Duplicates:
		source = func(row, e uint64) uint64 { return g.indices.below(2*row+g.picks.draw(e)&1, g.n) }
	}
	return row, source
}

// permutation shuffles the nodes (Fisher–Yates, Durstenfeld's form): step i
// from n−1 down to 1 swaps i with a draw of [0, i].
func (g *graph) permutation() []uint64 {
	p := make([]uint64, g.n)
	for i := range p {
		p[i] = uint64(i)
	}
	for i := g.n - 1; i > 0; i-- {
		j := g.ranks.below(i, i+1)
		p[i], p[j] = p[j], p[i]
	}
	return p
}

// popularity returns the running sums of ⌊2⁴⁰/r⌋ over the ranks r = 1 … n:
// Zipf's law with exponent 1, in integers. n < 2³¹ keeps the sum below 2⁴⁵.
func popularity(n uint64) []uint64 {
	sums := make([]uint64, n)
	var sum uint64
	for i := range sums {
		sum += 1 << 40 / uint64(i+1)
		sums[i] = sum
	}
	return sums
}

// rank returns the first index whose running sum exceeds t.
func rank(sums []uint64, t uint64) int {
	return sort.Search(len(sums), func(i int) bool { return sums[i] > t })
}
