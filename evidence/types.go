package evidence

import (
	"time"

	"mage/contract"
	"mage/gate"
	"mage/gpu"
	"mage/gpu/verdict"
	"mage/impl"
)

// Schema is the version of the record format that this package writes. It reads
// this one and every earlier one, and refuses later ones by name.
const Schema = 1

// Status of a run.
const (
	Running    = "running"    // being written, or killed while it was
	Complete   = "complete"   // everything planned was done
	Incomplete = "incomplete" // ended early, resumable
)

// Record is record.json: everything about a run but its samples.
type Record struct {
	Schema    int       `json:"schema"`
	Namespace string    `json:"namespace"`
	RunID     string    `json:"run_id"` // "20260910T101500Z-1a2b3c"
	Status    string    `json:"status"`
	Reason    string    `json:"reason,omitempty"` // why it is incomplete
	Created   time.Time `json:"created"`
	Updated   time.Time `json:"updated"`
	Tool      Tool      `json:"tool"`
	Spec      Spec      `json:"spec"`
	Host      Host      `json:"host"`
	Devices   []Device  `json:"devices"`
	// Versions of what took part: "nvrtc", "cupti", "python", "torch"…
	Versions map[string]string `json:"versions,omitempty"`
	Plan     Plan              `json:"plan"`
	Sessions []Session         `json:"sessions"`
	Cases    []Case            `json:"cases"`
	Arms     []Arm             `json:"arms"`
	Entries  []Entry           `json:"entries"`
	// Calibration is measured once a session on each device.
	Calibration []Calibration `json:"calibration,omitempty"`
	// Unavailable lists what the run wanted and the machine lacks as a whole.
	Unavailable []Unavailable `json:"unavailable,omitempty"`
	// Imported is nil for what mage measured itself.
	Imported *Imported `json:"imported,omitempty"`
}

// Tool identifies the mage that wrote the record.
type Tool struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Modified bool   `json:"modified,omitempty"` // built from a changed checkout
	Go       string `json:"go"`
}

// Spec is the declaration that was run, whole.
type Spec struct {
	Name   string `json:"name"` // base name of the file
	SHA256 string `json:"sha256"`
	Text   string `json:"text"`
	// Redacted says that machine paths were taken out of Text, which therefore
	// no longer has the hash SHA256 (that of the file as it was run).
	Redacted bool `json:"redacted,omitempty"`
}

// Host describes the machine without naming it.
type Host struct {
	OS          string `json:"os"`
	Arch        string `json:"arch"`
	Kernel      string `json:"kernel,omitempty"`
	CPU         string `json:"cpu,omitempty"`
	Cores       int    `json:"cores"`
	MemoryBytes int64  `json:"memory_bytes,omitempty"`
}

// Device is one device that arms ran on.
type Device struct {
	ID string `json:"id"` // "cpu", "cuda:0", "simt:0"
	gpu.Info
}

// Plan holds the numbers that the spec settled on.
type Plan struct {
	Seed       uint64   `json:"seed"`
	Rounds     int      `json:"rounds"`     // fixed, or the smallest number when Stop is set
	MaxRounds  int      `json:"max_rounds"` // equal to Rounds without a stopping rule
	Repeats    int      `json:"repeats"`    // attempts at most of one disturbed round
	Samples    int      `json:"samples"`    // per cell and round
	MinSamples int      `json:"min_samples"`
	Warmup     int      `json:"warmup"`
	BudgetUS   float64  `json:"budget_us"` // host time per cell and round
	Margin     float64  `json:"margin"`    // 0.02: within ±2 % is equivalent
	Confidence float64  `json:"confidence"`
	Stop       bool     `json:"stop"` // sequential stopping rule in force
	Baseline   []string `json:"baseline"`
	Modes      []string `json:"modes"`
	Caches     []string `json:"caches"`
}

// Session is one process's work on the record; a resumed run has several.
// Rounds are paired within a session only.
type Session struct {
	ID      int       `json:"id"` // 1, 2, …
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended,omitzero"` // zero while running or after a kill
	Outcome string    `json:"outcome,omitempty"`
}

// Case is a contract at one shape, precision, input distribution and seed.
type Case struct {
	ID              string             `json:"id"` // "gelu/fp32/R=4096,D=768/normal"
	Contract        string             `json:"contract"`
	Precision       string             `json:"precision"`
	Dims            contract.Dims      `json:"dims"`
	DimOrder        []string           `json:"dim_order"`
	Distribution    string             `json:"distribution"`
	Seed            uint64             `json:"seed"`
	InputSHA256     map[string]string  `json:"input_sha256"` // by buffer name
	FLOPs           float64            `json:"flops"`
	CompulsoryBytes int64              `json:"compulsory_bytes"`
	Tolerance       contract.Tolerance `json:"tolerance"`
}

