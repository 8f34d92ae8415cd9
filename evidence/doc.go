// Package evidence is what a run leaves on disk: record.json, samples.jsonl and
// events.jsonl in results/<namespace>/<run id>/, appended and synced, readable
// after a kill at any moment, never overwritten.
//
// It must not know how anything is measured or what follows from the numbers.
package evidence
