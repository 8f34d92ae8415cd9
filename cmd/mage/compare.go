package main

import (
	"errors"
	"fmt"
	"math"

	"mage/evidence"
	"mage/report"
)

type compareCommand struct {
	A         string   `arg:"" help:"A record (directory or namespace), or with --record an arm."`
	B         string   `arg:"" help:"The other one, which is judged against A."`
	Record    string   `help:"Compare two arms of this record." placeholder:"DIR"`
	Threshold *float64 `help:"Relative slow-down that counts as a regression; the record's margin by default." placeholder:"FRACTION"`
	Results   string   `help:"Where records are kept." default:"results" type:"path" placeholder:"DIR"`
	outputFlags
}

func (c *compareCommand) Run(s *session) error {
	result, err := c.compare()
	if bad, ok := errors.AsType[*report.UnknownArmError](err); ok {
		return &exitError{exitUsage, bad.Error()}
	}
	if err != nil {
		return err
	}
	if err := result.Render(s.stdout, c.format(), c.render(s.stdout)); err != nil {
		return err
	}
	if result.Regression {
		return &exitError{exitFailed, "regression: " + c.B + " is slower than " + c.A + ", or failed where that did not"}
	}
	if result.Compared == 0 {
		// A check that compared nothing must not look like one that passed.
		return &exitError{exitFailed, "nothing could be compared"}
	}
	return nil
}

func (c *compareCommand) compare() (*report.Comparison, error) {
	var o report.Options
	if t := c.Threshold; t != nil {
		if !(*t > 0 && *t <= math.MaxFloat64) {
			return nil, &exitError{exitUsage, fmt.Sprintf("--threshold %v: want a positive fraction, such as 0.02 for 2 %%", *t)}
		}
		o.Margin = *t
	}
	if c.Record != "" {
		run, err := c.load(c.Record)
		if err != nil {
			return nil, err
		}
		return report.CompareArms(run, c.A, c.B, o)
	}
	a, err := c.load(c.A)
	if err != nil {
		return nil, err
	}
	b, err := c.load(c.B)
	if err != nil {
		return nil, err
	}
	return report.CompareRuns(a, b, o)
}

func (c *compareCommand) load(name string) (*evidence.Run, error) {
	dir, err := findRecord(c.Results, name)
	if err != nil {
		return nil, err
	}
	return evidence.Load(dir)
}
