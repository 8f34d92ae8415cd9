package experiment

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"mage/experiments"
)

func TestBuiltinSpecsAreSound(t *testing.T) {
	files, err := fs.Glob(experiments.Specs, "*.toml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		text, err := experiments.Specs.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		s, err := ParseSpec(f, string(text))
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		if s.Namespace+".toml" != f {
			t.Errorf("%s declares the namespace %s", f, s.Namespace)
		}
	}
}

func TestSpecErrorsNamePlaceAndNearestWord(t *testing.T) {
	const good = `namespace = "x"
implementations = ["cpu/naive"]
modes = ["latency"]
rounds = 5
[[case]]
contract = "gelu"
[[case]]
contract = "neighbor"
`
	if _, err := ParseSpec("s.toml", good); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, from, to string
		line           int
		want           string
	}{
		{"unknown key", "rounds = 5", "ruonds = 5", 4, `did you mean "rounds"`},
		{"unknown key in a case", `contract = "neighbor"`, "contract = \"neighbor\"\nsahpes = [\"small\"]", 9, `did you mean "shapes"`},
		{"wrong type", "rounds = 5", `rounds = "five"`, 4, "rounds"},
		{"not TOML", "rounds = 5", "rounds = = 5", 4, ""},
		{"unknown mode", `"latency"`, `"latnecy"`, 3, `did you mean "latency"`},
		{"mode without count", `"latency"`, `"graph"`, 3, "needs a count"},
		{"unknown contract", `"gelu"`, `"gleu"`, 6, "gelu"},
		{"unknown contract in the second case", `"neighbor"`, `"neighbour"`, 8, "neighbor"},
		{"impossible shape", `contract = "gelu"`, "contract = \"gelu\"\ndims = [{R = 0, D = 4}]", 7, "R"},
		{"overflowing shape", `contract = "gelu"`, "contract = \"gelu\"\ndims = [{R = 65536, D = 65536}]", 7, ""},
		{"missing dim", `contract = "gelu"`, "contract = \"gelu\"\ndims = [{R = 4}]", 7, "D"},
		{"unknown shape family", `contract = "gelu"`, "contract = \"gelu\"\nshapes = [\"smal\"]", 7, "small"},
		{"unknown distribution", `contract = "neighbor"`, "contract = \"neighbor\"\ndistributions = [\"powerlaw\"]", 9, "power-law"},
		{"distribution of another contract", `contract = "gelu"`, "contract = \"gelu\"\ndistributions = [\"hub\"]", 7, "hub"},
		{"bad baseline", "rounds = 5", "rounds = 5\nbaseline = [\"cpu/niave\"]", 5, `did you mean "cpu/naive"`},
		{"implementation twice", `["cpu/naive"]`, `["cpu/naive", "cpu/naive"]`, 2, "twice"},
		{"implementation without kind", `["cpu/naive"]`, `["naive"]`, 2, "kind/name"},
		{"mode twice", `"latency"`, `"batch:10", "batch:010"`, 3, "listed twice"},
		{"cache state twice", "rounds = 5", `caches = ["hot", "hot"]`, 4, "listed twice"},
		{"zero rounds", "rounds = 5", "rounds = 0", 4, "between"},
		{"negative rounds", "rounds = 5", "rounds = -1", 4, "between"},
		{"more rounds than can be compared", "rounds = 5", "rounds = 1001", 4, "between 1 and 1000"},
		{"more rounds than can be looked at", "rounds = 5", "rounds = 5\n[stop]\nmax_rounds = 1001", 6, "1000 at most"},
		{"zero samples", "rounds = 5", "samples = 0", 4, "between"},
		{"bad margin", "rounds = 5", "margin = 2.0", 4, "between"},
		{"zero margin", "rounds = 5", "margin = 0.0", 4, "between"},
		{"margin that is no number", "rounds = 5", "margin = nan", 4, "between"},
		{"confidence that is no number", "rounds = 5", "confidence = nan", 4, "between"},
		{"no time", "rounds = 5", `budget = "0s"`, 4, "at least"},
		{"less time than is counted", "rounds = 5", `max_sample = "1ns"`, 4, "at least"},
		{"bad duration", "rounds = 5", `budget = "fast"`, 4, "fast"},
		{"negative duration", "rounds = 5", `budget = "-1s"`, 4, "negative"},
		{"bad namespace", `"x"`, `"../x"`, 1, "namespace"},
		{"stop below rounds", "rounds = 5", "rounds = 5\n[stop]\nmax_rounds = 3", 6, "below"},
		{"precision", `contract = "gelu"`, "contract = \"gelu\"\nprecision = \"fp8\"", 7, "fp32"},
	} {
		_, err := ParseSpec("s.toml", strings.Replace(good, c.from, c.to, 1))
		var se *SpecError
		if !errors.As(err, &se) {
			t.Errorf("%s: error %v", c.name, err)
			continue
		}
		if se.Line != c.line || !strings.Contains(se.Error(), c.want) || !strings.HasPrefix(se.Error(), "s.toml:") {
			t.Errorf("%s: %v (want line %d and %q)", c.name, err, c.line, c.want)
		}
		if strings.ContainsRune(se.Error(), '\n') {
			t.Errorf("%s: more than one line: %v", c.name, err)
		}
	}
	if s, err := ParseSpec("s.toml", strings.Replace(good, "rounds = 5", "warmup = 0", 1)); err != nil || s.Warmup != 0 || s.Rounds != 10 {
		t.Errorf("a warm-up of zero: %+v, %v", s, err)
	}
	if _, err := ParseSpec("s.toml", strings.Replace(good, "rounds = 5", "rounds = 5\n[stop]\nmax_rounds = 1000", 1)); err != nil {
		t.Error(err)
	}
	if _, err := ParseSpec("s.toml", ""); err == nil {
		t.Error("an empty spec passes")
	}
	if _, err := ParseSpec("s.toml", "namespace = \"x\"\nimplementations = [\"cpu/naive\"]"); err == nil || !strings.Contains(err.Error(), "no cases") {
		t.Errorf("without cases: %v", err)
	}
}

func FuzzParseSpec(f *testing.F) {
	f.Add(fakeSpec)
	f.Add("namespace = 3")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSpec("f.toml", text)
		if err == nil && len(s.Cases) == 0 {
			t.Error("accepted without cases")
		}
	})
}
