// Package floor is the physical floor of an operation: the time below which a
// device cannot have computed it, whatever the kernel.
//
// A measured time below the floor is impossible: the work was not done, not
// finished, or the clock is wrong. The package must not know how a time was
// measured or what is done about it.
package floor
