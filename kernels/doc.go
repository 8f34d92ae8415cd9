// Package kernels holds device kernels as data: a directory per kernel with its
// description, kernel.toml, and its source beside it. The built-in ones are
// embedded; a user's own are the same directories elsewhere. docs/kernels.md
// describes the format.
//
// The package reads and checks descriptions and turns one, at a shape and with
// values for its tunables, into a plan of launches. It must not know devices,
// compilers, timing, or who runs the plan.
package kernels
