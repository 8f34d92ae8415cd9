package main

import (
	"bytes"
	"os"
	"regexp"
	"testing"

	"mage/gpu/cuda"
	"mage/internal/ptxfile"
)

func nvrtc(t *testing.T) *cuda.NVRTC {
	t.Helper()
	compiler, err := cuda.OpenNVRTC("")
	if err != nil {
		t.Skip(err)
	}
	return compiler
}

var build = regexp.MustCompile(`Cuda compilation tools, release [0-9.]+, V[0-9.]+`)

// TestCommittedPTXIsWhatNVRTCGenerates compiles again, with the same build.
func TestCommittedPTXIsWhatNVRTCGenerates(t *testing.T) {
	compiler := nvrtc(t)
	for _, k := range targets {
		text, err := ptxfile.Generate(compiler, command, "..", k.name, k.architecture)
		if err != nil {
			t.Fatal(err)
		}
		committed, err := os.ReadFile("../" + k.name + ".ptx")
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(build.Find(text), build.Find(committed)) {
			t.Skipf("the committed PTX is of %s", build.Find(committed))
		}
		if !bytes.Equal(text, committed) {
			t.Errorf("%s.ptx is not what this compiler makes of its source", k.name)
		}
	}
}

// TestNothingSpills: a kernel that spills asks for more than it is to measure.
func TestNothingSpills(t *testing.T) {
	compiler := nvrtc(t)
	for _, k := range targets {
		source, err := os.ReadFile("../" + k.name + ".cu")
		if err != nil {
			t.Fatal(err)
		}
		out, err := compiler.Compile(k.name+".cu", string(source), []string{"--gpu-architecture=sm_90a", "--std=c++17", "--ptxas-options=-v"})
		if err != nil {
			t.Fatal(err)
		}
		report := cuda.ParsePTXASInfo(out.Log)
		if len(report) == 0 {
			t.Fatalf("no report in %q", out.Log)
		}
		for _, r := range report {
			if r.SpillLoads+r.SpillStores > 0 {
				t.Errorf("%s spills", r.Function)
			}
		}
		if bytes.Contains([]byte(out.Log), []byte("serialized")) {
			t.Errorf("wgmma is serialized: %s", out.Log)
		}
	}
}
