package contract

import (
	"fmt"
	"testing"
)

// BenchmarkReference measures the float64 references at the default and large
// shapes, as GFLOP/s of the contract's own operation count.
func BenchmarkReference(b *testing.B) {
	for _, c := range All() {
		for _, family := range []string{"default", "large"} {
			shapes, err := Shapes(c, family)
			if err != nil {
				b.Fatal(err)
			}
			d := shapes[0]
			b.Run(fmt.Sprintf("%s/%s", c.Name(), d.Format(c.DimNames())), func(b *testing.B) {
				in := sample(c, d, 1)
				b.ResetTimer()
				for b.Loop() {
					c.Reference(d, in)
				}
				b.ReportMetric(c.FLOPs(d)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			})
		}
	}
}

// BenchmarkCheckInputs measures the host checks before any device allocation.
func BenchmarkCheckInputs(b *testing.B) {
	for _, c := range All() {
		d := c.Default()
		b.Run(c.Name(), func(b *testing.B) {
			in := sample(c, d, 1)
			n := int64(0)
			for _, t := range in {
				n += int64(len(t.Data))
			}
			b.SetBytes(n)
			b.ResetTimer()
			for b.Loop() {
				if err := c.CheckInputs(d, in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
