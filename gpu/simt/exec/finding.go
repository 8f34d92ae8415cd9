package exec

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"mage/gpu/simt/program"
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

	block, thread uint64
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

// key says which findings are the same.
type key struct {
	kind Kind
	line int
	file string
	note string
}

// findings collects those of a launch. Of several alike it keeps the one of the
// lowest block and thread, so that the report does not depend on the schedule.
type findings struct {
	mu   sync.Mutex
	list map[key]*Finding
}

func (fs *findings) add(f Finding, note string) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	k := key{f.Kind, f.Line, f.File, note}
	old := fs.list[k]
	if old == nil {
		if fs.list == nil {
			fs.list = map[key]*Finding{}
		}
		f.Count = 1
		fs.list[k] = &f
		return
	}
	n := old.Count + 1
	if f.block < old.block || f.block == old.block && f.thread < old.thread {
		*old = f
	}
	old.Count = n
}

func (fs *findings) sorted() []Finding {
	var all []Finding
	for _, f := range fs.list {
		all = append(all, *f)
	}
	slices.SortFunc(all, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.block, b.block), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Detail, b.Detail))
	})
	return all
}

// base is the file's own name: the folders are those of the compiler's machine.
func base(file string) string { return file[strings.LastIndexByte(file, '/')+1:] }

// report adds a finding at an instruction by a lane of a warp.
func (b *block) report(in *program.Inst, w *warp, lane int, f Finding, note string) {
	b.run.findings.add(b.describe(in, w, lane, f), note)
}

// describe says where a finding is.
func (b *block) describe(in *program.Inst, w *warp, lane int, f Finding) Finding {
	p := b.launch.Program
	f.Kernel, f.File, f.Line, f.Instruction = p.Name, in.Pos.File, in.Pos.Line, in.Text
	if name, ok := p.Files[in.Source.File]; ok && in.Source.Line > 0 {
		f.Source = fmt.Sprintf("%s:%d", base(name), in.Source.Line)
	}
	f.Block = b.id
	f.Thread = b.thread(w, lane)
	f.block, f.thread = b.number, uint64(w.id*32+lane)
	return f
}
