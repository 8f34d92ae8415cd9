// Package profile turns a capture into tables: the launches in groups, what their
// counters say of the bottleneck, copies, and findings.
//
// It must not know profilers or terminals.
package profile

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"mage/capture"
	"mage/report"
	"mage/roofline"
)

// Options choose what a profile shows.
type Options struct {
	GroupBy []string // capture.Criteria; empty: kernel
	Analyze bool
	Columns []string // keys of the summary's columns, in order; empty: the usual ones
	Top     int      // groups in a table, at most; 0: all. CSV and JSON have all
	// Roofs are measured ceilings for the analysis of counters, of the capture's device
	// or of its model. Without them Unroofed says why, and what would give them.
	Roofs    *roofline.Roofs
	Unroofed string
}

// Profile is a capture, summarized.
type Profile struct {
	Capture  *capture.Capture  `json:"capture"`
	Dir      string            `json:"directory"`
	GroupBy  []string          `json:"group_by"`
	Groups   []Group           `json:"groups"`
	Copies   []Traffic         `json:"copies,omitempty"`
	Findings []capture.Finding `json:"findings,omitempty"`
	// Ceilings says what the groups' rooflines are under; nil: there is none.
	Ceilings *Ceilings `json:"ceilings,omitempty"`
	Unroofed string    `json:"no_roofline,omitempty"` // why
	columns  []column
	top      int
}

// Ceilings are those of one device.
type Ceilings struct {
	Device string `json:"device"`
	UUID   string `json:"uuid,omitempty"`
	About  string `json:"about,omitempty"`
	// Same is false where the capture is of another device of the model, or does not
	// tell of which.
	Same bool `json:"same_device"`
}

// Group is one group of launches. Times are in µs, and absent where no launch was
// timed.
type Group struct {
	Key      []string          `json:"key"`
	Launches int               `json:"launches"`
	TotalUS  *float64          `json:"total_us,omitempty"`
	MeanUS   *float64          `json:"mean_us,omitempty"`
	MinUS    *float64          `json:"min_us,omitempty"`
	MaxUS    *float64          `json:"max_us,omitempty"`
	Share    *float64          `json:"share,omitempty"` // of the time of all groups
	Grid     string            `json:"grid,omitempty"`  // where all launches agree
	Block    string            `json:"block,omitempty"`
	Register *int              `json:"registers,omitempty"`
	Shared   *int              `json:"shared_bytes,omitempty"` // static and dynamic
	Analysis *capture.Analysis `json:"analysis,omitempty"`
	// Roofline is where all launches together lie under the ceilings.
	Roofline *roofline.Placement `json:"roofline,omitempty"`
	// Uncounted are the counters that the roofline lacks.
	Uncounted []string `json:"uncounted,omitempty"`
}

// Traffic is the copies of one kind.
type Traffic struct {
	Kind    string  `json:"kind"`
	Count   int     `json:"count"`
	Bytes   int64   `json:"bytes"`
	TotalUS float64 `json:"total_us"`
}

// New summarizes a capture. A *capture.UsageError names a criterion or column that
// there is not, a *roofline.OtherDevice ceilings of another model.
func New(c *capture.Capture, r *capture.Result, o Options) (*Profile, error) {
	p := &Profile{Capture: c, Dir: c.Dir, GroupBy: o.GroupBy, Groups: []Group{}, Findings: r.Findings, top: o.Top}
	if len(p.GroupBy) == 0 {
		p.GroupBy = []string{"kernel"}
	}
	groups, err := capture.Summarize(r.Kernels, p.GroupBy...)
	if err != nil {
		return nil, err
	}
	if p.columns, err = choose(o, p.GroupBy); err != nil {
		return nil, err
	}
	analyze := o.Analyze || slices.ContainsFunc(p.columns, func(c column) bool { return c.analysis })
	for _, g := range groups {
		p.Groups = append(p.Groups, summarize(g, analyze))
	}
	if o.Analyze && c.Backend == counting {
		if err := p.place(groups, o); err != nil {
			return nil, err
		}
	}
	for _, x := range r.Copies {
		i := slices.IndexFunc(p.Copies, func(t Traffic) bool { return t.Kind == x.Kind })
		if i < 0 {
			i = len(p.Copies)
			p.Copies = append(p.Copies, Traffic{Kind: x.Kind})
		}
		p.Copies[i].Count++
		p.Copies[i].Bytes += x.Bytes
		p.Copies[i].TotalUS += x.DurationUS
	}
	return p, nil
}

