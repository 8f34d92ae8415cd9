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
	JSON bool `help:"Print JSON."`
}

func (c *doctorCommand) Run(s *session) error {
	findings := doctor.Examine(s.ctx, doctor.Options{})
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
