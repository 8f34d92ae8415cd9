// Package stats turns measured times into answers that can be defended: how long,
// how much faster, how sure, and what is wrong with the data.
//
// Floats go in and results come out. The package must not know arms, records,
// devices or timing modes. Results carry their warnings, typed, so that a table
// can print them beside the number they belong to.
//
// The parts:
//
//   - [Summarize]: one set of samples, without assuming a distribution.
//   - [Paired]: two arms measured in the same rounds; ratio, interval, verdict.
//   - [NewResolution]: what an A/A control says this machine can tell from nothing.
//   - [DecideTable], [Holm]: many comparisons at once, with the error of the whole
//     table under control.
//   - [Sequential]: stop when the question is answered, with the error under
//     repeated looks under control.
//   - [Inspect], [NearResolution], [BelowFloor], [Clocks.Check], [SpreadExceeds]:
//     warnings.
//
// Formulas, their sources and the measured coverage of every interval are in
// docs/statistics.md. The tables there are written by `go run ./stats/study`.
package stats
