package doctor

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestVersion(t *testing.T) {
	for text, want := range map[string]string{
		"NVIDIA Nsight Systems version 2025.3.2.474-253236389321v0\n":                                                "2025.3.2.474-253236389321v0",
		"NVIDIA (R) Nsight Compute Command Line Profiler\nCopyright (c) 2018-2025\nVersion 2025.3.1.0 (build 1)":     "2025.3.1.0",
		"nvcc: NVIDIA (R) Cuda compiler driver\nBuilt on Wed_Aug_20\nCuda compilation tools, release 13.0, V13.0.88": "13.0",
		"cc (Debian 12.2.0-14) 12.2.0\nCopyright (C) 2022 Free Software Foundation, Inc.":                            "12.2.0",
		"Apple clang version 15.0.0 (clang-1500.3.9.4)":                                                              "15.0.0",
		"rustc 1.92.0-nightly (abc123 2026-01-01)":                                                                   "1.92.0-nightly",
		"":                     "",
		"no number here":       "",
		"\x00\xff\xfe garbage": "",
		"version of nothing":   "",
	} {
		if got := version(text); got != want {
			t.Errorf("version(%q) = %q, want %q", text, got, want)
		}
	}
}

func FuzzVersion(f *testing.F) {
	f.Add("Version 1.2.3")
	f.Fuzz(func(t *testing.T, s string) {
		if v := version(s); strings.ContainsAny(v, " \n\x00") {
			t.Errorf("version(%q) = %q", s, v)
		}
		if p := printable(s); strings.ContainsAny(p, "\n\x00\x1b") || len([]rune(p)) > 201 {
			t.Errorf("printable(%q) = %q", s, p)
		}
		pythonStages(s)
		cpuModel(s)
	})
}

func TestProgram(t *testing.T) {
	dir := machine(t, map[string]string{
		"good":    `echo "Good Tool version 2.5.1"`,
		"silent":  `exit 0`,
		"failing": `echo starting; echo "error: no licence" >&2; exit 3`,
		"garbage": `printf '\377\000\033[31mred\n'`,
		"flood":   `while echo "version 9.9 xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"; do i=$((i+1)); [ $i -gt 5000 ] && exit 0; done`,
	})
	write(t, filepath.Join(dir, "opt", "2024.1", "newer"), "#!/bin/sh\necho version 2024.1")
	write(t, filepath.Join(dir, "opt", "2025.3", "newer"), "#!/bin/sh\necho version 2025.3")
	for name, c := range map[string]struct {
		candidates []string
		want       Finding
	}{
		"good":    {[]string{"good"}, Finding{Available: true, Version: "2.5.1", Path: filepath.Join(dir, "good")}},
		"silent":  {[]string{"silent"}, Finding{Available: true, Detail: "it does not say its version", Path: filepath.Join(dir, "silent")}},
		"garbage": {[]string{"garbage"}, Finding{Available: true, Detail: "it does not say its version", Path: filepath.Join(dir, "garbage")}},
		"flood":   {[]string{"flood"}, Finding{Available: true, Version: "9.9", Path: filepath.Join(dir, "flood")}},
		"failing": {[]string{"failing"}, Finding{Path: filepath.Join(dir, "failing"), Reason: "running it with --version: exit status 3: error: no licence", Remedy: "install"}},
		"absent":  {[]string{"absent", "/nowhere/absent"}, Finding{Reason: "absent not found on PATH", Remedy: "install"}},
		"elsewhere": {[]string{"newer", filepath.Join(dir, "opt", "*", "newer")},
			Finding{Available: true, Version: "2025.3", Detail: "not on PATH", Path: filepath.Join(dir, "opt", "2025.3", "newer")}},
	} {
		t.Run(name, func(t *testing.T) {
			c.want.Item = name
			if got := program(context.Background(), name, "install", c.candidates...); got != c.want {
				t.Errorf("\n got %+v\nwant %+v", got, c.want)
			}
		})
	}
}

func TestOutputKillsTheWholeGroup(t *testing.T) {
	dir := machine(t, map[string]string{"parent": `/bin/sleep 300 & echo $! > "$PIDFILE"; wait`})
	pidFile := filepath.Join(dir, "pid")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { // end it as soon as the child exists
		for ctx.Err() == nil {
			if text, err := os.ReadFile(pidFile); err == nil && len(text) > 0 {
				cancel()
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	_, err := output(ctx, []string{"PIDFILE=" + pidFile}, filepath.Join(dir, "parent"))
	if err == nil || !strings.Contains(err.Error(), "stopped") {
		t.Errorf("got %v", err)
	}
	text, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; syscall.Kill(pid, 0) == nil && !zombie(pid); i++ {
		if i > 500 {
			t.Fatal("the child outlived its parent's group")
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// zombie says whether a process is dead and only waits to be collected.
func zombie(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && strings.Contains(string(stat), ") Z ")
}
