package cpu

// A matrix product out = L·Rᵀ in three levels: a tile of tileRows × tileColumns
// outputs per piece of work, depth steps of k at a time so that the panels stay
// in the second-level cache, and leftRows × rightRows sums in registers. The
// layout follows Goto and van de Geijn, Anatomy of high-performance matrix
// multiplication, ACM TOMS 34(3), 2008.
const (
	leftRows    = 4 // 4×2 sums and their 6 factors fit 16 registers
	rightRows   = 2
	tileRows    = 64
	tileColumns = 128
	depth       = 256
	packRows    = 32 // rows per piece of packing work; a multiple of both heights
)

// panels holds a rows × k matrix cut into panels of height rows; within a panel
// the height values of each k lie together. Rows missing at the end are zero.
type panels struct {
	rows, k, height int
	data            []float32
}

func newPanels(rows, k, height int) *panels {
	return &panels{rows, k, height, make([]float32, (rows+height-1)/height*height*k)}
}

// pieces is the number of pieces of work that packing divides into.
func (p *panels) pieces() int { return (p.rows + packRows - 1) / packRows }

// pack copies the rows of one piece from src, where element (row, l) lies at
// row·rowStride + l·columnStride.
func (p *panels) pack(piece int, src []float32, rowStride, columnStride int) {
	h := p.height
	first, last := piece*packRows, min((piece+1)*packRows, p.rows)
	if rowStride < columnStride {
		// The rows are contiguous in src: walk along them.
		for l := range p.k {
			from := src[l*columnStride:]
			for r := first; r < last; r++ {
				p.data[(r/h*p.k+l)*h+r%h] = from[r*rowStride]
			}
		}
		return
	}
	for r := first; r < last; r++ {
		from := src[r*rowStride:]
		to := p.data[r/h*p.k*h+r%h:]
		for l := range p.k {
			to[l*h] = from[l*columnStride]
		}
	}
}

// panel returns steps [from, to) of panel i.
func (p *panels) panel(i, from, to int) []float32 {
	base := i * p.k * p.height
	return p.data[base+from*p.height : base+to*p.height]
}

// product multiplies packed panels; output (i, j) lies at
// i·rowStride + j·columnStride.
type product struct {
	left, right             *panels
	out                     []float32
	rowStride, columnStride int
}

func (p *product) across() int { return (p.right.rows + tileColumns - 1) / tileColumns }

// tiles is the number of pieces of work.
func (p *product) tiles() int { return (p.left.rows + tileRows - 1) / tileRows * p.across() }

// tile computes one tile of the output.
func (p *product) tile(piece int) {
	i0, j0 := piece/p.across()*tileRows, piece%p.across()*tileColumns
	i1, j1 := min(i0+tileRows, p.left.rows), min(j0+tileColumns, p.right.rows)
	for k0 := 0; k0 < p.left.k; k0 += depth {
		k1 := min(k0+depth, p.left.k)
		for j := j0; j < j1; j += rightRows {
			right := p.right.panel(j/rightRows, k0, k1)
			for i := i0; i < i1; i += leftRows {
				sums := multiply(p.left.panel(i/leftRows, k0, k1), right)
				p.store(&sums, i, j, k0 > 0)
			}
		}
	}
}

// store writes the sums that lie inside the output, or adds them to what the
// earlier steps of k left there.
func (p *product) store(sums *[leftRows][rightRows]float32, i, j int, add bool) {
	for r := range min(leftRows, p.left.rows-i) {
		for c := range min(rightRows, p.right.rows-j) {
			o := &p.out[(i+r)*p.rowStride+(j+c)*p.columnStride]
			if add {
				*o += sums[r][c]
			} else {
				*o = sums[r][c]
			}
		}
	}
}

// multiply returns the sums over k of the products of every row of a left panel
// with every row of a right panel.
func multiply(left, right []float32) (sums [leftRows][rightRows]float32) {
	var s00, s01, s10, s11, s20, s21, s30, s31 float32
	for len(left) >= 4 && len(right) >= 2 {
		b0, b1 := right[0], right[1]
		a := left[0]
		s00 += a * b0
		s01 += a * b1
		a = left[1]
		s10 += a * b0
		s11 += a * b1
		a = left[2]
		s20 += a * b0
		s21 += a * b1
		a = left[3]
		s30 += a * b0
		s31 += a * b1
		left, right = left[4:], right[2:]
	}
	return [leftRows][rightRows]float32{{s00, s01}, {s10, s11}, {s20, s21}, {s30, s31}}
}
