package contract

import (
	"fmt"
	"sort"
	"strings"

	"github.com/agnivade/levenshtein"
)

// All returns every contract, in the order that tables show them.
func All() []Contract {
	return []Contract{Matmul{}, GELU{}, LayerNorm{}, Triangle{}, Neighbor{}}
}

// Find returns the contract of that name and precision mode. The error for an
// unknown one is an *Error that names the nearest valid choice.
func Find(name string, p Precision) (Contract, error) {
	var names, modes []string
	for _, c := range All() {
		if c.Name() == name {
			if c.Precision() == p {
				return c, nil
			}
			modes = append(modes, string(c.Precision()))
		}
		names = append(names, c.Name())
	}
	if len(modes) > 0 {
		return nil, &Error{name, unknown("precision", string(p), modes)}
	}
	return nil, &Error{name, unknown("contract", name, names)}
}

// unknown says that word is no valid kind of thing, and which one is nearest.
func unknown(kind, word string, valid []string) string {
	nearest := append([]string(nil), valid...)
	sort.SliceStable(nearest, func(i, j int) bool {
		return distance(word, nearest[i]) < distance(word, nearest[j])
	})
	return fmt.Sprintf("unknown %s %q: did you mean %q? (valid: %s)",
		kind, word, nearest[0], strings.Join(valid, ", "))
}

// distance ignores case, which is the commonest slip.
func distance(a, b string) int {
	return levenshtein.ComputeDistance(strings.ToLower(a), strings.ToLower(b))
}
