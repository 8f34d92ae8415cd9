package ptx

import (
	"fmt"
	"strconv"
)

// maxDepth bounds nested scopes, operands and initializers.
const maxDepth = 64

// Parse reads a module. The file name is for positions only. The error is an
// *Error that says where.
func Parse(file string, src []byte) (*Module, error) {
	p := &parser{lexer: lexer{file: file, src: string(src), line: 1}}
	m, err := p.module()
	if err != nil {
		return nil, err
	}
	return m, nil
}

type parser struct {
	lexer lexer
	tok   token
	err   error // the first; tok is then the end of the file
	depth int
	// source is the .loc in force.
	source Source
	m      *Module
}

func (p *parser) advance() {
	if p.err != nil {
		return
	}
	t, err := p.lexer.next()
	if err != nil {
		p.err = err
		t = token{pos: t.pos}
	}
	p.tok = t
}

// fail keeps the first error and makes every later token the end of the file.
func (p *parser) fail(pos Pos, format string, args ...any) {
	if p.err == nil {
		p.err = &Error{pos, fmt.Sprintf(format, args...)}
	}
	p.tok = token{pos: pos}
}

func (p *parser) is(kind tokenKind, text string) bool {
	return p.tok.kind == kind && p.tok.text == text
}

func (p *parser) punct(text string) bool { return p.is(tokenPunct, text) }

func (p *parser) accept(text string) bool {
	if p.punct(text) {
		p.advance()
		return true
	}
	return false
}

func (p *parser) expect(text string) {
	if !p.accept(text) {
		p.fail(p.tok.pos, "expected %q, found %s", text, p.tok)
	}
}

func (p *parser) name(what string) string {
	if p.tok.kind != tokenName {
		p.fail(p.tok.pos, "expected %s, found %s", what, p.tok)
		return ""
	}
	s := p.tok.text
	p.advance()
	return s
}

// integer takes a literal that fits an int64, with an optional sign.
func (p *parser) integer(what string) int64 {
	negative := p.accept("-")
	pos := p.tok.pos
	if p.tok.kind != tokenNumber {
		p.fail(pos, "expected %s, found %s", what, p.tok)
		return 0
	}
	v, err := parseInteger(p.tok.text)
	if err != nil {
		p.fail(pos, "%s: %v", what, err)
		return 0
	}
	p.advance()
	if negative {
		return -int64(v)
	}
	return int64(v)
}

// enter counts nesting; it reports false, having failed, when there is too much.
func (p *parser) enter() bool {
	p.depth++
	if p.depth > maxDepth {
		p.fail(p.tok.pos, "nested deeper than %d", maxDepth)
		return false
	}
	return true
}

func (p *parser) leave() { p.depth-- }

func (p *parser) module() (*Module, error) {
	p.m = &Module{Files: map[int]string{}, AddressSize: 64}
	p.advance()
	for p.err == nil && p.tok.kind != tokenEnd {
		p.topLevel()
	}
	if p.err == nil && p.m.Version == "" {
		p.fail(p.tok.pos, "there is no .version: not a PTX module")
	}
	return p.m, p.err
}

func (p *parser) topLevel() {
	if p.accept(";") {
		return
	}
	if p.tok.kind != tokenDot {
		p.fail(p.tok.pos, "expected a directive, found %s", p.tok)
		return
	}
	switch p.tok.text {
	case "version":
		p.advance()
		p.m.Version = p.tok.text
		if _, err := strconv.ParseFloat(p.tok.text, 64); p.tok.kind != tokenNumber || err != nil {
			p.fail(p.tok.pos, "expected a version such as 9.0, found %s", p.tok)
			return
		}
		p.advance()
	case "target":
		p.advance()
		p.m.Target = append(p.m.Target, p.name("a target"))
		for p.accept(",") {
			p.m.Target = append(p.m.Target, p.name("a target"))
		}
	case "address_size":
		p.advance()
		pos := p.tok.pos
		if p.m.AddressSize = int(p.integer("an address size")); p.m.AddressSize != 64 && p.err == nil {
			p.fail(pos, ".address_size %d: only 64-bit PTX is read", p.m.AddressSize)
		}
	case "file":
		p.file()
	case "loc":
		p.loc()
	case "pragma":
		p.directive("")
	case "section":
		p.section()
	case "alias":
		p.fail(p.tok.pos, ".alias is not supported")
	default:
		p.declaration()
	}
}

// declaration is a function or a module-scope variable, with its linkage.
func (p *parser) declaration() {
	linkage := ""
	for p.tok.kind == tokenDot {
		switch t := p.tok; t.text {
		case Visible, Extern, Weak, Common:
			linkage = t.text
			p.advance()
		case "entry", "func":
			p.function(linkage)
			return
		default:
			p.m.Variables = append(p.m.Variables, p.variables(linkage)...)
			return
		}
	}
	p.fail(p.tok.pos, "expected a directive, found %s", p.tok)
}

func (p *parser) file() {
	p.advance()
	n := p.integer("a file number")
	if p.tok.kind != tokenString {
		p.fail(p.tok.pos, "expected a file name, found %s", p.tok)
		return
	}
	p.m.Files[int(n)] = p.tok.text
	p.advance()
	for p.accept(",") {
		p.integer("a number")
	}
}

// loc is ".loc file line column [, function_name label, inlined_at f l c]".
func (p *parser) loc() {
	p.advance()
	file := p.integer("a file number")
	line := p.integer("a line")
	p.integer("a column")
	p.source = Source{int(file), int(line)}
	for p.accept(",") {
		switch word := p.name("an attribute of .loc"); word {
		case "function_name":
			p.name("a label")
			if p.accept("+") {
				p.integer("an offset")
			}
		case "inlined_at":
			for range 3 {
				p.integer("a position")
			}
		default:
			p.fail(p.tok.pos, "unknown attribute %q of .loc", word)
		}
	}
}

// section skips debugging information.
func (p *parser) section() {
	p.advance()
	for p.tok.kind != tokenEnd && !p.punct("{") {
		p.advance()
	}
	depth := 0
	for p.tok.kind != tokenEnd {
		if p.punct("{") {
			depth++
		} else if p.punct("}") {
			depth--
		}
		p.advance()
		if depth == 0 {
			return
		}
	}
	p.fail(p.tok.pos, "a .section is not closed")
}

// directive keeps words up to the semicolon.
func (p *parser) directive(label string) *Directive {
	d := &Directive{Pos: p.tok.pos, Label: label, Name: p.tok.text}
	p.advance()
	for p.err == nil && !p.punct(";") {
		if p.tok.kind == tokenEnd {
			p.fail(p.tok.pos, ".%s is not ended by a semicolon", d.Name)
			return d
		}
		word := p.tok.text
		if p.tok.kind == tokenDot {
			word = "." + word
		}
		d.Words = append(d.Words, word)
		p.advance()
	}
	p.expect(";")
	return d
}
