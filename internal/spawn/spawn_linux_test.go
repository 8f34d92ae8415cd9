package spawn

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestMain is also the program around which the interposer stands: it starts the
// child, and prints what became of it.
func TestMain(m *testing.M) {
	if os.Getenv("SPAWN_PARENT") == "" {
		os.Exit(m.Run())
	}
	if err := parent(); err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// child tells all that a child is given.
const child = `g=$(cut -d" " -f5 /proc/$$/stat)
[ $g = $$ ] && g=own
echo "followed=$FOLLOWED given=$GIVEN args=$* dir=$(pwd) group=$g in=$(cat) third=$(cat <&3)"
echo "files=$(ls /proc/$$/fd | sort -n | head -5 | tr '\n' ' ')" >&2
echo to-4 >&4
exit 7`

func parent() error {
	in, err := text("input")
	if err != nil {
		return err
	}
	third, err := text("more input")
	if err != nil {
		return err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	cmd := exec.Command("/bin/sh", "-c", child, "sh", "a b", "$HOME")
	cmd.Dir, cmd.Env = "/", append(os.Environ(), "GIVEN=a=b")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, os.Stdout, os.Stdout
	cmd.ExtraFiles = []*os.File{third, w}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := Start(cmd); err != nil {
		return err
	}
	w.Close()
	said, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	err = cmd.Wait()
	fmt.Printf("said=%swait=%v\n", said, err)
	for _, missing := range []*exec.Cmd{exec.Command("/no/such/program"), exec.Command("no-such-program"), {Path: "/bin/true", Dir: "/no/such/place"}} {
		err := Start(missing)
		fmt.Printf("missing=%v\n", errors.Is(err, os.ErrNotExist) || errors.Is(err, exec.ErrNotFound))
	}
	silent := exec.Command("/bin/sh", "-c", "cat; echo lost; echo lost >&2")
	if err := Start(silent); err != nil {
		return err
	}
	fmt.Printf("silent=%v\n", silent.Wait())
	return nil
}

func text(s string) (*os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer w.Close()
	_, err = w.WriteString(s)
	return r, err
}

// TestStart compares what a child is given with and without a library before all
// others, which must learn of it.
func TestStart(t *testing.T) {
	const want = `given=a=b args=a b $HOME dir=/ group=own in=input third=more input
files=0 1 2 3 4 
said=to-4
wait=exit status 7
missing=true
missing=true
missing=true
silent=<nil>
`
	for followed, interposer := range map[string]string{"": "", "yes": build(t)} {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "SPAWN_PARENT=1", "LD_PRELOAD="+interposer)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%v", err)
		}
		if got, want := string(out), "followed="+followed+" "+want; got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

func TestStartWantsFiles(t *testing.T) {
	l := load()
	if l == nil {
		t.Skip("this process has no C library")
	}
	cmd := exec.Command("/bin/true")
	cmd.Stdout = &strings.Builder{}
	if err := l.start(cmd); err == nil || !strings.Contains(err.Error(), "want an *os.File") {
		t.Errorf("a writer that no process can have: %v", err)
	}
}

// build skips where there is no C compiler.
func build(t *testing.T) string {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("the interposer needs a C compiler: cc is not installed")
	}
	lib := filepath.Join(t.TempDir(), "interposer.so")
	if out, err := exec.Command(cc, "-shared", "-fPIC", "-o", lib, "testdata/interposer.c", "-ldl").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return lib
}
