package verdict

import (
	"fmt"
	"strings"
)

// Kind is what a finding is about.
type Kind string

// The kinds of findings.
const (
	OutOfBounds      Kind = "out-of-bounds"
	Misaligned       Kind = "misaligned"
	UnwrittenShared  Kind = "uninitialised-shared"
	UnwrittenGlobal  Kind = "uninitialised-global"
	SharedRace       Kind = "shared-race"
	GlobalRace       Kind = "global-race"
	DivergentBarrier Kind = "divergent-barrier"
	Deadlock         Kind = "deadlock"
	MissingWait      Kind = "missing-async-wait"
	WriteToConstant  Kind = "write-to-constant"
	InvalidLanes     Kind = "invalid-lanes"
	Trapped          Kind = "trap"
	Endless          Kind = "endless"
)

// Finding is a defect of a kernel, as the first thread that showed it.
type Finding struct {
	Kind        Kind      `json:"kind"`
	Kernel      string    `json:"kernel"`
	File        string    `json:"file"`
	Line        int       `json:"line"`
	Instruction string    `json:"instruction"`
	Source      string    `json:"source,omitempty"` // "kernel.cu:12", where the PTX says so
	Block       [3]uint32 `json:"block"`
	Thread      [3]uint32 `json:"thread"`
	Space       string    `json:"space,omitempty"`
	Address     uint64    `json:"address"`
	Bytes       int       `json:"bytes,omitempty"`
	Detail      string    `json:"detail"`
	// Count is how many accesses showed the same at this instruction.
	Count int64 `json:"count"`
}

// String is one line.
func (f Finding) String() string {
	at := fmt.Sprintf("%s:%d", f.File, f.Line)
	if f.Source != "" {
		at = f.Source + ", " + at
	}
	return fmt.Sprintf("%s: %s at %s (%s) by thread (%d,%d,%d) in block (%d,%d,%d)", f.Kernel, f.title(), at,
		f.Instruction, f.Thread[0], f.Thread[1], f.Thread[2], f.Block[0], f.Block[1], f.Block[2])
}

func (f Finding) title() string {
	s := f.Detail
	if f.Kind == OutOfBounds || f.Kind == Misaligned {
		s = fmt.Sprintf("%s access of %d bytes of .%s memory: %s", f.Kind, f.Bytes, f.Space, f.Detail)
	}
	return s
}

// Report is in the style of compute-sanitizer: several lines, each marked.
func (f Finding) Report() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, "========= "+format+"\n", args...) }
	line("%s", f.title())
	line("    at %s in %s:%d: %s", f.Kernel, f.File, f.Line, f.Instruction)
	if f.Source != "" {
		line("    compiled from %s", f.Source)
	}
	line("    by thread (%d,%d,%d) in block (%d,%d,%d)", f.Thread[0], f.Thread[1], f.Thread[2], f.Block[0], f.Block[1], f.Block[2])
	if f.Space != "" {
		line("    address %#x in .%s memory", f.Address, f.Space)
	}
	if f.Count > 1 {
		line("    %d accesses like this", f.Count)
	}
	return b.String()
}
