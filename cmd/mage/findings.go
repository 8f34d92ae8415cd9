package main

import (
	"fmt"
	"io"

	"mage/evidence"
)

// shownFindings is how many findings of one arm on one case are printed in full.
const shownFindings = 5

// printFindings prints what the simulator's checks found, as compute-sanitizer
// would; the record holds all of it.
func printFindings(w io.Writer, dir string) error {
	rec, err := evidence.LoadRecord(dir)
	if err != nil {
		return err
	}
	for _, e := range rec.Entries {
		if len(e.Findings) == 0 {
			continue
		}
		fmt.Fprintf(w, "========= %s on %s\n", e.Arm, e.Case)
		for i, f := range e.Findings {
			if i == shownFindings {
				fmt.Fprintf(w, "========= and %d more findings\n", len(e.Findings)-i)
				break
			}
			fmt.Fprint(w, f.Report())
		}
	}
	return nil
}
