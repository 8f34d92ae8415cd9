package report_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"flag"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchproc"

	"mage/evidence"
	"mage/report"
)

var update = flag.Bool("update", false, "write the golden files")

func TestGolden(t *testing.T) {
	r, err := report.Build(laboratory().Run(), report.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		file   string
		format report.Format
		opts   report.RenderOptions
	}{
		{"table.txt", report.TableFormat, report.RenderOptions{}},
		{"table-80.txt", report.TableFormat, report.RenderOptions{Width: 80}},
		{"overview.txt", report.TableFormat, report.RenderOptions{Tables: []string{"overview"}}},
		{"table-140-box.txt", report.TableFormat, report.RenderOptions{Width: 140, Box: true}},
		{"table-color.txt", report.TableFormat, report.RenderOptions{Width: 120, Color: true, Tables: []string{"comparison"}}},
		{"report.md", report.Markdown, report.RenderOptions{}},
		{"report.csv", report.CSV, report.RenderOptions{}},
		{"tables.csv", report.CSV, report.RenderOptions{Tables: []string{"gates", "resources", "unavailable"}}},
		{"report.json", report.JSON, report.RenderOptions{}},
		{"report.tex", report.LaTeX, report.RenderOptions{}},
		{"report.bench", report.BenchmarkLines, report.RenderOptions{}},
	} {
		t.Run(c.file, func(t *testing.T) {
			var got, again bytes.Buffer
			if err := r.Render(&got, c.format, c.opts); err != nil {
				t.Fatal(err)
			}
			if err := r.Render(&again, c.format, c.opts); err != nil || !bytes.Equal(got.Bytes(), again.Bytes()) {
				t.Error("a second rendering differs")
			}
			golden(t, c.file, got.Bytes())
		})
	}
}

// golden compares got with a file of testdata.
func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", file)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("differs from %s (-want +got); -update rewrites it after a look:\n%s", path, d)
	}
}

