package kernels

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sort"
	"strings"

	"github.com/BurntSushi/toml"
)

// decode reads kernel.toml strictly. It returns every unknown key and every
// value of a wrong type, each with its line and the nearest valid name.
//
// The library could report both, but it knows the line of only the last of
// several tables with the same name. So the untyped document is walked first.
func decode(file, text string) (description, []error) {
	var d description
	var document map[string]any
	if _, err := toml.Decode(text, &document); err != nil {
		return d, []error{syntaxError(file, err)}
	}
	w := walker{file: file, at: newLocator(text)}
	w.table(document, reflect.TypeFor[description](), "", place{})
	if len(w.errs) > 0 {
		sort.SliceStable(w.errs, func(i, j int) bool { return w.errs[i].(*Error).Line < w.errs[j].(*Error).Line })
		return d, w.errs
	}
	if _, err := toml.Decode(text, &d); err != nil {
		return d, []error{syntaxError(file, err)}
	}
	return d, nil
}

func syntaxError(file string, err error) error {
	var p toml.ParseError
	if !errors.As(err, &p) {
		return &Error{file, 1, err.Error()}
	}
	problem := p.Message
	if problem == "" { // an error of the lexer, which formats only itself
		problem = strings.TrimPrefix(p.Error(), fmt.Sprintf("toml: line %d: ", p.Position.Line))
	}
	if p.LastKey != "" {
		problem = p.LastKey + ": " + problem
	}
	return &Error{file, max(p.Position.Line, 1), problem}
}

// place is the n-th table with that name; the zero value is the top of the file.
type place struct {
	table string
	n     int
}

// walker compares a document with the type that it is to be decoded into.
type walker struct {
	file string
	at   locator
	errs []error
}

func (w *walker) table(values map[string]any, t reflect.Type, prefix string, p place) {
	for key, value := range values {
		line := w.at.key(p.table, p.n, key)
		field, ok := fieldOf(t, key)
		if !ok {
			line = w.at.setting(p.table, p.n, key)
			w.fail(line, "unknown key %q%s", prefix+key, suggest(key, keys(t)))
			continue
		}
		if field.Kind() == reflect.Slice && field.Elem().Kind() == reflect.Struct {
			w.tables(value, field.Elem(), key, prefix, p, line)
			continue
		}
		if want := wanted(field); !fits(value, field) {
			w.fail(line, "%s: want %s, found %s", prefix+key, want, found(value))
		}
	}
}

// tables walks a list of tables: [[key]] at the top, inline ones below it.
func (w *walker) tables(value any, element reflect.Type, key, prefix string, p place, line int) {
	list, ok := value.([]map[string]any)
	if !ok && reflect.ValueOf(value).Kind() == reflect.Slice {
		ok = true
		for _, v := range value.([]any) {
			table, isTable := v.(map[string]any)
			ok = ok && isTable
			list = append(list, table)
		}
	}
	if !ok {
		form := "a list of tables, [[" + key + "]]"
		if prefix != "" {
			form = "a list of inline tables, [{ … }]"
		}
		w.fail(line, "%s: want %s, found %s", prefix+key, form, found(value))
		return
	}
	for i, table := range list {
		inner := p
		if prefix == "" {
			inner = place{key, i}
		}
		w.table(table, element, prefix+key+".", inner)
	}
}

func (w *walker) fail(line int, format string, args ...any) {
	w.errs = append(w.errs, &Error{w.file, line, fmt.Sprintf(format, args...)})
}

func fieldOf(t reflect.Type, key string) (reflect.Type, bool) {
	for f := range t.Fields() {
		if f.Tag.Get("toml") == key {
			return f.Type, true
		}
	}
	return nil, false
}

func keys(t reflect.Type) (names []string) {
	for f := range t.Fields() {
		names = append(names, f.Tag.Get("toml"))
	}
	return names
}

// fits reports whether a decoded value has the type of a field: string, int,
// *int, or a list of strings or ints.
func fits(value any, t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer:
		return fits(value, t.Elem())
	case reflect.String:
		_, ok := value.(string)
		return ok
	case reflect.Int:
		_, ok := value.(int64)
		return ok
	case reflect.Slice:
		list, ok := value.([]any)
		return ok && !slices.ContainsFunc(list, func(v any) bool { return !fits(v, t.Elem()) })
	}
	return false
}

func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return wanted(t.Elem())
	case reflect.Slice:
		return "a list, each item " + wanted(t.Elem())
	case reflect.Int:
		return "an integer"
	}
	return "a string"
}

func found(value any) string {
	switch v := value.(type) {
	case string:
		return fmt.Sprintf("the string %q", v)
	case int64:
		return fmt.Sprintf("the integer %d", v)
	case float64:
		return fmt.Sprintf("the number %v", v)
	case bool:
		return fmt.Sprintf("%v", v)
	case []any:
		var items []string
		for _, item := range v {
			items = append(items, found(item))
		}
		return "a list of " + strings.Join(items, ", ")
	case map[string]any, []map[string]any:
		return "a table"
	}
	return fmt.Sprintf("a %T", value)
}
