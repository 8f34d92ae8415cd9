package agreement

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"mage/kernels"
)

var sharedLoad = regexp.MustCompile(`^\s*ld\.shared\.f32\s+(%f\d+), \[(%rd\d+)(?:\+(\d+))?\];$`)

// merged is PTX in which four loads side by side are one of 16 bytes, as the
// compiler behind PTX makes of it. Nothing is stored between those loads.
func merged(text string) (string, int) {
	type load struct {
		line     int
		register string
	}
	lines := strings.Split(strings.ReplaceAll(text, ".shared .align 4 ", ".shared .align 16 "), "\n")
	loads := map[string]map[int]load{}
	for i, l := range lines {
		m := sharedLoad.FindStringSubmatch(l)
		if m == nil {
			continue
		}
		offset, _ := strconv.Atoi(m[3]) // 0 where there is none
		if loads[m[2]] == nil {
			loads[m[2]] = map[int]load{}
		}
		loads[m[2]][offset] = load{i, m[1]}
	}
	n := 0
	for base, at := range loads {
		for offset, first := range at {
			b, ok1 := at[offset+4]
			c, ok2 := at[offset+8]
			d, ok3 := at[offset+12]
			if offset%16 != 0 || !ok1 || !ok2 || !ok3 {
				continue
			}
			lines[first.line] = fmt.Sprintf("\tld.shared.v4.f32 {%s, %s, %s, %s}, [%s+%d];", first.register, b.register, c.register, d.register, base, offset)
			lines[b.line], lines[c.line], lines[d.line] = "", "", ""
			n++
		}
	}
	return strings.Join(lines, "\n"), n
}

// TestMergedLoadsExplainTheDifference: with the loads merged as the machine code has
// them, the simulator counts what Nsight Compute counted.
func TestMergedLoadsExplainTheDifference(t *testing.T) {
	counters := gpuCounters(t)
	dev, s := simulator(t)
	families := []string{"small"}
	if long() {
		families = append(families, "default")
	}
	for name, groups := range map[string]int{"cuda/first matmul": 4, "cuda/first triangle": 8} {
		for _, k := range loaded(t) {
			if k.Name() != name {
				continue
			}
			text, n := merged(string(k.PTX.Image))
			if n != groups {
				t.Fatalf("%s: %d loads of 16 bytes", name, n)
			}
			twin := k
			image := *k.PTX
			image.Image = []byte(text)
			twin.PTX = &image
			cases, err := KernelCases([]kernels.Kernel{k, twin}, families...)
			if err != nil {
				t.Fatal(err)
			}
			for i, c := range cases {
				here, _, err := c.Count(dev, s)
				if err != nil {
					t.Fatal(err)
				}
				differences := Compare(here, counters[c.Name])
				if isTwin := i%2 == 1; isTwin != (len(differences) == 0) {
					t.Errorf("%s, merged: %v: %+v", c.Name, isTwin, differences)
				}
			}
		}
	}
}
