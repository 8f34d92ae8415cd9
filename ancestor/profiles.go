package ancestor

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mage/evidence"
)

// profiles is a comparison-profiles.json that fits.
type profiles struct {
	experiment     string // may be empty
	backend        string
	clock, timing  string
	captures       []capture
	experimentNode node
}

// capture is one operation of one implementation under the profiler.
type capture struct {
	node        node
	operation   string
	language    string
	iterations  int
	launches    []launch
	perLaunches int // of one operation; 0: they do not repeat evenly
}

type launch struct {
	kernel            string
	us                float64
	grid, block       *[3]uint32
	registers, shared *int
}

// backends are the profilers whose kernel times can be told apart by name.
var backends = [...]string{"nsys", "ncu", "cupti"}

func readProfiles(n node) *profiles {
	p := &profiles{}
	if m, ok := n.maybe("experiment_id"); ok {
		p.experiment, p.experimentNode = m.text(), m
	}
	backend := n.get("backend")
	p.backend = backend.text()
	if !slices.Contains(backends[:], p.backend) {
		backend.fail("is %q, want one of %s", p.backend, strings.Join(backends[:], ", "))
	}
	if m, ok := n.maybe("timestamp_mode"); ok {
		p.clock = m.text()
	}
	if m, ok := n.maybe("timing"); ok {
		p.timing = m.text()
	}
	captures := n.get("captures")
	for _, m := range captures.list() {
		c := readCapture(m, p.backend)
		for _, o := range p.captures {
			if o.operation == c.operation && o.language == c.language {
				m.fail("is %s in %s once more", c.operation, c.language)
			}
		}
		p.captures = append(p.captures, c)
		if n.bad() {
			return p
		}
	}
	if len(p.captures) == 0 {
		captures.fail("is empty")
	}
	return p
}

func readCapture(n node, backend string) capture {
	c := capture{node: n, operation: n.get("operation").text(), language: n.get("language").text()}
	if status := n.get("status"); status.text() != "complete" {
		status.fail("is %q: only complete captures are imported", status.text())
	}
	if m, ok := n.maybe("backend"); ok && m.text() != backend {
		m.fail("is %q, that of the file is %q", m.text(), backend)
	}
	launches := n.get("launches")
	want := launches.count(1)
	c.iterations = n.get("requested_iterations").count(1)
	metrics := n.get("kernel_metrics")
	all := metrics.list()
	if !n.bad() && len(all) != want {
		launches.fail("is %d, but kernel_metrics holds %d", want, len(all))
	}
	total := 0.0
	for _, m := range all {
		l := readLaunch(m)
		total += l.us
		c.launches = append(c.launches, l)
		if n.bad() {
			return c
		}
	}
	if n.bad() {
		return c
	}
	if total == 0 {
		metrics.fail("adds up to no time at all")
	}
	c.checkNames(n.get("kernel_names"))
	if n.bad() {
		return c
	}
	c.perLaunches = period(c.launches, c.iterations)
	if c.perLaunches > 0 && slices.Contains(c.samples(), 0) {
		metrics.fail("holds an operation that took no time")
	}
	return c
}

func readLaunch(n node) launch {
	l := launch{kernel: n.get("kernel_name").text(), us: n.get("duration_us").number(0)}
	if m, ok := n.maybe("grid_size"); ok {
		l.grid = m.size()
	}
	if m, ok := n.maybe("block_size"); ok {
		l.block = m.size()
	}
	if m, ok := n.maybe("registers_per_thread"); ok {
		l.registers = new(m.count(0))
	}
	if m, ok := n.maybe("shared_mem_bytes"); ok {
		l.shared = new(m.count(0))
	}
	return l
}

// size reads "x,y,z", each at least 1.
func (n node) size() *[3]uint32 {
	text := n.text()
	if n.bad() {
		return nil
	}
	var out [3]uint32
	parts := strings.Split(text, ",")
	for i, p := range parts {
		x, err := strconv.ParseUint(strings.TrimSpace(p), 10, 32)
		if err != nil || x == 0 || len(parts) != 3 {
			n.fail("is %q, not x,y,z", text)
			return nil
		}
		out[i] = uint32(x)
	}
	return &out
}

