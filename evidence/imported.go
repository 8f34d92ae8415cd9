package evidence

import "time"

// Imported says that a record was made from a file that another program
// published. Its times belong to sessions of that program: a report shows them,
// and nothing compares them with those of another record. The file itself is
// kept, byte for byte, as original/File in the record's directory.
type Imported struct {
	Format     string    `json:"format"` // "comparison-results", "comparison-profiles"
	File       string    `json:"file"`   // base name
	SHA256     string    `json:"sha256"` // of the file
	Bytes      int64     `json:"bytes"`
	Experiment string    `json:"experiment"` // the name that its author gave it
	Measured   time.Time `json:"measured,omitzero"`
	// What the file says about itself, in its own words.
	Timing    string   `json:"timing,omitempty"`
	Precision string   `json:"precision,omitempty"`
	Clock     string   `json:"clock,omitempty"` // how its timestamps were taken
	Excluded  []string `json:"excluded,omitempty"`
	// Sources are the hashes that it publishes of the program that measured.
	Sources map[string]string `json:"source_sha256,omitempty"`
	// Unread lists the fields that nothing else in the record holds.
	Unread []Unread `json:"unread,omitempty"`
}

// Unread is a field of an imported file that has no place in a record.
type Unread struct {
	Path   string `json:"path"`   // "captures[].report_dir"
	Count  int    `json:"count"`  // how often it occurs
	Detail string `json:"detail"` // its first value as JSON, less this machine's paths; abridged when long
}

// OriginalDir is the directory in a record that holds the imported file.
const OriginalDir = "original"
