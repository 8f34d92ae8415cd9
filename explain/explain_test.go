package explain

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"mage/contract"
	"mage/input"
	"mage/kernels"
	"mage/kernels/triton"
)

// loaded returns the built-in kernels, those of the examples, and a matmul with
// more outputs per thread.
func loaded(t *testing.T) Catalogue {
	t.Helper()
	ks, err := kernels.Load(kernels.Builtin(), "kernels")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"../examples/kernels", "testdata/kernels"} {
		more, err := kernels.Load(os.DirFS(dir), dir)
		if err != nil {
			t.Fatal(err)
		}
		ks = append(ks, more...)
	}
	index, err := triton.Compiled()
	if err != nil {
		t.Fatal(err)
	}
	return Catalogue{ks, index}
}

// explained runs arms on a contract at its quick shape, with the committed PTX.
func explained(t *testing.T, name string, arms ...string) *Explanation {
	t.Helper()
	c, err := contract.Find(name, contract.FP32)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Catalogue: loaded(t)}
	var parsed []Arm
	for _, a := range arms {
		p, err := ParseArm(a, o.Catalogue)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, p)
	}
	e, err := Explain(t.Context(), o, Case{c, Quick(c), input.DefaultDistribution(name), input.DefaultSeed}, parsed...)
	if err != nil {
		t.Fatal(err)
	}
	if w := e.Wrong(); len(w) > 0 {
		t.Errorf("%s: %v", name, w)
	}
	return e
}

func wantRemarks(t *testing.T, e *Explanation, want ...string) {
	t.Helper()
	all := e.Remarks()
	for _, w := range want {
		if !slices.ContainsFunc(all, func(r Remark) bool { return strings.HasPrefix(r.Text, w) }) {
			t.Errorf("%v: no remark %q", e.Case, w)
		}
	}
	if len(all) != len(want) {
		t.Errorf("%v: %d remarks, want %d", e.Case, len(all), len(want))
	}
	if t.Failed() {
		for _, r := range all {
			t.Logf("%s %s: %s", r.Rule, r.Arm, r.Text)
		}
	}
}

// TestReasons holds the sentences against what the kernels' sources say of
// themselves.
func TestReasons(t *testing.T) {
	wantRemarks(t, explained(t, "gelu", "cuda/first", "cuda/vector"),
		"cuda/vector issues 4× fewer global load and store requests, of 512 bytes instead of 128; both move the same sectors",
		"cuda/vector executes 2.2× fewer warp instructions",
		"all of the 4608 global requests carry at most 4 bytes per lane")
	wantRemarks(t, explained(t, "matmul", "cuda/first", "cuda/blocked"),
		"cuda/blocked moves 4× fewer global load sectors (8192, 32.8 k) in 4× fewer requests",
		"cuda/blocked issues 4× fewer shared loads per multiply-add (0.50, 2)",
		"cuda/blocked needs 3.9× fewer wavefronts of shared memory",
		"cuda/blocked executes 2.4× fewer warp instructions",
		"loads move 1.05 MB, of which 131 kB are distinct: each byte comes 8 times")
	// Triton gives each of 128 threads two of 256 elements, and computes tanh from
	// an exponential.
	wantRemarks(t, explained(t, "gelu", "triton/fixed", "cuda/vector"),
		"cuda/vector performs 23 % fewer floating-point operations",
		"cuda/vector issues 2× fewer global load and store requests, of 512 bytes instead of 256; both move the same sectors",
		"cuda/vector executes 1.6× fewer warp instructions")
	// Channels are innermost, 32 of 4 bytes, and neighbouring lanes belong to
	// neighbouring k; tile_b is read along its rows of 16 floats.
	wantRemarks(t, explained(t, "triangle", "cuda/first"),
		"88 % of the sectors of global loads are wasted, most at triangle.ptx:86–99: lanes are 128 bytes apart, and a request takes 32 sectors where 4 would do",
		"88 % of the sectors of global stores are wasted, most at triangle.ptx:177: lanes are 128 bytes apart",
		"bank conflicts cause 77 % of the shared wavefronts, most at triangle.ptx:104–149: lanes are 64 bytes apart, and a request takes 8 wavefronts where 1 would do",
		"loads move 4.19 MB, of which 262 kB are distinct: each byte comes 16 times")
}

