package ceiling

import (
	"time"

	"mage/gpu"
)

// Schema is the version of a file of ceilings.
const Schema = 1

// Tool is the program that measured.
type Tool struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
}

// File is what one session measured on one device.
type File struct {
	Schema   int       `json:"schema"`
	Measured time.Time `json:"measured"`
	Tool     Tool      `json:"tool"`
	Device   gpu.Info  `json:"device"`
	Ceilings []Ceiling `json:"ceilings"`
}

// Ceiling is the most, or the least time, that was measured of one thing.
type Ceiling struct {
	Name string `json:"name"` // "dram-copy", "tensor-bf16", "launch-span"
	Unit Unit   `json:"unit"`
	// Counts says what one operation is taken to be.
	Counts string `json:"counts"`
	// Sweep has every shape that was tried. Confirmed is the best of them, with
	// fresh samples; nil where none was measured, and Reason says why.
	Sweep     []Point   `json:"sweep"`
	Confirmed *Point    `json:"confirmed,omitempty"`
	Reason    string    `json:"reason,omitempty"`
	Before    gpu.State `json:"before"` // around the confirmation
	After     gpu.State `json:"after"`
	// Doubts are conditions of the device that may have lowered it.
	Doubts []string `json:"doubts,omitempty"`
}

// Unit is what a ceiling is in. Of rates the greatest is best, of times the least.
type Unit string

// The units.
const (
	BytesPerSecond Unit = "B/s"
	FLOPsPerSecond Unit = "FLOP/s"
	Microseconds   Unit = "µs"
)

// Point is one shape of the sweep.
type Point struct {
	Kernel string `json:"kernel"`
	Shape  string `json:"shape"` // "8 blocks of 256 threads per multiprocessor, 4 × 16 B in flight, 2.15 GB"
	Mode   string `json:"mode,omitempty"`
	// Instrument that the samples were read with.
	Instrument string `json:"instrument,omitempty"`
	// Amount is the bytes or FLOPs of one operation; 0 for launches.
	Amount float64 `json:"amount,omitempty"`
	// CacheShare bounds, for DRAM, the part of the bytes that the L2 may have served.
	CacheShare float64   `json:"cache_share,omitempty"`
	SamplesUS  []float64 `json:"samples_us,omitempty"` // microseconds per operation
	// Median, Low and High (the middle 90 % of the samples) and Best are in the
	// ceiling's unit; Best is the greatest rate or the least time.
	Median float64 `json:"median,omitempty"`
	Low    float64 `json:"low,omitempty"`
	High   float64 `json:"high,omitempty"`
	Best   float64 `json:"best,omitempty"`
	// Checked counts the elements of the result that were compared with the closed
	// form, before the timing and after it.
	Checked int64 `json:"checked,omitempty"`
	// Failed says what was wrong with the result, Unavailable what the device lacks.
	Failed      string `json:"failed,omitempty"`
	Unavailable string `json:"unavailable,omitempty"`
}

// Find returns the ceiling of a name, if it was measured.
func (f *File) Find(name string) (Ceiling, bool) {
	for _, c := range f.Ceilings {
		if c.Name == name && c.Confirmed != nil {
			return c, true
		}
	}
	return Ceiling{}, false
}

// Failed lists what computed something wrong: "dram-read: …".
func (f *File) Failed() []string {
	var out []string
	for _, c := range f.Ceilings {
		for _, p := range append(c.Sweep, c.confirmed()...) {
			if p.Failed != "" {
				out = append(out, c.Name+" ("+p.Kernel+", "+p.Shape+"): "+p.Failed)
			}
		}
	}
	return out
}

func (c Ceiling) confirmed() []Point {
	if c.Confirmed == nil {
		return nil
	}
	return []Point{*c.Confirmed}
}
