// Package agreement states what the simulator must agree on with a GPU: outputs bit
// for bit, and the requests, sectors, wavefronts and bank conflicts that Nsight
// Compute counts. It names the cases, runs them on any gpu.Device, reads what a GPU
// and its profiler said, and sets both side by side.
//
// Command agreement/record runs the cases on a GPU; docs/simulator.md shows the
// comparison. The package must not know records, arms or timing.
package agreement
