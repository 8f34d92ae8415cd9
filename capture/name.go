package capture

import (
	"fmt"
	"strings"
)

// ShortName leaves of a C++ name the function: without its result, template
// arguments and parameters.
func ShortName(name string) string {
	var b strings.Builder
	depth := 0
	for i, r := range name {
		switch {
		case r == '<' && strings.HasPrefix(name[i:], "<unnamed>") && depth == 0:
			b.WriteString("<unnamed>")
			depth++
		case r == '<':
			depth++
		case r == '>' && depth > 0:
			depth--
		case depth > 0:
		case r == '(' && strings.HasPrefix(name[i:], "(anonymous namespace)"):
			return lastWord(b.String() + "<unnamed>" + ShortName(name[i+len("(anonymous namespace)"):]))
		case r == '(':
			return lastWord(b.String())
		default:
			b.WriteRune(r)
		}
	}
	return lastWord(b.String())
}

// lastWord drops a result type.
func lastWord(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, ' ')+1:]
}

// ShortNames maps names to what is shown of them: the function, with a number where
// different kernels have the same one.
func ShortNames(names []string) map[string]string {
	out, seen := map[string]string{}, map[string]int{}
	for _, name := range names {
		if out[name] != "" {
			continue
		}
		s := ShortName(name)
		if s == "" {
			s = name
		}
		if seen[s]++; seen[s] > 1 {
			s = fmt.Sprintf("%s (%d)", s, seen[s])
		}
		out[name] = s
	}
	return out
}
