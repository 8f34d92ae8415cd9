// Package ceiling measures what a device can do at best, with kernels that ask one
// thing each: bandwidth of the DRAM, the L2 and shared memory, arithmetic of the
// CUDA cores and the tensor cores, and what a launch costs at least. docs/ceilings.md
// describes each.
//
// A ceiling is the best of a small sweep of shapes, measured again with fresh
// samples. A shape counts only if what its kernel computed is right, before the
// timing and in what the timed region left behind; each result has a closed form.
//
// It must not know experiments, records of runs, or what is placed under a ceiling.
package ceiling
