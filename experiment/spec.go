package experiment

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"mage/contract"
	"mage/input"
	"mage/stats"
	"mage/timing"
)

// DefaultSeed is the seed of every input set unless a spec says otherwise.
const DefaultSeed = 20260910

// Spec is the declaration of an experiment, as its TOML file has it. A key that
// the file lacks, and an empty list, mean the default that ParseSpec fills in.
type Spec struct {
	Namespace string `toml:"namespace"`
	Title     string `toml:"title"`
	Question  string `toml:"question"`
	Seed      uint64 `toml:"seed"`

	// Implementations are the arms, in the order of the first round.
	Implementations []string `toml:"implementations"`
	// Baseline lists names by preference; the first one present is compared
	// against, per instrument.
	Baseline []string `toml:"baseline"`
	// Control repeats these implementations as A/A controls; by default the
	// baseline, ["none"] for no control.
	Control []string `toml:"control"`

	Modes  []string `toml:"modes"`
	Caches []string `toml:"caches"`

	Rounds     int      `toml:"rounds"`
	Samples    int      `toml:"samples"`
	MinSamples int      `toml:"min_samples"`
	Warmup     int      `toml:"warmup"`
	Repeats    int      `toml:"repeats"`    // attempts at most of a disturbed round
	Budget     Duration `toml:"budget"`     // host time per cell and round
	MaxSample  Duration `toml:"max_sample"` // a longer sample makes the mode unavailable
	Margin     float64  `toml:"margin"`
	Confidence float64  `toml:"confidence"`

	Stop  *StopRule  `toml:"stop"`
	Cases []CaseSpec `toml:"case"`

	// Name is the base name of the file and Text its content.
	Name string `toml:"-"`
	Text string `toml:"-"`
}

// StopRule makes the number of rounds depend on the answer: at least Rounds,
// until every interval clears the margin or fits inside it, or a limit ends it.
type StopRule struct {
	MaxRounds int      `toml:"max_rounds"`
	MaxTime   Duration `toml:"max_time"` // per case
}

// CaseSpec declares cases of one contract: every shape × distribution × seed.
type CaseSpec struct {
	Contract      string           `toml:"contract"`
	Precision     string           `toml:"precision"`
	Shapes        []string         `toml:"shapes"` // families: "default", "tails"…
	Dims          []map[string]int `toml:"dims"`   // explicit shapes
	Distributions []string         `toml:"distributions"`
	Seeds         []uint64         `toml:"seeds"`
}

// Duration is a time.Duration written as "200ms".
type Duration struct{ time.Duration }

// UnmarshalText reads what time.ParseDuration reads, and refuses negatives.
func (d *Duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	if err != nil {
		return fmt.Errorf("%q is not a duration such as 200ms or 5s", b)
	}
	if v < 0 {
		return fmt.Errorf("the duration %q is negative", b)
	}
	d.Duration = v
	return nil
}

// Hash is the SHA-256 of the declaration's text.
func (s *Spec) Hash() string {
	h := sha256.Sum256([]byte(s.Text))
	return hex.EncodeToString(h[:])
}

// maxSpecBytes is far more than anybody writes: what is larger is another file.
const maxSpecBytes = 1 << 20

// LoadSpec reads and checks the file.
func LoadSpec(path string) (*Spec, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("experiment spec: %w", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxSpecBytes+1))
	if err != nil {
		return nil, fmt.Errorf("experiment spec: %w", err)
	}
	if len(b) > maxSpecBytes {
		return nil, &SpecError{filepath.Base(path), 0, fmt.Sprintf("more than %d bytes: this is not a declaration of an experiment", maxSpecBytes)}
	}
	return ParseSpec(filepath.Base(path), string(b))
}

// ParseSpec decodes and checks a declaration; name is used in its errors, which
// are *SpecError with the line and, for a misspelt word, the nearest valid one.
func ParseSpec(name, text string) (*Spec, error) {
	s := newSpec()
	s.Name, s.Text = name, text
	doc := document{name: name, text: text}
	if err := doc.decode(s); err != nil {
		return nil, err
	}
	s.fillDefaults()
	if err := s.check(doc); err != nil {
		return nil, err
	}
	return s, nil
}

// newSpec holds the numbers of a declaration that states none. The text is
// decoded over them, so that a zero in it is seen as what was asked for.
func newSpec() *Spec {
	return &Spec{
		Seed:   DefaultSeed,
		Rounds: 10, Samples: 50, MinSamples: 3, Warmup: 3, Repeats: 3,
		Budget:    Duration{200 * time.Millisecond},
		MaxSample: Duration{5 * time.Second},
		Margin:    0.02, Confidence: 0.95,
	}
}

