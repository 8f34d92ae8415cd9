package stats

import "fmt"

// Code names what a warning is about. It is stable and fit for records.
type Code string

// The warnings. BelowFloorCode is the one that means the number is wrong.
const (
	FewRounds       Code = "few-rounds"       // too few for the level asked
	NoSpread        Code = "no-spread"        // every value the same: the timer decides
	BelowResolution Code = "below-resolution" // the effect is lost in the A/A noise
	DependentRounds Code = "dependent-rounds" // log-ratios drift from round to round
	ControlDiffers  Code = "control-differs"  // the A/A control is told from itself
	Drift           Code = "drift"            // a trend inside one round
	Autocorrelation Code = "autocorrelation"  // neighbours resemble each other
	Bimodal         Code = "bimodal"          // two or more states
	WideSpread      Code = "wide-spread"      // samples vary more than the effect
	TimerLimited    Code = "timer-limited"    // near the timer's step or overhead
	Impossible      Code = "impossible"       // faster than physics allows
	ClockMismatch   Code = "clock-mismatch"   // instruments contradict each other
)

// Warning is something about the data that the reader of a result must know. Its
// Error method lets it travel as an error where it is fatal.
type Warning struct {
	Code   Code   `json:"code"`
	Detail string `json:"detail"`
}

// Fatal reports whether the number that the warning belongs to must not be used.
func (w Warning) Fatal() bool { return w.Code == Impossible }

func (w Warning) String() string { return string(w.Code) + ": " + w.Detail }

func (w Warning) Error() string { return w.String() }

func warn(c Code, format string, args ...any) Warning {
	return Warning{c, fmt.Sprintf(format, args...)}
}
