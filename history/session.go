package history

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Session is one capture: a program run under one profiler, or a record.
type Session struct {
	ID int64 `json:"id"` // given by Add
	// Command is the argument vector that was profiled, for people to read.
	Command string    `json:"command"`
	Start   time.Time `json:"start_time,omitzero"`
	End     time.Time `json:"end_time,omitzero"` // zero: not known
	Device  string    `json:"device_name,omitempty"`
	// Backend is what captured it: "nsys", "ncu", "cupti", "triton"; "run" for a
	// record. Earlier versions left it out.
	Backend string `json:"backend,omitempty"`
	// Instrument is what the durations were read with ("nsys", "ncu", "cupti",
	// "cuda-event"). Where it is missing, see Session.ReadWith.
	Instrument  string `json:"instrument,omitempty"`
	Outcome     string `json:"outcome,omitempty"`   // "complete", or how it failed
	Directory   string `json:"directory,omitempty"` // of the capture or record
	ToolVersion string `json:"tool_version,omitempty"`
}

// ReadWith is the instrument of the session's durations: the one it names, else
// the one its backend has always used, else "" (unknown).
func (s Session) ReadWith() string {
	switch {
	case s.Instrument != "":
		return s.Instrument
	case s.Backend == "triton":
		return "cuda-event"
	case s.Backend == "run":
		return ""
	}
	return s.Backend
}

// Metric is one kernel launch (ncu: one profiled launch; "run": one operation).
// A nil counter was not reported by the instrument.
type Metric struct {
	ID        int64  `json:"id"`
	SessionID int64  `json:"session_id"`
	Kernel    string `json:"kernel_name"`
	// DurationUS is not negative, and no longer than 10⁶ s; µs.
	DurationUS float64 `json:"duration_us"`
	// Timestamp is when the launch started, or the session where only that is known.
	Timestamp     time.Time `json:"timestamp,omitzero"`
	Grid          *Dim3     `json:"grid_size,omitempty"`
	Block         *Dim3     `json:"block_size,omitempty"`
	Registers     *int64    `json:"registers_per_thread,omitempty"`
	SharedBytes   *int64    `json:"shared_mem_bytes,omitempty"` // static + dynamic, of a block
	StaticShared  *int64    `json:"static_shared_mem_bytes,omitempty"`
	DynamicShared *int64    `json:"dynamic_shared_mem_bytes,omitempty"`
	// Occupancy is a fraction of the warps that fit, 0 to 1.
	Occupancy      *float64 `json:"occupancy,omitempty"`
	MemoryGBps     *float64 `json:"memory_throughput_gbps,omitempty"` // 10⁹ bytes/s
	ComputePct     *float64 `json:"compute_throughput_pct,omitempty"`
	L1HitRate      *float64 `json:"l1_hit_rate,omitempty"` // per cent, as the profilers print it
	L2HitRate      *float64 `json:"l2_hit_rate,omitempty"` // per cent
	DRAMReadBytes  *int64   `json:"dram_read_bytes,omitempty"`
	DRAMWriteBytes *int64   `json:"dram_write_bytes,omitempty"`
	LocalBytes     *int64   `json:"local_mem_bytes,omitempty"` // per thread: stack and spills
	Stream         *int64   `json:"stream,omitempty"`
}

// Dim3 is a grid or block size, x, y, z.
type Dim3 [3]int64

// String writes "x,y,z", as it stands in the database.
func (d Dim3) String() string { return fmt.Sprintf("%d,%d,%d", d[0], d[1], d[2]) }

// MarshalText makes JSON hold "x,y,z" as well.
func (d Dim3) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what parseDim3 reads.
func (d *Dim3) UnmarshalText(text []byte) error {
	v, err := parseDim3(string(text))
	if err == nil {
		*d = v
	}
	return err
}

// parseDim3 reads "x,y,z", with or without spaces and parentheses.
func parseDim3(s string) (Dim3, error) {
	var d Dim3
	parts := strings.Split(strings.Trim(strings.TrimSpace(s), "()"), ",")
	if len(parts) != 3 {
		return d, fmt.Errorf("size %q: want x,y,z", s)
	}
	for i, p := range parts {
		n, err := strconv.ParseInt(strings.TrimSpace(p), 10, 64)
		if err != nil || n < 0 {
			return d, fmt.Errorf("size %q: %q is no count", s, p)
		}
		d[i] = n
	}
	return d, nil
}

// check finds what the database must not hold.
func (m *Metric) check(i int) error {
	bad := func(field, problem string, args ...any) error {
		return &ValueError{fmt.Sprintf("metrics[%d].%s", i, field), fmt.Sprintf(problem, args...)}
	}
	if m.Kernel == "" {
		return bad("kernel_name", "is empty")
	}
	if !(m.DurationUS >= 0 && m.DurationUS <= longestUS) {
		return bad("duration_us", "is %v: a duration is not negative, and no longer than 10⁶ s", m.DurationUS)
	}
	for _, c := range []struct {
		name  string
		value *float64
		most  float64
	}{
		{"occupancy", m.Occupancy, 1}, {"memory_throughput_gbps", m.MemoryGBps, math.MaxFloat64},
		{"compute_throughput_pct", m.ComputePct, math.MaxFloat64},
		{"l1_hit_rate", m.L1HitRate, math.MaxFloat64}, {"l2_hit_rate", m.L2HitRate, math.MaxFloat64},
	} {
		if c.value != nil && !(*c.value >= 0 && *c.value <= c.most) {
			if c.name == "occupancy" {
				return bad(c.name, "is %v: occupancy is a fraction, 0 to 1", *c.value)
			}
			return bad(c.name, "is %v: want a finite number that is not negative; leave out what was not measured", *c.value)
		}
	}
	for _, c := range []struct {
		name  string
		value *int64
	}{
		{"registers_per_thread", m.Registers}, {"shared_mem_bytes", m.SharedBytes},
		{"static_shared_mem_bytes", m.StaticShared}, {"dynamic_shared_mem_bytes", m.DynamicShared},
		{"dram_read_bytes", m.DRAMReadBytes}, {"dram_write_bytes", m.DRAMWriteBytes}, {"local_mem_bytes", m.LocalBytes},
	} {
		if c.value != nil && *c.value < 0 {
			return bad(c.name, "is %d, less than zero", *c.value)
		}
	}
	return nil
}
