package experiment

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/agnivade/levenshtein"
)

// SpecError is a fault in a declaration, with the place where it stands.
type SpecError struct {
	File    string
	Line    int // from 1; 0 when the fault has no line, such as a missing key
	Problem string
}

func (e *SpecError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.File, e.Problem)
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Problem)
}

// document is the text of a declaration, for decoding it and for finding the
// line that an error is about. The TOML library keeps no positions of decoded
// keys, so they are looked up in the text.
type document struct {
	name, text string
	from       int // search starts at this line, from 0
}

func (d document) decode(into any) error {
	meta, err := toml.Decode(d.text, into)
	if err != nil {
		if pe, ok := errors.AsType[toml.ParseError](err); ok {
			return &SpecError{d.name, pe.Position.Line, pe.Message}
		}
		return d.typeError(err)
	}
	if un := meta.Undecoded(); len(un) > 0 {
		key := un[0]
		last := key[len(key)-1]
		return d.errorAt(last, "unknown key %q%s", key.String(), didYouMean(last, knownKeys(key)))
	}
	return nil
}

// typePattern is how the TOML library reports a value of the wrong type.
var typePattern = regexp.MustCompile(`^(?:toml: )?line (\d+) \(last key "([^"]*)"\): (.*)$`)

func (d document) typeError(err error) error {
	m := typePattern.FindStringSubmatch(err.Error())
	if m == nil {
		return &SpecError{d.name, 0, strings.TrimPrefix(err.Error(), "toml: ")}
	}
	line, _ := strconv.Atoi(m[1]) // the pattern has digits there
	return &SpecError{d.name, line, m[2] + ": " + m[3]}
}

// knownKeys lists the keys that stand beside an unknown one.
func knownKeys(key toml.Key) []string {
	if len(key) > 1 {
		switch key[0] {
		case "case":
			return []string{"contract", "precision", "shapes", "dims", "distributions", "seeds"}
		case "stop":
			return []string{"max_rounds", "max_time"}
		}
	}
	return []string{"namespace", "title", "question", "seed", "implementations", "baseline", "control",
		"modes", "caches", "rounds", "samples", "min_samples", "warmup", "repeats", "budget",
		"max_sample", "margin", "confidence", "stop", "case"}
}

// caseAt returns the document from the i-th [[case]] on.
func (d document) caseAt(i int) document {
	seen := -1
	for n, line := range strings.Split(d.text, "\n") {
		if strings.HasPrefix(strings.ReplaceAll(line, " ", ""), "[[case]]") {
			if seen++; seen == i {
				d.from = n
				return d
			}
		}
	}
	return d
}

// errorAt blames the first line that holds word as a whole word.
func (d document) errorAt(word, format string, args ...any) error {
	e := &SpecError{File: d.name, Problem: fmt.Sprintf(format, args...)}
	if word == "" {
		return e
	}
	whole := regexp.MustCompile(`(^|[^A-Za-z0-9_/-])` + regexp.QuoteMeta(word) + `($|[^A-Za-z0-9_/-])`)
	for n, line := range strings.Split(d.text, "\n") {
		if n >= d.from && whole.MatchString(line) {
			e.Line = n + 1
			break
		}
	}
	return e
}

// didYouMean returns `; did you mean "…"?` when a known word is near.
func didYouMean(word string, known []string) string {
	best, distance := "", len(word)/2+1
	for _, k := range known {
		if n := levenshtein.ComputeDistance(word, k); n < distance {
			best, distance = k, n
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", best)
}
