package report

import (
	"time"

	"mage/evidence"
	"mage/floor"
	"mage/gate"
	"mage/roofline"
	"mage/stats"
)

// Report is everything that a record says, judged. All times are microseconds
// per operation; all ratios are time of the arm ÷ time of what it is compared
// with, so a ratio below 1 is faster.
type Report struct {
	Header      Header             `json:"header"`
	Cases       []CaseResult       `json:"cases"`
	Counters    []CounterResult    `json:"counters,omitempty"`
	Findings    []FindingResult    `json:"findings,omitempty"`
	Gates       []GateResult       `json:"gates"`
	Resources   []Resource         `json:"resources"`
	Captures    []evidence.Capture `json:"captures,omitempty"`
	Roofline    []RooflineResult   `json:"roofline,omitempty"`
	LaunchPaths []LaunchPaths      `json:"launch_paths,omitempty"`
	Launchers   []Launcher         `json:"launchers,omitempty"`
	Graphs      []GraphResult      `json:"graphs,omitempty"`
	Calibration []Calibration      `json:"calibration,omitempty"`
	Unavailable []Missing          `json:"unavailable,omitempty"`
	Warnings    []Warning          `json:"warnings,omitempty"`
	arms, cases map[string]string  // ID → label
	devices     map[string]string  // of each arm
	outputs     map[string]string  // case and arm → note on its output
	roofs       roofline.Roofs     // that Roofline is under
	roofed      map[string]bool    // arms on their device; nil without roofs
}

// Header identifies the run and the terms of its comparison.
type Header struct {
	Namespace  string            `json:"namespace"`
	RunID      string            `json:"run_id"`
	Status     string            `json:"status"`
	Reason     string            `json:"reason,omitempty"`
	Created    time.Time         `json:"created"`
	Updated    time.Time         `json:"updated"`
	Sessions   int               `json:"sessions"`
	Devices    []evidence.Device `json:"devices"`
	Host       evidence.Host     `json:"host"`
	Versions   map[string]string `json:"versions,omitempty"`
	Tool       evidence.Tool     `json:"tool"`
	SpecName   string            `json:"spec_name"`
	SpecSHA256 string            `json:"spec_sha256"`
	// Imported is nil for what mage measured itself.
	Imported *evidence.Imported `json:"imported,omitempty"`
	// Planned rounds per cell, rounds that count and disturbed ones over all cells.
	PlannedRounds int     `json:"planned_rounds"`
	MaxRounds     int     `json:"max_rounds"`
	Cells         int     `json:"cells"`
	Rounds        int     `json:"rounds_counted"`
	Disturbed     int     `json:"rounds_disturbed"`
	Samples       int     `json:"samples"`
	Margin        float64 `json:"margin"`
	Confidence    float64 `json:"confidence"`
	Comparisons   int     `json:"comparisons"` // the family of Holm's correction
	// Resolution of every mode, cache state and device with an A/A control.
	Resolution []Resolution `json:"resolution,omitempty"`
}

// Resolution is the smallest effect that a mode can tell from nothing, as a
// fraction of the time, by its A/A controls.
type Resolution struct {
	Mode   string  `json:"mode"`
	Cache  string  `json:"cache"`
	Device string  `json:"device"`
	Low    float64 `json:"low"`  // over the controls
	High   float64 `json:"high"` // over the controls
	// Controls counts them over the cases, FalsePositives those whose interval
	// excludes 1; P is the probability of as many by chance.
	Controls       int     `json:"controls"`
	FalsePositives int     `json:"false_positives"`
	P              float64 `json:"p"`
}

// CaseResult is one case with everything measured on it.
type CaseResult struct {
	Case   evidence.Case `json:"case"`
	Groups []Group       `json:"groups"`
	// Notes say what is missing here: arms that failed before any sample.
	Notes []string `json:"notes,omitempty"`
}

// Group is what can be compared with each other: one mode, cache state,
// instrument and device of a case.
type Group struct {
	Mode       string   `json:"mode"`
	Cache      string   `json:"cache"`
	Instrument string   `json:"instrument"`
	Device     string   `json:"device"`
	Baseline   string   `json:"baseline,omitempty"`   // arm
	Resolution *float64 `json:"resolution,omitempty"` // fraction, from the A/A control
	Cells      []Cell   `json:"cells"`
}

// Verdict is what a cell's comparison came to.
type Verdict string

// The verdicts. The first four are a comparison's outcome; the others say why
// there is none.
const (
	Faster            Verdict = "faster"
	Slower            Verdict = "slower"
	Equivalent        Verdict = "equivalent"
	Undecided         Verdict = "undecided"
	Indistinguishable Verdict = "indistinguishable"
	Baseline          Verdict = "baseline"
	Control           Verdict = "control"
	NotComparable     Verdict = "not comparable"
	Impossible        Verdict = "impossible"
	Failed            Verdict = "failed"
	NoRounds          Verdict = "no rounds"
)

