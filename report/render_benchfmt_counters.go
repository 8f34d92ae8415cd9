package report

import "golang.org/x/perf/benchfmt"

// countedUnits are the counters that benchstat is given, in its style of units.
var countedUnits = []struct {
	unit string
	of   func(CounterResult) int64
}{
	{"warp-instructions/op", func(c CounterResult) int64 { return c.WarpInstructions }},
	{"load-sectors/op", func(c CounterResult) int64 { return c.LoadSectors }},
	{"store-sectors/op", func(c CounterResult) int64 { return c.StoreSectors }},
	{"shared-wavefronts/op", func(c CounterResult) int64 { return c.SharedWavefronts }},
	{"bank-conflicts/op", func(c CounterResult) int64 { return c.BankConflicts }},
	{"bytes-touched/op", func(c CounterResult) int64 { return c.BytesTouched }},
}

// writeCounters writes one line per case and arm that was counted and passed. The
// units are declared exact, so that benchstat needs no repetition.
func (r *Report) writeCounters(config []benchfmt.Config, write func(benchfmt.Record) error) error {
	for i, x := range r.Counters {
		if i == 0 {
			for _, u := range countedUnits {
				for _, m := range [][2]string{{"better", "lower"}, {"assume", "exact"}} {
					if err := write(&benchfmt.UnitMetadata{UnitMetadataKey: benchfmt.UnitMetadataKey{Unit: u.unit, Key: m[0]},
						OrigUnit: u.unit, Value: m[1]}); err != nil {
						return err
					}
				}
			}
		}
		c := r.caseOf(x.Case)
		if x.Failed != "" || c == nil {
			continue
		}
		res := &benchfmt.Result{Name: benchfmt.Name(benchmarkStem(*c, x.Implementation, x.Arm, x.LaunchPath)), Iters: 1,
			Config: append(r.caseConfig(config, *c, x.Device), fileConfig("instrument", "simt"))}
		for _, u := range countedUnits {
			n := float64(u.of(x))
			res.Values = append(res.Values, benchfmt.Value{Value: n, Unit: u.unit, OrigValue: n, OrigUnit: u.unit})
		}
		if err := write(res); err != nil {
			return err
		}
	}
	return nil
}

func (r *Report) caseOf(id string) *CaseResult {
	for i := range r.Cases {
		if r.Cases[i].Case.ID == id {
			return &r.Cases[i]
		}
	}
	return nil
}
