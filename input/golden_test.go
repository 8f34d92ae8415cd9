package input

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strings"
	"testing"

	"mage/contract"
)

// deviatesSHA256 is the hash of 50 000 deviates in full precision. Rounding to
// float32 would hide most products that a compiler fuses with a sum; this does
// not.
const deviatesSHA256 = "5f0bfa5e6570984fb17f984e3842fad684ea0b0f632418981ee5b0054a9121b5"

func TestGoldenDeviates(t *testing.T) {
	const n = 50_000
	s, err := newStream(DefaultSeed, "a")
	if err != nil {
		t.Fatal(err)
	}
	var data []byte
	for i := range uint64(n) {
		data = binary.LittleEndian.AppendUint64(data, math.Float64bits(normal(s.draw(i))))
	}
	sum := sha256.Sum256(data)
	if got := hex.EncodeToString(sum[:]); got != deviatesSHA256 {
		t.Errorf("the deviates hash to %s, want %s", got, deviatesSHA256)
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed: the independent implementation cannot run")
	}
	out, err := exec.Command(python, "testdata/generate.py", "deviates", "a", fmt.Sprint(DefaultSeed), fmt.Sprint(n)).CombinedOutput()
	if err != nil {
		t.Fatalf("python3: %v\n%s", err, out)
	}
	if got := strings.TrimSpace(string(out)); got != deviatesSHA256 {
		t.Errorf("the deviates hash to %s in Python, want %s", got, deviatesSHA256)
	}
}

// testdata/golden.txt fixes the bytes of every distribution: a change here is a
// change of every published input hash.
func TestGoldenSets(t *testing.T) {
	want, err := os.ReadFile("testdata/golden.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string]bool{}
	for line := range strings.Lines(string(want)) {
		lines[strings.TrimSpace(line)] = true
	}
	check := func(c contract.Contract, d contract.Dims, distribution string) {
		set, err := Generate(Case{Contract: c, Dims: d, Distribution: distribution, Seed: DefaultSeed})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range set.Tensors.Names() {
			line := fmt.Sprintf("%s %s %s %s %s", c.Name(), d.Format(c.DimNames()), distribution, name, set.SHA256[name])
			if !lines[line] {
				t.Errorf("not in testdata/golden.txt: %s", line)
			}
			delete(lines, line)
		}
	}
	for _, c := range contract.All() {
		for _, distribution := range Distributions(c.Name()) {
			check(c, c.Small(), distribution)
		}
		if !testing.Short() {
			check(c, c.Default(), DefaultDistribution(c.Name()))
		}
	}
	if !testing.Short() {
		for line := range lines {
			t.Errorf("in testdata/golden.txt but no longer generated: %s", line)
		}
	}
}