func summarize(g capture.Group, analyze bool) Group {
	out := Group{Key: g.Key, Launches: len(g.Launches)}
	if g.Timed > 0 {
		out.TotalUS, out.MeanUS, out.MinUS, out.MaxUS, out.Share = &g.Total, &g.Mean, &g.Least, &g.Most, &g.Share
	}
	out.Grid = agreed(g.Launches, func(k *capture.Kernel) *string { s := k.Grid.String(); return &s }, "")
	out.Block = agreed(g.Launches, func(k *capture.Kernel) *string { s := k.Block.String(); return &s }, "")
	if n := agreed(g.Launches, func(k *capture.Kernel) *int { return k.Registers }, -1); n >= 0 {
		out.Register = &n
	}
	if n := agreed(g.Launches, shared, -1); n >= 0 {
		out.Shared = &n
	}
	if analyze {
		a := capture.Analyze(g.Launches)
		out.Analysis = &a
	}
	return out
}

func shared(k *capture.Kernel) *int {
	if k.StaticShared == nil || k.DynamicShared == nil {
		return nil
	}
	n := *k.StaticShared + *k.DynamicShared
	return &n
}

// agreed is the value that all launches share, else other.
func agreed[T comparable](launches []*capture.Kernel, of func(*capture.Kernel) *T, other T) T {
	first := of(launches[0])
	for _, k := range launches {
		v := of(k)
		if first == nil || v == nil || *v != *first {
			return other
		}
	}
	return *first
}

// Write draws the profile in a format: a table, markdown, csv, json.
func (p *Profile) Write(w io.Writer, f report.Format, o report.RenderOptions) error {
	if f == report.JSON {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		return e.Encode(p)
	}
	top := p.top
	if f == report.CSV {
		top = 0
	}
	return report.RenderTables(w, p.tables(top), f, o)
}

// tables are the profile's tables; those that have nothing to say are left out.
func (p *Profile) tables(top int) []report.Table {
	var out []report.Table
	for _, t := range []report.Table{p.launches(top), p.roofline(top), p.copies(), p.findings()} {
		if len(t.Rows) > 0 || len(t.Remarks) > 0 {
			out = append(out, t)
		}
	}
	return out
}

func (p *Profile) copies() report.Table {
	t := report.Table{ID: "copies", Title: "Copies and fills of memory", Columns: []report.Column{
		{Key: "kind", Head: "kind"}, {Key: "count", Head: "count", Align: report.Right},
		{Key: "bytes", Head: "bytes", Unit: "B", Align: report.Right}, {Key: "total_us", Head: "total", Unit: "µs", Align: report.Right}}}
	for _, c := range p.Copies {
		t.Rows = append(t.Rows, report.Row{Cells: []report.Value{{Text: c.Kind, Data: c.Kind},
			{Text: fmt.Sprint(c.Count), Data: c.Count}, {Text: bytesText(float64(c.Bytes)), Data: c.Bytes}, {Text: timeText(c.TotalUS), Data: c.TotalUS}}})
	}
	return t
}

func (p *Profile) findings() report.Table {
	t := report.Table{ID: "findings", Title: "Findings of compute-sanitizer", Columns: []report.Column{
		{Key: "finding", Head: "finding", Prose: true}, {Key: "kernel", Head: "kernel"}, {Key: "source", Head: "source"},
		{Key: "thread", Head: "thread", Drop: 2}, {Key: "block", Head: "block", Drop: 2}, {Key: "address", Head: "address", Drop: 3},
		{Key: "count", Head: "count", Align: report.Right}, {Key: "detail", Head: "detail", Prose: true, Drop: 1}}}
	if len(p.Findings) == 0 && p.Capture.Tool != "" && p.Capture.Outcome == capture.Complete {
		t.Remarks = []string{p.Capture.Tool + " found nothing"}
	}
	for _, f := range p.Findings {
		tone := report.Bad
		if f.Level == "warning" {
			tone = report.Caution
		}
		kind := word(f.Kind)
		kind.Tone = tone
		t.Rows = append(t.Rows, report.Row{Cells: []report.Value{kind, word(f.Kernel), word(f.Source), dim(f.Thread), dim(f.Block),
			word(f.Address), {Text: fmt.Sprint(f.Count), Data: f.Count}, word(f.Detail)}})
	}
	return t
}

func dim(d *capture.Dim) report.Value {
	if d == nil {
		return word("")
	}
	return word(d.String())
}
