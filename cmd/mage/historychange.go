package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"

	"mage/evidence"
	"mage/history"
	"mage/report"
)

type historyAdd struct {
	Record  string `arg:"" help:"A record's directory, or a namespace for its newest record."`
	Results string `help:"Where records are kept." default:"results" type:"path" placeholder:"DIR"`
}

func (c *historyAdd) Run(s *session, h *historyCommand) error {
	dir, err := findRecord(c.Results, c.Record)
	if err != nil {
		return err
	}
	run, err := evidence.Load(dir)
	if err != nil {
		return err
	}
	db, err := h.open(history.Options{})
	if err != nil {
		return err
	}
	defer db.Close()
	ids, err := db.AddRecord(s.ctx, run, version)
	if err != nil {
		return err
	}
	return h.say(s, "sessions", ids, "added session "+numbers(ids))
}

type historyDelete struct {
	IDs []int64 `arg:"" name:"id" help:"The sessions' ids, as mage history lists them."`
	Yes bool    `short:"y" help:"Do not ask."`
}

func (c *historyDelete) Run(s *session, h *historyCommand) error {
	db, err := h.openOld()
	if err != nil {
		return err
	}
	defer db.Close()
	if !c.Yes {
		if !term.IsTerminal(int(os.Stdin.Fd())) {
			return &exitError{exitUsage, "this deletes for good: add --yes"}
		}
		fmt.Fprintf(s.stderr, "Delete session %s with its metrics for good? [y/N] ", numbers(c.IDs))
		answer, _ := bufio.NewReader(os.Stdin).ReadString('\n') // no answer is a no
		if a := strings.ToLower(strings.TrimSpace(answer)); a != "y" && a != "yes" {
			return &exitError{exitFailed, "nothing was deleted"}
		}
	}
	if err := db.Delete(s.ctx, c.IDs...); err != nil {
		return err
	}
	return h.say(s, "deleted", c.IDs, "deleted session "+numbers(c.IDs))
}

type historyVacuum struct{}

func (c *historyVacuum) Run(s *session, h *historyCommand) error {
	db, err := h.openOld()
	if err != nil {
		return err
	}
	defer db.Close()
	before, after, err := db.Vacuum(s.ctx)
	if err != nil {
		return err
	}
	if h.JSON {
		return printJSON(s.stdout, map[string]int64{"before_bytes": before, "after_bytes": after})
	}
	_, err = fmt.Fprintf(s.stdout, "%s before, %s now\n", report.Bytes(before), report.Bytes(after))
	return err
}

// say prints a line, or data under a key as JSON.
func (c *historyCommand) say(s *session, key string, data any, line string) error {
	if c.JSON {
		return printJSON(s.stdout, map[string]any{key: data})
	}
	_, err := fmt.Fprintln(s.stdout, line)
	return err
}

func numbers(ids []int64) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(ids), " ", ", "), "[]")
}
