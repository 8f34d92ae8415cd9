package ncu

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mage/capture"
)

// TestAskedFor reads the report of ncu --metrics no__such.sum, which exited with 0.
func TestAskedFor(t *testing.T) {
	for asked, says := range map[string]string{
		"no__such.sum":                     "no__such.sum",
		"no__such.sum,gpu__time_duration":  "no__such.sum", // stands for gpu__time_duration.sum and others
		"gpu__time,no__other.avg":          "gpu__time, no__other.avg",
		"gpu__time_duration.sum":           "",
		"launch__func_cache_config":        "", // a word, and a value
		"launch__kernel_name":              "launch__kernel_name",
		"regex:nothing,group:smsp__pcsamp": "",
		"":                                 "",
	} {
		r, err := parseIn(t, "unknown-metric.csv", capture.Request{Metrics: strings.Split(asked, ",")})
		f, failed := errors.AsType[*capture.Failure](err)
		if failed != (says != "") || failed && (f.Outcome != capture.ToolFailed || f.Reason != "no launch has a value of "+says || f.Remedy == "") {
			t.Errorf("%q: %v; want %q", asked, err, says)
		}
		if len(r.Kernels) != 2 || *r.Kernels[1].DurationUS != 9.44 {
			t.Errorf("%q: what was measured is lost: %+v", asked, r.Kernels)
		}
	}
}

// parseIn parses a retained file where a capture leaves it.
func parseIn(t *testing.T, file string, r capture.Request) (capture.Result, error) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", file))
	dir := t.TempDir()
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, table), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return Backend{}.Parse(context.Background(), dir, r)
}
