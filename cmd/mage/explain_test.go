package main

import (
	"bytes"
	"flag"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write what the commands quoted in docs/simulator.md print now")

// What docs/simulator.md shows is what the command prints.
func TestSimulatorPageShowsWhatExplainPrints(t *testing.T) {
	const path = "../../docs/simulator.md"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	quoted := regexp.MustCompile(`(?s)<!-- mage (explain [^\n]*) -->\n(.*?)<!-- end -->`)
	if !quoted.Match(text) {
		t.Fatal("the page quotes no command")
	}
	now := quoted.ReplaceAllFunc(text, func(quote []byte) []byte {
		m := quoted.FindSubmatch(quote)
		var out bytes.Buffer
		if code := run(strings.Fields(string(m[1])), &out, io.Discard); code != 0 {
			t.Errorf("mage %s: exit code %d", m[1], code)
		}
		return []byte("<!-- mage " + string(m[1]) + " -->\n```\n" + strings.TrimSpace(out.String()) + "\n```\n<!-- end -->")
	})
	if bytes.Equal(now, text) {
		return
	}
	if *update {
		if err := os.WriteFile(path, now, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Error("docs/simulator.md is out of date: go test ./cmd/mage -run SimulatorPage -update")
}
