package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"mage/doctor"
)

type doctorCommand struct {
	JSON     bool   `help:"Print JSON."`
	Ceilings bool   `help:"Measure what the GPU can do at best: bandwidths, arithmetic, launches (docs/ceilings.md); takes seconds."`
	Output   string `help:"With --ceilings: keep them in this file as well." type:"path" placeholder:"FILE"`
	GPU      int    `help:"With --ceilings: ordinal of the GPU." default:"0"`
}

func (c *doctorCommand) Run(s *session) error {
	if c.Ceilings {
		return c.ceilings(s)
	}
	if c.Output != "" {
		return &exitError{exitUsage, "--output is for --ceilings"}
	}
	return c.print(s, doctor.Examine(s.ctx, doctor.Options{}))
}

func (c *doctorCommand) print(s *session, findings []doctor.Finding) error {
	if c.JSON {
		enc := json.NewEncoder(s.stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(findings)
	}
	t := table.NewWriter()
	t.SetStyle(tableStyle(s.stdout))
	t.AppendHeader(table.Row{"area", "item", "state", "version", "where, or why not and what to do"})
	area := ""
	for _, f := range findings {
		shown := f.Area
		if shown == area {
			shown = ""
		}
		area = f.Area
		state, detail := "available", f.Path
		if f.Detail != "" {
			detail = strings.TrimPrefix(detail+"; "+f.Detail, "; ")
		}
		if !f.Available {
			state, detail = "unavailable", f.Reason
			if f.Remedy != "" {
				detail += fmt.Sprintf(" (%s)", f.Remedy)
			}
		}
		t.AppendRow(table.Row{shown, f.Item, state, f.Version, detail})
	}
	t.SetColumnConfigs([]table.ColumnConfig{{Number: 5, WidthMax: 70, WidthMaxEnforcer: text.WrapSoft}})
	_, err := fmt.Fprintln(s.stdout, t.Render())
	return err
}
