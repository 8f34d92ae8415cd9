// Package cpu computes every contract in Go, in float32, on the processor:
// cpu/naive is the obvious loops on one core, cpu/parallel uses every core with
// tiles that fit registers and caches. Both are real and measured; they need
// nothing but the binary itself.
//
// It must not know how a timing loop works (a Measurer is passed in), nor
// anything of experiments and records.
package cpu
