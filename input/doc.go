// Package input makes the input set of a case and keeps it on disk.
//
// Generation is a pure function of the seed, the buffer name and the element's
// position: the same bytes on every platform and with every Go version. The
// generator is written down in docs/inputs.md, precisely enough to rewrite it.
//
// The package must not know who computes a contract, on which device, or how
// anything is timed.
package input
