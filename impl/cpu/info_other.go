//go:build !linux && !darwin

package cpu

func modelName() string    { return "" }
func memoryBytes() int64   { return 0 }
func maxClockMHz() float64 { return 0 }

// LastLevelCache returns the bytes of the largest cache, 0 if unknown.
func LastLevelCache() int64 { return 0 }
