// Study measures, by simulation with known truth, what package stats promises:
// coverage of the interval, false verdicts, the error of tables and of stopping
// rules, false alarms of the warnings. It prints the tables of
// docs/statistics.md, or writes them there:
//
//	go run ./stats/study -write docs/statistics.md
//
// The seed is fixed, so the tables change only when the methods do. It takes a
// few minutes; -repeats 200 gives a quick look.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

func main() {
	repeats := flag.Int("repeats", 10000, "simulated experiments per cell of a table")
	write := flag.String("write", "", "file whose part between the study marks is replaced")
	flag.Parse()
	if err := run(*repeats, *write); err != nil {
		fmt.Fprintln(os.Stderr, "study:", err)
		os.Exit(1)
	}
}

func run(repeats int, file string) error {
	if repeats < 1 {
		return fmt.Errorf("-repeats %d: at least one is needed", repeats)
	}
	var out io.Writer = os.Stdout
	var text bytes.Buffer
	if file != "" {
		out = &text
	}
	fmt.Fprintf(out, "%d simulated experiments for each number, a fifth of that for tables and stopping.\n\n", repeats)
	for _, table := range []func(io.Writer, int) error{coverage, verdicts, resolution, tables, looks, looksOfTable, alarms} {
		if err := table(out, repeats); err != nil {
			return err
		}
	}
	if file == "" {
		return nil
	}
	return replace(file, text.String())
}

// The generated part of the document lies between these marks.
const (
	begin = "<!-- study:begin -->\n"
	end   = "<!-- study:end -->"
)

func replace(file, text string) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	head, rest, ok := strings.Cut(string(b), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		return fmt.Errorf("%s lacks the marks %q and %q", file, strings.TrimSpace(begin), end)
	}
	return os.WriteFile(file, []byte(head+begin+text+end+tail), 0o644)
}
