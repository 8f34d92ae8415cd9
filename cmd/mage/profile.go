package main

import (
	"fmt"
	"os"

	"mage/capture"
	"mage/impl/python"
)

type profileCommand struct {
	Script string   `arg:"" help:"A Python script."`
	Args   []string `arg:"" optional:"" help:"Its arguments, after --."`
	Python string   `help:"Python interpreter; by default MAGE_PYTHON, VIRTUAL_ENV, python3." placeholder:"PATH"`
	captureFlags
}

func (c *profileCommand) Run(s *session) error {
	if info, err := os.Stat(c.Script); err != nil || info.IsDir() {
		return &exitError{exitUsage, fmt.Sprintf("there is no script %s", c.Script)}
	}
	choice, err := python.Choose(c.Python)
	if err != nil {
		return err
	}
	return c.capture(s, capture.Request{Argv: append([]string{choice.Path, c.Script}, c.Args...), Script: c.Script})
}

type profileExecCommand struct {
	Command []string `arg:"" help:"A program and its arguments, after --." passthrough:""`
	captureFlags
}

func (c *profileExecCommand) Run(s *session) error {
	argv := c.Command
	if len(argv) > 0 && argv[0] == "--" {
		argv = argv[1:]
	}
	return c.capture(s, capture.Request{Argv: argv})
}

// tail returns the end of a capture's log, for a failure.
func tail(path string, lines int) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	start := len(text)
	for n := 0; start > 0 && n <= lines; start-- {
		if text[start-1] == '\n' {
			if n++; n > lines {
				break
			}
		}
	}
	return string(text[start:])
}
