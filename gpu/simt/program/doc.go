// Package program turns the syntax tree of a PTX kernel into the form that the
// simulator executes: registers become offsets into a register file, constants
// become registers that nothing writes, calls are inlined, branches know where
// their lanes come together again, and every instruction carries the function
// that computes it.
//
// It must not execute anything: memory, warps, checks and counts are the
// business of package exec.
package program
