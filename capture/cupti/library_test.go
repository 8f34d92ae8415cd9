package cupti

import (
	"bytes"
	"context"
	"crypto/sha256"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mage/unavailable"
)

// TestLibraryLoadsAnywhere holds the library to what every glibc since 2.17 has.
func TestLibraryLoadsAnywhere(t *testing.T) {
	f, err := elf.NewFile(bytes.NewReader(library))
	if err != nil {
		t.Fatal(err)
	}
	needed, err := f.ImportedLibraries()
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"libc.so.6", "libdl.so.2", "libpthread.so.0"}; !slices.Equal(needed, want) {
		t.Errorf("needs %v, not %v", needed, want)
	}
	imported, err := f.ImportedSymbols()
	if err != nil || len(imported) == 0 {
		t.Fatal(imported, err)
	}
	old := strings.Fields(`__cxa_atexit __errno_location close dlerror dlopen dlsym free ftruncate getenv getpid
		kill lseek malloc memcpy memset open pipe2 pthread_create pthread_mutex_lock pthread_mutex_unlock
		pthread_sigmask raise read readlink sigaction sigfillset signal strchr strcmp strlen write`)
	for _, s := range imported {
		if s.Version != "" {
			t.Errorf("%s is bound to the version %s", s.Name, s.Version)
		}
		if !slices.Contains(old, s.Name) {
			t.Errorf("%s is not known to be in every glibc", s.Name)
		}
	}
	if s := f.Section(".comment"); s != nil {
		t.Error("the library names its compiler")
	}
}

func TestLibraryNamesNoPaths(t *testing.T) {
	for _, found := range regexp.MustCompile(`/[!-~]{3,}`).FindAll(library, -1) {
		if string(found) != "/proc/self/exe" {
			t.Errorf("the library holds %q", found)
		}
	}
}

func TestLibraryIsOfThisSource(t *testing.T) {
	sums, err := os.ReadFile("inject/inject.sums")
	if err != nil {
		t.Fatal(err)
	}
	files := 0
	for line := range strings.Lines(string(sums)) {
		hash, name, ok := strings.Cut(strings.TrimSpace(line), "  ")
		if !ok {
			continue
		}
		files++
		data, err := os.ReadFile(filepath.Join("inject", name))
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprintf("%x", sha256.Sum256(data)) != hash {
			t.Errorf("%s has changed: run inject/build.sh", name)
		}
	}
	if files != 6 {
		t.Errorf("inject.sums names %d files", files)
	}
}

func TestInstall(t *testing.T) {
	if _, err := install(context.Background(), t.TempDir(), "darwin", "arm64"); err == nil {
		t.Error("installed for macOS")
	} else if _, ok := unavailable.As(err); !ok {
		t.Error(err)
	}
	path := filepath.Join(t.TempDir(), libraryFile)
	if _, err := exec.LookPath("cc"); err == nil {
		if err := compile(context.Background(), path); err != nil {
			t.Fatal(err)
		}
		f, err := elf.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		symbols, err := f.DynamicSymbols()
		if err != nil || !slices.ContainsFunc(symbols, func(s elf.Symbol) bool { return s.Name == "InitializeInjection" }) {
			t.Errorf("the compiled library has no InitializeInjection: %v", err)
		}
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := install(context.Background(), t.TempDir(), "linux", "arm64"); err == nil {
		t.Error("compiled without a compiler")
	} else if u, ok := unavailable.As(err); !ok || u.Remedy == "" {
		t.Error(err)
	}
}

// TestOffsets compares where records.h reads with NVIDIA's header, by the C
// compiler's own arithmetic.
func TestOffsets(t *testing.T) {
	include := os.Getenv("MAGE_CUDA_INCLUDE")
	cc, err := exec.LookPath("cc")
	if include == "" || err != nil {
		t.Skip("MAGE_CUDA_INCLUDE names no folder of CUDA headers, or there is no C compiler")
	}
	var args []string
	for _, dir := range filepath.SplitList(include) {
		args = append(args, "-I", dir)
	}
	program := filepath.Join(t.TempDir(), "offsets")
	compared := 0
	for n := 9; n <= 20; n++ {
		build := append(args, fmt.Sprintf("-DRECORD=CUpti_ActivityKernel%d", n), "-o", program, "testdata/offsets.c")
		if out, err := exec.Command(cc, build...).CombinedOutput(); err != nil {
			if strings.Contains(string(out), "CUpti_ActivityKernel") {
				continue // this header has no such record
			}
			t.Fatalf("%v\n%s", err, out)
		}
		out, err := exec.Command(program).Output()
		if err != nil {
			t.Fatal(err)
		}
		compared++
		compareOffsets(t, n, string(out))
	}
	if compared == 0 {
		t.Error("the headers define no kernel record that is understood")
	}
}

func compareOffsets(t *testing.T, version int, out string) {
	var got strings.Builder
	for line := range strings.Lines(out) {
		if rest, ok := strings.CutPrefix(line, "kinds "); ok {
			if rest != "1 2 3 4 5 8 10 17 22 49\n" {
				t.Errorf("the kinds are %s", rest)
			}
			continue
		}
		got.WriteString(line)
	}
	if want := offsetsRead(t); got.String() != want {
		t.Errorf("CUpti_ActivityKernel%d: the header has\n%s\nand records.h reads\n%s", version, got.String(), want)
	}
}

// offsetsRead takes the offsets and sizes out of records.h, in its order.
func offsetsRead(t *testing.T) string {
	t.Helper()
	text, err := source.ReadFile("inject/records.h")
	if err != nil {
		t.Fatal(err)
	}
	src := string(text)
	at := strings.Index(src, "static void record(")
	api := strings.Index(src, "static void call(")
	if at < 0 || api < 0 {
		t.Fatal("records.h has no record() or call()")
	}
	fields := regexp.MustCompile(`fields\(r, "(\d+)", \(const uint8_t\[\]\)\{([\d, ]+)\}\)`)
	print := func(kind string, m []string) string {
		var b strings.Builder
		offsets := strings.Split(m[2], ", ")
		if len(offsets) != len(m[1]) {
			t.Fatalf("%s: %d offsets for %d sizes", kind, len(offsets), len(m[1]))
		}
		for i, o := range offsets {
			fmt.Fprintf(&b, "%s %s %c\n", kind, o, m[1][i])
		}
		return b.String()
	}
	var b strings.Builder
	name := regexp.MustCompile(`named\(string\(r, (\d+)\)\)`).FindStringSubmatch(src)
	fmt.Fprintf(&b, "K %s 8\n", name[1])
	kinds := []string{"K", "C", "P", "F", "M", "O", "V"}
	all := fields.FindAllStringSubmatch(src[at:], -1)
	if len(all) != len(kinds) {
		t.Fatalf("%d kinds of record are read", len(all))
	}
	for i, m := range all {
		if kinds[i] == "M" { // calls come in between, as offsets.c has them
			b.WriteString(print("A", fields.FindStringSubmatch(src[api:])))
		}
		b.WriteString(print(kinds[i], m))
	}
	device := regexp.MustCompile(`word\(string\(r, (\d+)\)\)`).FindStringSubmatch(src)
	if _, err := strconv.Atoi(device[1]); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&b, "V %s 8\n", device[1])
	return b.String()
}
