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

// The proof asks for a re-read that is slower after the flush in nearly every
// pair, all but one in seven, and by more than 5 % in the median. By chance that
// happens to 13 of 15 pairs, or 5 of 5, with p = 0.004 and 0.03 (sign test). A large ratio
// would not do: the fixed cost of a short copy hides how much slower its reads
// became.
const proofRatio = 1.05

// setProof compares re-reads of bytes taken in pairs, hot and then flushed, in
// microseconds.
func (c *Calibration) setProof(bytes int64, hot, cold []float64) {
	c.ReadBytes = bytes
	c.ReadHotUS, c.ReadColdUS = median(hot), median(cold)
	slower := 0
	for i := range hot {
		if cold[i] > hot[i] {
			slower++
		}
	}
	n := len(hot)
	c.FlushProved = n >= leastRepeats && slower >= n-n/7 && c.ReadColdUS > proofRatio*c.ReadHotUS
}
