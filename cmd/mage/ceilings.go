package main

import (
	"fmt"

	"mage/ceiling"
	"mage/doctor"
	"mage/gpu/cuda"
	"mage/report"
	"mage/report/ceilings"
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
	} else if err := report.RenderTables(s.stdout, []report.Table{ceilings.Table(f)}, report.TableFormat, outputFlags{}.render(s.stdout)); err != nil {
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
