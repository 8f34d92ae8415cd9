package native

import (
	"fmt"
	"math"

	"mage/gpu"
)

var (
	pointer = uint8(8)
	scalar  = uint8(4)
)

// fakeEntries are the kernels that the fake device knows, written from the
// contracts' formulas. Arguments are read by position, as the device would, so
// an argument in the wrong place gives a wrong result.
func fakeEntries() map[string]fakeEntry {
	return map[string]fakeEntry{
		"matmul": {[]uint8{pointer, pointer, pointer, scalar, scalar, scalar},
			func(d *fakeDevice, c gpu.Config, p []gpu.Arg) error {
				m, n, k := int(p[3].Bits), int(p[4].Bits), int(p[5].Bits)
				return d.with(p, []int{m * k, k * n, m * n}, threads(c, m*n), func(a []array) {
					for i := range m * n {
						sum := 0.0
						for j := range k {
							sum += a[0].f(i/n*k+j) * a[1].f(j*n+i%n)
						}
						a[2].set(i, sum)
					}
				})
			}},
		"gelu": {[]uint8{pointer, pointer, pointer, scalar, scalar},
			func(d *fakeDevice, c gpu.Config, p []gpu.Arg) error {
				count, width := int(p[3].Bits), int(p[4].Bits)
				return d.with(p, []int{count, width, count}, threads(c, count), func(a []array) {
					for i := range count {
						z := a[0].f(i) + a[1].f(i%width)
						a[2].set(i, z/2*(1+math.Tanh(math.Sqrt(2/math.Pi)*(z+0.044715*z*z*z))))
					}
				})
			}},
		"layernorm": {[]uint8{pointer, pointer, pointer, pointer, scalar},
			func(d *fakeDevice, c gpu.Config, p []gpu.Arg) error {
				rows, width := int(c.Grid[0]), int(p[4].Bits)
				return d.with(p, []int{rows * width, width, width, rows * width}, nil, func(a []array) {
					for r := range rows {
						mean, variance := 0.0, 0.0
						for i := range width {
							mean += a[0].f(r*width+i) / float64(width)
						}
						for i := range width {
							variance += math.Pow(a[0].f(r*width+i)-mean, 2) / float64(width)
						}
						for i := range width {
							x := (a[0].f(r*width+i) - mean) / math.Sqrt(variance+1e-5)
							a[3].set(r*width+i, x*a[1].f(i)+a[2].f(i))
						}
					}
				})
			}},
		"triangle": {[]uint8{pointer, pointer, pointer, scalar, scalar},
			func(d *fakeDevice, c gpu.Config, p []gpu.Arg) error {
				n, ch := int(p[3].Bits), int(p[4].Bits)
				all := n * n * ch
				return d.with(p, []int{all, all, all}, threads(c, all), func(a []array) {
					for o := range all {
						i, j, x := o/ch/n, o/ch%n, o%ch
						sum := 0.0
						for k := range n {
							sum += a[0].f((i*n+k)*ch+x) * a[1].f((j*n+k)*ch+x)
						}
						a[2].set(o, sum)
					}
				})
			}},
		"neighbor": {[]uint8{pointer, pointer, pointer, pointer, pointer, scalar, scalar},
			func(d *fakeDevice, c gpu.Config, p []gpu.Arg) error {
				count, features := int(p[5].Bits), int(p[6].Bits)
				rows := count / features
				ptr, err := d.array(p[2], rows+1)
				if err != nil {
					return err
				}
				edges := ptr.u(rows)
				return d.with(p, []int{count, edges, rows + 1, edges, count}, threads(c, count), func(a []array) {
					for i := range count {
						sum := 0.0
						for e := ptr.u(i / features); e < ptr.u(i/features+1); e++ {
							sum += a[1].f(e) * a[0].f(a[3].u(e)*features+i%features)
						}
						a[4].set(i, sum)
					}
				})
			}},
	}
}

// with resolves the leading arguments as arrays of the given lengths and runs f.
func (d *fakeDevice) with(p []gpu.Arg, lengths []int, problem error, f func([]array)) error {
	if problem != nil {
		return problem
	}
	var a []array
	for i, n := range lengths {
		next, err := d.array(p[i], n)
		if err != nil {
			return fmt.Errorf("argument %d: %w", i, err)
		}
		a = append(a, next)
	}
	f(a)
	return nil
}

// threads returns an error unless the launch has a thread for each output.
func threads(c gpu.Config, outputs int) error {
	n := 1
	for i := range 3 {
		n *= int(c.Grid[i]) * int(c.Block[i])
	}
	if n < outputs {
		return fmt.Errorf("%d threads for %d outputs", n, outputs)
	}
	return nil
}
