package python

import (
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mage/contract"
	"mage/gate"
	"mage/input"
)

// Every copy that is left out leaves a canary; what is written whole leaves none,
// whatever it is.
func TestCanaries(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.OneOf(rapid.IntRange(1, 64), rapid.IntRange(1, 1<<17)).Draw(t, "bytes")
		data, c := make([]byte, n), newCanaries()
		c.put(data)
		piece := 512
		if n > 16<<10 {
			piece = 4096
		}
		// Copies are cut anywhere and are at least a piece long, but for the last.
		var cuts []int
		for at := 0; at < n; at += rapid.IntRange(piece+7, 4*piece).Draw(t, "copy") {
			cuts = append(cuts, at)
		}
		cuts = append(cuts, n)
		left := rapid.IntRange(0, len(cuts)-2).Draw(t, "left out")
		if left == len(cuts)-2 && n-cuts[left] < 8 {
			return // the worker counts what it copies
		}
		fill := rapid.Byte().Draw(t, "value")
		for at := range data {
			if at < cuts[left] || at >= cuts[left+1] {
				data[at] = fill
			}
		}
		if at := c.alive(data); at < cuts[left] || at >= cuts[left+1] {
			t.Fatalf("of %d bytes those from %d to %d were not written: alive is %d", n, cuts[left], cuts[left+1], at)
		}
		for at := range data {
			data[at] = fill
		}
		if at := c.alive(data); at >= 0 && n >= 8 {
			t.Fatalf("all %d bytes were written: alive is %d", n, at)
		}
	})
}

func TestAnArenaGrows(t *testing.T) {
	a, err := newArena()
	if err != nil {
		t.Fatal(err)
	}
	defer a.close()
	var before []byte
	for _, size := range []int64{1, 5000, 3 << 20, 2 << 20, 9<<20 + 1} {
		if err := a.grow(size); err != nil {
			t.Fatal(err)
		}
		if a.size < size {
			t.Fatalf("%d bytes, want %d", a.size, size)
		}
		all := a.at(place{0, a.size})
		if before != nil && (before[7] != 42 || all[7] != 42) {
			t.Error("growing lost what was there")
		}
		all[7], all[size-1] = 42, 1
		before = all
	}
}

// A full disk, or a machine without so much memory, is an error of that arm.
func TestAnArenaThatCannotGrow(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	if err != nil {
		t.Skip("skipped: ", err)
	}
	w := plain(t, Options{})
	x := smallCase(t, "gelu")
	op := x.open(t, w.implementation("pure/python", nil))
	honest := w.arena
	w.arena = &arena{file: full}
	_, err = w.implementation("pure/python", nil).Open(x.contract, x.dims, x.in)
	if err == nil || !strings.Contains(err.Error(), "sharing 1 MiB with the Python worker: write /dev/full: no space left on device") {
		t.Errorf("error %v", err)
	}
	w.arena.close()
	w.arena = honest
	x.pass(t, op, gate.Before)
}

// A worker that has no room for more ends the arm that needs it; those that fit
// go on in the same process.
func TestAWorkerWithoutRoom(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("skipped: how large a process is, is read from /proc")
	}
	w := plain(t, Options{})
	x := smallCase(t, "gelu")
	op := x.open(t, w.implementation("pure/python", nil))
	bad := x.open(t, w.implementation("cheat/limit:run", nil))
	if err := bad.Run(); err != nil {
		t.Fatal(err)
	}
	large := caseOf(t, x.contract, contract.Dims{"R": 1 << 12, "D": 1 << 10}, "normal", 1)
	_, err := w.implementation("pure/python", nil).Open(large.contract, large.dims, large.in)
	var f *Failure
	if !errors.As(err, &f) || f.Ended || !strings.Contains(f.Reason, "Cannot allocate memory") {
		t.Errorf("error %v", err)
	}
	x.pass(t, op, gate.Before, gate.Challenge)
	if w.generation != 1 {
		t.Errorf("%d processes", w.generation)
	}
}

