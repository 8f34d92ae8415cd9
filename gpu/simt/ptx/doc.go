// Package ptx reads PTX text into a syntax tree whose nodes carry the positions
// that they were read at.
//
// It knows the grammar of PTX and no instruction: which opcodes, modifiers and
// operands belong together is decided by whoever executes the tree. It never
// panics on any input, and it is fuzzed for that.
package ptx
