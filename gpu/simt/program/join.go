package program

import "slices"

// joins finds where the lanes of each branch meet again: the immediate
// post-dominator of the branch's basic block, by the algorithm of Cooper, Harvey
// and Kennedy ("A simple, fast dominance algorithm", 2001) on the reversed graph.
//
// Lanes that only leave are not waited for, as on a GPU: where some return early, the
// others meet at a later place than the return, and pass its barriers without them.
func joins(p *Program) {
	g := newGraph(p)
	g.dropLeaving(p)
	post := g.postDominators()
	for i := range p.Code {
		in := &p.Code[i]
		if in.Kind != Branch {
			continue
		}
		in.Join = int32(len(p.Code))
		if d := post[g.block[i]]; d != g.end() {
			in.Join = int32(g.start[d])
		}
	}
}

// graph is the control flow graph. Its last node, which has no code, is the end
// of every thread.
type graph struct {
	start      []int // first instruction of each block
	block      []int // of each instruction
	successors [][]int
}

func (g *graph) end() int { return len(g.start) }

func newGraph(p *Program) *graph {
	n := len(p.Code)
	leader := make([]bool, n+1)
	leader[0] = true
	for i := range p.Code {
		switch in := &p.Code[i]; in.Kind {
		case Branch:
			for _, t := range in.targets() {
				leader[t] = true
			}
			leader[i+1] = true
		case Exit, Trap:
			leader[i+1] = true
		}
	}
	g := &graph{block: make([]int, n)}
	for i := range n {
		if leader[i] {
			g.start = append(g.start, i)
		}
		g.block[i] = len(g.start) - 1
	}
	at := func(pc int) int {
		if pc >= n {
			return g.end()
		}
		return g.block[pc]
	}
	for b := range g.start {
		last := n - 1
		if b+1 < len(g.start) {
			last = g.start[b+1] - 1
		}
		in := &p.Code[last]
		var next []int
		falls := true
		switch in.Kind {
		case Branch:
			for _, t := range in.targets() {
				next = append(next, at(int(t)))
			}
			falls = in.Guard >= 0
		case Exit, Trap:
			next = append(next, g.end())
			falls = in.Guard >= 0
		}
		if falls {
			next = append(next, at(last+1))
		}
		g.successors = append(g.successors, next)
	}
	g.successors = append(g.successors, nil)
	return g
}

// dropLeaving removes edges to blocks that do nothing but leave, where another way
// leads to the end as well: out of a loop there may be none.
func (g *graph) dropLeaving(p *Program) {
	leaving := g.leaving(p)
	all := slices.Clone(g.successors)
	for b, next := range all {
		if slices.ContainsFunc(next, func(s int) bool { return !leaving[s] }) {
			g.successors[b] = slices.DeleteFunc(slices.Clone(next), func(s int) bool { return leaving[s] })
		}
	}
	for restored := true; restored; {
		restored = false
		ends := g.reaches(g.end())
		for b, next := range all {
			if !ends[b] && len(g.successors[b]) < len(next) {
				g.successors[b], restored = next, true
			}
		}
	}
}

// reaches finds the blocks from which a way leads to another.
func (g *graph) reaches(to int) []bool {
	predecessors := g.predecessors()
	found := make([]bool, g.end()+1)
	found[to] = true
	for todo := []int{to}; len(todo) > 0; {
		b := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, p := range predecessors[b] {
			if !found[p] {
				found[p] = true
				todo = append(todo, p)
			}
		}
	}
	return found
}

func (g *graph) predecessors() [][]int {
	all := make([][]int, g.end()+1)
	for b, next := range g.successors {
		for _, s := range next {
			all[s] = append(all[s], b)
		}
	}
	return all
}

// leaving finds the blocks from which one way leads to the end, past nothing that may
// wait for other lanes.
func (g *graph) leaving(p *Program) []bool {
	leaving := make([]bool, g.end()+1)
	leaving[g.end()] = true
	quiet := make([]bool, g.end())
	for b := range quiet {
		end := len(p.Code)
		if b+1 < g.end() {
			end = g.start[b+1]
		}
		quiet[b] = !slices.ContainsFunc(p.Code[g.start[b]:end], func(in Inst) bool { return in.waits() })
	}
	for changed := true; changed; {
		changed = false
		for b := g.end() - 1; b >= 0; b-- {
			if next := g.successors[b]; !leaving[b] && quiet[b] && len(next) == 1 && leaving[next[0]] {
				leaving[b], changed = true, true
			}
		}
	}
	return leaving
}

// waits says whether an instruction needs other lanes to come as far.
func (in *Inst) waits() bool {
	switch in.Kind {
	case Barrier, WarpSync, Shuffle, Vote, Match, Reduce, Elect, MBarrier, LoadMatrix, StoreMatrix, WarpMatrix, MultiplyMatrix:
		return true
	}
	return false
}

// targets are where a branch may go, apart from the next instruction.
func (in *Inst) targets() []int32 {
	if len(in.Targets) > 0 {
		return in.Targets
	}
	return []int32{in.Target}
}

// postDominators returns the immediate post-dominator of every block; the end for
// blocks that cannot reach it (endless loops).
func (g *graph) postDominators() []int {
	n := g.end() + 1
	predecessors := g.predecessors()
	// Postorder of the reversed graph from the end, without recursion.
	order := make([]int, n) // number in postorder, -1 unreached
	for i := range order {
		order[i] = -1
	}
	var sequence []int
	type visit struct{ node, next int }
	stack := []visit{{g.end(), 0}}
	seen := make([]bool, n)
	seen[g.end()] = true
	for len(stack) > 0 {
		v := &stack[len(stack)-1]
		if v.next < len(predecessors[v.node]) {
			p := predecessors[v.node][v.next]
			v.next++
			if !seen[p] {
				seen[p] = true
				stack = append(stack, visit{p, 0})
			}
			continue
		}
		order[v.node] = len(sequence)
		sequence = append(sequence, v.node)
		stack = stack[:len(stack)-1]
	}
	idom := make([]int, n)
	for i := range idom {
		idom[i] = -1
	}
	idom[g.end()] = g.end()
	intersect := func(a, b int) int {
		for a != b {
			for order[a] < order[b] {
				a = idom[a]
			}
			for order[b] < order[a] {
				b = idom[b]
			}
		}
		return a
	}
	for changed := true; changed; {
		changed = false
		for i := len(sequence) - 2; i >= 0; i-- {
			b := sequence[i]
			best := -1
			for _, s := range g.successors[b] {
				if order[s] < 0 || idom[s] < 0 {
					continue
				}
				if best < 0 {
					best = s
				} else {
					best = intersect(best, s)
				}
			}
			if best != idom[b] {
				idom[b] = best
				changed = true
			}
		}
	}
	for b := range idom {
		if idom[b] < 0 {
			idom[b] = g.end()
		}
	}
	return idom
}
