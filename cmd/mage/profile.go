package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

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
	if err := runnable(c.Script); err != nil {
		return &exitError{exitUsage, err.Error()}
	}
	if strings.HasPrefix(c.Script, "-") { // an option, to Python
		c.Script = "./" + c.Script
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

// runnable says why Python would not run a script, as far as its path tells.
func runnable(script string) error {
	info, err := os.Stat(script)
	if err != nil {
		return fmt.Errorf("there is no script %q", script)
	}
	if info.IsDir() {
		if _, err := os.Stat(filepath.Join(script, "__main__.py")); err != nil {
			return fmt.Errorf("%q is a directory without a __main__.py", script)
		}
	}
	return nil
}