func (s *Spec) fillDefaults() {
	s.MinSamples = min(s.MinSamples, s.Samples)
	if len(s.Modes) == 0 {
		s.Modes = []string{"span", "batch:100", "graph:100", "submit", "latency", "kernel"}
	}
	if len(s.Caches) == 0 {
		s.Caches = []string{string(timing.Hot)}
	}
	if len(s.Baseline) == 0 && len(s.Implementations) > 0 {
		s.Baseline = s.Implementations[:1]
	}
	if len(s.Control) == 0 {
		s.Control = s.Baseline
	}
	for i := range s.Cases {
		c := &s.Cases[i]
		if c.Precision == "" {
			c.Precision = string(contract.FP32)
		}
		if len(c.Shapes) == 0 && len(c.Dims) == 0 {
			c.Shapes = []string{"default"}
		}
		if len(c.Distributions) == 0 {
			if d := input.Distributions(c.Contract); len(d) > 0 {
				c.Distributions = d[:1]
			}
		}
		if len(c.Seeds) == 0 {
			c.Seeds = []uint64{s.Seed}
		}
	}
}

var namespacePattern = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)

// implementationPattern is the form "kind/name", or "kind/name@path" for another
// launch path than its own; whether it exists is for the runner to say, which
// knows the implementations of this machine.
var implementationPattern = regexp.MustCompile(`^[a-z0-9]+(/[A-Za-z0-9._-]+)+(@[a-z-]+)?$`)

func (s *Spec) check(doc document) error {
	if !namespacePattern.MatchString(s.Namespace) {
		return doc.errorAt("namespace", "namespace %q must be lower-case letters, digits, '.', '_' or '-', such as mage-001", s.Namespace)
	}
	if len(s.Implementations) == 0 {
		return doc.errorAt("implementations", "no implementations: list at least one, such as \"cpu/naive\"")
	}
	for i, n := range s.Implementations {
		if !implementationPattern.MatchString(n) {
			return doc.errorAt(n, "implementation %q must have the form kind/name, such as cuda/first, or kind/name@path", n)
		}
		if slices.Contains(s.Implementations[:i], n) {
			return doc.errorAt("implementations", "implementation %q is listed twice; the control repeats an arm", n)
		}
	}
	for _, list := range []struct {
		key   string
		names []string
	}{{"baseline", s.Baseline}, {"control", s.Control}} {
		for _, n := range list.names {
			if n == "none" && list.key == "control" && len(list.names) == 1 {
				continue
			}
			if !slices.Contains(s.Implementations, n) {
				return doc.errorAt(list.key, "%s %q is not among the implementations%s", list.key, n, didYouMean(n, s.Implementations))
			}
		}
	}
	var modes []timing.Mode
	for _, m := range s.Modes {
		mode, err := timing.ParseMode(m)
		if err != nil {
			kinds := []string{"span", "batch:100", "graph:100", "submit", "latency", "kernel"}
			return doc.errorAt(m, "%v%s", err, didYouMean(m, kinds))
		}
		if slices.Contains(modes, mode) {
			return doc.errorAt(m, "timing mode %q is listed twice", mode)
		}
		modes = append(modes, mode)
	}
	for i, c := range s.Caches {
		if c != string(timing.Hot) && c != string(timing.Cold) {
			return doc.errorAt(c, "unknown cache state %q (hot, cold)", c)
		}
		if slices.Contains(s.Caches[:i], c) {
			return doc.errorAt("caches", "cache state %q is listed twice", c)
		}
	}
	for _, p := range []struct {
		key    string
		v      int
		lo, hi int
	}{
		{"rounds", s.Rounds, 1, stats.MaxRounds}, {"samples", s.Samples, 1, 1_000_000},
		{"min_samples", s.MinSamples, 1, s.Samples}, {"warmup", s.Warmup, 0, 1_000_000},
		{"repeats", s.Repeats, 1, 100},
	} {
		if p.v < p.lo || p.v > p.hi {
			return doc.errorAt(p.key, "%s = %d must lie between %d and %d", p.key, p.v, p.lo, p.hi)
		}
	}
	for _, p := range []struct {
		key string
		v   Duration
	}{{"budget", s.Budget}, {"max_sample", s.MaxSample}} {
		if p.v.Duration < time.Microsecond {
			return doc.errorAt(p.key, "%s = \"%v\" must be at least 1µs", p.key, p.v)
		}
	}
	if !(s.Margin > 0 && s.Margin < 1) { // so that NaN fails as well
		return doc.errorAt("margin", "margin = %v must lie between 0 and 1, such as 0.02 for 2 %%", s.Margin)
	}
	if !(s.Confidence >= 0.5 && s.Confidence < 1) {
		return doc.errorAt("confidence", "confidence = %v must lie between 0.5 and 1, such as 0.95", s.Confidence)
	}
	if s.Stop != nil && s.Stop.MaxRounds < s.Rounds {
		return doc.errorAt("max_rounds", "stop.max_rounds = %d is below rounds = %d", s.Stop.MaxRounds, s.Rounds)
	}
	if s.Stop != nil && s.Stop.MaxRounds > stats.MaxRounds {
		return doc.errorAt("max_rounds", "stop.max_rounds = %d must be %d at most", s.Stop.MaxRounds, stats.MaxRounds)
	}
	if len(s.Cases) == 0 {
		return doc.errorAt("case", "no cases: add a [[case]] with a contract")
	}
	_, err := s.plan(doc)
	return err
}
