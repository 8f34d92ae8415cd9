// Package conform states what the simulator's arithmetic must agree on with a GPU:
// one small kernel per instruction form, operands that reach its corners, a way to
// run them on any gpu.Device, and what of the results is kept. Command record runs
// them on a GPU; the tests replay its file on the simulator.
//
// The forms are what ptxas accepts of all that the simulator might lower
// (sm_90.txt): an instruction without a form fails a test, and so does a form that
// the simulator does not know. Approximations are held against the bounds of the PTX
// manual, everything else against the bits of the GPU.
//
// It knows the gpu interface and PTX text, and neither device.
package conform
