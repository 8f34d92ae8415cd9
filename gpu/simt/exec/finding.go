package exec

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"mage/gpu/simt/program"
	"mage/gpu/verdict"
)

// key says which findings are the same.
type key struct {
	kind verdict.Kind
	line int
	file string
	note string
}

// findings collects those of a launch. Of several alike it keeps the one of the
// lowest block and thread, so that the report does not depend on the schedule.
type findings struct {
	mu   sync.Mutex
	list map[key]*verdict.Finding
}

func (fs *findings) add(f verdict.Finding, note string) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	k := key{f.Kind, f.Line, f.File, note}
	old := fs.list[k]
	if old == nil {
		if fs.list == nil {
			fs.list = map[key]*verdict.Finding{}
		}
		f.Count = 1
		fs.list[k] = &f
		return
	}
	n := old.Count + 1
	if cmp.Or(inOrder(f.Block, old.Block), inOrder(f.Thread, old.Thread)) < 0 {
		*old = f
	}
	old.Count = n
}

// inOrder compares the numbers of blocks of a grid, or of threads of a block.
func inOrder(a, b [3]uint32) int {
	return cmp.Or(cmp.Compare(a[2], b[2]), cmp.Compare(a[1], b[1]), cmp.Compare(a[0], b[0]))
}

// upTo returns the findings of the blocks up to a number, in order. How far later
// blocks came, where that one failed, is chance.
func (fs *findings) upTo(last uint64, grid [3]uint32) []verdict.Finding {
	var all []verdict.Finding
	for _, f := range fs.list {
		number := uint64(f.Block[0]) + uint64(grid[0])*(uint64(f.Block[1])+uint64(grid[1])*uint64(f.Block[2]))
		if number <= last {
			all = append(all, *f)
		}
	}
	slices.SortFunc(all, func(a, b verdict.Finding) int {
		return cmp.Or(inOrder(a.Block, b.Block), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Detail, b.Detail))
	})
	return all
}

// base is the file's own name: the folders are those of the compiler's machine.
func base(file string) string { return file[strings.LastIndexByte(file, '/')+1:] }

// report adds a finding at an instruction by a lane of a warp.
func (b *block) report(in *program.Inst, w *warp, lane int, f verdict.Finding, note string) {
	b.run.findings.add(b.describe(in, w, lane, f), note)
}

// describe says where a finding is.
func (b *block) describe(in *program.Inst, w *warp, lane int, f verdict.Finding) verdict.Finding {
	p := b.launch.Program
	f.Kernel, f.File, f.Line, f.Instruction = p.Name, in.Pos.File, in.Pos.Line, in.Text
	if name, ok := p.Files[in.Source.File]; ok && in.Source.Line > 0 {
		f.Source = fmt.Sprintf("%s:%d", base(name), in.Source.Line)
	}
	f.Block = b.id
	f.Thread = b.thread(w, lane)
	return f
}
