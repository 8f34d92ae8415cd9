// Package native runs device kernels that are described as data, through the
// driver: it compiles or picks the binary, allocates and uploads, binds the
// launches once, and submits them.
//
// It works on any gpu.Device. It must not know experiments, arms, records or
// statistics, and it measures only through the Timer that it is given.
package native
