package impl

// Profiled is an operation that can show its work alone to a profiler around this
// process and those that it started.
type Profiled interface {
	Operation
	// Profile performs the operation once, to warm up, then n times between
	// cudaProfilerStart and cudaProfilerStop. Its times are not to be used.
	Profile(n int) error
}
