package report

import (
	"fmt"
	"io"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/perf/benchfmt"
)

// renderBenchmarkLines writes the Go benchmark format for benchstat: one line
// per round, its value the median of the round's samples, because rounds are
// what is independent; samples of one round are not. What must not be compared
// (device, instrument, precision, distribution) is file configuration, which
// benchstat keeps in separate tables, and so is the record: times of other
// sessions are not compared unless one insists (-ignore record). Failed and impossible cells are left out.
//
// A paired comparison cannot be expressed in this format: benchstat's p-values
// ignore the pairing.
func (r *Report) renderBenchmarkLines(w io.Writer) error {
	bw := benchfmt.NewWriter(w)
	write := func(rec benchfmt.Record) error {
		if err := bw.Write(rec); err != nil {
			return fmt.Errorf("writing benchmark lines: %w", err)
		}
		return nil
	}
	// The settings of a unit come before its values.
	for _, m := range [][2]string{{"better", "lower"}, {"assume", "nothing"}} {
		if err := write(&benchfmt.UnitMetadata{UnitMetadataKey: benchfmt.UnitMetadataKey{Unit: "sec/op", Key: m[0]},
			OrigUnit: "ns/op", Value: m[1]}); err != nil {
			return err
		}
	}
	config := r.benchmarkConfig()
	for _, c := range r.Cases {
		for _, g := range c.Groups {
			for _, cell := range g.Cells {
				if cell.Verdict == Failed || cell.Verdict == Impossible {
					continue
				}
				res := &benchfmt.Result{Name: benchmarkName(c, g, cell),
					Config: append(r.caseConfig(config, c, g.Device), fileConfig("instrument", g.Instrument))}
				for i, us := range cell.RoundUS {
					res.Iters = cell.iterations[i]
					res.Values = []benchfmt.Value{{Value: us * 1e-6, Unit: "sec/op", OrigValue: us * 1e3, OrigUnit: "ns/op"}}
					if err := write(res); err != nil {
						return err
					}
				}
			}
		}
	}
	return r.writeCounters(config, write)
}

// caseConfig is config with what holds for a case on a device.
func (r *Report) caseConfig(config []benchfmt.Config, c CaseResult, device string) []benchfmt.Config {
	return append(append([]benchfmt.Config(nil), config...),
		fileConfig("precision", c.Case.Precision), fileConfig("distribution", c.Case.Distribution),
		fileConfig("seed", fmt.Sprint(c.Case.Seed)), fileConfig("device", r.deviceName(device)))
}

func fileConfig(key, value string) benchfmt.Config {
	return benchfmt.Config{Key: key, Value: []byte(strings.ReplaceAll(value, "\n", " ")), File: true}
}

// benchmarkConfig is what holds for the whole record.
func (r *Report) benchmarkConfig() []benchfmt.Config {
	h := r.Header
	out := []benchfmt.Config{fileConfig("goos", h.Host.OS), fileConfig("goarch", h.Host.Arch)}
	add := func(key, value string) {
		if value != "" {
			out = append(out, fileConfig(key, value))
		}
	}
	add("cpu", h.Host.CPU)
	add("record", h.Namespace+"/"+h.RunID)
	add("tool", toolText(h.Tool))
	names := make([]string, 0, len(h.Versions))
	for n := range h.Versions {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		add(configKey(n), h.Versions[n])
	}
	return out
}

// configKey makes a key that the format allows: a lower-case letter first, no
// upper-case letter, space or colon.
func configKey(s string) string {
	return "version-" + strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || r == ':' {
			return '-'
		}
		return unicode.ToLower(r)
	}, s)
}

func (r *Report) deviceName(id string) string {
	for _, d := range r.Header.Devices {
		if d.ID == id && d.Name != "" && d.Name != id {
			return id + " " + d.Name
		}
	}
	return id
}

// benchmarkName is "Gelu/shape=4096x768/impl=cuda_first/path=driver/mode=span/cache=hot".
func benchmarkName(c CaseResult, g Group, cell Cell) benchfmt.Name {
	return benchfmt.Name(fmt.Sprintf("%s/mode=%s/cache=%s",
		benchmarkStem(c, cell.Implementation, cell.Arm, cell.LaunchPath), namePart(g.Mode), namePart(g.Cache)))
}

// benchmarkStem is "Gelu/shape=4096x768/impl=cuda_first/path=driver".
func benchmarkStem(c CaseResult, impl, arm, path string) string {
	dims := make([]string, len(c.Case.DimOrder))
	for i, d := range c.Case.DimOrder {
		dims[i] = fmt.Sprint(c.Case.Dims[d])
	}
	first, n := utf8.DecodeRuneInString(c.Case.Contract)
	if _, suffix, ok := strings.Cut(arm, "#"); ok {
		impl += "#" + suffix // the control is another benchmark than what it repeats
	}
	return fmt.Sprintf("%s/shape=%s/impl=%s/path=%s",
		namePart(string(unicode.ToUpper(first))+c.Case.Contract[n:]), strings.Join(dims, "x"), namePart(impl), namePart(path))
}

// namePart keeps what would end a part of a name out of it.
func namePart(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '/' || unicode.IsSpace(r) {
			return '_'
		}
		return r
	}, s)
}
