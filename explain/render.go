package explain

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"mage/contract"
	"mage/gate"
	"mage/gpu/simt"
	"mage/impl"
)

// RenderOptions say how to print for people.
type RenderOptions struct {
	Hot   int  // lines per arm
	Width int  // columns, 0 for any
	Color bool // ANSI colours
	Box   bool // box-drawing characters
}

// Render prints the explanation: what the checks found, the remarks, the counters,
// and the lines that cost most.
func (e *Explanation) Render(w io.Writer, o RenderOptions) error {
	p := &printer{w: w, o: o}
	p.title(e)
	p.remarks(e)
	p.counters(e)
	for _, arm := range e.profiles() {
		p.hot(arm)
	}
	return p.err
}

// printer keeps the first error of writing.
type printer struct {
	w   io.Writer
	o   RenderOptions
	err error
}

func (p *printer) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

func (p *printer) paint(s string, c ...text.Color) string {
	if !p.o.Color {
		return s
	}
	// The library's own switch follows the terminal of the process, not the writer.
	return text.Escape(s, text.Colors(c).EscapeSeq())
}

func (p *printer) title(e *Explanation) {
	p.printf("%s%s\n", p.paint(e.Case.String(), text.Bold), p.paint(", "+e.Case.Distribution+" inputs, on the simulator"+e.quick(), text.Faint))
	for i, arm := range e.profiles() {
		label := ""
		if e.B != nil {
			label = string('A'+rune(i)) + "  "
		}
		verdict := p.paint("correct", text.FgGreen)
		if arm.Wrong() != "" {
			verdict = p.paint("wrong", text.FgRed, text.Bold)
		}
		p.printf("%s%s  %s  %s\n", label, p.paint(arm.Arm.Name, text.Bold), verdict, p.paint(arm.Identity.Compiler, text.Faint))
		if w := arm.Wrong(); w != "" {
			p.printf("   %s\n", p.paint(w, text.FgRed))
		}
		for _, f := range arm.Findings {
			p.printf("%s", p.paint(f.Report(), text.FgRed))
		}
	}
	p.printf("\n")
}

// quick says that the shape is a cut one, and of what.
func (e *Explanation) quick() string {
	c, names := e.Case.Contract, e.Case.Contract.DimNames()
	if own := e.Case.Dims.Format(names); own == Quick(c).Format(names) && own != c.Default().Format(names) {
		return "; a quick shape, the default is " + c.Default().Format(names)
	}
	return ""
}

func (p *printer) remarks(e *Explanation) {
	width := p.o.Width
	if width <= 0 {
		width = 110
	}
	for _, r := range e.Remarks() {
		line := r.Text
		if r.Arm != "" {
			line = r.Arm + ": " + line
		}
		lines := wrap(line, width-4)
		for i, l := range lines {
			l = strings.TrimRight(l, " ")
			if name, rest, ok := strings.Cut(l, ": "); i == 0 && ok && name == r.Arm {
				l = p.paint(name+":", text.Bold) + " " + rest
			}
			mark := p.paint("•", text.FgYellow)
			if i > 0 {
				mark = " "
			}
			p.printf("  %s %s\n", mark, l)
		}
	}
	if len(e.Remarks()) == 0 {
		p.printf("  %s nothing stands out\n", p.paint("•", text.FgGreen))
	}
	p.printf("\n")
}

// wrap breaks a sentence into lines of up to width characters. A number stays with
// its unit.
func wrap(s string, width int) []string {
	const joined = "\ue000" // not a space for the library
	s = strings.NewReplacer(" %", joined+"%", " k", joined+"k", " M", joined+"M", " G", joined+"G", " B", joined+"B").Replace(s)
	return strings.Split(strings.ReplaceAll(text.WrapSoft(s, width), joined, " "), "\n")
}

func (p *printer) counters(e *Explanation) {
	t := p.table()
	header := table.Row{"", e.a()}
	numbers := []table.ColumnConfig{{Number: 2, Align: text.AlignRight, AlignHeader: text.AlignRight}}
	if e.B != nil {
		header = append(header, e.b(), "B/A")
		for n := 3; n <= 4; n++ {
			numbers = append(numbers, table.ColumnConfig{Number: n, Align: text.AlignRight, AlignHeader: text.AlignRight})
		}
	}
	t.SetColumnConfigs(numbers)
	t.AppendHeader(header)
	group := ""
	for _, m := range e.Metrics() {
		if m.Group != group {
			group = m.Group
			t.AppendRow(table.Row{p.paint(group, text.Bold)})
		}
		row := table.Row{"  " + m.Name, format(m.Format, m.A)}
		if m.B != nil {
			row = append(row, format(m.Format, *m.B), p.ratio(m))
		}
		t.AppendRow(row)
	}
	p.printf("%s\n\n", p.trimmed(t.Render()))
}

// ratio is painted when it is not alike: green for less, yellow for more. For
// shares and intensities more is better, so they stay plain.
func (p *printer) ratio(m Metric) string {
	if m.Ratio == nil {
		return "–"
	}
	s := digits(*m.Ratio)
	if s == "1.00" {
		s = "1"
	}
	if m.Format == "count" || m.Format == "bytes" {
		switch {
		case *m.Ratio > 1+alike:
			return p.paint(s, text.FgYellow)
		case *m.Ratio < 1-alike:
			return p.paint(s, text.FgGreen)
		}
	}
	return s
}

