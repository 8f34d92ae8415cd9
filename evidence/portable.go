package evidence

import (
	"fmt"
	"math"
	"os"
	"os/user"
	"path/filepath"
	"reflect"
	"regexp"
	"sort"
	"strings"
	"time"
)

// machine holds what identifies the machine that a record is written on.
type machine struct {
	places []place // longest directory first
	names  []name  // host and user
}

type place struct{ dir, sign string }

type name struct {
	word *regexp.Regexp
	sign string
}

// absolute matches an absolute path of two elements or more at the start of a
// word. System trees that every machine has alike are let through by keepPath.
var absolute = regexp.MustCompile("(^|[\\s\"'`=(\\[{<:,;]|file://)(/[^\\s\"'`:,;(){}\\[\\]<>/]+(?:/[^\\s\"'`:,;(){}\\[\\]<>/]+)+/?)")

func thisMachine() machine {
	home, _ := os.UserHomeDir()
	cwd, _ := os.Getwd()
	host, _ := os.Hostname()
	login := ""
	if u, err := user.Current(); err == nil {
		login = filepath.Base(u.Username)
	}
	return newMachine(home, cwd, os.TempDir(), host, login)
}

func newMachine(home, cwd, temp, host, login string) machine {
	var m machine
	for _, p := range []place{{home, "~"}, {cwd, "."}, {temp, "<tmp>"}} {
		if p.dir = filepath.Clean(p.dir); filepath.IsAbs(p.dir) && p.dir != "/" {
			m.places = append(m.places, p)
		}
	}
	sort.SliceStable(m.places, func(i, j int) bool { return len(m.places[i].dir) > len(m.places[j].dir) })
	short, _, _ := strings.Cut(host, ".")
	m.addName(host, "<host>")
	m.addName(short, "<host>")
	m.addName(login, "<user>")
	return m
}

// addName ignores names that are short or ordinary enough to be words of a
// message; those still disappear from paths.
func (m *machine) addName(n, sign string) {
	switch n {
	case "root", "user", "localhost":
		return
	}
	if len(n) >= 4 {
		m.names = append(m.names, name{regexp.MustCompile(`\b` + regexp.QuoteMeta(n) + `\b`), sign})
	}
}

// paths replaces absolute paths by what they mean: "~", "." and "<tmp>" for the
// home, working and temporary directories, "<path>/file" for any other.
func (m machine) paths(text string) string {
	if !strings.Contains(text, "/") {
		return text
	}
	for _, p := range m.places {
		text = replaceDir(text, p.dir, p.sign)
	}
	return absolute.ReplaceAllStringFunc(text, func(found string) string {
		parts := absolute.FindStringSubmatch(found)
		if keepPath(parts[2]) {
			return found
		}
		return parts[1] + "<path>/" + filepath.Base(parts[2])
	})
}

// text is paths for prose, where host and user names are replaced as well.
func (m machine) text(text string) string {
	text = m.paths(text)
	for _, n := range m.names {
		text = n.word.ReplaceAllString(text, n.sign)
	}
	return text
}

// find lists the machine's own paths in a text.
func (m machine) find(text string) []string {
	var found []string
	for _, parts := range absolute.FindAllStringSubmatch(text, -1) {
		if !keepPath(parts[2]) {
			found = append(found, parts[2])
		}
	}
	for _, p := range m.places {
		if replaceDir(text, p.dir, p.sign) != text && len(found) == 0 {
			found = append(found, p.dir)
		}
	}
	return found
}

func keepPath(path string) bool {
	for _, tree := range []string{"/dev/", "/proc/", "/sys/"} {
		if strings.HasPrefix(path, tree) {
			return true
		}
	}
	return false
}

