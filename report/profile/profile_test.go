package profile

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"mage/capture"
	"mage/report"
)

func us(v float64) *float64 { return &v }

func sample() (*capture.Capture, *capture.Result) {
	n := 28
	block := capture.Dim{128, 1, 1}
	return &capture.Capture{Dir: "captures/x", Outcome: capture.Complete}, &capture.Result{Kernels: []capture.Kernel{
		{Name: "void f<1>(int)", DurationUS: us(2), Grid: capture.Dim{1, 1, 1}, Block: block, Registers: &n},
		{Name: "void f<2>(int)", DurationUS: us(6), Grid: capture.Dim{1, 1, 1}, Block: block},
		{Name: "void f<1>(int)", DurationUS: us(4), Grid: capture.Dim{2, 1, 1}, Block: block, Registers: &n},
		{Name: "untimed", Grid: capture.Dim{1, 1, 1}, Block: block},
	}}
}

func TestTables(t *testing.T) {
	p, err := New(sample2(t, Options{Columns: []string{"calls", "mean", "share", "grid", "registers", "bottleneck"}}))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := p.Write(&b, report.CSV, report.RenderOptions{}); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(b.String())).ReadAll()
	if err != nil {
		t.Fatalf("%v in\n%s", err, b.String())
	}
	text := b.String()
	if len(rows) != 4 || !strings.Contains(text, "void f<1>(int)") {
		t.Errorf("the full names are not in\n%s", text)
	}
	b.Reset()
	if err := p.Write(&b, report.TableFormat, report.RenderOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"f      ", "f (2)", "50.0 %", "1,1,1", "unknown"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

func sample2(t *testing.T, o Options) (*capture.Capture, *capture.Result, Options) {
	t.Helper()
	c, r := sample()
	return c, r, o
}

func TestJSON(t *testing.T) {
	p, err := New(sample2(t, Options{Analyze: true}))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := p.Write(&b, report.JSON, report.RenderOptions{}); err != nil {
		t.Fatal(err)
	}
	var got struct{ Groups []Group }
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Groups) != 3 || *got.Groups[0].TotalUS != 6 || got.Groups[0].Grid != "" && got.Groups[1].Grid != "" || got.Groups[2].TotalUS != nil ||
		got.Groups[0].Analysis.Bottleneck != "unknown" {
		t.Errorf("%s", b.String())
	}
}

func TestUnknownColumn(t *testing.T) {
	if _, err := New(sample2(t, Options{Columns: []string{"colour"}})); err == nil {
		t.Error("accepted")
	}
}

// TestTop: a table shows the greatest groups and says what it leaves out; data have all.
func TestTop(t *testing.T) {
	p, err := New(sample2(t, Options{Top: 1}))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := p.Write(&b, report.TableFormat, report.RenderOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"4 launches; unknown time in all", "2 groups more, unknown time; --top 0 shows all"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	b.Reset()
	if err := p.Write(&b, report.CSV, report.RenderOptions{}); err != nil || strings.Count(b.String(), "\n") != 4 {
		t.Errorf("%v\n%s", err, b.String())
	}
}

// TestChosenColumnsStay on a terminal that is too narrow for the usual ones.
func TestChosenColumnsStay(t *testing.T) {
	for _, c := range []struct {
		columns []string
		stays   bool
	}{{nil, false}, {[]string{"registers", "shared", "grid", "block", "max", "min"}, true}} {
		p, err := New(sample2(t, Options{Columns: c.columns}))
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := p.Write(&b, report.TableFormat, report.RenderOptions{Width: 60}); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(b.String(), "registers") != c.stays {
			t.Errorf("columns %q:\n%s", c.columns, b.String())
		}
	}
}

func TestCleanCheck(t *testing.T) {
	p, err := New(&capture.Capture{Tool: "memcheck", Outcome: capture.Complete}, &capture.Result{}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := p.Write(&b, report.TableFormat, report.RenderOptions{}); err != nil || !strings.Contains(b.String(), "memcheck found nothing") {
		t.Errorf("%v\n%s", err, b.String())
	}
}

// TestSignificant: rounding up to another power of ten adds no digit.
func TestSignificant(t *testing.T) {
	for x, want := range map[float64]string{0: "0", 1: "1.000", 0.99999999: "1.000", 9.9996: "10.00", 9999.6: "10000", 12345: "12345",
		0.00012345: "0.0001234", -2.5: "-2.500", 1e-20: "0.000000000000"} {
		if got := significant(x, 4); got != want {
			t.Errorf("significant(%g) = %s, want %s", x, got, want)
		}
	}
	if got := significant(math.Inf(1), 4); got != "+Inf" {
		t.Errorf("infinite: %s", got)
	}
}