func TestAnArmBesideItselfIsAlike(t *testing.T) {
	for _, name := range []string{"matmul", "gelu", "layernorm", "triangle", "neighbor"} {
		e := explained(t, name, "cuda/first", "cuda/first")
		all := e.Remarks()
		if len(all) == 0 || all[0].Rule != "alike" {
			t.Errorf("%s: the first remark is %+v", name, all)
		}
		for _, r := range all[1:] {
			if r.Arm != "both" {
				t.Errorf("%s: only of one: %+v", name, r)
			}
		}
		for _, m := range e.Metrics() {
			if m.B == nil || *m.B != m.A {
				t.Errorf("%s: %s: %v and %v", name, m.Name, m.A, m.B)
			}
		}
	}
}

func TestPlacesAddUp(t *testing.T) {
	for _, arm := range []string{"cuda/first", "rust/first"} {
		p := explained(t, "layernorm", arm).A
		var executed, lanes, sectors, wavefronts int64
		for _, l := range p.Places() {
			executed += l.Executed
			lanes += l.Lanes
			sectors += l.Global.Sectors
			wavefronts += l.Shared.Wavefronts
		}
		c := p.Counters
		if executed != c.Instructions.Total() || lanes != c.Lanes || sectors != c.GlobalLoads.Sectors+c.GlobalStores.Sectors ||
			wavefronts != c.SharedLoads.Wavefronts+c.SharedStores.Wavefronts {
			t.Errorf("%s: lines have %d instructions, %d lanes, %d sectors, %d wavefronts; the counters are %+v", arm, executed, lanes, sectors, wavefronts, c)
		}
	}
}

func TestRender(t *testing.T) {
	e := explained(t, "gelu", "cuda/first", "cuda/vector")
	var plain, colour bytes.Buffer
	if err := e.Render(&plain, RenderOptions{Hot: 2}); err != nil {
		t.Fatal(err)
	}
	if err := e.Render(&colour, RenderOptions{Hot: 2, Width: 80, Color: true, Box: true}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(plain.String(), "\x1b") || strings.Contains(plain.String(), "─") || strings.Contains(plain.String(), " \n") {
		t.Errorf("not plain:\n%q", plain.String())
	}
	if !strings.Contains(colour.String(), "\x1b[32m") || !strings.Contains(colour.String(), "╭") {
		t.Errorf("no colour or no box:\n%s", colour.String())
	}
	for _, want := range []string{"B  cuda/vector  correct  committed PTX", "a quick shape, the default is R=4096,D=768", "requests  ", "gelu.ptx:"} {
		if !strings.Contains(plain.String(), want) {
			t.Errorf("%q is not in\n%s", want, plain.String())
		}
	}
	text, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	var back struct {
		Dims contract.Dims
		Arms []struct {
			Name     string
			Counters map[string]any
			Places   []Place
		}
		Metrics []Metric
		Remarks []Remark
	}
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if len(back.Arms) != 2 || back.Arms[1].Name != "cuda/vector" || back.Dims["R"] != 64 || len(back.Arms[0].Places) == 0 || len(back.Metrics) == 0 || len(back.Remarks) != 3 {
		t.Errorf("JSON: %+v", back)
	}
}

// TestExplainEnds: an explanation that nobody waits for any more is not finished.
func TestExplainEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c, err := contract.Find("matmul", contract.FP32)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Catalogue: loaded(t)}
	arm, err := ParseArm("cuda/first", o.Catalogue)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Explain(ctx, o, Case{c, Quick(c), input.DefaultDistribution("matmul"), input.DefaultSeed}, arm); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
