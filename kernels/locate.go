package kernels

import (
	"regexp"
	"strings"
)

// locator finds the lines of a TOML file. The TOML library gives positions for
// syntax and type errors only; unknown keys and faulty expressions are found
// by looking for them below the table that they belong to.
type locator struct{ lines []string }

func newLocator(text string) locator {
	return locator{strings.Split(text, "\n")}
}

var tableHeader = regexp.MustCompile(`^\s*\[\[?\s*([A-Za-z0-9_.-]+)\s*\]?\]\s*(#.*)?$`)

// section returns the lines [from, to) of the n-th table with that name, from 0;
// name "" is the part before the first table. A missing table is the whole file.
func (l locator) section(name string, n int) (from, to int) {
	from, to = -1, len(l.lines)
	if name == "" {
		from = 0
	}
	for i, line := range l.lines {
		m := tableHeader.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		if from >= 0 {
			return from, i
		}
		if m[1] == name {
			if n == 0 {
				from = i
			}
			n--
		}
	}
	if from < 0 {
		from = 0
	}
	return from, to
}

// table returns the line of the header of the n-th table with that name.
func (l locator) table(name string, n int) int {
	from, _ := l.section(name, n)
	return from + 1
}

// key returns the line, from 1, where key is set in the n-th table with that
// name, and the table's own line when it is not.
func (l locator) key(name string, n int, key string) int {
	from, to := l.section(name, n)
	if i := l.find(from, to, keyPattern(key)); i >= 0 {
		return i + 1
	}
	return from + 1
}

// setting is key for a key that may also be a table of its own anywhere.
func (l locator) setting(name string, n int, key string) int {
	from, to := l.section(name, n)
	if i := l.find(from, to, keyPattern(key)); i >= 0 {
		return i + 1
	}
	return max(l.find(0, len(l.lines), keyPattern(key)), from) + 1
}

// value returns the line of the string value below key in the n-th table, and
// the key's line when the value is not written literally.
func (l locator) value(name string, n int, key, value string) int {
	_, to := l.section(name, n)
	line := l.key(name, n, key)
	for i := line - 1; i < to; i++ {
		if strings.Contains(l.lines[i], `"`+value+`"`) || strings.Contains(l.lines[i], `'`+value+`'`) {
			return i + 1
		}
	}
	return line
}

func (l locator) find(from, to int, p *regexp.Regexp) int {
	for i := from; i < to; i++ {
		if p.MatchString(l.lines[i]) {
			return i
		}
	}
	return -1
}

// keyPattern matches a line that sets key, alone or in an inline table, or a
// header of the table key.
func keyPattern(key string) *regexp.Regexp {
	k := regexp.QuoteMeta(key)
	return regexp.MustCompile(`(^|[\s{,.])["']?` + k + `["']?\s*=|^\s*\[\[?(\S+\.)?` + k + `\s*\]`)
}
