// Package evidence is what a run leaves on disk: record.json, samples.jsonl and
// events.jsonl in results/<namespace>/<run id>/, appended and synced, readable
// after a kill at any moment, never overwritten. docs/evidence.md is the format.
//
// Create starts a run and Resume goes on with an unfinished one; both return the
// run's only Writer. Load reads a record, finished or not.
//
// It must not know how anything is measured or what follows from the numbers.
package evidence