// Cell is one arm in one group.
type Cell struct {
	Arm            string `json:"arm"`
	Implementation string `json:"implementation"`
	LaunchPath     string `json:"launch_path"`
	Rounds         int    `json:"rounds"`
	Disturbed      int    `json:"disturbed"`
	Samples        int    `json:"samples"`
	Operations     int    `json:"operations"`         // sharing one sample
	Launches       int    `json:"launches,omitempty"` // kernels of one operation
	// MedianUS is the median of the rounds' medians; Low and High bound it.
	MedianUS *float64  `json:"median_us,omitempty"`
	LowUS    *float64  `json:"low_us,omitempty"`
	HighUS   *float64  `json:"high_us,omitempty"`
	RoundUS  []float64 `json:"round_medians_us,omitempty"`
	Effect   *Effect   `json:"effect,omitempty"`
	Verdict  Verdict   `json:"verdict"`
	Why      string    `json:"why,omitempty"` // where the verdict needs a reason
	// Rates of the contract's own work; absent where the time is not that of the
	// work (submit mode).
	GFLOPS *float64 `json:"gflop_per_s,omitempty"`
	GBps   *float64 `json:"gbyte_per_s,omitempty"`
	// FloorUS is the physical floor, Bound what sets it, OfFloor floor ÷ median.
	FloorUS  *float64    `json:"floor_us,omitempty"`
	Bound    floor.Bound `json:"floor_bound,omitempty"`
	OfFloor  *float64    `json:"of_floor,omitempty"`
	Warnings []Warning   `json:"warnings,omitempty"`

	iterations []int // of every round: samples × operations
}

// Effect is a paired comparison of a cell with another arm of its group.
type Effect struct {
	Against string  `json:"against"` // arm
	Pairs   int     `json:"pairs"`   // rounds in which both count
	Ratio   float64 `json:"ratio"`
	// Low and High are the interval of this comparison by itself, absent when
	// one round leaves it unbounded.
	Low  *float64 `json:"low,omitempty"`
	High *float64 `json:"high,omitempty"`
	// PHolm says how likely a difference like this is when there is none, by the
	// signed-rank test with Holm's correction over the whole report.
	PHolm float64 `json:"p_holm"`
	// PVerdict is the smallest error of the whole report at which the verdict
	// would have been reached.
	PVerdict float64 `json:"p_verdict"`
	// TableLow and TableHigh are the simultaneous interval: those of all
	// comparisons of the report hold together. The verdict is read off it.
	TableLow  *float64 `json:"table_low,omitempty"`
	TableHigh *float64 `json:"table_high,omitempty"`
	// Alone is the verdict that this comparison would have had by itself.
	Alone Verdict `json:"alone"`
	// Margin is the one applied: the plan's, or the resolution where that is more.
	Margin float64 `json:"margin"`

	comparison stats.Comparison
}

// Severity says how much a warning matters.
type Severity string

// The severities: a note explains, a warning asks for caution, an error takes a
// number out of every verdict.
const (
	Note  Severity = "note"
	Warn  Severity = "warning"
	Error Severity = "error"
)

// Warning is one reason for doubt, with the place it belongs to.
type Warning struct {
	Kind     string   `json:"kind"` // "drift", "near-resolution", …
	Severity Severity `json:"severity"`
	Text     string   `json:"text"` // one line, without the place
	Detail   string   `json:"detail,omitempty"`
	Case     string   `json:"case,omitempty"`
	Arm      string   `json:"arm,omitempty"`
	Mode     string   `json:"mode,omitempty"`
	Cache    string   `json:"cache,omitempty"`
}

// GateResult is what the gate said of one arm on one case.
type GateResult struct {
	Case        string        `json:"case"`
	Arm         string        `json:"arm"`
	Session     int           `json:"session"`
	Passed      bool          `json:"passed"`
	MaxAbsError float64       `json:"max_abs_error"`
	Stages      []gate.Result `json:"stages"`
	Error       string        `json:"error,omitempty"`
}

// Resource is what one arm's binary needs on one case.
type Resource struct {
	Case      string   `json:"case"`
	Arms      []string `json:"arms"` // with the same binary and figures
	Compiler  string   `json:"compiler,omitempty"`
	CompileMS float64  `json:"compile_ms,omitempty"`
	LoadMS    float64  `json:"load_ms,omitempty"`
	Binary    string   `json:"binary_sha256,omitempty"`
	Kind      string   `json:"binary_kind,omitempty"`
	Source    string   `json:"source_sha256,omitempty"`
	Entry     string   `json:"entry,omitempty"`
	Grid      string   `json:"grid,omitempty"`
	Block     string   `json:"block,omitempty"`
	Registers *int     `json:"registers,omitempty"`
	// SharedBytes is static plus dynamic shared memory of a block; LocalBytes the
	// stack and spills of a thread.
	SharedBytes *int `json:"shared_bytes,omitempty"`
	LocalBytes  *int `json:"local_bytes,omitempty"`
	SpillLoads  *int `json:"spill_load_bytes,omitempty"`
	SpillStores *int `json:"spill_store_bytes,omitempty"`
}

// GraphResult is what only graph replay has: how long a whole replay takes from
// submit to completion, on the host clock.
type GraphResult struct {
	Case       string  `json:"case"`
	Arm        string  `json:"arm"`
	Mode       string  `json:"mode"`
	Cache      string  `json:"cache"`
	Operations int     `json:"operations"`
	Launches   int     `json:"launches,omitempty"`
	Replays    int     `json:"replays"`
	ReplayUS   float64 `json:"replay_us"` // median
	LowUS      float64 `json:"low_us"`    // quartiles
	HighUS     float64 `json:"high_us"`
	Instrument string  `json:"instrument"`
}

// Calibration is evidence.Calibration without its samples.
type Calibration struct {
	evidence.Calibration
	OverheadLowUS  *float64 `json:"event_overhead_low_us,omitempty"` // quartiles
	OverheadHighUS *float64 `json:"event_overhead_high_us,omitempty"`
}

// Missing is one thing unavailable, with everything that lacked it.
type Missing struct {
	What   string   `json:"what"`
	Reason string   `json:"reason"`
	Remedy string   `json:"remedy,omitempty"`
	Where  []string `json:"where,omitempty"` // arms
	Cases  []string `json:"cases,omitempty"` // where it lacked; none: everywhere
}
