package profile

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
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
