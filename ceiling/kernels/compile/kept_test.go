package main

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"regexp"
	"strings"
	"testing"
)

// Instructions of compute capability 7.0 to 9.0 are 16 bytes, and the low nine bits say
// what one does, as nvdisasm -hex shows; and how PTX writes the same.
var kinds = []struct {
	name string
	code uint64
	ptx  *regexp.Regexp
}{
	{"loads from global memory", 0x181, regexp.MustCompile(`(?m)^\s*ld\.global\S*\.v4`)},
	{"stores to global memory", 0x186, regexp.MustCompile(`(?m)^\s*st\.global\S*\.v4`)},
	{"loads from shared memory", 0x184, regexp.MustCompile(`(?m)^\s*ld\.\S*shared\.v4`)},
	{"fused multiply-adds", 0x023, regexp.MustCompile(`(?m)^\s*fma\.rn\.f32`)},
	{"fused multiply-adds of doubles", 0x02b, regexp.MustCompile(`(?m)^\s*fma\.rn\.f64`)},
	{"products of a warp", 0x03c, regexp.MustCompile(`(?m)^\s*mma\.sync`)},
	{"products of a warpgroup", 0x1f0, regexp.MustCompile(`(?m)^\s*wgmma\.mma_async`)},
}

// TestAssemblerKeepsTheWork: a closed form does not tell how often something was done to
// arrive at it. The simulator counts what PTX says, and the assembler may still make one
// load of two alike: it must leave as many instructions as there were.
func TestAssemblerKeepsTheWork(t *testing.T) {
	compiler := nvrtc(t)
	seen := map[string]bool{}
	for _, k := range targets {
		source, err := os.ReadFile("../" + k.name + ".cu")
		if err != nil {
			t.Fatal(err)
		}
		architecture := "sm_90"
		if strings.HasSuffix(k.architecture, "a") {
			architecture = "sm_90a"
		}
		out, err := compiler.Compile(k.name+".cu", string(source), []string{"--gpu-architecture=" + architecture})
		if err != nil {
			t.Fatal(err)
		}
		made := instructions(t, out.CUBIN)
		for entry, text := range entries(string(out.PTX)) {
			for _, kind := range kinds {
				want := len(kind.ptx.FindAllString(text, -1))
				if want == 0 {
					continue
				}
				seen[kind.name] = true
				got := made[entry][kind.code]
				if kind.code == 0x184 { // reading a block's sum is no part of it
					got -= made[strings.Replace(entry, "shared_read", "read", 1)][kind.code]
				}
				if got < want {
					t.Errorf("%s: %d %s, of %d in PTX", entry, got, kind.name, want)
				}
			}
		}
	}
	for _, kind := range kinds {
		if !seen[kind.name] {
			t.Errorf("no kernel has %s", kind.name)
		}
	}
}

// entries are the kernels of a PTX text.
func entries(ptx string) map[string]string {
	out := map[string]string{}
	for _, part := range strings.Split(ptx, ".entry ")[1:] {
		name, _, _ := strings.Cut(part, "(")
		out[name] = part
	}
	return out
}

// instructions counts those of each kernel by their code.
func instructions(t *testing.T, cubin []byte) map[string]map[uint64]int {
	t.Helper()
	f, err := elf.NewFile(bytes.NewReader(cubin))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]map[uint64]int{}
	for _, s := range f.Sections {
		name, ok := strings.CutPrefix(s.Name, ".text.")
		if !ok {
			continue
		}
		code, err := s.Data()
		if err != nil {
			t.Fatal(err)
		}
		out[name] = map[uint64]int{}
		for ; len(code) >= 16; code = code[16:] {
			out[name][binary.LittleEndian.Uint64(code)&0x1ff]++
		}
	}
	return out
}
