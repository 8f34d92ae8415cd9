// Package exec runs native programs as implementations: a whole process of its
// own, which reads an input directory, measures itself with CUDA events, and
// leaves its output and its times there. It is the launch path "exec".
//
// No host code of such a program runs in this process. What it leaves is not
// trusted: the output is checked as a file, and its times must be those that were
// asked for. docs/rust.md describes the contract and exec.toml.
//
// The package must not know experiments, records or statistics, nor CUDA.
package exec
