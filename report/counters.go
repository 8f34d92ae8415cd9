package report

import (
	"mage/evidence"
	"mage/gpu/verdict"
)

// CounterResult is what one execution of an arm cost on a case, on a device that
// counts instead of timing. The numbers are exact: there is no interval.
type CounterResult struct {
	Case           string `json:"case"`
	Arm            string `json:"arm"`
	Implementation string `json:"implementation"`
	LaunchPath     string `json:"launch_path"`
	Device         string `json:"device"`
	// Failed says why the arm did not pass the gate: a wrong kernel's cost is no
	// measure of a right one's.
	Failed   string            `json:"failed,omitempty"`
	Counters *verdict.Counters `json:"counters"`
	// Derived from Counters. ActiveLanes is the mean share of a warp's 32 lanes;
	// LoadsOverIdeal and StoresOverIdeal are the sectors of 32 bytes moved over the
	// fewest that could carry the bytes asked for; both are absent without traffic.
	WarpInstructions int64    `json:"warp_instructions"`
	ActiveLanes      float64  `json:"active_lanes"`
	LoadSectors      int64    `json:"load_sectors"` // cp.async included
	LoadsOverIdeal   *float64 `json:"loads_over_ideal,omitempty"`
	StoreSectors     int64    `json:"store_sectors"`
	StoresOverIdeal  *float64 `json:"stores_over_ideal,omitempty"`
	SharedWavefronts int64    `json:"shared_wavefronts"`
	BankConflicts    int64    `json:"bank_conflicts"`
	FLOPs            int64    `json:"flops"`
	BytesTouched     int64    `json:"bytes_touched"` // distinct, read or written
	Intensity        float64  `json:"intensity_flop_per_byte"`
}

// FindingResult is a defect that the checks of a device found in an arm.
type FindingResult struct {
	Case string `json:"case"`
	Arm  string `json:"arm"`
	verdict.Finding
}

// counters lists what was counted, in the order of cases and arms; of an arm that
// several sessions executed, what the last one counted.
func counters(rec *evidence.Record) []CounterResult {
	arms := map[string]evidence.Arm{}
	for _, a := range rec.Arms {
		arms[a.ID] = a
	}
	var out []CounterResult
	for _, e := range ordered(rec) {
		if e.Counters == nil {
			continue
		}
		c := counterResult(e.Counters)
		a := arms[e.Arm]
		c.Case, c.Arm, c.Failed = e.Case, e.Arm, e.Error
		c.Implementation, c.LaunchPath, c.Device = a.Implementation, a.LaunchPath, a.Device
		if n := len(out) - 1; n >= 0 && out[n].Case == c.Case && out[n].Arm == c.Arm {
			out[n] = c
		} else {
			out = append(out, c)
		}
	}
	return out
}

func counterResult(c *verdict.Counters) CounterResult {
	loads := c.GlobalLoads.Sectors + c.AsyncCopies.Sectors
	return CounterResult{Counters: c, WarpInstructions: c.Instructions.Total(), ActiveLanes: c.ActiveLanes(),
		LoadSectors: loads, LoadsOverIdeal: over(loads, c.GlobalLoads.Ideal+c.AsyncCopies.Ideal),
		StoreSectors: c.GlobalStores.Sectors, StoresOverIdeal: over(c.GlobalStores.Sectors, c.GlobalStores.Ideal),
		SharedWavefronts: c.SharedLoads.Wavefronts + c.SharedStores.Wavefronts,
		BankConflicts:    c.SharedLoads.Conflicts() + c.SharedStores.Conflicts(),
		FLOPs:            c.FLOPs(), BytesTouched: c.BytesTouched(), Intensity: c.Intensity()}
}

func over(n, ideal int64) *float64 {
	if ideal == 0 {
		return nil
	}
	x := float64(n) / float64(ideal)
	return &x
}

// findings lists what the checks found, in the order of cases and arms.
func findings(rec *evidence.Record) []FindingResult {
	var out []FindingResult
	for _, e := range ordered(rec) {
		for _, f := range e.Findings {
			out = append(out, FindingResult{e.Case, e.Arm, f})
		}
	}
	return out
}

// counted returns what was counted of an arm on a case, or nil.
func (r *Report) counted(caseID, arm string) *CounterResult {
	for i := range r.Counters {
		if c := &r.Counters[i]; c.Case == caseID && c.Arm == arm {
			return c
		}
	}
	return nil
}
