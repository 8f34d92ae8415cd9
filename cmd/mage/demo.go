package main

import (
	"fmt"
	"os"

	"mage/report"
)

type demoCommand struct {
	JSON bool `help:"Print JSON."`
	laboratoryFlags
}

// Run performs the built-in demo experiment into a record that is thrown away.
func (c *demoCommand) Run(s *session) error {
	spec, err := findBuiltin("demo")
	if err != nil {
		return err
	}
	m, err := c.open(s.ctx, spec.Implementations)
	if err != nil {
		return err
	}
	defer m.Close()
	results, err := os.MkdirTemp("", "mage-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(results)
	out, err := perform(s, spec, m, results)
	if err != nil {
		return err
	}
	show := outputFlags{JSON: c.JSON, Format: string(report.TableFormat),
		Table: []string{report.OverviewTable, report.FindingsTable, report.UnavailableTable}}
	if err := show.print(s, out.Dir); err != nil {
		return err
	}
	if err := printFindings(s.stderr, out.Dir); err != nil {
		return err
	}
	if err := failures(out); err != nil {
		return err
	}
	if !c.JSON {
		fmt.Fprintln(s.stdout, "\nThe shapes are small, so that this takes seconds; mage run mage-001 takes the default ones.")
		fmt.Fprintln(s.stdout, "Next: mage doctor, mage bench gelu, mage explain cuda/first rust/first, mage run mage-001")
	}
	return nil
}