// hot prints the lines that cost most: their shares of what the kernel costs, and
// how much of that is waste. A column that would be empty is left out.
func (p *printer) hot(arm *Profile) {
	var total Place
	for _, l := range arm.Places() {
		total.Executed += l.Executed
		addTraffic(&total.Global, l.Global)
		addBanks(&total.Shared, l.Shared)
	}
	columns := []struct {
		name  string
		waste bool
		of    func(Place) (part, whole int64)
	}{
		{"instr.", false, func(l Place) (int64, int64) { return l.Executed, total.Executed }},
		{"sectors", false, func(l Place) (int64, int64) { return l.Global.Sectors, total.Global.Sectors }},
		{"wasted", true, func(l Place) (int64, int64) { return l.Global.Sectors - l.Global.Ideal, l.Global.Sectors }},
		{"wavefronts", false, func(l Place) (int64, int64) { return l.Shared.Wavefronts, total.Shared.Wavefronts }},
		{"conflicts", true, func(l Place) (int64, int64) { return l.Shared.Conflicts(), l.Shared.Wavefronts }},
	}
	hot := arm.Hot(p.o.Hot)
	t := p.table()
	header := table.Row{arm.Arm.Name + ", where"}
	rows := make([]table.Row, len(hot))
	used := 0
	for i, l := range hot {
		rows[i] = table.Row{l.Where}
		used = max(used, len(l.Where))
	}
	used = max(used, len(arm.Arm.Name)+7) + 6
	var configs []table.ColumnConfig
	for _, c := range columns {
		empty := true
		for _, l := range hot {
			part, _ := c.of(l)
			empty = empty && part == 0
		}
		if empty {
			continue
		}
		header = append(header, c.name)
		configs = append(configs, table.ColumnConfig{Number: len(header), Align: text.AlignRight, AlignHeader: text.AlignRight})
		used += len(c.name) + 2
		for i, l := range hot {
			part, whole := c.of(l)
			rows[i] = append(rows[i], p.share(part, whole, c.waste))
		}
	}
	code := 72
	if p.o.Width > 0 {
		code = max(16, p.o.Width-used)
	}
	t.AppendHeader(append(header, "code"))
	for i, l := range hot {
		t.AppendRow(append(rows[i], p.paint(shorten(l.Text, code), text.Faint)))
	}
	t.SetColumnConfigs(configs)
	p.printf("%s\n\n", p.trimmed(t.Render()))
}

// shorten cuts a line of code to n characters.
func shorten(s string, n int) string {
	r := []rune(strings.ReplaceAll(s, "\t", " "))
	if len(r) <= n {
		return string(r)
	}
	return string(r[:n-1]) + "…"
}

// share is a percentage, empty for what a line has nothing of. Waste is painted.
func (p *printer) share(part, whole int64, waste bool) string {
	if part == 0 {
		return ""
	}
	s := percent(ratio(part, whole))
	if waste && ratio(part, whole) > conflicting {
		return p.paint(s, text.FgRed)
	}
	return s
}

func (p *printer) table() table.Writer {
	t := table.NewWriter()
	style := table.StyleDefault
	if p.o.Box {
		style = table.StyleRounded
		style.Options.SeparateRows = false
		style.Options.SeparateColumns = false
	} else {
		style.Options = table.OptionsNoBordersAndSeparators
		style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	}
	style.Format.Header = text.FormatDefault
	t.SetStyle(style)
	return t
}

// trimmed leaves no blanks at the ends of lines.
func (p *printer) trimmed(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// document is the JSON form.
type document struct {
	Contract     string        `json:"contract"`
	Precision    string        `json:"precision"`
	Dims         contract.Dims `json:"dims"`
	Distribution string        `json:"distribution"`
	Seed         uint64        `json:"seed"`
	Arms         []armDocument `json:"arms"`
	Metrics      []Metric      `json:"metrics"`
	Remarks      []Remark      `json:"remarks"`
}

type armDocument struct {
	Name     string         `json:"name"`
	Identity impl.Identity  `json:"identity"`
	Gate     gate.Result    `json:"gate"`
	Counters simt.Counters  `json:"counters"`
	Findings []simt.Finding `json:"findings,omitempty"`
	Places   []Place        `json:"places"`
}

// MarshalJSON writes everything that is known.
func (e *Explanation) MarshalJSON() ([]byte, error) {
	c := e.Case
	d := document{Contract: c.Contract.Name(), Precision: string(c.Contract.Precision()), Dims: c.Dims, Distribution: c.Distribution,
		Seed: c.Seed, Metrics: e.Metrics(), Remarks: e.Remarks()}
	for _, p := range e.profiles() {
		d.Arms = append(d.Arms, armDocument{p.Arm.Name, p.Identity, p.Gate, p.Counters, p.Findings, p.Places()})
	}
	return json.Marshal(d)
}
