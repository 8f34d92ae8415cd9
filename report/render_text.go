package report

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
)

func renderJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("writing the report as JSON: %w", err)
	}
	return nil
}

// drawMarkdown writes pipe tables with a heading each.
func drawMarkdown(b *strings.Builder, tables []Table) {
	escape := strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;").Replace
	for i, t := range tables {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(b, "### %s\n\n", escape(t.Title))
		if len(t.Lead) > 0 {
			fmt.Fprintf(b, "%s\n\n", escape(strings.Join(t.Lead, "; ")))
		}
		if len(t.Rows) > 0 {
			for _, c := range t.Columns {
				fmt.Fprintf(b, "| %s ", escape(c.Head))
			}
			b.WriteString("|\n")
			for _, c := range t.Columns {
				if c.Align == Left {
					b.WriteString("| :-- ")
				} else {
					b.WriteString("| --: ")
				}
			}
			b.WriteString("|\n")
			for _, row := range t.Rows {
				for _, v := range row.Cells {
					s := escape(strings.TrimRight(v.Text, " "))
					if len(v.Marks) > 0 {
						s += " " + superscript(v.Marks)
					}
					if s == "" {
						b.WriteString("| ")
					} else {
						fmt.Fprintf(b, "| %s ", s)
					}
				}
				b.WriteString("|\n")
			}
		}
		notes := make([]string, 0, len(t.Notes)+len(t.Remarks))
		for i, n := range t.Notes {
			notes = append(notes, superscript([]int{i + 1})+" "+escape(n))
		}
		for _, n := range t.Remarks {
			notes = append(notes, escape(n))
		}
		if len(notes) > 0 {
			fmt.Fprintf(b, "\n%s\n", strings.Join(notes, "  \n"))
		}
	}
}

// drawCSV writes every datum at full precision. Several tables are separated by
// an empty line and begin with a line "# id".
func drawCSV(b *strings.Builder, tables []Table) error {
	for i, t := range tables {
		if len(tables) > 1 {
			if i > 0 {
				b.WriteByte('\n')
			}
			fmt.Fprintf(b, "# %s\n", t.ID)
		}
		w := csv.NewWriter(b)
		head := make([]string, len(t.Columns))
		for i, c := range t.Columns {
			head[i] = c.Key
		}
		if err := w.Write(head); err != nil {
			return fmt.Errorf("writing CSV: %w", err)
		}
		for _, row := range t.Rows {
			rec := make([]string, len(row.Cells))
			for i, v := range row.Cells {
				rec[i] = datum(v.Data)
			}
			if err := w.Write(rec); err != nil {
				return fmt.Errorf("writing CSV: %w", err)
			}
		}
		w.Flush()
	}
	return nil
}

func datum(x any) string {
	switch x := x.(type) {
	case nil:
		return ""
	case float64:
		return strconv.FormatFloat(x, 'g', -1, 64)
	case []*float64:
		parts := make([]string, len(x))
		for i, v := range x {
			parts[i] = datum(value(v))
		}
		return strings.Join(parts, " ")
	case []float64:
		parts := make([]string, len(x))
		for i, v := range x {
			parts[i] = datum(v)
		}
		return strings.Join(parts, " ")
	default:
		return fmt.Sprint(x)
	}
}

// drawLaTeX writes booktabs tables. The document needs the packages booktabs
// and, with pdfLaTeX, inputenc's utf8 (the default since 2018).
func drawLaTeX(b *strings.Builder, tables []Table) {
	b.WriteString("% needs \\usepackage{booktabs}\n")
	for _, t := range tables {
		b.WriteString("\n\\begin{table}\n  \\centering\n")
		caption := t.Title
		if len(t.Lead) > 0 {
			caption += ": " + strings.Join(t.Lead, "; ")
		}
		fmt.Fprintf(b, "  \\caption{%s}\n", latex(caption))
		if len(t.Rows) > 0 {
			b.WriteString("  \\begin{tabular}{")
			for _, c := range t.Columns {
				if c.Align == Left {
					b.WriteByte('l')
				} else {
					b.WriteByte('r')
				}
			}
			b.WriteString("}\n    \\toprule\n")
			if !headless(t) {
				heads := make([]string, len(t.Columns))
				for i, c := range t.Columns {
					heads[i] = latex(c.Head)
				}
				fmt.Fprintf(b, "    %s \\\\\n    \\midrule\n", strings.Join(heads, " & "))
			}
			for _, row := range t.Rows {
				if row.Rule {
					b.WriteString("    \\midrule\n")
				}
				cells := make([]string, len(row.Cells))
				for i, v := range row.Cells {
					cells[i] = latex(strings.TrimRight(v.Text, " ")) + latexMarks(v.Marks)
				}
				fmt.Fprintf(b, "    %s \\\\\n", strings.Join(cells, " & "))
			}
			b.WriteString("    \\bottomrule\n  \\end{tabular}\n")
		}
		for i, n := range t.Notes {
			fmt.Fprintf(b, "  \\par\\footnotesize%s\\,%s\n", latexMarks([]int{i + 1}), latex(n))
		}
		for _, n := range t.Remarks {
			fmt.Fprintf(b, "  \\par\\footnotesize %s\n", latex(n))
		}
		b.WriteString("\\end{table}\n")
	}
}

func latexMarks(marks []int) string {
	if len(marks) == 0 {
		return ""
	}
	parts := make([]string, len(marks))
	for i, m := range marks {
		parts[i] = strconv.Itoa(m)
	}
	return "\\textsuperscript{" + strings.Join(parts, ",") + "}"
}

// latex escapes text, and writes the few characters beyond ASCII that reports
// use in commands that every engine knows.
func latex(s string) string { return latexEscapes.Replace(s) }

var latexEscapes = strings.NewReplacer(
	`\`, `\textbackslash{}`, `{`, `\{`, `}`, `\}`, `$`, `\$`, `&`, `\&`, `#`, `\#`, `%`, `\%`, `_`, `\_`,
	`~`, `\textasciitilde{}`, `^`, `\textasciicircum{}`, `<`, `\textless{}`, `>`, `\textgreater{}`,
	`|`, `\textbar{}`, "µ", `\textmu{}`, "–", `--`, "×", `$\times$`, "±", `$\pm$`, "÷", `$\div$`, "−", `$-$`, "→", `$\to$`,
	"\u00a0", "~", "≤", `$\le$`, "≥", `$\ge$`, "\n", " ")