func render(t *testing.T, r *report.Report, f report.Format, o report.RenderOptions) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.Render(&b, f, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestRenderRefusesUnknownNames(t *testing.T) {
	r := build(t, duel(1, nil).Run())
	if err := r.Render(new(bytes.Buffer), "yaml", report.RenderOptions{}); err == nil {
		t.Error("format yaml is accepted")
	}
	if err := r.Render(new(bytes.Buffer), report.TableFormat, report.RenderOptions{Tables: []string{"gate"}}); err == nil {
		t.Error("table gate is accepted")
	}
}

// No table is wider than the terminal from 80 characters on, and none ends lines
// in blanks.
func TestTablesFitTheTerminal(t *testing.T) {
	r := build(t, laboratory().Run())
	for _, box := range []bool{false, true} {
		for width := 80; width <= 220; width += 7 {
			out := render(t, r, report.TableFormat, report.RenderOptions{Width: width, Box: box})
			for _, line := range strings.Split(out, "\n") {
				if n := utf8.RuneCountInString(line); n > width {
					t.Errorf("box %v, width %d: a line of %d: %q", box, width, n, line)
				}
				if strings.TrimRight(line, " ") != line {
					t.Errorf("box %v, width %d: trailing blanks: %q", box, width, line)
				}
			}
		}
	}
}

func TestColourOnlyWhenAsked(t *testing.T) {
	r := build(t, laboratory().Run())
	plain := render(t, r, report.TableFormat, report.RenderOptions{Width: 100})
	if strings.ContainsAny(plain, "\x1b┌│─") {
		t.Error("plain output holds colour or boxes")
	}
	colour := render(t, r, report.TableFormat, report.RenderOptions{Width: 100, Color: true})
	if got := regexp.MustCompile("\x1b\\[[0-9]*m").ReplaceAllString(colour, ""); squeeze(got) != squeeze(plain) {
		t.Errorf("colour changes the text:\n%s", cmp.Diff(squeeze(plain), squeeze(got)))
	}
}

// squeeze drops blanks at line ends, which a colour code may shield.
func squeeze(s string) string { return regexp.MustCompile(` +\n`).ReplaceAllString(s, "\n") }

func TestCSVIsComplete(t *testing.T) {
	r := build(t, laboratory().Run())
	rows, err := csv.NewReader(strings.NewReader(render(t, r, report.CSV, report.RenderOptions{}))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows)-1 != r.Header.Cells {
		t.Errorf("%d rows, want %d", len(rows)-1, r.Header.Cells)
	}
	column := slices.Index(rows[0], "median_us")
	i := 1
	for _, c := range r.Cases {
		for _, g := range c.Groups {
			for _, x := range g.Cells {
				if got, err := strconv.ParseFloat(rows[i][column], 64); err != nil || got != *x.MedianUS {
					t.Errorf("row %d: %q, want exactly %v", i, rows[i][column], *x.MedianUS)
				}
				i++
			}
		}
	}
}

func TestJSONRoundTrip(t *testing.T) {
	r := build(t, laboratory().Run())
	var got report.Report
	if err := json.Unmarshal([]byte(render(t, r, report.JSON, report.RenderOptions{})), &got); err != nil {
		t.Fatal(err)
	}
	if got.Header.RunID != r.Header.RunID || len(got.Cases) != len(r.Cases) ||
		*got.Cases[0].Groups[0].Cells[2].Effect.Low != *r.Cases[0].Groups[0].Cells[2].Effect.Low {
		t.Error("JSON loses something")
	}
}

func TestMarkdownTablesAreRectangular(t *testing.T) {
	columns := 0
	for _, line := range strings.Split(render(t, build(t, laboratory().Run()), report.Markdown, report.RenderOptions{}), "\n") {
		if !strings.HasPrefix(line, "|") {
			columns = 0
			continue
		}
		if n := strings.Count(line, "|"); columns == 0 {
			columns = n
		} else if n != columns {
			t.Errorf("%d bars, want %d: %s", n, columns, line)
		}
	}
}

func TestLaTeXIsEscaped(t *testing.T) {
	s := duel(1, nil)
	s.Record.Unavailable = []evidence.Unavailable{{What: `50% of $x_1 & {y}^2`, Reason: `a\b ~ #1 < 2 | 3 µs × 4`}}
	out := render(t, build(t, s.Run()), report.LaTeX, report.RenderOptions{Tables: []string{"unavailable"}})
	for _, want := range []string{`50\% of \$x\_1 \& \{y\}\textasciicircum{}2`,
		`a\textbackslash{}b \textasciitilde{} \#1 \textless{} 2 \textbar{} 3 \textmu{}s $\times$ 4`} {
		if !strings.Contains(out, want) {
			t.Errorf("%s is not in\n%s", want, out)
		}
	}
}

// benchstat's own packages read what is written, group it by implementation and
// keep apart what was read with different instruments.
func TestBenchmarkLinesAreReadByBenchstat(t *testing.T) {
	r := build(t, laboratory().Run())
	var p benchproc.ProjectionParser
	impl, err := p.Parse("/impl", nil)
	if err != nil {
		t.Fatal(err)
	}
	config, err := p.Parse(".config", nil)
	if err != nil {
		t.Fatal(err)
	}
	reader := benchfmt.NewReader(strings.NewReader(render(t, r, report.BenchmarkLines, report.RenderOptions{})), "report")
	medians := map[string][]float64{}
	tables := map[string]bool{}
	for reader.Scan() {
		switch rec := reader.Result().(type) {
		case *benchfmt.SyntaxError:
			t.Fatal(rec)
		case *benchfmt.Result:
			key := impl.Project(rec).StringValues() + " " + rec.GetConfig("instrument") + " " + string(rec.Name.Base())
			if strings.Contains(string(rec.Name), "/shape=4096x768/") && strings.Contains(string(rec.Name), "/mode=span/") {
				sec, ok := rec.Value("sec/op")
				if !ok {
					t.Fatalf("%s has no sec/op", rec.Name)
				}
				medians[key] = append(medians[key], sec*1e6)
			}
			tables[config.Project(rec).String()] = true
		}
	}
	if err := reader.Err(); err != nil {
		t.Fatal(err)
	}
	want := cellOf(t, r, 0, "cuda/vector@driver", "span").RoundUS
	got := medians["cuda_vector cuda-event Gelu"]
	if len(got) != len(want) {
		t.Fatalf("%d lines of cuda/vector, want %d; have %v", len(got), len(want), slices.Collect(maps.Keys(medians)))
	}
	for i := range want {
		if math.Abs(got[i]/want[i]-1) > 1e-12 {
			t.Errorf("round %d: %v, want %v", i, got[i], want[i])
		}
	}
	if len(medians["cpu_naive host-clock Gelu"]) != 20 {
		t.Error("the CPU's lines are missing")
	}
	if len(tables) != 4 { // cuda-event, cupti and host-clock on the GPU; host-clock on the CPU
		t.Errorf("%d configurations, want 4", len(tables))
	}
	units := reader.Units()
	if units.GetBetter("sec/op") >= 0 || units.Get("sec/op", "assume") == nil {
		t.Errorf("benchstat does not learn that a lower %s is better: %v", "sec/op", units)
	}
}

// cellOf finds a cell of the nth case.
func cellOf(t *testing.T, r *report.Report, n int, arm, mode string) report.Cell {
	t.Helper()
	for _, g := range r.Cases[n].Groups {
		for _, x := range g.Cells {
			if x.Arm == arm && g.Mode == mode {
				return x
			}
		}
	}
	t.Fatalf("no cell of %s in mode %s", arm, mode)
	return report.Cell{}
}

func TestGoldenComparison(t *testing.T) {
	arms, err := report.CompareArms(laboratory().Run(), "cuda/first", "cuda/vector", report.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := laboratory()
	b.Seed, b.Record.RunID = 5, "20260911T090000Z-4d5e6f"
	for i := range b.Cells {
		b.Cells[i].US *= 1.1 // a slower machine
		if b.Cells[i].Arm == "cuda/vector@driver" && b.Cells[i].Mode == "span" {
			b.Cells[i].US *= 1.08 // and a slower kernel
		}
	}
	runs, err := report.CompareRuns(laboratory().Run(), b.Run(), report.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]*report.Comparison{"arms": arms, "runs": runs} {
		for suffix, f := range map[string]report.Format{"txt": report.TableFormat, "md": report.Markdown, "json": report.JSON, "csv": report.CSV} {
			var got bytes.Buffer
			if err := c.Render(&got, f, report.RenderOptions{Width: 140}); err != nil {
				t.Fatal(err)
			}
			golden(t, "compare-"+name+"."+suffix, got.Bytes())
		}
	}
	if err := runs.Render(new(bytes.Buffer), report.BenchmarkLines, report.RenderOptions{}); err == nil {
		t.Error("a comparison is written as benchmark lines")
	}
}

func TestOnly(t *testing.T) {
	r := build(t, laboratory().Run())
	some, err := r.Only("R=16384")
	if err != nil || len(some.Cases) == 0 || len(some.Cases) == len(r.Cases) {
		t.Fatalf("%d of %d cases, %v", len(some.Cases), len(r.Cases), err)
	}
	for _, c := range some.Cases {
		if c.Case.Dims["R"] != 16384 {
			t.Errorf("selected %s", c.Case.ID)
		}
	}
	for _, g := range some.Gates {
		if !strings.Contains(g.Case, "R=16384") {
			t.Errorf("selected the gate of %s", g.Case)
		}
	}
	if all, err := r.Only(); err != nil || all != r {
		t.Errorf("no words: %v", err)
	}
	if _, err := r.Only("gelu", "nosuch"); err == nil || !strings.Contains(err.Error(), "nosuch") {
		t.Errorf("a word that selects nothing: %v", err)
	}
}
