// Package verdict holds what a device says that executes a kernel instead of timing
// it: counters of what the kernel asked of the machine, and findings of what is wrong
// with it.
//
// It must not know how they come about: gpu/simt is one such device. Records keep both.
package verdict
