// Package conform states what the simulator's arithmetic must agree on with a GPU:
// one small kernel per instruction form, operands that reach its corners, and a
// way to run them on any gpu.Device. Command record runs them on a GPU and keeps
// the results; the tests replay those on the simulator.
//
// It knows the gpu interface and PTX text, and neither device.
package conform
