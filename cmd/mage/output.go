package main

import (
	"io"
	"os"

	"github.com/jedib0t/go-pretty/v6/table"
	"golang.org/x/term"

	"mage/evidence"
	"mage/report"
)

// outputFlags choose how tables are printed.
type outputFlags struct {
	Format string   `help:"How to print: ${enum} (benchfmt is for benchstat)." default:"table" enum:"${formats}" placeholder:"FORMAT"`
	JSON   bool     `help:"The same as --format json."`
	Table  []string `help:"Print only these tables: ${enum}." enum:"${tables}" placeholder:"ID"`
	Case   []string `help:"Print only cases that hold this word, such as gelu." placeholder:"WORD"`
}

// print reads the record in dir and prints its tables.
func (f outputFlags) print(s *session, dir string) error {
	return f.printWith(s, dir, report.Options{})
}

func (f outputFlags) printWith(s *session, dir string, o report.Options) error {
	run, err := evidence.Load(dir)
	if err != nil {
		return err
	}
	r, err := report.Build(run, o)
	if err != nil {
		return err
	}
	if r, err = r.Only(f.Case...); err != nil {
		return err
	}
	return r.Render(s.stdout, f.format(), f.render(s.stdout))
}

func (f outputFlags) format() report.Format {
	if f.JSON {
		return report.JSON
	}
	return report.Format(f.Format)
}

func (f outputFlags) render(w io.Writer) report.RenderOptions {
	o := report.RenderOptions{Tables: f.Table}
	if width, ok := terminalWidth(w); ok {
		o.Width, o.Box, o.Color = width, true, colour()
	}
	return o
}

// terminalWidth returns the columns of w, if it is a terminal.
func terminalWidth(w io.Writer) (int, bool) {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0, false
	}
	width, _, err := term.GetSize(int(f.Fd()))
	return width, err == nil && width > 0
}

// colour obeys NO_COLOR (https://no-color.org) and a terminal that has none.
func colour() bool { return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" }

// tableStyle draws boxes on a terminal and plain columns elsewhere.
func tableStyle(w io.Writer) table.Style {
	style := table.StyleDefault
	if _, ok := terminalWidth(w); ok {
		style = table.StyleRounded
	} else {
		style.Options = table.OptionsNoBordersAndSeparators
	}
	style.Format.Header = 0 // as written
	return style
}
