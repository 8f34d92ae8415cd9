package report_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

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
			path := filepath.Join("testdata", c.file)
			if *update {
				if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), got.String()); d != "" {
				t.Errorf("differs from %s (-want +got); -update rewrites it after a look:\n%s", path, d)
			}
		})
	}
}
