package refcache

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"mage/contract"
	"mage/tensor"
)

// counted counts how often the reference is really computed.
type counted struct {
	contract.Contract
	n *atomic.Int32
}

func (c counted) Reference(d contract.Dims, in contract.Tensors) []float64 {
	c.n.Add(1)
	return c.Contract.Reference(d, in)
}

func fixture() (counted, contract.Dims, contract.Tensors) {
	c := counted{contract.Matmul{}, new(atomic.Int32)}
	d := c.Small()
	in := contract.Tensors{}
	for _, s := range c.Inputs(d) {
		t := tensor.New(s)
		v := make([]float32, s.Len())
		for i := range v {
			v[i] = float32(i%17) - 7.3
		}
		t.PutFloat32s(v)
		in[s.Name] = t
	}
	return c, d, in
}

func want(t *testing.T, k Cache, c counted, d contract.Dims, in contract.Tensors, computed int32, warns string) {
	t.Helper()
	before := c.n.Load()
	ref, warning := k.Reference(c, d, in)
	if diff := cmp.Diff(c.Contract.Reference(d, in), ref); diff != "" {
		t.Errorf("wrong reference: %s", diff)
	}
	if n := c.n.Load() - before; n != computed {
		t.Errorf("computed %d times, want %d", n, computed)
	}
	if warns == "" && warning != nil {
		t.Errorf("warning: %v", warning)
	}
	if warns != "" && (warning == nil || !strings.Contains(warning.Error(), warns)) {
		t.Errorf("warning %v, want %q", warning, warns)
	}
}

func files(t *testing.T, dir string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestComputedOnce(t *testing.T) {
	c, d, in := fixture()
	k := Cache{Dir: filepath.Join(t.TempDir(), "a", "b"), MaxBytes: 1 << 20}
	want(t, k, c, d, in, 1, "")
	want(t, k, c, d, in, 0, "")
	in["a"].Data[5] ^= 1 // other inputs, other reference
	want(t, k, c, d, in, 1, "")
	in["a"].Data[5] ^= 1
	want(t, k, c, d, in, 0, "")
	if n := len(files(t, k.Dir)); n != 2 {
		t.Errorf("%d files, want 2", n)
	}
}

func TestKeyFollowsEverything(t *testing.T) {
	c, d, in := fixture()
	seen := map[key]string{keyOf(c, d, in): "as it is"}
	add := func(what string, k key) {
		if was, ok := seen[k]; ok {
			t.Errorf("%s has the key of %s", what, was)
		}
		seen[k] = what
	}
	for _, name := range []string{"a", "b"} {
		for _, at := range []int{0, len(in[name].Data) - 1} {
			in[name].Data[at] ^= 0x80
			add("a bit of "+name, keyOf(c, d, in))
			in[name].Data[at] ^= 0x80
		}
	}
	add("swapped inputs", keyOf(c, d, contract.Tensors{"a": in["b"], "b": in["a"]}))
	add("other dims", keyOf(c, contract.Dims{"M": 19, "N": 17, "K": 23}, in))
	add("other contract", keyOf(contract.GELU{}, contract.Dims{"R": 3, "D": 257}, in))
	add("other precision", keyOf(tf32{c}, d, in))
}

type tf32 struct{ contract.Contract }

func (tf32) Precision() contract.Precision { return "tf32" }

// Any byte changed, and any truncation, is noticed and repaired.
func TestDamageIsRepaired(t *testing.T) {
	c, d, in := fixture()
	k := Cache{Dir: t.TempDir(), MaxBytes: 1 << 20}
	want(t, k, c, d, in, 1, "")
	path := files(t, k.Dir)[0]
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(r *rapid.T) {
		bad := append([]byte(nil), good...)
		says := "hash differs"
		if rapid.Bool().Draw(r, "truncate") {
			bad = bad[:rapid.IntRange(0, len(bad)-1).Draw(r, "length")]
			says = "bytes, want"
		} else {
			bad[rapid.IntRange(0, len(bad)-1).Draw(r, "at")] ^= rapid.ByteRange(1, 255).Draw(r, "by")
		}
		if err := os.WriteFile(path, bad, 0o644); err != nil {
			r.Fatal(err)
		}
		want(t, k, c, d, in, 1, says)
		want(t, k, c, d, in, 0, "")
	})
}

func TestFileOfAnotherKeyIsNotBelieved(t *testing.T) {
	c, d, in := fixture()
	k := Cache{Dir: t.TempDir(), MaxBytes: 1 << 20}
	want(t, k, c, d, in, 1, "")
	old := files(t, k.Dir)[0]
	in["a"].Data[0] ^= 1
	if err := os.Rename(old, filepath.Join(k.Dir, keyOf(c, d, in).String()+suffix)); err != nil {
		t.Fatal(err)
	}
	want(t, k, c, d, in, 1, "hash differs")
}

