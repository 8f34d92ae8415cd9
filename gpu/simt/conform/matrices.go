package conform

import (
	"fmt"
	"strings"
)

// matrices are mma.sync. Sums of floating-point products may differ between
// devices: the manual leaves their order and intermediate precision open.
func matrices() []Form {
	var all []Form
	add := func(shape, d, a, b string, na, nb, nd int, tolerance float64) {
		f := Form{Name: fmt.Sprintf("mma.sync.aligned.%s.row.col.%s.%s.%s.%s", shape, d, a, b, d), Tolerance: tolerance}
		var names [4]string
		vector := func(which, n int, prefix string, from int) {
			var list []string
			for i := range n {
				list = append(list, fmt.Sprintf("%%%s%d", prefix, from+i))
			}
			names[which] = "{" + strings.Join(list, ", ") + "}"
		}
		vector(0, nd, "r", 0)
		vector(1, na, "a", 0)
		vector(2, nb, "a", na)
		vector(3, nd, "a", na+nb)
		element := func(t string) string {
			switch t {
			case "f16", "bf16":
				return "unit" + t
			case "tf32", "f32":
				return "unitf32"
			case "e4m3", "e5m2":
				return "unit" + t
			case "f64":
				return "unitf64"
			}
			return "b32"
		}
		for range na {
			f.Operands = append(f.Operands, element(a))
		}
		for range nb {
			f.Operands = append(f.Operands, element(b))
		}
		for range nd {
			f.Operands = append(f.Operands, element(d))
			f.Results = append(f.Results, map[string]string{"f32": "f32", "f16": "f16x2", "s32": "s32", "f64": "f64"}[d])
		}
		f.Body = f.Name + " " + strings.Join(names[:], ", ") + ";"
		all = append(all, f)
	}
	// Operands lie within ±1, so that a sum of K products and c does within
	// ±(K+1). A tensor core keeps at least the 24 bits of float32 of the largest
	// term, and of e4m3 and e5m2 fewer.
	const single = 0x1p-17
	for _, a := range []string{"f16", "bf16"} {
		add("m16n8k8", "f32", a, a, 2, 1, 4, single)
		add("m16n8k16", "f32", a, a, 4, 2, 4, single)
	}
	add("m16n8k8", "f16", "f16", "f16", 2, 1, 2, 0x1p-6)
	add("m16n8k16", "f16", "f16", "f16", 4, 2, 2, 0x1p-6)
	add("m16n8k4", "f32", "tf32", "tf32", 2, 1, 4, single)
	add("m16n8k8", "f32", "tf32", "tf32", 4, 2, 4, single)
	add("m8n8k4", "f64", "f64", "f64", 1, 1, 2, 0x1p-49)
	for _, a := range []string{"s8", "u8"} {
		for _, b := range []string{"s8", "u8"} {
			add("m16n8k16", "s32", a, b, 2, 1, 4, 0)
			add("m16n8k32", "s32", a, b, 4, 2, 4, 0)
		}
	}
	for _, a := range []string{"e4m3", "e5m2"} {
		for _, b := range []string{"e4m3", "e5m2"} {
			add("m16n8k32", "f32", a, b, 4, 2, 4, 0x1p-7)
		}
	}
	return all
}
