package report

// flatTables is Tables for programs: what Tables has once per case is one table
// with a row per case and cell or arm, every number in a column of its own.
func (r *Report) flatTables() []Table {
	out := []Table{r.runTable(), r.flatComparison()}
	for _, t := range []Table{r.flatCounters(), r.flatLaunchPaths(), r.flatLaunchers(), r.gatesTable(), r.findingsTable(), r.graphsTable(),
		r.resourcesTable(), r.capturesTable(), r.rooflineTable(), r.calibrationTable(), r.resolutionTable(), r.overviewTable(),
		r.unavailableTable(), r.warningsTable()} {
		if len(t.Rows) > 0 {
			out = append(out, t)
		}
	}
	return out
}

func (r *Report) flatComparison() Table {
	t := Table{ID: ComparisonTable, Title: "Comparison", Columns: keys("case", "contract", "precision", "dims", "distribution", "seed", "mode", "cache", "instrument",
		"device", "arm", "implementation", "path", "rounds", "disturbed", "samples", "operations", "launches",
		"median_us", "low_us", "high_us", "against", "pairs", "ratio", "ratio_low", "ratio_high",
		"ratio_table_low", "ratio_table_high", "p_holm", "p_verdict", "margin", "resolution", "verdict", "why",
		"gflop_per_s", "gbyte_per_s", "floor_us", "floor_bound", "of_floor", "warnings")}
	for _, c := range r.Cases {
		for _, g := range c.Groups {
			for _, x := range g.Cells {
				kinds := ""
				for i, w := range x.Warnings {
					if i > 0 {
						kinds += " "
					}
					kinds += w.Kind
				}
				data := []any{c.Case.ID, c.Case.Contract, c.Case.Precision, c.Case.Dims.Format(c.Case.DimOrder),
					c.Case.Distribution, c.Case.Seed, g.Mode, g.Cache, g.Instrument,
					g.Device, x.Arm, x.Implementation, x.LaunchPath, x.Rounds, x.Disturbed, x.Samples, x.Operations, x.Launches,
					value(x.MedianUS), value(x.LowUS), value(x.HighUS)}
				if e := x.Effect; e != nil {
					data = append(data, e.Against, e.Pairs, e.Ratio, value(e.Low), value(e.High),
						value(e.TableLow), value(e.TableHigh), e.PHolm, e.PVerdict, e.Margin)
				} else {
					data = append(data, make([]any, 10)...)
				}
				data = append(data, value(g.Resolution), string(x.Verdict), x.Why, value(x.GFLOPS), value(x.GBps),
					value(x.FloorUS), string(x.Bound), value(x.OfFloor), kinds)
				t.Rows = append(t.Rows, dataRow(data...))
			}
		}
	}
	return t
}

func (r *Report) flatCounters() Table {
	t := Table{ID: CountersTable, Title: "Counters", Columns: keys("case", "arm", "device", "failed", "warp_instructions", "lane_instructions", "active_lanes",
		"branches", "divergent_branches", "load_requests", "load_sectors", "loads_over_ideal", "async_copy_requests",
		"store_requests", "store_sectors", "stores_over_ideal", "shared_requests", "shared_wavefronts", "bank_conflicts",
		"global_atomics", "shared_atomics", "atomic_operations", "barriers", "local_requests", "flops", "bytes_read",
		"bytes_written", "intensity")}
	for _, x := range r.Counters {
		k := x.Counters
		t.Rows = append(t.Rows, dataRow(x.Case, x.Arm, x.Device, x.Failed, x.WarpInstructions, k.Lanes, x.ActiveLanes,
			k.Branches, k.Divergent, k.GlobalLoads.Requests+k.AsyncCopies.Requests, x.LoadSectors, value(x.LoadsOverIdeal),
			k.AsyncCopies.Requests, k.GlobalStores.Requests, x.StoreSectors, value(x.StoresOverIdeal),
			k.SharedLoads.Requests+k.SharedStores.Requests, x.SharedWavefronts, x.BankConflicts,
			k.GlobalAtomics, k.SharedAtomics, k.AtomicOperations, k.Barriers, k.LocalLoads.Requests+k.LocalStores.Requests,
			x.FLOPs, k.BytesRead, k.BytesWritten, x.Intensity))
	}
	return t
}

// value is x as a datum, nil when absent.
func value(x *float64) any {
	if x == nil {
		return nil
	}
	return *x
}

// keys are columns that are headed by their keys.
func keys(names ...string) []Column {
	out := make([]Column, len(names))
	for i, k := range names {
		out[i] = Column{Key: k, Head: k}
	}
	return out
}

// dataRow is a row of data alone.
func dataRow(data ...any) Row {
	row := Row{Cells: make([]Value, len(data))}
	for i, d := range data {
		row.Cells[i] = Value{Data: d}
	}
	return row
}
