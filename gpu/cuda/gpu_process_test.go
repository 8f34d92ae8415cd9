package cuda_test

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"mage/gpu"
	"mage/gpu/cuda"
)

// child runs this test again in a process of its own, where it may do damage, and
// returns what it printed. In that process it returns false.
func child(t *testing.T) (output string, parent bool) {
	t.Helper()
	if os.Getenv("MAGE_TEST_CHILD") != "" {
		return "", false
	}
	openGPU(t)
	c := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	c.Env = append(os.Environ(), "MAGE_TEST_CHILD=1")
	out, err := c.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Errorf("the child process: %v", err)
	}
	return string(out), true
}

// TestGPUIllegalAddress: the fault is sticky, and Close and a new process survive it.
func TestGPUIllegalAddress(t *testing.T) {
	if _, parent := child(t); parent {
		return
	}
	d := must(cuda.Open(0))(t)
	must(d.Alloc(1 << 20))(t)
	s := must(d.NewStream())(t)
	poke := must(deviceFunction(t, d, "poke").Bind(grid(1, 1, 0), gpu.Pointer(0x100)))(t)
	check(t, poke.Submit(s))
	err := s.Synchronize()
	var e *cuda.DriverError
	if !errors.Is(err, cuda.ErrIllegalAddress) || !errors.As(err, &e) || !e.Sticky {
		t.Fatalf("got %v", err)
	}
	if _, again := d.Alloc(1); again != err {
		t.Errorf("after the fault: %v", again)
	}
	if err := d.Close(); err != nil {
		t.Errorf("close after a fault: %v", err)
	}
	if _, err := cuda.Open(0); !errors.Is(err, cuda.ErrIllegalAddress) || !strings.Contains(err.Error(), "new process") {
		t.Errorf("opening again in the process that faulted: %v", err)
	}
}

// TestGPUSignals: Go still receives signals once libcuda is loaded and working.
func TestGPUSignals(t *testing.T) {
	if _, parent := child(t); parent {
		return
	}
	d := must(cuda.Open(0))(t)
	defer d.Close()
	l := must(deviceFunction(t, d, "spin").Bind(grid(1, 1, 0), gpu.Int64(1_000_000)))(t)
	s := must(d.NewStream())(t)
	got := make(chan os.Signal, 1)
	signal.Notify(got, os.Interrupt)
	for i := 0; ; i++ {
		check(t, l.Submit(s))
		check(t, s.Synchronize())
		if i == 10 {
			check(t, syscall.Kill(os.Getpid(), syscall.SIGINT))
		}
		select {
		case <-got:
			t.Logf("interrupted after %d launches", i+1)
			return
		default:
		}
		if i > 100_000 {
			t.Fatal("SIGINT was not delivered")
		}
	}
}
