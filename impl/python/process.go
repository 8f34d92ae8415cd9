package python

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"mage/internal/spawn"
	"mage/internal/tail"
)

// process is one running worker. It is used by one goroutine at a time.
type process struct {
	pid      int
	requests *os.File
	answers  *os.File
	lines    *bufio.Reader
	// life is held open as long as this process lives: a watcher in the worker's
	// group ends the group when it closes.
	life   *os.File
	exited chan struct{} // closed when the worker has been waited for
	state  error         // of Wait; valid after exited
	log    *tail.Log
	quiet  chan struct{} // closed when all output has been read
}

// launch starts the interpreter on the worker's source in dir. It shares arrays.
func launch(python, dir string, env []string, arrays *os.File) (*process, error) {
	files, err := pipes()
	if err != nil {
		return nil, err
	}
	p := &process{requests: files.requestsW, answers: files.answersR, life: files.lifeW,
		log: &tail.Log{}, exited: make(chan struct{}), quiet: make(chan struct{})}
	p.lines = bufio.NewReaderSize(p.answers, 1<<16)
	cmd := exec.Command(python, "-u", filepath.Join(dir, "src", "run.py"), dir)
	cmd.Env = environment(dir, env)
	cmd.Stdout, cmd.Stderr = files.outputW, files.outputW
	cmd.ExtraFiles = []*os.File{files.requestsR, files.answersW, files.lifeR, arrays}
	cmd.SysProcAttr = attributes()
	started := make(chan error)
	go func() {
		// The parent-death signal follows the thread, not the process: this one
		// stays until the worker has ended.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := spawn.Start(cmd)
		if err == nil {
			p.pid = cmd.Process.Pid
		}
		started <- err
		if err != nil {
			return
		}
		p.state = cmd.Wait()
		// A child that a library forked holds the answers open, so that nobody would
		// learn that no more come. One that left the group is not waited for either.
		p.kill()
		close(p.exited)
		_ = p.answers.SetReadDeadline(time.Now().Add(strayLimit))
	}()
	err = <-started
	files.closeChildEnds()
	if err != nil {
		files.closeAll()
		return nil, err
	}
	go follow(files.outputR, p.log, p.quiet)
	return p, nil
}

// environment is this process's own with what the worker needs. The caches of
// compilers lie below dir: a run finds nothing of another run there, and compile
// times are those of compilations. So do temporary files: a compiler that is
// killed leaves them behind.
func environment(dir string, extra []string) []string {
	env := append(os.Environ(),
		"PYTHONUNBUFFERED=1",
		"PYTHONFAULTHANDLER=1", // a crash prints where it happened
		"PYTHONDONTWRITEBYTECODE=1",
		"NVIDIA_TF32_OVERRIDE=0",
		"TMPDIR="+temporary(dir),
		"TORCHINDUCTOR_CACHE_DIR="+filepath.Join(dir, "cache", "inductor"),
		"TRITON_CACHE_DIR="+filepath.Join(dir, "cache", "triton"),
	)
	return append(env, extra...)
}

func temporary(dir string) string { return filepath.Join(dir, "tmp") }

// exchange sends one line and returns the next one, whatever it is.
func (p *process) exchange(line []byte, deadline time.Duration) ([]byte, error) {
	at := time.Now().Add(deadline)
	_ = p.requests.SetWriteDeadline(at) // pipes have deadlines
	_ = p.answers.SetReadDeadline(at)
	if p.ended() { // its end may have come before this deadline
		_ = p.answers.SetReadDeadline(time.Now().Add(strayLimit))
	}
	if _, err := p.requests.Write(append(line, '\n')); err != nil {
		return nil, err
	}
	return p.lines.ReadBytes('\n')
}

// strayLimit is how long output and answers of a worker that has ended may be
// held open by a process that it left behind outside its group.
const strayLimit = 500 * time.Millisecond

// kill ends the worker's whole group. The group outlives its leader: the watcher
// is in it until this.
func (p *process) kill() { _ = syscall.Kill(-p.pid, syscall.SIGKILL) }

// end kills the worker's whole group and returns how it ended, in words.
func (p *process) end(grace time.Duration) string {
	_ = p.requests.Close() // the worker's loop ends with its requests
	select {
	case <-p.exited:
	case <-time.After(grace):
	}
	early := p.ended()
	if !early {
		p.kill()
		<-p.exited
	}
	_ = p.answers.Close()
	_ = p.life.Close()
	select {
	case <-p.quiet:
	case <-time.After(strayLimit):
	}
	if !early {
		return "killed"
	}
	return describe(p.state)
}

func (p *process) ended() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// describe says how a process ended: "signal: segmentation fault", "exit status 1".
func describe(err error) string {
	if err == nil {
		return "exit status 0"
	}
	var e *exec.ExitError
	if errors.As(err, &e) {
		return strings.TrimSuffix(e.Error(), " (core dumped)")
	}
	return err.Error()
}

// pipeEnds are both ends of everything between the processes.
type pipeEnds struct {
	requestsR, requestsW, answersR, answersW, lifeR, lifeW, outputR, outputW *os.File
}

func pipes() (*pipeEnds, error) {
	f := &pipeEnds{}
	for _, pair := range [][2]**os.File{{&f.requestsR, &f.requestsW}, {&f.answersR, &f.answersW}, {&f.lifeR, &f.lifeW}, {&f.outputR, &f.outputW}} {
		r, w, err := os.Pipe()
		if err != nil {
			f.closeAll()
			return nil, fmt.Errorf("pipes to the Python worker: %w", err)
		}
		*pair[0], *pair[1] = r, w
	}
	return f, nil
}

func (f *pipeEnds) closeChildEnds() { closeFiles(f.requestsR, f.answersW, f.lifeR, f.outputW) }

func (f *pipeEnds) closeAll() {
	f.closeChildEnds()
	closeFiles(f.requestsW, f.answersR, f.lifeW, f.outputR)
}

func closeFiles(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}
