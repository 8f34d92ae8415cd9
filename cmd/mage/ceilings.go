package main

import (
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"mage/ceiling"
	"mage/doctor"
	"mage/gpu"
	"mage/gpu/cuda"
	"mage/unavailable"
)

// ceilings measures what the device can do at best.
func (c *doctorCommand) ceilings(s *session) error {
	p := newProgress(s.stderr)
	f, err := doctor.Ceilings(s.ctx, cuda.Options{}, c.GPU, ceiling.Options{
		Tool:     ceiling.Tool{Version: version, Commit: commit},
		Progress: func(name string, left int) { p.Note(fmt.Sprintf("measuring %s, then %d more", name, left)) },
	})
	p.Close()
	if lacking, ok := unavailable.As(err); ok {
		return c.noCeilings(s, lacking)
	}
	if err != nil {
		return err
	}
	if err := c.keep(s, f); err != nil {
		return err
	}
	if c.JSON {
		data, err := f.Encode()
		if err != nil {
			return err
		}
		if _, err := s.stdout.Write(data); err != nil {
			return err
		}
	} else if _, err := fmt.Fprintln(s.stdout, ceilingsTable(s, f)); err != nil {
		return err
	}
	if wrong := f.Failed(); len(wrong) > 0 {
		for _, w := range wrong[:len(wrong)-1] {
			fmt.Fprintln(s.stderr, "mage:", w)
		}
		return &exitError{exitFailed, wrong[len(wrong)-1]}
	}
	return nil
}

// noCeilings says what the machine lacks, as a finding like any other. A file that
// was asked for cannot be written, which is an error.
func (c *doctorCommand) noCeilings(s *session, lacking *unavailable.Error) error {
	err := c.print(s, []doctor.Finding{{Area: "GPU", Item: "ceilings", Reason: lacking.Reason, Remedy: lacking.Remedy}})
	if err == nil && c.Output != "" {
		return &exitError{exitFailed, fmt.Sprintf("%s is not written: %v", relative(c.Output), lacking)}
	}
	return err
}

// keep saves the file where later commands find it, and where the user asked.
func (c *doctorCommand) keep(s *session, f *ceiling.File) error {
	if _, err := f.Keep(); err != nil {
		fmt.Fprintln(s.stderr, "mage: note: the ceilings are not kept for later commands:", err)
	}
	if c.Output == "" {
		return nil
	}
	if err := f.Save(c.Output); err != nil {
		return err
	}
	fmt.Fprintln(s.stderr, "wrote", relative(c.Output))
	return nil
}

func ceilingsTable(s *session, f *ceiling.File) string {
	t := table.NewWriter()
	t.SetStyle(tableStyle(s.stdout))
	t.SetTitle(fmt.Sprintf("Ceilings of %s, driver %s, measured %s", f.Device.Name, f.Device.DriverVersion, f.Measured.Format("2006-01-02 15:04 UTC")))
	t.AppendHeader(table.Row{"ceiling", "median", "middle 90 %", "best", "of nominal", "with", "clock, temperature"})
	for _, c := range f.Ceilings {
		if c.Confirmed == nil {
			t.AppendRow(table.Row{c.Name, "unavailable", "", "", "", c.Reason, ""})
			continue
		}
		p := c.Confirmed
		with := p.Kernel + ": " + p.Shape
		if c.Unit == ceiling.Microseconds {
			with = c.Counts
		}
		if p.CacheShare > 0 {
			with += fmt.Sprintf("; at most %.1f %% of it from the L2", 100*p.CacheShare)
		}
		for _, caveat := range f.Caveats(c) {
			with += "; " + caveat
		}
		t.AppendRow(table.Row{c.Name, c.Unit.Text(p.Median), spread(c.Unit, p), c.Unit.Text(p.Best), ofNominal(f, c), with, conditions(c.Before, c.After)})
	}
	t.SetColumnConfigs([]table.ColumnConfig{{Number: 2, Align: text.AlignRight}, {Number: 3, Align: text.AlignRight}, {Number: 4, Align: text.AlignRight},
		{Number: 5, Align: text.AlignRight}, {Number: 6, WidthMax: 60, WidthMaxEnforcer: text.WrapSoft}})
	return t.Render()
}

func spread(u ceiling.Unit, p *ceiling.Point) string { return u.Text(p.Low) + "–" + u.Text(p.High) }

// ofNominal holds a ceiling against the peak that the device's attributes promise.
func ofNominal(f *ceiling.File, c ceiling.Ceiling) string {
	if peak := f.Nominal(c.Name); peak > 0 {
		return fmt.Sprintf("%.1f %%", 100*c.Confirmed.Median/peak)
	}
	return ""
}

func conditions(before, after gpu.State) string {
	var parts []string
	add := func(a, b *int, unit string) {
		if a != nil && b != nil {
			parts = append(parts, fmt.Sprintf("%d → %d %s", *a, *b, unit))
		}
	}
	add(before.SMClockMHz, after.SMClockMHz, "MHz")
	add(before.TemperatureC, after.TemperatureC, "°C")
	return strings.Join(parts, ", ")
}
