package sanitizer

import (
	"errors"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mage/capture"
)

// TestReports reads what compute-sanitizer 2025.3.1 wrote on an H200: of four faulty
// kernels, cut after the third report; of a Triton script and a PyTorch expression,
// which are both as "clean"; and of cuda/first in a Mage that made a call that failed.
func TestReports(t *testing.T) {
	at := func(x uint32) *capture.Dim { return &capture.Dim{x, 0, 0} }
	for name, want := range map[string][]capture.Finding{
		"clean":     nil,
		"api-error": {{Kind: `Program hit CUDA_ERROR_INVALID_VALUE (error 1) due to "invalid argument" on CUDA API call to cuFuncGetParamInfo.`, Level: "error", Count: 1}},
		"memcheck": {{Kind: "Invalid __global__ write of size 4 bytes", Level: "error", Kernel: "oob", Address: "0x7fe416800000",
			Thread: at(0), Block: at(0), Count: 3,
			Detail: "Access to 0x7fe416800000 is out of bounds and is 50,331,649 bytes after the nearest allocation at 0x7fe412800000 of size 16,777,216 bytes"}},
		"initcheck": {{Kind: "Uninitialized __global__ memory read of size 4 bytes", Level: "error", Kernel: "uninit", Address: "0x7f8608800280",
			Thread: at(96), Block: at(0), Count: 4}},
		"synccheck": {{Kind: "Barrier error detected. Divergent thread(s) in warp.", Level: "error", Kernel: "sync",
			Thread: at(0), Block: at(0), Count: 4}},
		"racecheck": {{Kind: "Race reported between Write access", Level: "error", Kernel: "race", Detail: "and Read access at race+0xb0", Count: 512}},
	} {
		text, err := os.ReadFile("testdata/" + name + ".log")
		if err != nil {
			t.Fatal(err)
		}
		r, err := Parse(string(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, r.Findings); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
		cut := name == "memcheck" || name == "initcheck"
		if (len(r.Warnings) == 1) != cut {
			t.Errorf("%s: warnings %q", name, r.Warnings)
		}
	}
}

// TestForms are lines as documented and as other versions print them.
func TestForms(t *testing.T) {
	const text = `========= COMPUTE-SANITIZER
Before: the program's own line
========= Invalid __global__ read of size 4 bytes
=========     at scale(float *, float)+0x70 in scale.cu:6:scale(float *, float)
=========     by thread (255,0,0) in block (3,2,1)
=========     Address 0x74b834000ffc is misaligned
========= 
========= Invalid __shared__ write of size 8 bytes
=========     at 0x148 in tile(float *, int)
=========     by thread (1,2,3) in block (0,0,0)
========= 
========= Warning: Race reported between Read access at sum+0x10 in sum.cu:7:sum
=========     and Write access at sum+0x30 in sum.cu:9:sum [1 hazards]
========= 
========= Program hit cudaErrorLaunchFailure (error 719) due to "unspecified launch failure" on CUDA API call to cudaDeviceSynchronize.
=========     Saved host backtrace up to driver entry point at error
=========         Host Frame: main [0x8a94] in program
========= 
========= Target application returned an error
========= ERROR SUMMARY: 4 errors
`
	r, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	want := []capture.Finding{
		{Kind: "Invalid __global__ read of size 4 bytes", Level: "error", Kernel: "scale(float *, float)", Source: "scale.cu:6", Address: "0x74b834000ffc",
			Thread: &capture.Dim{255, 0, 0}, Block: &capture.Dim{3, 2, 1}, Detail: "Address 0x74b834000ffc is misaligned", Count: 1},
		{Kind: "Invalid __shared__ write of size 8 bytes", Level: "error", Kernel: "tile(float *, int)",
			Thread: &capture.Dim{1, 2, 3}, Block: &capture.Dim{0, 0, 0}, Count: 1},
		{Kind: "Race reported between Read access", Level: "warning", Kernel: "sum", Source: "sum.cu:7",
			Detail: "and Write access at sum+0x30 in sum.cu:9:sum", Count: 1},
		{Kind: `Program hit cudaErrorLaunchFailure (error 719) due to "unspecified launch failure" on CUDA API call to cudaDeviceSynchronize.`, Level: "error", Count: 1},
	}
	if diff := cmp.Diff(want, r.Findings); diff != "" {
		t.Error(diff)
	}
}

// TestErrorsThatNobodyCanRead must not pass for a clean run.
func TestErrorsThatNobodyCanRead(t *testing.T) {
	_, err := Parse("========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 1,024 errors\n")
	if f, ok := errors.AsType[*capture.Failure](err); !ok || f.Outcome != capture.Unsupported {
		t.Errorf("error = %v", err)
	}
}

func TestToolErrors(t *testing.T) {
	if line, ok := toolError("========= COMPUTE-SANITIZER\n========= Error: No attachable process found. compute-sanitizer timed-out.\n"); !ok {
		t.Error("not found")
	} else if line != "Error: No attachable process found. compute-sanitizer timed-out." {
		t.Errorf("%q", line)
	}
	if line, ok := toolError("========= COMPUTE-SANITIZER\nError: No attachable process, the program says\n"); ok {
		t.Errorf("%q is the program's own", line)
	}
}

// TestUnused: a program that never came to the GPU was not checked.
func TestUnused(t *testing.T) {
	const early = "========= COMPUTE-SANITIZER\n========= Error: Target application terminated before first instrumented API call\n"
	for text, want := range map[string]capture.Outcome{
		early: capture.Empty,
		early + "========= Error: couldn't find exit code.\n":                  capture.Empty,
		early + "========= Error: process didn't terminate successfully\n":     "", // its exit code says it
		early + "========= Target application returned an error\n":             "",
		"========= COMPUTE-SANITIZER\n========= Internal Sanitizer Error: x\n": capture.ToolFailed,
		"========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n":     "",
		"Error: Target application terminated before first instrumented\n":     "", // the program's own
	} {
		f, known := diagnose(text)
		if known != (want != "") || known && f.Outcome != want {
			t.Errorf("%q: %v", text, f)
		}
	}
	if r, err := Parse(early + "========= Error: couldn't find exit code.\n========= ERROR SUMMARY: 0 errors\n"); err != nil || len(r.Findings) != 0 {
		t.Errorf("%+v, %v", r.Findings, err)
	}
}
