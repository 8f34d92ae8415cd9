package timing

import "time"

// Calibration is what the instruments of one device resolve, and the proof that
// its cache flush flushes. Times are microseconds; nil means no such instrument.
type Calibration struct {
	EventOverheadUS      *float64
	EventOverheadSamples []float64
	EventResolutionUS    *float64
	ClockOverheadUS      float64
	ClockResolutionUS    float64
	FlushBytes           int64
	ReadBytes            int64
	ReadHotUS            float64
	ReadColdUS           float64
	FlushProved          bool
}

// The proof is repeated proofRepeats times; on a host whose cache is so large
// that this takes longer than proofTime, at least leastRepeats times.
const (
	proofRepeats = 15
	leastRepeats = 5
	proofTime    = 250 * time.Millisecond
)

// proofRatio is how much slower a re-read must be after the flush. Cache and
// memory differ by far more on every machine seen; noise does not reach it in a
// median of leastRepeats.
const proofRatio = 1.2

func (c *Calibration) setProof(bytes int64, hot, cold []float64) {
	c.ReadBytes = bytes
	c.ReadHotUS, c.ReadColdUS = median(hot), median(cold)
	c.FlushProved = c.ReadColdUS > proofRatio*c.ReadHotUS
}
