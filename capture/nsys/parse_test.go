package nsys

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mage/capture"
	"mage/capture/capturetest"
)

func build(t *testing.T, e capturetest.Export) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.sqlite")
	capturetest.WriteExport(t, path, e)
	return path
}

func p[T any](v T) *T { return &v }

func TestExports(t *testing.T) {
	ctx := context.Background()
	for name, e := range map[string]capturetest.Export{
		"2025":               {Version: "3.24.14"},
		"2022":               {Version: "2.11.5"},
		"without a version":  {},
		"names in the table": {Version: "2.1.0", InlineNames: true},
	} {
		r, err := Parse(ctx, build(t, e))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(r.Kernels) != 3 {
			t.Fatalf("%s: %d kernels, want 3", name, len(r.Kernels))
		}
		first, second := r.Kernels[0], r.Kernels[1]
		want := capture.Kernel{Name: capturetest.Gelu, Mangled: "_Z4geluILi128EEvPKfS1_Pfi", StartNS: p(int64(2000)), DurationUS: p(3.5),
			Device: p(0), Context: p(1), Stream: p(7), Grid: capture.Dim{3072, 1, 1}, Block: capture.Dim{128, 1, 1},
			Registers: p(28), StaticShared: p(0), DynamicShared: p(4096), Local: p(0), Correlation: p(int64(11))}
		if diff := cmp.Diff(want, first); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
		want = capture.Kernel{Name: capturetest.Reduce, StartNS: p(int64(7000)), DurationUS: p(1.25),
			Device: p(0), Context: p(1), Stream: p(13), Grid: capture.Dim{4, 5, 6}, Block: capture.Dim{8, 4, 2},
			Registers: p(40), StaticShared: p(512), DynamicShared: p(0), Local: p(16), Correlation: p(int64(13)), GraphNode: p(uint64(77))}
		if diff := cmp.Diff(want, second); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
		if diff := cmp.Diff([]capture.Copy{
			{Kind: "fill", StartNS: 100, DurationUS: 0.2, Bytes: 1024, Device: p(0), Stream: p(7), Target: "pinned", Correlation: p(int64(9))},
			{Kind: "HtoD", StartNS: 500, DurationUS: 1, Bytes: 4096, Device: p(0), Stream: p(7), Source: "pageable", Target: "pinned", Correlation: p(int64(10))},
		}, r.Copies); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
		if diff := cmp.Diff([]capture.APICall{
			{Name: "cuMemsetD8Async", StartNS: 100, DurationUS: 0.03, Thread: p(int64(0x123)), Correlation: p(int64(9)), Result: p(700)},
			{Name: "cudaLaunchKernel_v7000", StartNS: 1000, DurationUS: 0.9, Thread: p(int64(0x123)), Correlation: p(int64(11)), Result: p(0)},
		}, r.Calls); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
		if r.Device != "NVIDIA H200" {
			t.Errorf("%s: device %q", name, r.Device)
		}
		if diff := cmp.Diff([]string{"nsys: Not all events might have been collected."}, r.Warnings); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestMissingColumns stay missing: they are not zero.
func TestMissingColumns(t *testing.T) {
	for _, inline := range []bool{false, true} {
		r, err := Parse(context.Background(), build(t, capturetest.Export{Minimal: true, InlineNames: inline}))
		if err != nil {
			t.Fatal(err)
		}
		want := capture.Kernel{Name: capturetest.Reduce, StartNS: p(int64(7000)), DurationUS: p(1.25),
			Grid: capture.Dim{4, 5, 6}, Block: capture.Dim{8, 4, 2}}
		if diff := cmp.Diff(want, r.Kernels[1]); diff != "" {
			t.Error(diff)
		}
		if r.Copies != nil || r.Calls != nil || r.Device != "" {
			t.Errorf("copies %v, calls %v, device %q", r.Copies, r.Calls, r.Device)
		}
	}
}

func TestNamesThatAreNotThere(t *testing.T) {
	r, err := Parse(context.Background(), build(t, capturetest.Export{Minimal: true, Script: `DELETE FROM StringIds; UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET shortName = NULL WHERE start = 7000`}))
	if err != nil {
		t.Fatal(err)
	}
	if r.Kernels[0].Name != "string 1" || r.Kernels[1].Name != "" {
		t.Errorf("%q, %q, %q", r.Kernels[0].Name, r.Kernels[1].Name, r.Warnings)
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		name, script string
		version      string
		outcome      capture.Outcome
		says         string
	}{
		{"a later schema", "", "4.0.0", capture.Unsupported, "its schema is version 4.0.0"},
		{"no end", "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN end", "3.1.0", capture.Unsupported, "CUPTI_ACTIVITY_KIND_KERNEL has no column end"},
		{"no grid", "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN gridY", "3.1.0", capture.Unsupported, "has no column gridY"},
		{"copies without bytes", "ALTER TABLE CUPTI_ACTIVITY_KIND_MEMCPY DROP COLUMN bytes", "3.1.0", capture.Unsupported, "CUPTI_ACTIVITY_KIND_MEMCPY has no column bytes"},
		{"graphs as wholes", "DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL; CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER, end INTEGER)", "3.1.0", capture.Unsupported, "whole graphs"},
		{"a start that is no number", "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = x'00ff'", "3.1.0", capture.Invalid, "a row of CUPTI_ACTIVITY_KIND_KERNEL has no start or end"},
		{"an end in the text", "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET end = 'soon'", "3.1.0", capture.Invalid, "a row of CUPTI_ACTIVITY_KIND_RUNTIME has no start or end"},
		{"a negative copy", "UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET bytes = -4", "3.1.0", capture.Invalid, "has no bytes"},
		{"a fill of a text", "UPDATE CUPTI_ACTIVITY_KIND_MEMSET SET bytes = 'all'", "3.1.0", capture.Invalid, "has no bytes"},
		{"strings without numbers", "DROP TABLE StringIds; CREATE TABLE StringIds (id TEXT, value TEXT); INSERT INTO StringIds VALUES ('one', 'k')", "3.1.0", capture.Unsupported, "StringIds"},
		{"a negative grid", "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET gridZ = -1", "3.1.0", capture.Invalid, "has no gridZ"},
	} {
		_, err := Parse(context.Background(), build(t, capturetest.Export{Version: c.version, Script: c.script}))
		f, ok := errors.AsType[*capture.Failure](err)
		if !ok || f.Outcome != c.outcome || !strings.Contains(f.Reason, c.says) {
			t.Errorf("%s: error = %v", c.name, err)
		}
	}
	torn := filepath.Join(t.TempDir(), "torn.sqlite")
	if err := os.WriteFile(torn, []byte("SQLite format 3\x00 and then nothing"), 0o644); err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(t.TempDir(), "empty.sqlite")
	if err := os.WriteFile(empty, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{torn, empty, filepath.Join(t.TempDir(), "none.sqlite")} {
		_, err := Parse(context.Background(), path)
		if f, ok := errors.AsType[*capture.Failure](err); !ok || f.Outcome != capture.Unsupported {
			t.Errorf("%s: error = %v", filepath.Base(path), err)
		}
	}
}

// TestOddValues are kept as far as they mean something, and missing otherwise.
func TestOddValues(t *testing.T) {
	r, err := Parse(context.Background(), build(t, capturetest.Export{Version: "3.1.0", Script: `
		UPDATE TARGET_INFO_GPU SET name = NULL;
		UPDATE StringIds SET value = x'6bff41' WHERE id = 4;
		UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET registersPerThread = -1, staticSharedMemory = 9223372036854775807, streamId = 'seven' WHERE start = 7000;
		INSERT INTO DIAGNOSTIC_EVENT VALUES (1, 1, 1, 3, x'c3', NULL);`}))
	if err != nil {
		t.Fatal(err)
	}
	k := r.Kernels[1]
	if k.Name != "k\ufffdA" || k.Registers != nil || k.StaticShared != nil || k.Stream != nil || *k.DynamicShared != 0 || r.Device != "" {
		t.Errorf("%+v on %q", k, r.Device)
	}
}

// TestTimesBeyondTheClock: a difference that does not fit an int64 keeps its sign.
func TestTimesBeyondTheClock(t *testing.T) {
	for script, negative := range map[string]bool{
		"start = 9223372036854775807, end = -9223372036854775807": true,
		"start = -9223372036854775807, end = 9223372036854775807": false,
		"start = 10, end = 9": true,
	} {
		r, err := Parse(context.Background(), build(t, capturetest.Export{Version: "3.1.0",
			Script: "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET " + script + " WHERE start = 7000"}))
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(r.Kernels, func(k capture.Kernel) bool { return k.Name == capturetest.Reduce })
		if us := *r.Kernels[i].DurationUS; us < 0 != negative {
			t.Errorf("%s: %g µs", script, us)
		}
	}
}