// checkNames compares the list of names with those of the launches.
func (c *capture) checkNames(n node) {
	launched := map[string]bool{}
	for _, l := range c.launches {
		launched[l.kernel] = true
	}
	listed := map[string]bool{}
	for _, m := range n.list() {
		name := m.text()
		switch {
		case listed[name]:
			m.fail("is %q once more", name)
		case !launched[name]:
			m.fail("is %q, which kernel_metrics does not hold", name)
		}
		listed[name] = true
	}
	for _, l := range c.launches {
		if !listed[l.kernel] {
			n.fail("lacks %q of kernel_metrics", l.kernel)
		}
	}
}

// period is how many launches make an operation: the launches divide evenly and
// every operation launches the same kernels in the same order. Else it is 0.
func period(launches []launch, operations int) int {
	n := len(launches) / operations
	if n == 0 || n*operations != len(launches) {
		return 0
	}
	for i, l := range launches {
		if l.kernel != launches[i%n].kernel {
			return 0
		}
	}
	return n
}

// samples are the kernel times of the operations, µs: one each, or their mean
// where a launch cannot be attributed to an operation.
func (c *capture) samples() []float64 {
	if c.perLaunches == 0 {
		total := 0.0
		for _, l := range c.launches {
			total += l.us
		}
		return []float64{total / float64(c.iterations)}
	}
	out := make([]float64, c.iterations)
	for i, l := range c.launches {
		out[i/c.perLaunches] += l.us
	}
	return out
}

// belong finds, in the record of the timed run, the case and the arm of every
// capture.
func (p *profiles) belong(f *file, base *evidence.Record) (cases []*evidence.Case, arms []*evidence.Arm) {
	if p.experiment != "" && p.experiment != base.Imported.Experiment {
		p.experimentNode.fail("is %q, the results are those of %q", p.experiment, base.Imported.Experiment)
	}
	for _, c := range p.captures {
		var found []*evidence.Case
		for i := range base.Cases {
			if base.Cases[i].Contract == c.operation {
				found = append(found, &base.Cases[i])
			}
		}
		arm := slices.IndexFunc(base.Arms, func(a evidence.Arm) bool { return a.Implementation == c.language })
		switch {
		case len(found) == 0:
			c.node.get("operation").fail("is %q, which the results of %q do not hold", c.operation, base.Imported.Experiment)
		case len(found) > 1:
			c.node.get("operation").fail("is %q, which the results hold at %d shapes: which one was profiled is not said", c.operation, len(found))
		case arm < 0:
			c.node.get("language").fail("is %q, which the results of %q do not hold", c.language, base.Imported.Experiment)
		}
		if f.err != nil {
			return nil, nil
		}
		cases, arms = append(cases, found[0]), append(arms, &base.Arms[arm])
	}
	return cases, arms
}

// kernels describes the kernels of one operation, in order.
func (c *capture) kernels() string {
	n := c.perLaunches
	if n == 0 {
		n = len(c.launches)
	}
	var parts []string
	for _, l := range c.launches[:n] {
		text := l.kernel
		if l.grid != nil && l.block != nil {
			text += fmt.Sprintf(" <<<%s; %s>>>", dims(*l.grid), dims(*l.block))
		}
		if l.registers != nil {
			text += fmt.Sprintf(" %d registers", *l.registers)
		}
		if l.shared != nil {
			text += fmt.Sprintf(", %d B shared", *l.shared)
		}
		if !slices.Contains(parts, text) {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "; ")
}

func dims(d [3]uint32) string { return fmt.Sprintf("%d,%d,%d", d[0], d[1], d[2]) }

// shape is the grid and block that all launches share, nil when they do not.
func (c *capture) shape() (grid, block *[3]uint32) {
	first := c.launches[0]
	for _, l := range c.launches {
		if l.kernel != first.kernel || l.grid == nil || l.block == nil || *l.grid != *first.grid || *l.block != *first.block {
			return nil, nil
		}
	}
	return first.grid, first.block
}
