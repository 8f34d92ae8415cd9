package report

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"mage/evidence"
)

// The IDs of a report's tables, in order. There is one "comparison" per case, and one
// "counters" where arms were counted on it.
const (
	RunTable         = "run"
	ComparisonTable  = "comparison"
	CountersTable    = "counters"
	LaunchPathsTable = "launch-paths"
	LaunchersTable   = "launchers"
	GatesTable       = "gates"
	FindingsTable    = "findings"
	GraphsTable      = "graphs"
	ResourcesTable   = "resources"
	CapturesTable    = "captures"
	RooflineTable    = "roofline"
	CalibrationTable = "calibration"
	ResolutionTable  = "resolution"
	UnavailableTable = "unavailable"
	WarningsTable    = "warnings"
	// OverviewTable is drawn only when it is asked for.
	OverviewTable = "overview"
)

// TableIDs lists the IDs of a report's tables in order.
func TableIDs() []string {
	return []string{RunTable, ComparisonTable, CountersTable, LaunchPathsTable, LaunchersTable, GatesTable, FindingsTable, GraphsTable, ResourcesTable, CapturesTable, RooflineTable,
		CalibrationTable, ResolutionTable, UnavailableTable, WarningsTable, OverviewTable}
}

// Tables returns the report's tables in order; empty ones are left out.
func (r *Report) Tables() []Table {
	all := []Table{r.runTable()}
	for _, c := range r.Cases {
		counters := r.countersTable(c)
		if len(c.Groups) == 0 && len(counters.Rows) > 0 { // nothing was timed
			counters.Remarks = append(slices.Clone(c.Notes), counters.Remarks...)
		} else {
			all = append(all, r.comparisonTable(c))
		}
		all = append(all, counters)
	}
	all = append(all, r.launchPathsTables()...)
	all = append(all, r.launchersTable(), r.gatesTable(), r.findingsTable(), r.graphsTable(), r.resourcesTable(), r.capturesTable(), r.rooflineTable(),
		r.calibrationTable(), r.resolutionTable(), r.overviewTable(), r.unavailableTable(), r.warningsTable())
	out := all[:0]
	for _, t := range all {
		if len(t.Rows) > 0 || len(t.Remarks) > 0 {
			out = append(out, t)
		}
	}
	return out
}

// runTable is the header: what ran, on what, under which terms.
func (r *Report) runTable() Table {
	h := r.Header
	t := Table{ID: RunTable, Title: h.Namespace + " " + h.RunID,
		Columns: []Column{{Key: "field", Head: "field"}, {Key: "value", Head: "value", Prose: true}}}
	add := func(field, value string, tone Tone) {
		if value != "" {
			t.Rows = append(t.Rows, Row{Cells: []Value{word(field), word(value).tone(tone)}})
		}
	}
	status, tone := h.Status, Good
	if h.Status != evidence.Complete {
		tone = Caution
		if h.Reason != "" {
			status += ": " + h.Reason
		}
	}
	add("status", status, tone)
	add("when", when(h), Plain)
	add("imported", importedText(h.Imported), Caution)
	for _, d := range h.Devices {
		add("device "+d.ID, deviceText(d), Plain)
	}
	add("host", hostText(h.Host), Plain)
	add("versions", versionsText(h), Plain)
	add("tool", toolText(h.Tool), Plain)
	if h.Imported == nil {
		add("spec", h.SpecName+" "+short(h.SpecSHA256), Plain)
	}
	if n := len(r.Counters); n > 0 {
		word := "executions"
		if n == 1 {
			word = "execution"
		}
		add("counted", fmt.Sprintf("%d %s, one per case and arm on a device that measures no time", n, word), Plain)
	}
	if h.Cells == 0 && len(r.Counters) > 0 {
		return t // no times, no terms of comparing them
	}
	add("rounds", roundsText(h), Plain)
	add("terms", fmt.Sprintf("%s %% intervals, margin ±%s; verdicts and p corrected for %d comparisons (Holm, Shaffer)",
		trim(h.Confidence*100), percent(h.Margin), h.Comparisons), Plain)
	return t
}

func when(h Header) string {
	s := h.Created.UTC().Format(time.DateTime) + " UTC"
	if d := h.Updated.Sub(h.Created).Round(time.Second); d > 0 {
		s += ", " + d.String()
	}
	if h.Sessions > 1 {
		s += fmt.Sprintf(", %d sessions", h.Sessions)
	}
	return s
}

func deviceText(d evidence.Device) string {
	parts := []string{d.Name}
	if d.ComputeCapability != "" {
		parts = append(parts, "compute capability "+d.ComputeCapability)
	}
	if d.DriverVersion != "" {
		parts = append(parts, "driver "+d.DriverVersion)
	}
	if d.CUDAVersion != "" {
		parts = append(parts, "CUDA "+d.CUDAVersion)
	}
	return strings.Join(parts, ", ")
}

func hostText(h evidence.Host) string {
	parts := []string{h.OS + "/" + h.Arch}
	if h.CPU != "" {
		parts = append(parts, h.CPU)
	}
	if h.Cores > 0 {
		parts = append(parts, fmt.Sprintf("%d cores", h.Cores))
	}
	return strings.Join(parts, ", ")
}

func versionsText(h Header) string {
	names := make([]string, 0, len(h.Versions))
	for n := range h.Versions {
		names = append(names, n)
	}
	sort.Strings(names)
	for i, n := range names {
		names[i] = n + " " + h.Versions[n]
	}
	return strings.Join(names, ", ")
}

func toolText(t evidence.Tool) string {
	s := "mage " + t.Version
	if t.Commit != "" {
		s += " (" + short(t.Commit)
		if t.Modified {
			s += ", modified"
		}
		s += ")"
	}
	return s + ", " + t.Go
}

func roundsText(h Header) string {
	planned := fmt.Sprintf("%d planned", h.PlannedRounds)
	if h.MaxRounds > h.PlannedRounds {
		planned = fmt.Sprintf("%d to %d planned", h.PlannedRounds, h.MaxRounds)
	}
	s := fmt.Sprintf("%s per cell; %d cells, %d rounds counted", planned, h.Cells, h.Rounds)
	if h.Disturbed > 0 {
		s += fmt.Sprintf(", %d disturbed", h.Disturbed)
	}
	return s + fmt.Sprintf(", %d samples", h.Samples)
}

// short abbreviates a hash.
func short(hash string) string {
	if len(hash) > 12 {
		return hash[:12]
	}
	return hash
}

// trim writes a number without trailing zeros.
func trim(x float64) string {
	return strings.TrimSuffix(strings.TrimRight(fixed(x, 6), "0"), ".")
}
