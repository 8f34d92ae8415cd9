package ptx

var spaces = [...]string{"reg", "param", "shared", "global", "const", "local"}

func isSpace(s string) bool {
	for _, v := range spaces {
		if s == v {
			return true
		}
	}
	return false
}

// variables takes a declaration of one or more names, with its semicolon.
func (p *parser) variables(linkage string) []*Variable {
	head := p.variableHead(linkage)
	var vs []*Variable
	for p.err == nil {
		v := *head
		v.Pos = p.tok.pos
		p.variableName(&v)
		if p.accept("=") {
			v.Init = p.initializer()
		}
		vs = append(vs, &v)
		if !p.accept(",") {
			break
		}
	}
	p.expect(";")
	return vs
}

// variableHead takes ".space .align N .v4 .type", and what describes the pointer
// that a parameter is: ".ptr .global .align N".
func (p *parser) variableHead(linkage string) *Variable {
	v := &Variable{Pos: p.tok.pos, Linkage: linkage}
	if p.tok.kind != tokenDot || !isSpace(p.tok.text) {
		p.fail(p.tok.pos, "unknown directive .%s", p.tok.text)
		return v
	}
	v.Space = p.tok.text
	p.advance()
	pointer := false
	for p.tok.kind == tokenDot {
		switch t := p.tok; {
		case t.text == "align":
			p.advance()
			pos := p.tok.pos
			n := p.integer("an alignment")
			if p.err == nil && (n < 1 || n > 1<<20 || n&(n-1) != 0) {
				p.fail(pos, ".align %d: not a power of two", n)
				return v
			}
			if !pointer {
				v.Align = int(n)
			}
		case t.text == "v2" || t.text == "v4":
			v.Vector = int(t.text[1] - '0')
			p.advance()
		case t.text == "attribute":
			p.attribute()
		case t.text == "ptr":
			pointer = true
			p.advance()
		case pointer && isSpace(t.text):
			p.advance()
		default:
			if v.Type != "" {
				p.fail(t.pos, "a second type .%s", t.text)
				return v
			}
			if SizeOf(t.text) < 0 {
				p.fail(t.pos, "unknown type .%s", t.text)
				return v
			}
			v.Type = t.text
			p.advance()
		}
	}
	if v.Type == "" {
		p.fail(p.tok.pos, "expected a type, found %s", p.tok)
	}
	return v
}

// maxCount bounds the registers of one declaration.
const maxCount = 1 << 20

func (p *parser) variableName(v *Variable) {
	v.Pos = p.tok.pos
	v.Name = p.name("a variable name")
	if p.accept("<") {
		pos := p.tok.pos
		n := p.integer("a count")
		if p.err == nil && (n < 1 || n > maxCount) {
			p.fail(pos, "%s<%d>: the count must be from 1 to %d", v.Name, n, maxCount)
			return
		}
		v.Count = int(n)
		p.expect(">")
	}
	for p.accept("[") {
		if p.accept("]") {
			v.Dims = append(v.Dims, -1)
			continue
		}
		pos := p.tok.pos
		n := p.integer("a dimension")
		if p.err == nil && (n < 0 || n > 1<<40) {
			p.fail(pos, "a dimension of %d", n)
			return
		}
		v.Dims = append(v.Dims, n)
		p.expect("]")
	}
}

func (p *parser) initializer() *Initializer {
	i := &Initializer{}
	if !p.enter() {
		return i
	}
	defer p.leave()
	if !p.accept("{") {
		i.Value = p.operand()
		return i
	}
	i.List = []*Initializer{}
	for p.err == nil && !p.accept("}") {
		i.List = append(i.List, p.initializer())
		if !p.accept(",") {
			p.expect("}")
			break
		}
	}
	return i
}

// SizeOf returns the bytes of a fundamental or packed type, 0 for a predicate,
// and -1 for what is no type.
func SizeOf(t string) int {
	switch t {
	case "pred":
		return 0
	case "b8", "u8", "s8", "e4m3", "e5m2":
		return 1
	case "b16", "u16", "s16", "f16", "bf16", "e4m3x2", "e5m2x2":
		return 2
	case "b32", "u32", "s32", "f32", "f16x2", "bf16x2", "u16x2", "s16x2", "tf32":
		return 4
	case "b64", "u64", "s64", "f64", "f32x2":
		return 8
	case "b128":
		return 16
	}
	return -1
}
