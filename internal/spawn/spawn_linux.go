package spawn

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"unsafe"

	"github.com/ebitengine/purego"
	"golang.org/x/sys/unix"
)

// opaque has room for any C library's posix_spawnattr_t and
// posix_spawn_file_actions_t (336 and 80 bytes in glibc).
type opaque [64]uint64

// library is what is needed of the C library, as the process sees it: the
// functions of a library loaded before it come first. Functions return an errno.
type library struct {
	actionsInit    func(*opaque) int32
	actionsDestroy func(*opaque) int32
	actionsDup     func(a *opaque, from, to int32) int32
	actionsChdir   func(a *opaque, dir *byte) int32
	attrInit       func(*opaque) int32
	attrDestroy    func(*opaque) int32
	attrFlags      func(*opaque, int16) int32
	attrGroup      func(*opaque, int32) int32
	spawn          func(pid *int32, path *byte, actions, attr *opaque, argv, env **byte) int32
}

const setGroup = 2 // POSIX_SPAWN_SETPGROUP

// interposed says whether a library stands between the process and the C library,
// as a profiler's does to see what the process starts. LD_PRELOAD does not tell: a
// profiler takes itself out of it again.
var interposed = sync.OnceValues(func() (*library, bool) {
	libc, err := purego.Dlopen("libc.so.6", purego.RTLD_NOW)
	if err != nil {
		return nil, false // no C library, or another one
	}
	own, err := purego.Dlsym(libc, "posix_spawn")
	if err != nil {
		return nil, false
	}
	if seen, err := purego.Dlsym(purego.RTLD_DEFAULT, "posix_spawn"); err != nil || seen == own {
		return nil, false
	}
	l := load()
	return l, l != nil
})

// load is nil where a function is missing, as in an old C library.
func load() *library {
	l := &library{}
	for name, target := range map[string]any{
		"posix_spawn_file_actions_init":        &l.actionsInit,
		"posix_spawn_file_actions_destroy":     &l.actionsDestroy,
		"posix_spawn_file_actions_adddup2":     &l.actionsDup,
		"posix_spawn_file_actions_addchdir_np": &l.actionsChdir,
		"posix_spawnattr_init":                 &l.attrInit,
		"posix_spawnattr_destroy":              &l.attrDestroy,
		"posix_spawnattr_setflags":             &l.attrFlags,
		"posix_spawnattr_setpgroup":            &l.attrGroup,
		"posix_spawn":                          &l.spawn,
	} {
		at, err := purego.Dlsym(purego.RTLD_DEFAULT, name)
		if err != nil || at == 0 {
			return nil
		}
		purego.RegisterFunc(target, at)
	}
	return l
}

// start does what cmd.Start does, but for the signal at this process's death.
func (l *library) start(cmd *exec.Cmd) error {
	if cmd.Err != nil {
		return cmd.Err
	}
	files, err := standard(cmd)
	if err != nil {
		return err
	}
	defer closeAll(files)
	var actions, attr opaque
	if err := code("posix_spawn_file_actions_init", l.actionsInit(&actions)); err != nil {
		return err
	}
	defer l.actionsDestroy(&actions)
	if err := code("posix_spawnattr_init", l.attrInit(&attr)); err != nil {
		return err
	}
	defer l.attrDestroy(&attr)
	for to, f := range files {
		if err := code("posix_spawn_file_actions_adddup2", l.actionsDup(&actions, int32(f), int32(to))); err != nil {
			return err
		}
	}
	if cmd.Dir != "" {
		dir, err := syscall.BytePtrFromString(cmd.Dir)
		if err != nil {
			return err
		}
		if err := code("posix_spawn_file_actions_addchdir_np", l.actionsChdir(&actions, dir)); err != nil {
			return err
		}
	}
	if s := cmd.SysProcAttr; s != nil && s.Setpgid {
		if err := firstError(code("posix_spawnattr_setflags", l.attrFlags(&attr, setGroup)),
			code("posix_spawnattr_setpgroup", l.attrGroup(&attr, int32(s.Pgid)))); err != nil {
			return err
		}
	}
	pid, err := l.run(cmd, &actions, &attr)
	if err != nil {
		return &os.PathError{Op: "posix_spawn", Path: cmd.Path, Err: err}
	}
	cmd.Process, err = os.FindProcess(pid)
	return err
}

func (l *library) run(cmd *exec.Cmd, actions, attr *opaque) (int, error) {
	path, err := syscall.BytePtrFromString(cmd.Path)
	if err != nil {
		return 0, err
	}
	argv, err := syscall.SlicePtrFromStrings(cmd.Args)
	if err != nil {
		return 0, err
	}
	env, err := syscall.SlicePtrFromStrings(cmd.Environ())
	if err != nil {
		return 0, err
	}
	var pin runtime.Pinner // the C library reads pointers behind pointers
	defer pin.Unpin()
	for _, list := range [][]*byte{argv, env} {
		for _, p := range list {
			if p != nil {
				pin.Pin(p)
			}
		}
	}
	var pid int32
	syscall.ForkLock.Lock() // no file that is about to be marked as not for children
	defer syscall.ForkLock.Unlock()
	if n := l.spawn(&pid, path, actions, attr, unsafe.SliceData(argv), unsafe.SliceData(env)); n != 0 {
		return 0, syscall.Errno(n)
	}
	return int(pid), nil
}

// standard are copies of the child's files, by the number that they get there: all
// beyond those numbers, so that none is overwritten before its turn.
func standard(cmd *exec.Cmd) ([]int, error) {
	wanted := []any{cmd.Stdin, cmd.Stdout, cmd.Stderr}
	for _, f := range cmd.ExtraFiles {
		wanted = append(wanted, f)
	}
	var out []int
	for i, w := range wanted {
		f, ok := w.(*os.File)
		if w == nil || ok && f == nil {
			null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
			if err != nil {
				closeAll(out)
				return nil, err
			}
			defer null.Close()
			f = null
		} else if !ok {
			closeAll(out)
			return nil, fmt.Errorf("file %d of %s is a %T: want an *os.File", i, cmd.Path, w)
		}
		n, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, len(wanted))
		runtime.KeepAlive(f)
		if err != nil {
			closeAll(out)
			return nil, os.NewSyscallError("fcntl", err)
		}
		out = append(out, n)
	}
	return out, nil
}

func closeAll(files []int) {
	for _, f := range files {
		_ = unix.Close(f)
	}
}

func code(call string, n int32) error {
	if n == 0 {
		return nil
	}
	return os.NewSyscallError(call, syscall.Errno(n))
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
