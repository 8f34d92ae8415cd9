package kernels

import "slices"

func (c *checker) launch(n int, d launchEntry, all scope, buffers []string) launch {
	l := launch{entry: d.Entry, zero: d.Zero}
	if !identifier.MatchString(d.Entry) {
		c.fail(c.at.key("launch", n, "entry"), "entry = %q: want the name of an extern \"C\" kernel", d.Entry)
	}
	for _, b := range d.Zero {
		if !slices.Contains(buffers, b) {
			c.fail(c.at.key("launch", n, "zero"), "unknown buffer %q%s", b, suggest(b, buffers))
		} else if b != "out" && !isScratch(b, buffers) {
			c.fail(c.at.key("launch", n, "zero"), "%q is an input: only out and scratch buffers may be zeroed", b)
		}
	}
	if len(d.Params) == 0 {
		c.fail(c.at.key("launch", n, "params"), "params is missing: list the kernel's parameters in order")
	}
	for i, p := range d.Params {
		l.params = append(l.params, c.param(n, i, p, all, buffers))
	}
	l.grid = c.triple(n, "grid", d.Grid, all)
	l.block = c.triple(n, "block", d.Block, all)
	if d.Shared != "" {
		e := c.expression(c.at.key("launch", n, "shared"), "shared", d.Shared, wholeNumber, all)
		l.shared = &e
	}
	return l
}

func (c *checker) param(n, i int, d paramEntry, all scope, buffers []string) param {
	p := param{buffer: d.Buffer, name: d.Name, scalar: ScalarType(d.Type)}
	if d.Buffer != "" {
		line := c.at.value("launch", n, "params", d.Buffer)
		if !slices.Contains(buffers, d.Buffer) {
			c.fail(line, "unknown buffer %q%s", d.Buffer, suggest(d.Buffer, buffers))
		}
		if d.Name != "" || d.Type != "" || d.Value != "" {
			c.fail(line, "parameter %d is a buffer: it takes no name, type or value", i+1)
		}
		return p
	}
	if d.Name == "" || d.Type == "" || d.Value == "" {
		c.fail(c.at.value("launch", n, "params", d.Name), "parameter %d: want { buffer = … } or { name = …, type = …, value = … }", i+1)
		return p
	}
	line := c.at.value("launch", n, "params", d.Name)
	what := "value of " + d.Name
	switch p.scalar {
	case I32, U32, I64:
		p.value = c.expression(line, what, d.Value, wholeNumber, all)
	case F32, F64:
		p.value = c.expression(line, what, d.Value, realNumber, all)
	default:
		c.fail(line, "unknown type %q of parameter %s%s", d.Type, d.Name, suggest(d.Type, scalarTypes()))
	}
	return p
}

// triple checks a grid or block; trailing dimensions may be left out and are 1.
func (c *checker) triple(n int, key string, texts []string, all scope) (out [3]expression) {
	if len(texts) == 0 || len(texts) > 3 {
		c.fail(c.at.key("launch", n, key), "%s has %d dimensions: want one to three", key, len(texts))
		return out
	}
	for i := range out {
		text := "1"
		if i < len(texts) {
			text = texts[i]
		}
		out[i] = c.expression(c.at.value("launch", n, key, text), key, text, wholeNumber, all)
	}
	return out
}

// isScratch reports whether b comes after the output among all buffers.
func isScratch(b string, buffers []string) bool {
	return slices.Index(buffers, b) > slices.Index(buffers, "out")
}
