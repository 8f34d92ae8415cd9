package ncu

import (
	"strings"

	"mage/capture"
)

// lacks says which of the counters that were asked for no launch has a value of:
// ncu does not know them, or cannot read them on this device. A name may stand for
// several ("sm__inst_executed" for its ".avg", ".sum", …). What is no plain name
// ("regex:…", "group:…", "breakdown:…") is left to ncu.
func (t *file) lacks(rows [][]string, asked []string) error {
	var lacking []string
	for _, name := range asked {
		name = strings.TrimSpace(name)
		if name != "" && !strings.Contains(name, ":") && !t.valued(rows, name) {
			lacking = append(lacking, name)
		}
	}
	if lacking == nil {
		return nil
	}
	return &capture.Failure{Outcome: capture.ToolFailed,
		Reason: "no launch has a value of " + strings.Join(lacking, ", "),
		Remedy: "ncu --query-metrics lists the counters of this GPU; most need a suffix such as .sum or .avg"}
}

func (t *file) valued(rows [][]string, name string) bool {
	for i, column := range t.header {
		column = strings.TrimSpace(column)
		if column != name && !strings.HasPrefix(column, name+".") {
			continue
		}
		for _, row := range rows {
			if i < len(row) && !absent(row[i]) {
				return true
			}
		}
	}
	return false
}

// absent is how ncu writes that there is no value. What could not be divided
// ("nan") was measured.
func absent(cell string) bool {
	cell = strings.TrimSpace(cell)
	return cell == "" || strings.HasSuffix(cell, "n/a")
}
