package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/alecthomas/kong"

	"mage/history"
	"mage/report"
	"mage/report/sessions"
)

// dbFlags choose the history.
type dbFlags struct {
	DB string `name:"db" help:"The history, a SQLite file; ~/.mage/profiles.db by default." env:"MAGE_DB" type:"path" placeholder:"FILE"`
}

func (f dbFlags) path() (string, error) {
	if f.DB != "" {
		return f.DB, nil
	}
	return history.DefaultPath()
}

func (f dbFlags) open(o history.Options) (*history.DB, error) {
	path, err := f.path()
	if err != nil {
		return nil, err
	}
	db, err := history.Open(path, o)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &noHistoryError{path}
	}
	return db, err
}

// openOld opens the history for writing, but does not create one.
func (f dbFlags) openOld() (*history.DB, error) {
	path, err := f.path()
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, &noHistoryError{path}
	}
	return history.Open(path, history.Options{})
}

// noHistoryError says that nothing was profiled yet.
type noHistoryError struct{ path string }

func (e *noHistoryError) Error() string {
	return fmt.Sprintf("no history at %s yet: mage profile begins one, or mage history add RECORD", e.path)
}

type historyCommand struct {
	List   historyList   `cmd:"" default:"withargs" help:"List the sessions, the newest first; also without the word."`
	Show   historyShow   `cmd:"" help:"Show the kernels of a session."`
	Plot   historyPlot   `cmd:"" help:"Plot a kernel's time over sessions."`
	Export historyExport `cmd:"" help:"Write sessions with every column, as JSON or CSV."`
	Add    historyAdd    `cmd:"" help:"Index the kernel times of a record."`
	Delete historyDelete `cmd:"" help:"Delete sessions with their metrics."`
	Vacuum historyVacuum `cmd:"" help:"Give the space of deleted sessions back."`

	dbFlags
	JSON bool `help:"Print JSON."`
}

// AfterApply hands the flags of the command to its parts.
func (c *historyCommand) AfterApply(ctx *kong.Context) error {
	ctx.Bind(c)
	return nil
}

// print draws tables, or writes data as JSON.
func (c *historyCommand) print(s *session, data any, tables ...report.Table) error {
	if c.JSON {
		return printJSON(s.stdout, data)
	}
	return report.Draw(s.stdout, report.TableFormat, tables, outputFlags{}.render(s.stdout))
}

func printJSON(w io.Writer, data any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(data)
}

type historyList struct {
	Limit int `help:"List this many at most; 0 lists all." default:"30" placeholder:"N"`
}

func (c *historyList) Run(s *session, h *historyCommand) error {
	type list struct {
		Sessions []history.Summary `json:"sessions"`
	}
	if c.Limit < 0 {
		return &exitError{exitUsage, fmt.Sprintf("--limit %d: want a count, or 0 for all", c.Limit)}
	}
	db, err := h.open(history.Options{ReadOnly: true})
	if none, ok := errors.AsType[*noHistoryError](err); ok {
		if h.JSON {
			return printJSON(s.stdout, list{[]history.Summary{}})
		}
		_, err := fmt.Fprintln(s.stdout, none.Error())
		return err
	}
	if err != nil {
		return err
	}
	defer db.Close()
	all, err := db.Sessions(s.ctx)
	if err != nil {
		return err
	}
	shown := all
	if c.Limit > 0 && len(all) > c.Limit {
		shown = all[:c.Limit]
	}
	t := sessions.List(shown)
	if len(shown) < len(all) {
		t.Title = fmt.Sprintf("the newest %d of %d sessions (--limit 0 lists all)", len(shown), len(all))
	}
	return h.print(s, list{append([]history.Summary{}, shown...)}, t)
}

type historyShow struct {
	ID  int64 `arg:"" help:"The session's id, as mage history lists it."`
	Top int   `help:"Show this many kernels at most; 0 shows all." default:"30" placeholder:"N"`
}

func (c *historyShow) Run(s *session, h *historyCommand) error {
	if c.Top < 0 {
		return &exitError{exitUsage, fmt.Sprintf("--top %d: want a count, or 0 for all", c.Top)}
	}
	db, err := h.open(history.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer db.Close()
	session, err := db.Session(s.ctx, c.ID)
	if err != nil {
		return err
	}
	kernels, err := db.Kernels(s.ctx, c.ID)
	if err != nil {
		return err
	}
	return h.print(s, struct {
		Session history.Session  `json:"session"`
		Kernels []history.Kernel `json:"kernels"`
	}{session, kernels}, sessions.Show(session, kernels, c.Top)...)
}

type historyPlot struct {
	Kernel string `arg:"" help:"The kernel's name, or a part of it that no other has."`
	Output string `help:"Draw into this SVG file instead." placeholder:"FILE" type:"path"`
}

func (c *historyPlot) Run(s *session, h *historyCommand) error {
	if ext := filepath.Ext(c.Output); c.Output != "" && ext != ".svg" {
		return &exitError{exitUsage, fmt.Sprintf("--output %s: figures are SVG, name it .svg", relative(c.Output))}
	}
	db, err := h.open(history.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer db.Close()
	name, series, err := db.KernelOverTime(s.ctx, c.Kernel)
	if err != nil {
		return err
	}
	if c.Output != "" {
		var figure bytes.Buffer
		if err := sessions.SVG(&figure, name, series); err != nil {
			return err
		}
		if err := os.WriteFile(c.Output, figure.Bytes(), 0o644); err != nil {
			return err
		}
		_, err := fmt.Fprintln(s.stderr, "Figure:", relative(c.Output))
		return err
	}
	return h.print(s, struct {
		Kernel string           `json:"kernel_name"`
		Series []history.Series `json:"series"`
	}{name, series}, sessions.Plot(name, series)...)
}

type historyExport struct {
	IDs    []int64 `arg:"" optional:"" name:"id" help:"Sessions to export; all by default."`
	Format string  `help:"json or csv." default:"json" enum:"json,csv" placeholder:"FORMAT"`
}

func (c *historyExport) Run(s *session, h *historyCommand) error {
	db, err := h.open(history.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer db.Close()
	if c.Format == "csv" && !h.JSON {
		return db.ExportCSV(s.ctx, s.stdout, c.IDs...)
	}
	return db.ExportJSON(s.ctx, s.stdout, c.IDs...)
}
