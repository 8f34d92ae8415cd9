package conform

import "strings"

// Expand returns the names that a pattern stands for, in which {a,b} is a or b.
func Expand(pattern string) []string {
	open := strings.IndexByte(pattern, '{')
	if open < 0 {
		return []string{pattern}
	}
	end := open + strings.IndexByte(pattern[open:], '}')
	var all []string
	for _, rest := range Expand(pattern[end+1:]) {
		for _, choice := range strings.Split(pattern[open+1:end], ",") {
			all = append(all, pattern[:open]+choice+rest)
		}
	}
	return all
}
