package main

import (
	"fmt"

	"mage/ancestor"
)

type importCommand struct {
	Files     []string `arg:"" help:"comparison-results.json and comparison-profiles.json as the ancestor published them." type:"path"`
	Namespace string   `help:"Put the records into this namespace; the experiment's own name by default." placeholder:"NAME"`
	Results   string   `help:"Where records are kept." default:"results" type:"path" placeholder:"DIR"`
	JSON      bool     `help:"Print JSON."`
}

func (c *importCommand) Run(s *session) error {
	var files []string
	for _, f := range c.Files {
		files = append(files, relative(f))
	}
	records, err := ancestor.Import(files, ancestor.Options{Results: relative(c.Results), Namespace: c.Namespace, Version: version, Commit: commit})
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(s.stdout, map[string][]ancestor.Record{"records": records})
	}
	for _, r := range records {
		line := fmt.Sprintf("%s: %s of %s", r.Dir, r.Format, r.Experiment)
		if r.Unread > 0 {
			line += fmt.Sprintf("; %d kinds of field are only in the file kept beside it", r.Unread)
		}
		if _, err := fmt.Fprintln(s.stdout, line); err != nil {
			return err
		}
	}
	return nil
}
