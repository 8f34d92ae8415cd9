package kernels_test

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"mage/kernels"
)

// TestGuideShowsTheExample keeps docs/kernels.md and the example it quotes equal.
func TestGuideShowsTheExample(t *testing.T) {
	guide := read(t, "../docs/kernels.md")
	description := read(t, "../examples/kernels/vector-gelu/kernel.toml")
	if !strings.Contains(guide, "```toml\n"+description+"```") {
		t.Error("docs/kernels.md quotes another kernel.toml")
	}
	source := read(t, "../examples/kernels/vector-gelu/gelu.cu")
	entry := source[strings.Index(source, `extern "C"`):]
	if !strings.Contains(guide, "```cuda\n"+entry+"```") {
		t.Error("docs/kernels.md quotes another kernel")
	}
}

// TestGuideShowsTheErrorThatUsersSee makes the mistake of the guide.
func TestGuideShowsTheErrorThatUsersSee(t *testing.T) {
	description := read(t, "../examples/kernels/vector-gelu/kernel.toml")
	description = strings.Replace(description, "R * D / 4, BLOCK)", "R * D / 4, BLOK)", 1)
	_, err := kernels.Load(fstest.MapFS{"gelu/kernel.toml": {Data: []byte(description)}}, "my")
	if err == nil || !strings.Contains(read(t, "../docs/kernels.md"), "    "+err.Error()+"\n") {
		t.Errorf("docs/kernels.md does not show the error:\n%v", err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
