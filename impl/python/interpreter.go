package python

import (
	"os"
	"os/exec"
	"path/filepath"

	"mage/unavailable"
)

// Choice is an interpreter and who chose it.
type Choice struct {
	Path string
	// From is "--python", "MAGE_PYTHON", "VIRTUAL_ENV" or "PATH".
	From string
}

// Choose returns the interpreter that experiments use: the one asked for on the
// command line (flag, which may be empty), else MAGE_PYTHON, else that of
// VIRTUAL_ENV, else python3 on PATH. What was asked for and is not there is an
// *unavailable.Error: it is never replaced by another.
func Choose(flag string) (Choice, error) {
	c := Choice{"python3", "PATH"}
	if env := os.Getenv("VIRTUAL_ENV"); env != "" {
		c = Choice{filepath.Join(env, "bin", "python3"), "VIRTUAL_ENV"}
	}
	if p := os.Getenv("MAGE_PYTHON"); p != "" {
		c = Choice{p, "MAGE_PYTHON"}
	}
	if flag != "" {
		c = Choice{flag, "--python"}
	}
	path, err := exec.LookPath(c.Path)
	if err != nil {
		return c, unavailable.New("Python (chosen by "+c.From+")", err.Error(), "install Python 3, or name its interpreter with --python or MAGE_PYTHON")
	}
	c.Path = path
	return c, nil
}
