package agreement

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mage/contract"
	"mage/kernels"
	"mage/kernels/triton"
)

var sharedLoad = regexp.MustCompile(`^\s*ld\.shared(?:\.v[24])?\.([fb]32)\s+\{?([^}\]]*?)\}?, \[(%rd?\d+)(?:\+(\d+))?\];$`)

// sumOf is an address that rustc works out on its own: a register and a constant.
var sumOf = regexp.MustCompile(`^\s*add\.s32\s+(%r\d+), (%r\d+), (\d+);$`)

// merged is PTX in which loads of neighbouring words from shared memory are one of 16
// or, failing that, 8 bytes, as the compiler behind PTX makes of them, and the number
// of those. Nothing is stored between those loads, and no register is loaded twice.
func merged(text string) (string, [2]int) {
	type word struct {
		line           int
		register, kind string
	}
	lines := strings.Split(strings.ReplaceAll(text, ".shared .align 4 ", ".shared .align 16 "), "\n")
	words := map[string]map[int]word{}
	type place struct {
		base   string
		offset int
	}
	sums := map[string]place{}
	for i, l := range lines {
		if m := sumOf.FindStringSubmatch(l); m != nil {
			offset, _ := strconv.Atoi(m[3])
			sums[m[1]] = place{m[2], offset}
		}
		m := sharedLoad.FindStringSubmatch(l)
		if m == nil {
			continue
		}
		offset, _ := strconv.Atoi(m[4]) // 0 where there is none
		at := place{m[3], offset}
		if sum, ok := sums[m[3]]; ok {
			at = place{sum.base, sum.offset + offset}
		}
		if words[at.base] == nil {
			words[at.base] = map[int]word{}
		}
		for n, register := range strings.Split(m[2], ", ") {
			words[at.base][at.offset+4*n] = word{i, register, m[1]}
		}
		lines[i] = ""
	}
	var n [2]int
	for base, at := range words {
		for _, offset := range slices.Sorted(maps.Keys(at)) {
			if _, left := at[offset]; !left {
				continue // in an earlier load
			}
			count := 1
			for _, wide := range []int{4, 2} {
				whole := offset%(4*wide) == 0
				for i := range wide {
					_, ok := at[offset+4*i]
					whole = whole && ok
				}
				if whole {
					count = wide
					n[(4-wide)/2]++
					break
				}
			}
			var registers []string
			first := at[offset]
			for i := range count {
				w := at[offset+4*i]
				delete(at, offset+4*i)
				registers = append(registers, w.register)
				first.line = min(first.line, w.line)
			}
			load := map[int]string{1: "%s %s", 2: "v2.%s {%s}", 4: "v4.%s {%s}"}[count]
			lines[first.line] += fmt.Sprintf("\tld.shared."+load+", [%s+%d];", first.kind, strings.Join(registers, ", "), base, offset)
		}
	}
	return strings.Join(lines, "\n"), n
}

// TestMergedLoadsExplainTheDifference: with the loads merged as the machine code has
// them, the simulator counts what Nsight Compute counted.
func TestMergedLoadsExplainTheDifference(t *testing.T) {
	families := []string{"small"}
	if long() {
		families = append(families, "default")
	}
	// Loads of 16 and of 8 bytes, as in the machine code.
	wanted := map[string][2]int{
		"cuda/first matmul": {4, 0}, "cuda/first triangle": {8, 0}, "rust/first matmul": {4, 0}, "rust/first triangle": {8, 0},
	}
	for _, k := range loaded(t) {
		if want, ok := wanted[k.Name()]; ok {
			text, n := merged(string(k.PTX.Image))
			if n != want {
				t.Fatalf("%s: %v loads of 16 and of 8 bytes", k.Name(), n)
			}
			twin := k
			image := *k.PTX
			image.Image = []byte(text)
			twin.PTX = &image
			twins, err := KernelCases([]kernels.Kernel{twin}, families...)
			if err != nil {
				t.Fatal(err)
			}
			compareMerged(t, twins)
			delete(wanted, k.Name())
		}
	}
	if len(wanted) > 0 {
		t.Errorf("there are no kernels %v", slices.Sorted(maps.Keys(wanted)))
	}
}

// The same for Triton's PTX, of a file per contract and shape.
func TestMergedLoadsExplainTheDifferenceOfTriton(t *testing.T) {
	families := []string{"small"}
	if long() {
		families = append(families, "default")
	}
	index, err := triton.Compiled()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"matmul", "triangle"} {
		c, err := contract.Find(name, contract.FP32)
		if err != nil {
			t.Fatal(err)
		}
		for _, family := range families {
			shapes, err := contract.Shapes(c, family)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range shapes {
				l, k, ok := index.Find(name, d)
				if !ok {
					t.Fatalf("%s at %v is not compiled", name, d)
				}
				text, err := triton.PTX(k)
				if err != nil {
					t.Fatal(err)
				}
				changed, _ := merged(string(text))
				compareMerged(t, []Case{tritonCase(index.Compiler, l, k, []byte(changed), c, d, family)})
			}
		}
	}
}

// sunk are loads per warp that the machine code moved behind a check of bounds, which
// no lane passes at that shape.
var sunk = map[string]int64{"triton/fixed triangle N=7,C=5 normal": 1}

// compareMerged: the twins agree with the GPU, and the PTX as it is, whose counters are
// retained, does not.
func compareMerged(t *testing.T, twins []Case) {
	t.Helper()
	counters, outputs, kept := gpuCounters(t), gpuOutputs(t), simulated(t)
	dev, s := simulator(t)
	for _, c := range twins {
		here, o, err := c.Count(dev, s)
		if err != nil {
			t.Fatal(err)
		}
		if o.SHA256 != outputs[c.Name].SHA256 {
			t.Errorf("%s, merged: the output is not the GPU's", c.Name)
		}
		g, ok := counters[c.Name]
		if !ok {
			t.Fatalf("%s was not counted", c.Name)
		}
		differences := slices.DeleteFunc(Compare(here, g), func(d Difference) bool {
			return sunk[c.Name] != 0 && d.Here-d.GPU == sunk[c.Name]*here.Warps
		})
		if len(differences) > 0 {
			t.Errorf("%s, merged: %+v", c.Name, differences)
		}
		if was, ok := kept[c.Name]; !ok || len(Compare(was, g)) == 0 {
			t.Errorf("%s: there is no difference to explain", c.Name)
		}
	}
}
