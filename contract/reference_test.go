package contract

import (
	"fmt"
	"math"
	"math/big"
	"runtime"
	"slices"
	"testing"
)

// direct computes the contract from its definition, one output element at a
// time, sharing neither code nor order of summation with Reference.
func direct(c Contract, d Dims, in Tensors) []float64 {
	a, b := in["a"].Float32s(), in["b"].Float32s()
	out := make([]float64, c.Output(d).Len())
	switch c.Name() {
	case "matmul":
		n, k := d["N"], d["K"]
		for o := range out {
			for q := k - 1; q >= 0; q-- {
				out[o] += float64(a[o/n*k+q]) * float64(b[q*n+o%n])
			}
		}
	case "gelu":
		for o := range out {
			// ½(1 + tanh u) = 1/(1 + exp(−2u))
			z := float64(a[o]) + float64(b[o%d["D"]])
			u := math.Sqrt(2/math.Pi) * (z + 0.044715*math.Pow(z, 3))
			out[o] = z / (1 + math.Exp(-2*u))
		}
	case "layernorm":
		width := d["D"]
		var sum, variance float64
		for o := range out {
			if o%width == 0 {
				row := a[o : o+width]
				sum, variance = 0, 0
				// σ² = Σ_{i<j} (x_i − x_j)² / D²: needs no mean.
				for i, v := range row {
					sum += float64(v)
					for _, w := range row[:i] {
						variance += (float64(v) - float64(w)) * (float64(v) - float64(w))
					}
				}
				variance /= float64(width * width)
			}
			out[o] = (float64(a[o])-sum/float64(width))/math.Sqrt(variance+1e-5)*float64(b[o%width]) +
				float64(in["c"].Float32s()[o%width])
		}
	case "triangle":
		n, ch := d["N"], d["C"]
		for o := range out {
			i, j, q := o/(n*ch), o/ch%n, o%ch
			for k := n - 1; k >= 0; k-- {
				out[o] += float64(a[(i*n+k)*ch+q]) * float64(b[(j*n+k)*ch+q])
			}
		}
	case "neighbor":
		rowptr, indices := in["rowptr"].Uint32s(), in["indices"].Uint32s()
		row := 0
		for e := range indices { // scatter, edge by edge
			for uint32(e) >= rowptr[row+1] {
				row++
			}
			for f := range d["F"] {
				out[row*d["F"]+f] += float64(b[e]) * float64(a[int(indices[e])*d["F"]+f])
			}
		}
	}
	return out
}

func TestReferenceAgreesWithDefinition(t *testing.T) {
	for _, c := range All() {
		for _, family := range []string{"small", "tails", "edge"} {
			shapes, err := Shapes(c, family)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range shapes {
				if testing.Short() && family == "tails" && c.FLOPs(d) > 1e6 {
					continue
				}
				in := sample(c, d, 3)
				if err := c.CheckInputs(d, in); err != nil {
					t.Fatal(err)
				}
				got, want := c.Reference(d, in), direct(c, d, in)
				if len(got) != len(want) {
					t.Fatalf("%s %v: %d elements, want %d", c.Name(), d, len(got), len(want))
				}
				for i := range got {
					if !near(got[i], want[i], 1e-12) {
						t.Fatalf("%s %v %v: %v, want %v", c.Name(), d, c.Output(d).Index(i), got[i], want[i])
					}
				}
			}
		}
	}
}

func near(got, want, tol float64) bool { return math.Abs(got-want) <= tol*(1+math.Abs(want)) }

func TestMatmulByIdentityIsExact(t *testing.T) {
	c, d := Matmul{}, Dims{"M": 65, "N": 129, "K": 129}
	in := sample(c, d, 5)
	eye := make([]float32, 129*129)
	for i := range 129 {
		eye[i*129+i] = 1
	}
	in["b"].PutFloat32s(eye)
	a := in["a"].Float32s()
	for i, v := range c.Reference(d, in) {
		if v != float64(a[i]) {
			t.Fatalf("element %d: %v, want %v", i, v, a[i])
		}
	}
}

func TestTriangleOfIdentityTransposes(t *testing.T) {
	c, d := Triangle{}, Dims{"N": 17, "C": 3}
	in := sample(c, d, 5)
	n, ch := d["N"], d["C"]
	eye := make([]float32, n*n*ch)
	for i := range n {
		for q := range ch {
			eye[(i*n+i)*ch+q] = 1
		}
	}
	in["a"].PutFloat32s(eye) // O_ijc = B_jic
	b := in["b"].Float32s()
	for o, v := range c.Reference(d, in) {
		i, j, q := o/(n*ch), o/ch%n, o%ch
		if want := float64(b[(j*n+i)*ch+q]); v != want {
			t.Fatalf("O[%d %d %d] = %v, want %v", i, j, q, v, want)
		}
	}
}

