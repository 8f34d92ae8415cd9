package evidence

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"time"
)

// CapturesFile holds what profilers saw of some of a record's arms after its
// rounds. It is added to a complete record and changes nothing in it.
const CapturesFile = "captures.json"

// CapturesSchema is the version of captures.json.
const CapturesSchema = 1

// Captures is captures.json.
type Captures struct {
	Schema   int       `json:"schema"`
	Captures []Capture `json:"captures"`
}

// Capture is one arm on one case under one profiler. Its times are those of that
// instrument, under it: they are never compared with the record's samples.
type Capture struct {
	Case     string            `json:"case"`
	Arm      string            `json:"arm"`
	Backend  string            `json:"backend"` // "nsys", "ncu", "cupti", "sanitizer"
	Captured time.Time         `json:"captured"`
	Versions map[string]string `json:"versions,omitempty"`
	// Device is its name as the profiler gives it, DeviceUUID its identity; empty
	// where they are not known.
	Device     string `json:"device,omitempty"`
	DeviceUUID string `json:"device_uuid,omitempty"`
	Outcome    string `json:"outcome"` // "complete", or how it failed
	Reason     string `json:"reason,omitempty"`
	// Directory below the record's own holds every launch; empty where there is none.
	Directory string `json:"directory,omitempty"`
	// Operations in the range, all alike; what follows is per operation.
	Operations int `json:"operations"`
	// Launches is the sequence of kernels of one operation.
	Launches []Launch `json:"launches,omitempty"`
	// KernelUS is the sum of their times; nil where one was not timed.
	KernelUS *float64 `json:"kernel_us,omitempty"`
	// Copies and fills of memory, and allocations, in one operation; nil where the
	// profiler does not see them.
	Copies         *float64 `json:"copies,omitempty"`
	CopiedBytes    *float64 `json:"copied_bytes,omitempty"`
	Allocations    *float64 `json:"allocations,omitempty"`
	AllocatedBytes *float64 `json:"allocated_bytes,omitempty"`
	// Note says why the sequence is missing: operations were not alike.
	Note     string            `json:"note,omitempty"`
	Findings []CapturedFinding `json:"findings,omitempty"`
}

// Launch is one kernel of an operation.
type Launch struct {
	Kernel        string             `json:"kernel"`
	Grid          [3]uint32          `json:"grid"`
	Block         [3]uint32          `json:"block"`
	Registers     *int               `json:"registers,omitempty"`
	StaticShared  *int               `json:"static_shared_bytes,omitempty"`
	DynamicShared *int               `json:"dynamic_shared_bytes,omitempty"`
	MeanUS        *float64           `json:"mean_us,omitempty"` // over the operations
	Counters      map[string]Counter `json:"counters,omitempty"`
}

// Counter is a reading in base units, by the profiler's own name.
type Counter struct {
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
}

// CapturedFinding is one kind of error that compute-sanitizer reported.
type CapturedFinding struct {
	Kind   string `json:"kind"`
	Kernel string `json:"kernel,omitempty"`
	Source string `json:"source,omitempty"`
	Count  int    `json:"count"`
}

// AddCaptures appends captures to those of the record in dir. They are made
// portable like the record itself, with the same errors.
func AddCaptures(dir string, more []Capture) error {
	f, err := lock(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	all, err := LoadCaptures(dir)
	if err != nil {
		return err
	}
	m := thisMachine()
	clean, err := m.copy(reflect.ValueOf(Captures{CapturesSchema, append(all, more...)}), "", false)
	if err != nil {
		return err
	}
	data, err := json.MarshalIndent(clean.Interface(), "", "  ")
	if err != nil {
		return err
	}
	return writeAtomic(dir, CapturesFile, append(data, '\n'))
}

// LoadCaptures reads the captures of the record in dir; most records have none.
func LoadCaptures(dir string) ([]Capture, error) {
	path := filepath.Join(dir, CapturesFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var c Captures
	if err := json.Unmarshal(data, &c); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if c.Schema > CapturesSchema {
		return nil, fmt.Errorf("%s is of schema %d, and this mage reads up to %d", path, c.Schema, CapturesSchema)
	}
	return c.Captures, nil
}
