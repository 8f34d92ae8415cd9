package cuda

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"mage/gpu"
	"mage/unavailable"
)

// wait keeps one thread busy until the device's nanosecond timer has advanced by
// ns: a kernel whose shortest duration is known beforehand.
const waitSource = `
extern "C" __global__ void wait(unsigned long long ns) {
  extern __shared__ char unused[];
  unsigned long long begin, now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
  do asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now)); while (now - begin < ns);
}
extern "C" __global__ void nothing() {}
extern "C" __global__ void fault() { *(volatile int *)8 = 1; }
`

// traced is a real device with the kernels above. Tests that use it skip on a
// machine without a GPU, NVRTC or CUPTI.
type traced struct {
	*Device
	module gpu.Module
	stream gpu.Stream
}

func openTraced(t testing.TB) *traced {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if _, ok := unavailable.As(err); ok {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	d, err := Open(0)
	must(err)
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	compiler, err := OpenNVRTC("")
	must(err)
	code, err := compiler.Compile("wait.cu", waitSource, []string{"--gpu-architecture=sm_" + strings.ReplaceAll(d.Info().ComputeCapability, ".", "")})
	must(err)
	module, err := d.Load(code.CUBIN)
	must(err)
	stream, err := d.NewStream()
	must(err)
	return &traced{d, module, stream}
}

func (d *traced) bind(t testing.TB, name string, c gpu.Config, args ...gpu.Arg) gpu.Launch {
	t.Helper()
	f, err := d.module.Function(name)
	if err != nil {
		t.Fatal(err)
	}
	l, err := f.Bind(c, args...)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func one() gpu.Config { return gpu.Config{Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{32, 1, 1}} }

// times submits a launch n times.
func (d *traced) times(n int, l gpu.Launch) func() error {
	return func() error {
		for range n {
			if err := l.Submit(d.stream); err != nil {
				return err
			}
		}
		return nil
	}
}

func (d *traced) trace(t testing.TB, f func() error) []gpu.KernelRecord {
	t.Helper()
	records, err := d.TraceKernels(f)
	if _, ok := unavailable.As(err); ok {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return records
}

// TestTraceOfLaunches compares a trace with what was launched, with a duration
// known beforehand, and with events around the same launches.
func TestTraceOfLaunches(t *testing.T) {
	d := openTraced(t)
	const n, ns = 20, 200_000
	wait := d.bind(t, "wait", gpu.Config{Grid: [3]uint32{2, 3, 1}, Block: [3]uint32{64, 2, 1}, DynamicShared: 4096}, gpu.Arg{Bits: ns, Size: 8})
	start, err := d.NewEvent()
	if err != nil {
		t.Fatal(err)
	}
	end, err := d.NewEvent()
	if err != nil {
		t.Fatal(err)
	}
	records := d.trace(t, func() error {
		if err := d.stream.Record(start); err != nil {
			return err
		}
		if err := d.times(n, wait)(); err != nil {
			return err
		}
		if err := d.stream.Record(end); err != nil {
			return err
		}
		return end.Synchronize()
	})
	if len(records) != n {
		t.Fatalf("%d records of %d launches", len(records), n)
	}
	var sum float64 // µs
	correlations := map[uint32]bool{}
	for i, k := range records {
		if k.Name != "wait" || k.Grid != [3]uint32{2, 3, 1} || k.Block != [3]uint32{64, 2, 1} || k.DynamicSharedBytes != 4096 ||
			k.GraphNode != 0 || k.Registers == 0 {
			t.Fatalf("record %d: %+v", i, k)
		}
		correlations[k.Correlation] = true
		if k.EndNS-k.StartNS < ns {
			t.Errorf("record %d took %d ns, the kernel waits for %d", i, k.EndNS-k.StartNS, ns)
		}
		if i > 0 && k.StartNS < records[i-1].EndNS {
			t.Errorf("record %d starts before the one ahead of it in the stream ends", i)
		}
		sum += float64(k.EndNS-k.StartNS) / 1000
	}
	if len(correlations) != n {
		t.Errorf("%d different correlations", len(correlations))
	}
	elapsed, err := end.MicrosecondsSince(start)
	if err != nil {
		t.Fatal(err)
	}
	if sum > elapsed {
		t.Errorf("the kernels took %.1f µs together, longer than the %.1f µs between events around them", sum, elapsed)
	}
	t.Logf("%d kernels of %d µs: %.1f µs by CUPTI, %.1f µs between events", n, ns/1000, sum, elapsed)
}

// TestTraceOfGraphs replays graphs captured before and inside a trace: each node
// must give a record per replay, with its identity.
func TestTraceOfGraphs(t *testing.T) {
	d := openTraced(t)
	const nodes, replays, ns = 10, 3, 20_000
	wait := d.bind(t, "wait", one(), gpu.Arg{Bits: ns, Size: 8})
	before, err := d.stream.Capture(d.times(nodes, wait))
	if err != nil {
		t.Fatal(err)
	}
	replay := func(g gpu.Graph) error {
		for range replays {
			if err := d.stream.Replay(g); err != nil {
				return err
			}
		}
		return nil
	}
	if err := replay(before); err != nil { // also uploaded before any trace
		t.Fatal(err)
	}
	check := func(what string, records []gpu.KernelRecord) {
		t.Helper()
		if len(records) != nodes*replays {
			t.Fatalf("%s: %d records, want %d", what, len(records), nodes*replays)
		}
		count := map[uint64]int{}
		for _, k := range records {
			count[k.GraphNode]++
			if k.Name != "wait" || k.EndNS-k.StartNS < ns {
				t.Errorf("%s: %+v", what, k)
			}
		}
		if len(count) != nodes || count[0] != 0 {
			t.Errorf("%s: records by node %v, want %d nodes with %d each", what, count, nodes, replays)
		}
	}
	check("captured before", d.trace(t, func() error { return replay(before) }))
	check("captured before, traced again", d.trace(t, func() error { return replay(before) }))
	check("captured inside", d.trace(t, func() error {
		inside, err := d.stream.Capture(d.times(nodes, wait))
		if err != nil {
			return err
		}
		return replay(inside)
	}))
}

// TestTraceOfManyKernels fills many buffers while Go collects garbage.
func TestTraceOfManyKernels(t *testing.T) {
	d := openTraced(t)
	const n = 100_000
	records := d.trace(t, d.times(n, d.bind(t, "nothing", one())))
	if len(records) != n {
		t.Errorf("%d records of %d launches", len(records), n)
	}
}

// TestTraceOfAnotherDevice opens a context after CUPTI was attached.
func TestTraceOfAnotherDevice(t *testing.T) {
	for range 2 {
		d := openTraced(t)
		if got := d.trace(t, d.times(3, d.bind(t, "nothing", one()))); len(got) != 3 {
			t.Errorf("%d records of 3 launches", len(got))
		}
	}
}

// TestTraceOfFault runs a kernel that faults in a trace: the fault is what the
// caller sees, and the process ends in order. It needs a process of its own,
// because a fault ends CUDA for the whole process.
func TestTraceOfFault(t *testing.T) {
	const marker = "MAGE_TEST_FAULT"
	if os.Getenv(marker) == "" {
		openTraced(t) // skips where the child would
		child := exec.Command(os.Args[0], "-test.run=^TestTraceOfFault$", "-test.v")
		child.Env = append(os.Environ(), marker+"=1")
		out, err := child.CombinedOutput()
		if err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	d := openTraced(t)
	d.trace(t, func() error { return nil }) // skips where there is no CUPTI
	_, err := d.TraceKernels(d.times(2, d.bind(t, "fault", one())))
	var fault *DriverError
	if !errors.As(err, &fault) || !fault.Sticky {
		t.Errorf("got %v, want a sticky error of the driver", err)
	}
}

// BenchmarkGraphAroundTrace and BenchmarkSubmitAroundTrace measure what a trace
// leaves behind: the time of a graph replay of 50 empty kernels with its wait,
// and of a submit on the host, in a context before and after a trace.
func BenchmarkGraphAroundTrace(b *testing.B) {
	aroundTrace(b, func(b *testing.B, d *traced, nothing gpu.Launch, g gpu.Graph) {
		for b.Loop() {
			if err := d.stream.Replay(g); err != nil {
				b.Fatal(err)
			}
			if err := d.stream.Synchronize(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkSubmitAroundTrace(b *testing.B) {
	aroundTrace(b, func(b *testing.B, d *traced, nothing gpu.Launch, g gpu.Graph) {
		const queued = 512 // below the depth at which a submit waits for the device
		for i := 1; b.Loop(); i++ {
			if err := nothing.Submit(d.stream); err != nil {
				b.Fatal(err)
			}
			if i%queued == 0 {
				b.StopTimer()
				if err := d.stream.Synchronize(); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
		}
	})
}

func aroundTrace(b *testing.B, measure func(*testing.B, *traced, gpu.Launch, gpu.Graph)) {
	for _, when := range []string{"before", "after"} {
		b.Run(when, func(b *testing.B) {
			d := openTraced(b)
			nothing := d.bind(b, "nothing", one())
			g, err := d.stream.Capture(d.times(50, nothing))
			if err != nil {
				b.Fatal(err)
			}
			if when == "after" {
				d.trace(b, func() error { return d.stream.Replay(g) })
			}
			measure(b, d, nothing, g)
		})
	}
}

// BenchmarkTrace measures a trace of 100 empty kernels, all included.
func BenchmarkTrace(b *testing.B) {
	d := openTraced(b)
	f := d.times(100, d.bind(b, "nothing", one()))
	d.trace(b, f)
	for b.Loop() {
		if _, err := d.TraceKernels(f); err != nil {
			b.Fatal(err)
		}
	}
}
