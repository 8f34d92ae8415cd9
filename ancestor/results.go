package ancestor

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"mage/contract"
	"mage/gpu"
)

// results is a comparison-results.json that fits.
type results struct {
	experiment, gpu, platform, precision, timing string
	mode                                         contract.Precision
	versions                                     map[string]string
	measured                                     time.Time
	excluded                                     []string
	rounds, iterations, warmup                   int
	sources                                      map[string]string
	binary, driver                               string
	operations                                   []operation
}

type operation struct {
	name            string
	dims            contract.Dims
	dimOrder        []string
	contract        contract.Contract // nil: this mage has none of that name
	seed            uint64
	inputs          map[string]string // buffer → hash
	tolerance       contract.Tolerance
	implementations []string // in the order of the first round
	rounds          []round
}

type round struct {
	order []string
	state gpu.State
	cells map[string]cell
}

type cell struct {
	samples     []float64
	maxAbsError float64
	checked     int
	runID       string // of a native program
	precision   string // in its own words
}

func readResults(n node) *results {
	r := &results{versions: map[string]string{}, sources: map[string]string{},
		experiment: n.get("experiment_id").text(), gpu: n.get("gpu").text(), platform: n.get("platform").text(),
		timing: n.get("timing").text()}
	for _, name := range []string{"torch", "triton", "cuda", "python"} {
		if m, ok := n.maybe(name); ok {
			r.versions[name] = m.text()
		}
	}
	at := n.get("utc")
	var err error
	if r.measured, err = time.Parse(time.RFC3339Nano, at.text()); err != nil {
		at.fail("is not a time as in 2026-09-10T05:50:25+00:00")
	}
	if lower := strings.ToLower(r.timing); !strings.Contains(lower, "event") || !strings.Contains(lower, "span") {
		n.get("timing").fail("says %q: only spans between CUDA events are read here", r.timing)
	}
	r.precision, r.mode = readPrecision(n.get("precision"))
	if m, ok := n.maybe("excluded"); ok {
		r.excluded = m.texts()
	}
	r.rounds, r.iterations = n.get("rounds").count(1), n.get("iterations_per_round").count(1)
	r.warmup = n.get("warmup_per_round").count(0)
	if m, ok := n.maybe("source_sha256"); ok {
		r.sources = m.hashes()
	}
	if m, ok := n.maybe("binary_sha256"); ok {
		r.binary = m.sha256()
	}
	for _, key := range []string{"gpu_state_before", "gpu_state_after"} {
		if m, ok := n.maybe(key); ok {
			_, driver, known := smi(m.text())
			if r.driver == "" && known {
				r.driver = driver
			}
			n.object().used[key] = false // no field of a record holds it
		}
	}
	operations := n.get("results")
	list := operations.list()
	for _, m := range list {
		r.operations = append(r.operations, readOperation(m, r))
		if n.bad() {
			return r
		}
	}
	if len(r.operations) == 0 {
		operations.fail("is empty")
	}
	for i, o := range r.operations {
		for _, p := range r.operations[:i] {
			if p.name == o.name && p.dims.Format(p.dimOrder) == o.dims.Format(o.dimOrder) {
				list[i].fail("is %s at the same dims once more", o.name)
			}
		}
	}
	return r
}

// readPrecision takes the mode from the words that begin with it.
func readPrecision(n node) (string, contract.Precision) {
	words := n.text()
	first, _, _ := strings.Cut(strings.ToLower(words), " ")
	mode := strings.TrimRight(first, ",;:")
	if !slices.Contains([]string{"fp32", "tf32", "fp16", "bf16"}, mode) {
		n.fail("says %q, which does not begin with fp32, tf32, fp16 or bf16", words)
	}
	return words, contract.Precision(mode)
}

func readOperation(n node, r *results) operation {
	o := operation{name: n.get("op").text(), inputs: map[string]string{}}
	o.contract, _ = contract.Find(o.name, r.mode) // nil for one of the ancestor's own
	o.readDims(n.get("dims"))
	hashes := n.get("input_hashes")
	o.seed = uint64(hashes.get("seed").count(0))
	for file, sum := range hashes.get("sha256").hashes() {
		o.inputs[strings.TrimSuffix(file, ".bin")] = sum
	}
	rounds := n.get("rounds")
	all := rounds.list()
	if !n.bad() && len(all) != r.rounds {
		rounds.fail("holds %d rounds, where rounds of the file is %d", len(all), r.rounds)
	}
	for i, m := range all {
		o.rounds = append(o.rounds, o.readRound(m, r, i))
		if n.bad() {
			break
		}
	}
	return o
}

// readDims gives the numbers the names of the contract's dimensions; those of an
// unknown operation are d1, d2, ….
func (o *operation) readDims(n node) {
	var sizes []int
	for _, m := range n.list() {
		sizes = append(sizes, m.count(0))
	}
	if o.contract != nil {
		o.dimOrder = o.contract.DimNames()
	} else {
		for i := range sizes {
			o.dimOrder = append(o.dimOrder, fmt.Sprintf("d%d", i+1))
		}
	}
	if n.bad() {
		return
	}
	if len(sizes) != len(o.dimOrder) || len(sizes) == 0 {
		n.fail("holds %d numbers, where %s has the dims %s", len(sizes), o.name, strings.Join(o.dimOrder, ", "))
		return
	}
	o.dims = contract.Dims{}
	for i, name := range o.dimOrder {
		o.dims[name] = sizes[i]
	}
	if o.contract != nil {
		if err := o.contract.CheckDims(o.dims); err != nil {
			n.fail("%s", err)
		}
	}
}

func (o *operation) readRound(n node, r *results, i int) round {
	out := round{cells: map[string]cell{}}
	index := n.get("index")
	index.equal(index.count(0), i, "the round's place in the list")
	order, implementations := n.get("order"), n.get("implementations")
	for _, m := range order.list() {
		name := m.text()
		if slices.Contains(out.order, name) {
			m.fail("names %q twice", name)
		} else if !n.bad() && implementations.object().values[name] == nil {
			m.fail("names %q, which is not among the implementations", name)
		}
		out.order = append(out.order, name)
	}
	for _, name := range implementations.members() {
		if !slices.Contains(out.order, name) {
			implementations.get(name).fail("is not named by the order of the round")
		}
		out.cells[name] = o.readCell(implementations.get(name), r)
		if n.bad() {
			return out
		}
	}
	if i == 0 {
		o.implementations = slices.Clone(out.order)
		if len(out.order) == 0 {
			order.fail("is empty")
		}
	} else if sorted := slices.Sorted[string]; !slices.Equal(sorted(slices.Values(out.order)), sorted(slices.Values(o.implementations))) {
		order.fail("names %s, the first round %s: an implementation must be in every round",
			strings.Join(out.order, ", "), strings.Join(o.implementations, ", "))
	}
	if m, ok := n.maybe("gpu_state"); ok {
		var known bool
		if out.state, _, known = smi(m.text()); !known {
			n.object().used["gpu_state"] = false
		}
	}
	return out
}
