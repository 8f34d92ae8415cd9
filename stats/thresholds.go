package stats

// The thresholds of the warnings. A warning about a distribution needs two
// things: significance, at a level so small that a table of hundreds of cells
// stays quiet when all is well, and a size that could matter.
const (
	// dependentRoundsLevel: a table has one such test a row, with few rounds; a
	// smaller level would never speak.
	dependentRoundsLevel = 0.01
)
