package exec

import (
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"mage/gpu/simt/memory"
	"mage/gpu/simt/program"
	"mage/gpu/verdict"
)

// Launch is one execution of a kernel.
type Launch struct {
	Program     *program.Program
	Memory      *memory.Space
	Grid, Block [3]uint32
	Dynamic     int    // bytes of dynamic shared memory
	Params      []byte // Program.ParamBytes of them
	// Workers is the number of goroutines that execute blocks, 0 for one per core.
	Workers int
	// Unchecked turns the checks off, apart from those of addresses, and with them
	// BytesRead and BytesWritten.
	Unchecked bool
	// Sites asks for the cost of every instruction.
	Sites bool
	// MaxInstructions of one block; beyond it the launch fails. 0: a default.
	MaxInstructions int64
	Number          uint64 // %gridid
	Watch           *Watch // may be nil
}

// defaultMaxInstructions stops a kernel that would keep a core busy for minutes.
const defaultMaxInstructions = 1 << 29

// Error says why a kernel could not go on.
type Error struct{ Finding verdict.Finding }

func (e *Error) Error() string { return "kernel " + e.Finding.String() }

// Result is what a launch cost and what was found wrong.
type Result struct {
	Counters verdict.Counters
	Findings []verdict.Finding
	Sites    []Site // if asked for, those that were executed, by line
	Printed  []byte // by printf, in order of blocks
}

// running is the state that the workers of a launch share.
type running struct {
	launch   *Launch
	next     atomic.Uint64
	blocks   uint64
	failed   atomic.Uint64 // the lowest block that could not go on
	done     atomic.Uint64
	executed atomic.Int64 // warp instructions
	since    time.Time
	findings findings
	releases releases
	shift    uint // of the granule

	mu    sync.Mutex
	err   error // of block failed
	total verdict.Counters
	sites []Site
	texts []printedBlock
}

// Run executes every block, of which there are memory.MaxBlocks at most. The counters hold what was executed, also when it
// returns an error.
func (l *Launch) Run() (Result, error) {
	r := &running{launch: l, blocks: uint64(l.Grid[0]) * uint64(l.Grid[1]) * uint64(l.Grid[2])}
	r.failed.Store(math.MaxUint64)
	if l.MaxInstructions <= 0 {
		l.MaxInstructions = defaultMaxInstructions
	}
	for l.Program.Granule>>(r.shift+1) > 0 {
		r.shift++
	}
	if !l.Unchecked {
		for _, a := range l.Memory.All() {
			a.Prepare(r.shift)
		}
	}
	workers := l.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	workers = int(min(uint64(workers), r.blocks))
	r.since = time.Now()
	l.Watch.begin(r)
	defer l.Watch.end()
	var wg sync.WaitGroup
	for range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			r.work()
		}()
	}
	wg.Wait()
	if done := r.done.Load(); r.err == nil && done < r.blocks {
		r.err = fmt.Errorf("kernel %s: %w after %d of %d blocks", l.Program.Name, ErrStopped, done, r.blocks)
	}
	if !l.Unchecked {
		for _, a := range l.Memory.All() {
			read, written := a.Forget()
			r.total.BytesRead += read << r.shift
			r.total.BytesWritten += written << r.shift
			a.Settle()
		}
	}
	r.total.Launches = 1
	return Result{r.total, r.findings.upTo(r.failed.Load(), l.Grid), r.sites, joined(r.texts)}, r.err
}

// work executes blocks until there is none left.
func (r *running) work() {
	b := newBlock(r)
	for n := r.next.Add(1) - 1; n < r.blocks && !r.ends(n); n = r.next.Add(1) - 1 {
		b.start(n)
		ended, err := b.execute()
		if ended {
			r.done.Add(1)
		}
		if err != nil {
			r.fail(n, err)
		}
		if len(b.printed) > 0 {
			r.mu.Lock()
			r.texts = append(r.texts, printedBlock{n, b.printed})
			r.mu.Unlock()
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.total.Add(&b.counters)
	r.sites = MergeSites(r.sites, b.sites)
}

// fail keeps the error of the lowest block.
func (r *running) fail(n uint64, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n < r.failed.Load() {
		r.err = err
		r.failed.Store(n)
	}
}