func TestConstantsGiveClosedForms(t *testing.T) {
	for _, v := range []float32{0, 1, -0.3, 1e-30, 3e30} {
		c := LayerNorm{}
		for _, d := range []Dims{{"R": 3, "D": 257}, {"R": 2, "D": 1}, {"R": 1, "D": 4097}} {
			in := sample(c, d, 9)
			fill(in["a"], v)
			beta := in["c"].Float32s()
			for i, y := range c.Reference(d, in) {
				if y != float64(beta[i%d["D"]]) {
					t.Fatalf("layernorm of constant %v at %v: %v, want beta %v", v, i, y, beta[i%d["D"]])
				}
			}
		}
	}
	c, d := Matmul{}, Dims{"M": 33, "N": 17, "K": 100}
	in := sample(c, d, 1)
	fill(in["a"], 0.5)
	fill(in["b"], 0.25)
	for i, y := range c.Reference(d, in) {
		if y != 12.5 {
			t.Fatalf("constant matmul element %d: %v, want 12.5", i, y)
		}
	}
}

func TestGELULimits(t *testing.T) {
	for z, want := range map[float64]float64{
		0: 0, 20: 20, -20: 0, 3e38: 3e38, -3e38: 0,
		1: 0.8411919906082768, // ½(1 + tanh(0.83347…)), from 40-digit decimal arithmetic
	} {
		if got := gelu(z); !near(got, want, 1e-15) {
			t.Errorf("gelu(%v) = %v, want %v", z, got, want)
		}
	}
	for z := -6.0; z < 6; z += 0.37 { // y(z) − y(−z) = z
		if got := gelu(z) - gelu(-z); !near(got, z, 1e-15) {
			t.Errorf("gelu(%v) − gelu(−%v) = %v", z, z, got)
		}
	}
}

func TestNeighborWithoutEdgesIsZero(t *testing.T) {
	c, d := Neighbor{}, Dims{"N": 7, "F": 9, "E": 0}
	in := sample(c, d, 1)
	if err := c.CheckInputs(d, in); err != nil {
		t.Fatal(err)
	}
	for i, y := range c.Reference(d, in) {
		if y != 0 {
			t.Fatalf("element %d: %v", i, y)
		}
	}
}

// The dense references lose nothing that the tolerance could notice: compare a
// few elements of a long sum with arithmetic of 200 bits.
func TestReferenceAgainstBigFloat(t *testing.T) {
	d := Dims{"M": 3, "N": 5, "K": 20011}
	in := sample(Matmul{}, d, 11)
	out := Matmul{}.Reference(d, in)
	a, b := in["a"].Float32s(), in["b"].Float32s()
	for _, o := range []int{0, 7, 14} {
		sum := new(big.Float).SetPrec(200)
		for k := range d["K"] {
			x := new(big.Float).SetPrec(200).SetFloat64(float64(a[o/5*d["K"]+k]))
			sum.Add(sum, x.Mul(x, big.NewFloat(float64(b[k*5+o%5]))))
		}
		if want, _ := sum.Float64(); !near(out[o], want, 1e-13) {
			t.Errorf("matmul element %d: %v, want %v", o, out[o], want)
		}
	}
	mean := compensatedMean([]float32{1e8, 1, -1e8, 1e-3})
	if want := (1 + float64(float32(1e-3))) / 4; mean != want {
		t.Errorf("mean %v, want %v", mean, want)
	}
}

func TestCompulsoryBytesCountsReferencedRowsOnce(t *testing.T) {
	c, d := Neighbor{}, Dims{"N": 10, "F": 4, "E": 6}
	in := sample(c, d, 1)
	in["indices"].PutUint32s([]uint32{3, 3, 3, 9, 9, 0})
	// 3 rows of 4 floats, 6 weights, 6 indices, 11 row pointers, 40 outputs
	if got, want := c.CompulsoryBytes(d, in), int64(4*(3*4+6+6+11+40)); got != want {
		t.Errorf("%d bytes, want %d", got, want)
	}
}

// References are cached and compared between machines: the same bits must come
// from any number of cores.
func TestReferenceDoesNotDependOnCores(t *testing.T) {
	for c, d := range map[Contract]Dims{
		Matmul{}: {"M": 300, "N": 333, "K": 257}, GELU{}: {"R": 300, "D": 768}, LayerNorm{}: {"R": 300, "D": 768},
		Triangle{}: {"N": 65, "C": 9}, Neighbor{}: {"N": 1000, "F": 33, "E": 20000},
	} {
		in := sample(c, d, 4)
		var first []float64
		for _, cores := range []int{1, 2, 7} {
			before := runtime.GOMAXPROCS(cores)
			got := c.Reference(d, in)
			runtime.GOMAXPROCS(before)
			if first == nil {
				first = got
			}
			if !slices.Equal(got, first) {
				t.Errorf("%s: %d cores give other bits than 1", c.Name(), cores)
			}
		}
	}
}

func ExampleContract() {
	for _, c := range All() {
		d := c.Default()
		if c.Name() == "neighbor" { // depends on the graph
			fmt.Printf("%-9s %.0f FLOP\n", c.Name(), c.FLOPs(d))
			continue
		}
		fmt.Printf("%-9s %.0f FLOP, %d bytes\n", c.Name(), c.FLOPs(d), c.CompulsoryBytes(d, nil))
	}
	// Output:
	// matmul    2147483648 FLOP, 12582912 bytes
	// gelu      31457280 FLOP, 25168896 bytes
	// layernorm 22032384 FLOP, 25171968 bytes
	// triangle  134217728 FLOP, 6291456 bytes
	// neighbor  8388608 FLOP
}
