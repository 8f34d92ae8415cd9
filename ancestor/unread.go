package ancestor

import (
	"bytes"
	"encoding/json"
	"fmt"

	"mage/evidence"
)

// abridged is the length from which the value of an unread field is cut: the
// original is kept beside the record.
const abridged = 300

// unread lists the fields that nobody looked at, by their path without indices,
// in the order of the file.
func (f *file) unread() []evidence.Unread {
	var out []evidence.Unread
	places := map[string]int{}
	var walk func(v *value, path string)
	walk = func(v *value, path string) {
		switch data := v.data.(type) {
		case []*value:
			for _, e := range data {
				walk(e, path+"[]")
			}
		case *object:
			for _, key := range data.keys {
				at := join(path, key)
				if data.used[key] {
					walk(data.values[key], at)
					continue
				}
				i, seen := places[at]
				if !seen {
					i = len(out)
					places[at] = i
					out = append(out, evidence.Unread{Path: at, Detail: brief(data.values[key])})
				}
				out[i].Count++
			}
		}
	}
	walk(f.root, "")
	return out
}

// brief is a value as JSON, cut when long.
func brief(v *value) string {
	text := []rune(write(v))
	if len(text) <= abridged {
		return string(text)
	}
	return fmt.Sprintf("%s… (%d characters)", string(text[:abridged]), len(text))
}

func write(v *value) string {
	var b bytes.Buffer
	switch data := v.data.(type) {
	case []*value:
		b.WriteByte('[')
		for i, e := range data {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(write(e))
		}
		b.WriteByte(']')
	case *object:
		b.WriteByte('{')
		for i, k := range data.keys {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(plain(k) + ":" + write(data.values[k]))
		}
		b.WriteByte('}')
	default:
		b.WriteString(plain(data))
	}
	return b.String()
}

// plain is a JSON scalar that leaves <, > and & as they are.
func plain(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "null" // a json.Number that the decoder accepted is encoded
	}
	return string(bytes.TrimSpace(b.Bytes()))
}
