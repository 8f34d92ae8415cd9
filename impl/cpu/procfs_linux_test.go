package cpu

import (
	"os"
	"path/filepath"
	"testing"
)

func TestParseProcessorTimes(t *testing.T) {
	got, ok := parseProcessorTimes("cpu  10 1 5 100 7 0 2 25 9 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n")
	if want := (processorTimes{stolen: 25, total: 150}); !ok || got != want {
		t.Errorf("%+v, %v; want %+v", got, ok, want)
	}
	for _, text := range []string{"", "cpu 1 2", "cpu0 1 2 3 4 5 6 7 8", "cpu 1 2 3 x 5 6 7 8"} {
		if _, ok := parseProcessorTimes(text); ok {
			t.Errorf("%q was parsed", text)
		}
	}
}

func TestParseLoad(t *testing.T) {
	if v := parseLoad("3.00 2.00 1.00 1/200 4242\n", 4); v == nil || *v != 0.75 {
		t.Errorf("load %v", v)
	}
	for _, text := range []string{"", "x 1 2"} {
		if parseLoad(text, 1) != nil {
			t.Errorf("%q was parsed", text)
		}
	}
}

func TestField(t *testing.T) {
	text := "processor\t: 0\nmodel name\t: Some CPU @ 2.00GHz\nmodel name\t: Other\n"
	if v := field(text, "model name"); v != "Some CPU @ 2.00GHz" {
		t.Errorf("%q", v)
	}
	if v := field(text, "MemTotal"); v != "" {
		t.Errorf("%q", v)
	}
}

func TestLargestCache(t *testing.T) {
	dir := writeFiles(t, map[string]string{
		"index0/size": "48K\n", "index2/size": "2048K\n", "index3/size": "107520K\n", "index4/size": "?\n",
	})
	if got := largestCache(dir); got != 107520<<10 {
		t.Errorf("%d bytes", got)
	}
	if largestCache(t.TempDir()) != 0 {
		t.Error("a cache without files")
	}
	for s, want := range map[string]int64{"36M": 36 << 20, "1G": 1 << 30, "512": 512, "": 0, "-1K": 0, "K": 0} {
		if got := parseSize(s); got != want {
			t.Errorf("%q is %d, want %d", s, got, want)
		}
	}
}

func writeFiles(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