// What the worker did not write is never judged: bytes of an earlier answer would
// be right.
func TestStaleArraysAreNotJudged(t *testing.T) {
	w := plain(t, Options{})
	x := caseOf(t, contract.GELU{}, contract.Dims{"R": 16, "D": 512}, "normal", input.DefaultSeed)
	honest := x.open(t, w.implementation("pure/python", nil))
	for how, says := range map[string]string{
		"stale": "did not write out, from byte 0 of 40960 on", "late": "did not write out, from byte 0 of", "hole": "did not write out, from byte 4096 of",
		"short": "did not write out, from byte 40952 of", "forgetful": "did not write a, from byte 0 of 32768 on",
	} {
		op := x.open(t, w.implementation("cheat/"+how, nil))
		x.pass(t, honest, gate.Before) // leaves a right output, and right inputs
		if err := gate.Prepare(op); err != nil {
			t.Fatal(err)
		}
		if err := op.Run(); err != nil {
			t.Fatal(err)
		}
		_, err := gate.Check(op, x.spec(gate.LeftBehind))
		var f *Failure
		if !errors.As(err, &f) || f.Ended || !strings.Contains(f.Reason, says) {
			t.Errorf("%s: error %v, want %q", how, err, says)
		}
	}
}

// Operations of all sizes share one arena, which grows while they are open.
func TestOperationsShareAnArena(t *testing.T) {
	w := plain(t, Options{})
	var open []func()
	for _, rows := range []int{1, 700, 3, 1500} {
		x := caseOf(t, contract.GELU{}, contract.Dims{"R": rows, "D": 257}, "normal", uint64(rows))
		op := x.open(t, w.implementation("pure/python", nil))
		open = append(open, func() { x.pass(t, op, gate.Before, gate.Challenge) })
		for _, judge := range open {
			judge()
		}
	}
	if w.generation != 1 || len(w.arena.maps) < 2 {
		t.Errorf("%d processes, %d sizes of the arena", w.generation, len(w.arena.maps))
	}
}

// A worker that ends while it writes an answer fails its arm, and what it wrote
// is nobody's.
func TestAWorkerThatEndsInTheMiddleOfAnArray(t *testing.T) {
	w := plain(t, Options{})
	x := smallCase(t, "gelu")
	honest := x.open(t, w.implementation("pure/python", nil))
	op := x.open(t, w.implementation("cheat/exit:output", nil))
	_, err := gate.Check(op, x.spec(gate.Before))
	var f *Failure
	if !errors.As(err, &f) || !f.Ended || !strings.Contains(f.Reason, "exit status 7") {
		t.Errorf("error %v", err)
	}
	x.pass(t, honest, gate.Before, gate.Challenge)
}

// Shared memory that a worker shortens would end this process.
func TestAWorkerCannotShortenTheArena(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("skipped: files cannot be sealed here")
	}
	w := plain(t, Options{})
	x := smallCase(t, "gelu")
	honest := x.open(t, w.implementation("pure/python", nil))
	op := x.open(t, w.implementation("cheat/truncate:run", nil))
	if err := op.Run(); err == nil || !strings.Contains(err.Error(), "Operation not permitted") {
		t.Errorf("error %v", err)
	}
	x.pass(t, honest, gate.Before, gate.Challenge)
}

// A library that closes the descriptor harms what needs more memory, and says so;
// what is mapped stays.
func TestAWorkerThatClosesTheArena(t *testing.T) {
	w := plain(t, Options{})
	x := smallCase(t, "gelu")
	op := x.open(t, w.implementation("cheat/shut:open", nil))
	x.pass(t, op, gate.Before, gate.Challenge)
	large := caseOf(t, x.contract, contract.Dims{"R": 1 << 10, "D": 1 << 10}, "normal", 1)
	if _, err := w.implementation("pure/python", nil).Open(large.contract, large.dims, large.in); err == nil || !strings.Contains(err.Error(), "Bad file descriptor") {
		t.Errorf("error %v", err)
	}
	x.pass(t, op, gate.Before)
}

func TestEmptyArraysTravel(t *testing.T) {
	w := plain(t, Options{})
	c, err := contract.Find("neighbor", contract.FP32)
	if err != nil {
		t.Fatal(err)
	}
	x := caseOf(t, c, contract.Dims{"N": 5, "F": 3, "E": 0}, input.DefaultDistribution("neighbor"), 1)
	op := x.open(t, w.implementation("pure/python", nil))
	x.pass(t, op, gate.Before, gate.Challenge)
}