// replaceDir replaces dir where it is a whole path or the start of one: "/srv/a"
// in "/srv/a/x" but not in "/srv/ab" or "/x/srv/a".
func replaceDir(text, dir, sign string) string {
	var out strings.Builder
	for {
		i := strings.Index(text, dir)
		if i < 0 {
			out.WriteString(text)
			return out.String()
		}
		end := i + len(dir)
		if (i > 0 && (pathByte(text[i-1]) || text[i-1] == '.' || text[i-1] == '/')) || (end < len(text) && text[end] != '/' && pathByte(text[end])) {
			out.WriteString(text[:end])
		} else {
			out.WriteString(text[:i])
			out.WriteString(sign)
		}
		text = text[end:]
	}
}

func pathByte(c byte) bool {
	return c == '_' || c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// Portable returns a copy of rec that is fit to be exported: prose (errors,
// reasons, versions, the spec's text) has this machine's paths, user and host
// replaced, times are UTC, and missing lists are empty ones. It returns a
// *PortabilityError for a machine path in any other field, which cannot be
// replaced without breaking what the field identifies, and a *ValueError for a
// number that is not finite.
func Portable(rec Record) (Record, error) { return thisMachine().portable(rec) }

func (m machine) portable(rec Record) (Record, error) {
	out, err := m.copy(reflect.ValueOf(rec), "", false)
	if err != nil {
		return Record{}, err
	}
	clean := out.Interface().(Record)
	clean.Spec.Name = filepath.Base(rec.Spec.Name)
	clean.Spec.Text = m.paths(rec.Spec.Text)
	clean.Spec.Redacted = rec.Spec.Redacted || clean.Spec.Text != rec.Spec.Text
	return clean, nil
}

// prose names the fields that hold free text, by their JSON names.
func prose(field string) bool {
	switch field {
	case "reason", "error", "failure", "remedy", "what", "detail", "outcome", "versions", "compiler", "cpu", "kernel":
		return true
	}
	return false
}

// copy copies v deeply. free says that v's strings are prose.
func (m machine) copy(v reflect.Value, path string, free bool) (reflect.Value, error) {
	out := reflect.New(v.Type()).Elem()
	put := func(dst, src reflect.Value, path string, free bool) error {
		c, err := m.copy(src, path, free)
		if err == nil {
			dst.Set(c)
		}
		return err
	}
	switch v.Kind() {
	case reflect.String:
		if free {
			out.SetString(m.text(v.String()))
			return out, nil
		}
		if found := m.find(v.String()); found != nil && path != "spec.text" && path != "spec.name" {
			return out, &PortabilityError{Field: path, Found: found}
		}
		out.Set(v)
	case reflect.Float64, reflect.Float32:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			return out, &ValueError{Field: path, Problem: fmt.Sprintf("is %v: a record holds finite numbers only", f)}
		}
		out.Set(v)
	case reflect.Pointer:
		if v.IsNil() {
			return out, nil
		}
		out.Set(reflect.New(v.Type().Elem()))
		return out, put(out.Elem(), v.Elem(), path, free)
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice {
			out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		}
		for i := range v.Len() {
			if err := put(out.Index(i), v.Index(i), fmt.Sprintf("%s[%d]", path, i), free); err != nil {
				return out, err
			}
		}
	case reflect.Map:
		out.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
		for it := v.MapRange(); it.Next(); {
			c, err := m.copy(it.Value(), path+"."+it.Key().String(), free)
			if err != nil {
				return out, err
			}
			out.SetMapIndex(it.Key(), c)
		}
	case reflect.Struct:
		if t, ok := v.Interface().(time.Time); ok {
			out.Set(reflect.ValueOf(t.UTC()))
			return out, nil
		}
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if !f.IsExported() { // never in the record
				continue
			}
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "-" { // never in the record
				continue
			}
			at := path
			if name != "" && path != "" {
				at += "." + name
			} else if name != "" {
				at = name
			}
			if err := put(out.Field(i), v.Field(i), at, free || prose(name)); err != nil {
				return out, err
			}
		}
	default:
		out.Set(v)
	}
	return out, nil
}
