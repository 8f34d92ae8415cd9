package evidence

import (
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"mage/contract"
	"mage/gate"
	"mage/gpu"
	"mage/gpu/verdict"
	"mage/impl"
)

// fill sets every field below v to a value that is not its zero value.
func fill(v reflect.Value, r *rand.Rand) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("text-" + string(rune('a'+r.IntN(26))))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64, reflect.Int32:
		v.SetInt(int64(1 + r.IntN(1000)))
	case reflect.Uint32, reflect.Uint64, reflect.Uint8:
		v.SetUint(uint64(1 + r.IntN(200)))
	case reflect.Float64:
		v.SetFloat(r.ExpFloat64() + 1e-9)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), r)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i), r)
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), r)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		e := reflect.New(v.Type().Elem()).Elem()
		fill(e, r)
		v.SetMapIndex(reflect.ValueOf("key").Convert(v.Type().Key()), e)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(1_800_000_000+int64(r.IntN(1000)), 123_000_000).UTC()))
			return
		}
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(v.Field(i), r)
			}
		}
	default:
		panic("fill: " + v.Type().String())
	}
}

func ptr[T any](v T) *T { return &v }

const (
	caseA = "gelu/fp32/R=3,D=257/normal"
	caseB = "matmul/fp32/M=17,N=19,K=23/normal"
)

var testArms = []string{"cpu/naive@go", "cpu/parallel@go", "cpu/parallel@go#control"}

// testRecord is a small record as a run on a CPU would start it.
func testRecord() Record {
	text := "name = \"test\"\n"
	rec := Record{
		Tool:    Tool{Version: "0.1.0", Go: "go1.26"},
		Spec:    Spec{Name: "test.toml", Text: text, SHA256: hash(text)},
		Host:    Host{OS: "linux", Arch: "amd64", Cores: 2},
		Devices: []Device{{ID: "cpu", Info: gpu.Info{Backend: "cpu", Name: "a processor"}}},
		Plan:    Plan{Seed: 20260910, Rounds: 4, MaxRounds: 4, Repeats: 2, Samples: 10, Margin: 0.02, Confidence: 0.95},
		Unavailable: []Unavailable{
			{What: "cuda", Reason: "libcuda.so.1 is not installed", Remedy: "install an NVIDIA driver"}},
	}
	for _, id := range []string{caseA, caseB} {
		rec.Cases = append(rec.Cases, Case{ID: id, Contract: "gelu", Precision: "fp32",
			Dims: contract.Dims{"R": 3, "D": 257}, DimOrder: []string{"R", "D"}, Distribution: "normal", Seed: 20260910,
			InputSHA256: map[string]string{"a": hash("a")}, FLOPs: 1e6, CompulsoryBytes: 1 << 20,
			Tolerance: contract.Tolerance{Rtol: 1e-4, Atol: 1e-4}})
	}
	for _, id := range testArms {
		rec.Arms = append(rec.Arms, Arm{ID: id, Implementation: "cpu/naive", LaunchPath: "go", Device: "cpu"})
		rec.Entries = append(rec.Entries, Entry{Case: caseA, Arm: id, Session: 1,
			Identity: impl.Identity{BinarySHA256: hash(id), BinaryKind: "executable", Compiler: "go1.26"},
			Gates:    []gate.Result{{Stage: "before", Seed: 20260910, Passed: true, MaxAbsError: 1e-7, Checked: 771}}})
	}
	counters := verdict.Counters{Launches: 1, GlobalLoads: verdict.Traffic{Requests: 3, Sectors: 24, Ideal: 12, Bytes: 384}}
	counters.Instructions[0], counters.Instructions[2] = 1<<40, 7
	last := &rec.Entries[len(rec.Entries)-1]
	last.Counters, last.Findings = &counters, []verdict.Finding{{Kind: "global-race", Kernel: "gelu", File: "gelu.ptx", Line: 12,
		Instruction: "st.global.f32 [%rd1], %f1", Source: "gelu.cu:7", Block: [3]uint32{1, 0, 0}, Thread: [3]uint32{31, 0, 0},
		Space: "global", Address: 1 << 46, Bytes: 4, Detail: "write after write", Count: 3}}
	return rec
}

// testRound makes the lines of one round: every test arm in two modes.
func testRound(caseID string, round, attempt, samples int, disturbed ...string) []Line {
	r := rand.New(rand.NewPCG(uint64(round), uint64(attempt)))
	var lines []Line
	for _, mode := range []string{"latency", "batch:100"} {
		for i, arm := range testArms {
			l := Line{Round: round, Attempt: attempt, Order: i, Case: caseID, Arm: arm, Mode: mode, Cache: "hot",
				Instrument: "host-clock", Unit: "us", Operations: 1, Disturbed: disturbed,
				Before: gpu.State{HostLoad: ptr(0.25), Preemptions: ptr(int64(7))}, After: gpu.State{HostLoad: ptr(0.5)}}
			for range samples {
				// Event times are float32 milliseconds: most digits of a float64.
				l.Samples = append(l.Samples, float64(float32(0.01+0.001*r.ExpFloat64()))*1000)
			}
			lines = append(lines, l)
		}
	}
	return lines
}

// newRun creates a run with whole rounds 1…rounds of case A.
func newRun(t testing.TB, rounds int) *Writer {
	t.Helper()
	w, err := Create(t.TempDir(), "mage-001", testRecord())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	for i := range rounds {
		if err := w.AppendRound(testRound(caseA, i+1, 1, 5)); err != nil {
			t.Fatal(err)
		}
	}
	return w
}