func TestWorksWithoutAWritableDirectory(t *testing.T) {
	c, d, in := fixture()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	want(t, Cache{Dir: filepath.Join(file, "reference"), MaxBytes: 1 << 20}, c, d, in, 1, "not kept")
	want(t, Cache{}, c, d, in, 1, "")
	want(t, Cache{Dir: t.TempDir()}, c, d, in, 1, "")
}

func TestLeastRecentlyUsedGoesFirst(t *testing.T) {
	c, d, in := fixture()
	size := fileSize(c.Output(d).Len())
	k := Cache{Dir: t.TempDir(), MaxBytes: 4 * size}
	if err := os.WriteFile(filepath.Join(k.Dir, "notes.txt"), make([]byte, 10*size), 0o644); err != nil {
		t.Fatal(err)
	}
	use := func(variant byte, computed int32) {
		t.Helper()
		in["a"].Data[0] = variant
		want(t, k, c, d, in, computed, "")
		// The clock of a file system may be coarse: age everything by a minute.
		for _, f := range files(t, k.Dir) {
			info, err := os.Stat(f)
			if err != nil {
				t.Fatal(err)
			}
			old := info.ModTime().Add(-time.Minute)
			if err := os.Chtimes(f, old, old); err != nil {
				t.Fatal(err)
			}
		}
	}
	for v := range byte(4) {
		use(v, 1)
	}
	use(0, 0) // 1 is the oldest now
	use(9, 1)
	for _, v := range []byte{0, 2, 3, 9} {
		use(v, 0)
	}
	use(1, 1) // it was removed; now 0 is
	if n := len(files(t, k.Dir)); n != 5 {
		t.Errorf("%d files, want 4 references and the user's own", n)
	}
	use(0, 1)
}

func TestLargeReferencesAreNotKept(t *testing.T) {
	c, d, in := fixture()
	k := Cache{Dir: t.TempDir(), MaxBytes: 4*fileSize(c.Output(d).Len()) - 1}
	want(t, k, c, d, in, 1, "")
	if n := len(files(t, k.Dir)); n != 0 {
		t.Errorf("%d files", n)
	}
}

func TestAbandonedFilesAreRemoved(t *testing.T) {
	c, d, in := fixture()
	k := Cache{Dir: t.TempDir(), MaxBytes: 1 << 20}
	for name, age := range map[string]time.Duration{"old": 2 * time.Hour, "new": time.Minute} {
		path := filepath.Join(k.Dir, tempPrefix+name)
		when := time.Now().Add(-age)
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, when, when); err != nil {
			t.Fatal(err)
		}
	}
	want(t, k, c, d, in, 1, "")
	if list := files(t, k.Dir); len(list) != 2 || !strings.HasSuffix(list[1], "new") {
		t.Errorf("%v", list)
	}
}

func TestManyAtOnce(t *testing.T) {
	c, d, in := fixture()
	k := Cache{Dir: t.TempDir(), MaxBytes: 1 << 20}
	ref := c.Contract.Reference(d, in)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				got, warning := k.Reference(c, d, in)
				if warning != nil || !cmp.Equal(got, ref) {
					t.Errorf("%v", warning)
				}
			}
		})
	}
	wg.Wait()
	if list := files(t, k.Dir); len(list) != 1 {
		t.Errorf("%v", list)
	}
}

func BenchmarkHit(b *testing.B) {
	c := contract.Matmul{}
	d := contract.Dims{"M": 2048, "N": 2048, "K": 16}
	in := contract.Tensors{}
	for _, s := range c.Inputs(d) {
		in[s.Name] = tensor.New(s)
	}
	k := Cache{Dir: b.TempDir(), MaxBytes: 1 << 30}
	if _, err := k.Reference(c, d, in); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(8 * 2048 * 2048)
	for b.Loop() {
		if _, err := k.Reference(c, d, in); err != nil {
			b.Fatal(err)
		}
	}
}

func TestNewIsTheUsersCache(t *testing.T) {
	home := t.TempDir()
	for _, v := range []string{"HOME", "XDG_CACHE_HOME", "LocalAppData"} {
		t.Setenv(v, home)
	}
	k, err := New()
	if err != nil || !strings.HasPrefix(k.Dir, home) || !strings.HasSuffix(k.Dir, filepath.Join("mage", "reference")) {
		t.Errorf("%+v, %v", k, err)
	}
	for _, v := range []string{"HOME", "XDG_CACHE_HOME", "LocalAppData"} {
		t.Setenv(v, "")
	}
	if k, err := New(); err == nil || k.Dir != "" {
		t.Errorf("%+v, %v", k, err)
	}
}
