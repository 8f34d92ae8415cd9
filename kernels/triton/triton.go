// Package triton holds device kernels in Triton as data: one Python module per
// contract. Package impl/python runs them.
//
// A module has the kernel itself, named like the contract, and what a launch
// needs: arguments (the kernel's parameters in order, buffers by contract name),
// scalars(dims), fixed(dims) for the tunables of triton/fixed, grid(dims,
// tunables), and configs, the bounded list of (tunables, warps) that
// triton/autotuned tries: a list, or a function of the dims.
//
// ptx holds what Triton compiled triton/fixed to for sm_90, for machines without
// Python or a GPU: Compiled lists the launches that it is for.
package triton

import "embed"

// Sources holds the modules, by file name.
//
//go:embed *.py
var Sources embed.FS
