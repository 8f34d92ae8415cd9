// Package memory is the global memory of the simulated device: allocations with
// wide gaps between them, what of them has been written, and who touched what
// during a launch.
//
// It must not know instructions, warps or reports: it answers whether an access
// is allowed and whether it conflicts with one of another block.
package memory
