package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"mage/contract"
	"mage/experiment"
	"mage/impl"
)

type benchCommand struct {
	Contract  string        `arg:"" optional:"" help:"One of ${contracts}; all of them by default."`
	Impl      []string      `help:"Implementations, the baseline first; by default all that this machine has." placeholder:"NAME"`
	Shape     []string      `help:"A family (small, default, medium, large, tails) or dims such as R=4096,D=768; may be repeated." default:"default" placeholder:"SHAPE" sep:"none"`
	Dist      []string      `help:"Input distributions." placeholder:"NAME"`
	Mode      []string      `help:"Timing modes: span, batch:N, graph:N, submit, latency, kernel." default:"latency" placeholder:"MODE"`
	Cache     []string      `help:"Cache states: hot, cold." default:"hot" placeholder:"STATE"`
	Rounds    int           `help:"Rounds." default:"7"`
	MaxRounds int           `help:"Go on up to this many rounds until every comparison is decided." placeholder:"N"`
	Samples   int           `help:"Samples per cell and round." default:"30"`
	Budget    time.Duration `help:"Host time per cell and round." default:"50ms"`
	Margin    float64       `help:"Relative difference that does not matter." default:"0.02"`
	Seed      uint64        `help:"Seed of the inputs." default:"20260910"`
	Keep      bool          `help:"Keep the record below --results."`
	Results   string        `help:"Where records are kept." default:"results" type:"path" placeholder:"DIR"`
	laboratoryFlags
	outputFlags
}

func (c *benchCommand) Run(s *session) error {
	m, err := c.open(s.ctx, c.Impl)
	if err != nil {
		return err
	}
	defer m.Close()
	text, err := c.spec(m.Implementations)
	if err != nil {
		return err
	}
	spec, err := experiment.ParseSpec("bench", text)
	if bad, ok := errors.AsType[*experiment.SpecError](err); ok {
		return &exitError{exitUsage, bad.Problem} // the line is of a text that the user never wrote
	}
	if err != nil {
		return err
	}
	results := c.Results
	if !c.Keep {
		if results, err = os.MkdirTemp("", "mage-bench-"); err != nil {
			return err
		}
		defer os.RemoveAll(results)
	}
	out, err := perform(s, spec, m, results)
	if err != nil {
		if c.Keep && out.Dir != "" {
			c.tellResume(s, out.Dir)
		}
		return err
	}
	if err := c.print(s, out.Dir); err != nil {
		return err
	}
	if err := printFindings(s.stderr, out.Dir); err != nil {
		return err
	}
	if c.Keep {
		fmt.Fprintf(s.stderr, "Record: %s\n", relative(out.Dir))
	}
	return failures(out)
}

// spec writes the flags as a declaration, so that they are checked, and
// retained, like any other.
func (c *benchCommand) spec(available []impl.Implementation) (string, error) {
	names := c.Impl
	if len(names) == 0 {
		for _, i := range available {
			names = append(names, i.Name())
		}
	}
	contracts := []string{c.Contract}
	if c.Contract == "" {
		contracts = contractNames()
	}
	var families []string
	var dims []map[string]int
	for _, s := range c.Shape {
		if !strings.ContainsRune(s, '=') {
			families = append(families, s)
			continue
		}
		d, err := parseDims(s)
		if err != nil {
			return "", err
		}
		dims = append(dims, d)
	}
	doc := map[string]any{
		"namespace": "bench", "title": "Quick comparison", "seed": int64(c.Seed),
		"implementations": names, "baseline": baselines(names, c.Impl, available),
		"modes": c.Mode, "caches": c.Cache, "rounds": c.Rounds, "samples": c.Samples,
		"min_samples": 1, "budget": c.Budget.String(), "margin": c.Margin,
	}
	if c.MaxRounds != 0 {
		doc["stop"] = map[string]any{"max_rounds": c.MaxRounds}
	}
	var cases []map[string]any
	for _, name := range contracts {
		k := map[string]any{"contract": name}
		for key, v := range map[string][]string{"shapes": families, "distributions": c.Dist} {
			if len(v) > 0 {
				k[key] = v
			}
		}
		if len(dims) > 0 {
			k["dims"] = dims
		}
		cases = append(cases, k)
	}
	doc["case"] = cases
	text, err := toml.Marshal(doc)
	return string(text), err
}

// contractNames lists the contracts, once each.
func contractNames() (names []string) {
	for _, c := range contract.All() {
		if !slices.Contains(names, c.Name()) {
			names = append(names, c.Name())
		}
	}
	return names
}

// baselines are the first named implementation, or the first on each device.
func baselines(names, asked []string, available []impl.Implementation) []string {
	if len(asked) > 0 {
		return names[:1]
	}
	var out []string
	seen := map[string]bool{}
	for _, i := range available {
		if !seen[i.Device()] {
			seen[i.Device()] = true
			out = append(out, i.Name())
		}
	}
	return out
}

// parseDims reads "R=4096,D=768".
func parseDims(s string) (map[string]int, error) {
	d := map[string]int{}
	for part := range strings.SplitSeq(s, ",") {
		name, value, _ := strings.Cut(part, "=")
		n, err := strconv.Atoi(strings.TrimSpace(value))
		if err != nil {
			return nil, &exitError{exitUsage, fmt.Sprintf("--shape %s: %q is not NAME=NUMBER", s, part)}
		}
		name = strings.TrimSpace(name)
		if _, again := d[name]; again {
			return nil, &exitError{exitUsage, fmt.Sprintf("--shape %s: %s is given twice", s, name)}
		}
		d[name] = n
	}
	return d, nil
}