// Arm is one participant: an implementation or variant × launch path.
type Arm struct {
	ID             string `json:"id"` // "cuda/first@driver", control: "cuda/first@driver#control"
	Implementation string `json:"implementation"`
	LaunchPath     string `json:"launch_path"`
	Device         string `json:"device"` // Device.ID
	// ControlOf names the arm that this one repeats (the A/A control).
	ControlOf   string       `json:"control_of,omitempty"`
	Unavailable *Unavailable `json:"unavailable,omitempty"`
}

// Entry is one arm on one case: what ran, what the gate said, what was lacking.
type Entry struct {
	Case     string        `json:"case"`
	Arm      string        `json:"arm"`
	Session  int           `json:"session"`
	Identity impl.Identity `json:"identity"`
	Gates    []gate.Result `json:"gates,omitempty"`
	// Error is a failure that removed the arm from the case: a gate, a launch
	// failure, no memory. Its samples, if any, are not to be compared.
	Error string `json:"error,omitempty"`
	// Unavailable: modes and cache states this arm lacks on this case.
	Unavailable []Unavailable `json:"unavailable,omitempty"`
	// Counters are exactly what one execution cost, on a device that counts instead
	// of timing; nil on every other. What the checks found wrong is in Findings.
	Counters *verdict.Counters `json:"counters,omitempty"`
	Findings []verdict.Finding `json:"findings,omitempty"`
}

// Calibration is what the instruments of a device can resolve, in one session.
type Calibration struct {
	Device  string `json:"device"`
	Session int    `json:"session"`
	// EventOverheadUS: an empty pair of events, median and all samples.
	EventOverheadUS      *float64  `json:"event_overhead_us,omitempty"`
	EventOverheadSamples []float64 `json:"event_overhead_samples_us,omitempty"`
	// EventResolutionUS is the smallest step seen between event times.
	EventResolutionUS *float64 `json:"event_resolution_us,omitempty"`
	// ClockOverheadUS: two adjacent readings of the host clock, median.
	ClockOverheadUS   float64 `json:"clock_overhead_us"`
	ClockResolutionUS float64 `json:"clock_resolution_us"`
	// The flush is proved by reading the same bytes hot and after a flush.
	FlushBytes  int64   `json:"flush_bytes,omitempty"`
	ReadBytes   int64   `json:"read_bytes,omitempty"`
	ReadHotUS   float64 `json:"read_hot_us,omitempty"`
	ReadColdUS  float64 `json:"read_cold_us,omitempty"`
	FlushProved bool    `json:"flush_proved"`
}

// Unavailable is something wanted and lacking, with the reason.
type Unavailable struct {
	What   string `json:"what"`
	Reason string `json:"reason"`
	Remedy string `json:"remedy,omitempty"`
}

// Line is one line of samples.jsonl: one cell (case × arm × mode × cache) in one
// attempt at one round. The lines of a round are written together; Part and Of
// let a reader tell a whole round from one that a kill cut short.
type Line struct {
	Session int    `json:"session"` // set by the Writer
	Round   int    `json:"round"`   // from 1
	Attempt int    `json:"attempt"` // from 1; a disturbed round is measured again
	Part    int    `json:"part"`    // this line among those written with it, from 1; set by the Writer
	Of      int    `json:"of"`      // lines written together; set by the Writer
	Order   int    `json:"order"`   // position of the arm in the round, from 0
	Case    string `json:"case"`
	Arm     string `json:"arm"`
	Mode    string `json:"mode"`
	Cache   string `json:"cache"`
	// Instrument and Unit say what the samples are; the unit is always "us".
	Instrument string `json:"instrument"`
	Unit       string `json:"unit"`
	Operations int    `json:"operations"`         // sharing one sample
	Launches   int    `json:"launches,omitempty"` // kernels of one operation
	// Disturbed lists why this round does not count; empty when it does.
	Disturbed []string `json:"disturbed,omitempty"`
	// Unjudged: what this region left behind was not compared; the arm's gates
	// before, between and after were.
	Unjudged bool      `json:"unjudged,omitempty"`
	Before   gpu.State `json:"before"`
	After    gpu.State `json:"after"`
	ReplayUS []float64 `json:"replay_us,omitempty"` // graph: whole replay, host clock
	Samples  []float64 `json:"samples"`             // µs per operation; the last field
}

// Event is one line of events.jsonl.
type Event struct {
	Time    time.Time `json:"time"`
	Session int       `json:"session"`
	Level   string    `json:"level"` // "info", "warning", "error"
	What    string    `json:"what"`  // "round-disturbed", "gate-failed", "session-started"…
	Case    string    `json:"case,omitempty"`
	Arm     string    `json:"arm,omitempty"`
	Round   int       `json:"round,omitempty"`
	Detail  string    `json:"detail,omitempty"`
}
