package cupti

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ianlancetaylor/demangle"

	"mage/capture"
)

// result joins the traces of all processes, in order of time.
func result(all []*trace) capture.Result {
	var r capture.Result
	versions := map[string]bool{}
	r.Versions = map[string]string{}
	busy := 0
	for _, t := range all {
		if len(t.kernels)+len(t.copies)+len(t.fills) > 0 {
			busy++
		}
	}
	for _, t := range all {
		var process *int
		if busy > 1 {
			process = &t.process
		}
		t.addTo(&r, process)
		if t.version != 0 {
			versions[versionName(t.version)] = true
		}
		if r.Device == "" && len(t.devices) > 0 {
			r.Device = t.devices[0]
		}
		r.Warnings = append(r.Warnings, t.warnings()...)
	}
	names := make([]string, 0, len(versions))
	for v := range versions {
		names = append(names, v)
	}
	slices.Sort(names)
	if len(names) > 0 {
		r.Versions["cupti"] = strings.Join(names, ", ")
	}
	if busy > 1 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d processes used the GPU; their kernels are told apart by process", busy))
	}
	slices.SortStableFunc(r.Kernels, func(a, b capture.Kernel) int { return cmp.Compare(startOf(a), startOf(b)) })
	slices.SortStableFunc(r.Copies, func(a, b capture.Copy) int { return cmp.Compare(a.StartNS, b.StartNS) })
	slices.SortStableFunc(r.Calls, func(a, b capture.APICall) int { return cmp.Compare(a.StartNS, b.StartNS) })
	slices.SortStableFunc(r.Allocations, func(a, b capture.Allocation) int { return cmp.Compare(a.AtNS, b.AtNS) })
	return r
}

// demangled is the name as it stands in the source. One that is absurdly long stays
// as it is: reading it takes time by the square, or tells a story without end.
func demangled(name string) string {
	const longest, told = 16 << 10, 16 // bytes; 2^16 bytes
	if len(name) > longest {
		return name
	}
	return demangle.Filter(name, demangle.MaxLength(told))
}

// startOf puts a launch whose time CUPTI could not tell at the end.
func startOf(k capture.Kernel) int64 {
	if k.StartNS == nil {
		return 1<<63 - 1
	}
	return *k.StartNS
}

func (t *trace) addTo(r *capture.Result, process *int) {
	readable := map[string]string{}
	for _, k := range t.kernels {
		name, ok := readable[k.name]
		if !ok {
			name = demangled(k.name)
			readable[k.name] = name
		}
		launch := capture.Kernel{
			Name: name, Process: process, Device: whole(k.device), Context: whole(k.context), Stream: whole(k.stream),
			Grid: k.grid, Block: k.block, Registers: whole(k.registers), StaticShared: whole(k.static),
			DynamicShared: whole(k.dynamic), Local: whole(k.local), Correlation: long(k.correlation), GraphNode: k.id(),
		}
		if name != k.name {
			launch.Mangled = k.name
		}
		if k.timed() {
			start, us := int64(k.start), k.us()
			launch.StartNS, launch.DurationUS = &start, &us
		}
		r.Kernels = append(r.Kernels, launch)
	}
	for _, c := range t.copies {
		if c.timed() {
			r.Copies = append(r.Copies, capture.Copy{
				Kind: capture.CopyKind(int64(c.kind)), StartNS: int64(c.start), DurationUS: c.us(), Bytes: int64(c.bytes), Process: process,
				Device: whole(c.device), Stream: whole(c.stream), Source: capture.MemoryKind(int64(c.from)), Target: capture.MemoryKind(int64(c.to)),
				Correlation: long(c.correlation), GraphNode: c.id(),
			})
		}
	}
	for _, f := range t.fills {
		if f.timed() {
			r.Copies = append(r.Copies, capture.Copy{
				Kind: "fill", StartNS: int64(f.start), DurationUS: f.us(), Bytes: int64(f.bytes), Process: process,
				Device: whole(f.device), Stream: whole(f.stream), Target: capture.MemoryKind(int64(f.memory)),
				Correlation: long(f.correlation), GraphNode: f.id(),
			})
		}
	}
	for _, c := range t.calls {
		if c.timed() {
			code := int(c.result)
			r.Calls = append(r.Calls, capture.APICall{
				Name: c.name, StartNS: int64(c.start), DurationUS: c.us(), Process: process,
				Thread: long(c.thread), Correlation: long(c.correlation), Result: &code,
			})
		}
	}
	for _, a := range t.allocations {
		r.Allocations = append(r.Allocations, capture.Allocation{
			Kind: allocationKind(a.operation), AtNS: int64(a.time), Bytes: int64(a.bytes), Address: fmt.Sprintf("0x%x", a.address),
			Memory: capture.MemoryKind(int64(a.memory)), Process: process, Device: whole(a.device), Stream: whole(a.stream), Correlation: long(a.correlation),
		})
	}
}

// warnings are what is missing beside kernels, and what did not end in time.
func (t *trace) warnings() []string {
	var w []string
	for _, p := range t.problems {
		if _, _, fatal := t.fatal(p); !fatal && p.call != "write" {
			w = append(w, fmt.Sprintf("%v: %v", t, p))
		}
	}
	untimed := 0
	count := func(s span) {
		if !s.timed() {
			untimed++
		}
	}
	for _, k := range t.kernels {
		count(k.span)
	}
	for _, c := range t.copies {
		count(c.span)
	}
	for _, f := range t.fills {
		count(f.span)
	}
	if untimed > 0 {
		w = append(w, fmt.Sprintf("%v: %d kernels and copies have no times: they had not ended when it did", t, untimed))
	}
	return w
}

// timed is false where CUPTI wrote zeros for a time that it could not tell.
func (s span) timed() bool { return s.start != 0 && s.end != 0 }

// us is negative for an end ahead of the start, which a capture refuses.
func (s span) us() float64 { return float64(int64(s.end-s.start)) / 1e3 }

func (g graphNode) id() *uint64 {
	if g.node == 0 {
		return nil
	}
	return &g.node
}

func whole(n uint32) *int  { v := int(n); return &v }
func long(n uint32) *int64 { v := int64(n); return &v }
