package kernels

import (
	"fmt"
	"sort"
	"strings"

	"github.com/agnivade/levenshtein"
)

// Error is a fault in a kernel description, with its place.
type Error struct {
	File    string // as the user knows it: "my-kernels/gelu/kernel.toml"
	Line    int    // from 1
	Problem string
}

func (e *Error) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Problem) }

// suggest ends a sentence about an unknown name: the nearest valid one when
// there is one near, and all of them when they are few.
func suggest(name string, valid []string) string {
	best, nearest := "", min(1+len(name)/3, len(name))
	for _, v := range valid {
		if d := levenshtein.ComputeDistance(name, v); d < nearest {
			best, nearest = v, d
		}
	}
	if best != "" {
		return fmt.Sprintf("; did you mean %q?", best)
	}
	sorted := append([]string(nil), valid...)
	sort.Strings(sorted)
	if len(sorted) == 0 || len(sorted) > 12 {
		return ""
	}
	return fmt.Sprintf(" (valid: %s)", strings.Join(sorted, ", "))
}
