package process

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// keeper leads the group that the program runs in. It holds the group's number,
// so that nobody else gets it before the group has been killed, and it kills the
// group when this process dies, which closes the pipe that the keeper reads.
type keeper struct {
	cmd   *exec.Cmd
	group int
	life  *os.File // held open as long as this process lives
}

// keep waits for the end of its standard input. The signals that ask the group to
// stop are not for it.
const keep = "trap '' INT TERM HUP; read line; kill -9 0"

func newKeeper() (*keeper, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	cmd := exec.Command("/bin/sh", "-c", keep)
	cmd.Dir = "/"
	cmd.Stdin = r
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		w.Close()
		return nil, fmt.Errorf("watch over the process group: %w", err)
	}
	return &keeper{cmd, cmd.Process.Pid, w}, nil
}

func (k *keeper) signal(s syscall.Signal) { _ = syscall.Kill(-k.group, s) }

// kill ends the whole group; it may be empty but for the keeper.
func (k *keeper) kill() { k.signal(syscall.SIGKILL) }

// close ends the keeper, and gives the group's number back.
func (k *keeper) close() {
	k.kill()
	_ = k.cmd.Wait()
	_ = k.life.Close()
}
