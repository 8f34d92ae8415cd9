package doctor

import (
	"os/exec"
	"path/filepath"
	"strings"
)

// find returns the first candidate that is an executable file, and whether it
// was found by its name on PATH.
func find(candidates []string) (path string, onPath bool) {
	for _, c := range candidates {
		if !strings.ContainsRune(c, filepath.Separator) {
			if p, err := exec.LookPath(c); err == nil {
				return p, true
			}
			continue
		}
		matches, _ := filepath.Glob(c)
		for i := len(matches) - 1; i >= 0; i-- {
			if p, err := exec.LookPath(matches[i]); err == nil {
				return p, false
			}
		}
	}
	return "", false
}

// names are the candidates that are looked up on PATH.
func names(candidates []string) []string {
	var n []string
	for _, c := range candidates {
		if !strings.ContainsRune(c, filepath.Separator) {
			n = append(n, c)
		}
	}
	return n
}
