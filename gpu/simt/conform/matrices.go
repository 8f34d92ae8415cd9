package conform

import (
	"fmt"
	"strings"
)

// matrices are mma.sync. The manual leaves order and intermediate precision of sums
// open; the simulator has those of the GPU that was asked.
func matrices() []Form {
	var all []Form
	// Operands are within ±1, or wild: they are of all kinds.
	wild := false
	add := func(shape, d, a, b string, na, nb, nd int) {
		f := Form{Name: fmt.Sprintf("mma.sync.aligned.%s.row.col.%s.%s.%s.%s", shape, d, a, b, d)}
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
			if wild {
				return map[string]string{"f16": "f16x2", "bf16": "bf16x2", "tf32": "f32", "f32": "f32", "f64": "f64"}[t]
			}
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
		if wild {
			f.Name += " any"
		}
		all = append(all, f)
	}
	for _, a := range []string{"f16", "bf16"} {
		add("m16n8k8", "f32", a, a, 2, 1, 4)
		add("m16n8k16", "f32", a, a, 4, 2, 4)
	}
	add("m16n8k8", "f16", "f16", "f16", 2, 1, 2)
	add("m16n8k16", "f16", "f16", "f16", 4, 2, 2)
	add("m16n8k4", "f32", "tf32", "tf32", 2, 1, 4)
	add("m16n8k8", "f32", "tf32", "tf32", 4, 2, 4)
	add("m8n8k4", "f64", "f64", "f64", 1, 1, 2)
	for _, a := range []string{"s8", "u8"} {
		for _, b := range []string{"s8", "u8"} {
			add("m16n8k16", "s32", a, b, 2, 1, 4)
			add("m16n8k32", "s32", a, b, 4, 2, 4)
		}
	}
	for _, a := range []string{"e4m3", "e5m2"} {
		for _, b := range []string{"e4m3", "e5m2"} {
			add("m16n8k32", "f32", a, b, 4, 2, 4)
		}
	}
	wild = true
	add("m16n8k16", "f32", "f16", "f16", 4, 2, 4)
	add("m16n8k16", "f16", "f16", "f16", 4, 2, 2)
	add("m16n8k16", "f32", "bf16", "bf16", 4, 2, 4)
	add("m16n8k8", "f32", "tf32", "tf32", 4, 2, 4)
	add("m8n8k4", "f64", "f64", "f64", 1, 1, 2)
	return all
}
