// Package contract says what is computed: the five operations of the laboratory
// with their dimensions, input arrays, validation, float64 reference, operation
// and byte counts, and tolerance. One file per contract.
//
// It must not know who computes an operation, on which device, how inputs are
// generated, or how anything is timed.
package contract
