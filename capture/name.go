package capture

import "strings"

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
