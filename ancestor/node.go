package ancestor

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
)

// node is a value with its path. Its methods note the first problem in the file
// and return empty values after that.
type node struct {
	f    *file
	path string
	v    *value
}

func (f *file) top() node { return node{f, "", f.root} }

func (n node) fail(format string, args ...any) {
	at := int64(0)
	if n.v != nil {
		at = n.v.at
	}
	n.f.fail(at, n.path, format, args...)
}

func (n node) bad() bool { return n.f.err != nil || n.v == nil }

// kind names what a value is, for people.
func (n node) kind() string {
	switch n.v.data.(type) {
	case nil:
		return "null"
	case bool:
		return "true or false"
	case string:
		return "a text"
	case json.Number:
		return "a number"
	case []*value:
		return "a list"
	}
	return "an object"
}

func (n node) object() *object {
	if n.bad() {
		return newObject()
	}
	o, ok := n.v.data.(*object)
	if !ok {
		n.fail("is %s, not an object", n.kind())
		return newObject()
	}
	return o
}

// maybe returns a member that may be missing; null counts as missing.
func (n node) maybe(key string) (node, bool) {
	o := n.object()
	v := o.values[key]
	if v == nil {
		return node{n.f, join(n.path, key), nil}, false
	}
	o.used[key] = true
	return node{n.f, join(n.path, key), v}, v.data != nil
}

func (n node) get(key string) node {
	m, ok := n.maybe(key)
	if !ok && !n.bad() {
		if m.v != nil {
			m.fail("is null")
		} else {
			n.fail("has no %q", key)
		}
	}
	return m
}

// members lists an object's keys in order, all of which count as read.
func (n node) members() []string {
	o := n.object()
	for _, k := range o.keys {
		o.used[k] = true
	}
	return o.keys
}

func (n node) list() []node {
	if n.bad() {
		return nil
	}
	all, ok := n.v.data.([]*value)
	if !ok {
		n.fail("is %s, not a list", n.kind())
		return nil
	}
	out := make([]node, len(all))
	for i, v := range all {
		out[i] = node{n.f, fmt.Sprintf("%s[%d]", n.path, i), v}
	}
	return out
}

func (n node) text() string {
	if n.bad() {
		return ""
	}
	s, ok := n.v.data.(string)
	if !ok {
		n.fail("is %s, not a text", n.kind())
	} else if s == "" {
		n.fail("is empty")
	}
	return s
}

// texts reads a list of texts.
func (n node) texts() (out []string) {
	for _, m := range n.list() {
		out = append(out, m.text())
	}
	return out
}

func (n node) boolean() bool {
	if n.bad() {
		return false
	}
	b, ok := n.v.data.(bool)
	if !ok {
		n.fail("is %s, not true or false", n.kind())
	}
	return b
}

// number reads a finite number of at least low.
func (n node) number(low float64) float64 {
	if n.bad() {
		return 0
	}
	text, ok := n.v.data.(json.Number)
	if !ok {
		n.fail("is %s, not a number", n.kind())
		return 0
	}
	x, err := strconv.ParseFloat(string(text), 64)
	switch {
	case err != nil || math.IsInf(x, 0):
		n.fail("%s is beyond what a number can be", text)
	case x < low:
		n.fail("is %s, less than %v", text, low)
	default:
		return x
	}
	return 0
}

// count reads a whole number of at least low.
func (n node) count(low int) int {
	x := n.number(float64(low))
	if n.bad() {
		return 0
	}
	if x != math.Trunc(x) || x > 1<<53 {
		n.fail("is %s, not a count", n.v.data)
		return 0
	}
	return int(x)
}

var sha256Form = regexp.MustCompile(`^[0-9a-f]{64}$`)

func (n node) sha256() string {
	s := n.text()
	if !n.bad() && !sha256Form.MatchString(s) {
		n.fail("is not a SHA-256: want 64 hexadecimal digits in lower case")
	}
	return s
}

// hashes reads an object of hashes.
func (n node) hashes() map[string]string {
	out := map[string]string{}
	for _, k := range n.members() {
		out[k] = n.get(k).sha256()
	}
	return out
}

// equal fails unless got is want, which the place named by of says.
func (n node) equal(got, want int, of string) {
	if !n.bad() && got != want {
		n.fail("is %d, where %s is %d", got, of, want)
	}
}
