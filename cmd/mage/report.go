package main

import "mage/report"

type reportCommand struct {
	Record   string `arg:"" help:"A record's directory, or a namespace for its newest record."`
	Results  string `help:"Where records are kept." default:"results" type:"path" placeholder:"DIR"`
	Ceilings string `help:"File of mage doctor --ceilings --output: adds a table of how near each time comes to what the device can do (docs/ceilings.md)." type:"path" placeholder:"FILE"`
	outputFlags
}

func (c *reportCommand) Run(s *session) error {
	dir, err := findRecord(c.Results, c.Record)
	if err != nil {
		return err
	}
	var o report.Options
	if c.Ceilings != "" {
		if o.Roofs, err = loadRoofs(c.Ceilings); err != nil {
			return err
		}
	}
	return c.printWith(s, dir, o)
}
