package ptx

func (p *parser) function(linkage string) {
	f := &Function{Pos: p.tok.pos, Linkage: linkage, Entry: p.tok.text == "entry"}
	p.source = Source{}
	p.advance()
	p.attribute()
	if !f.Entry && p.punct("(") {
		f.Returns = p.params()
	}
	f.Name = p.name("a function name")
	if p.punct("(") {
		f.Params = p.params()
	}
	p.functionDirectives(f)
	if p.punct("{") {
		f.Body = p.block()
	} else {
		p.expect(";")
	}
	if p.err == nil {
		p.m.Functions = append(p.m.Functions, f)
	}
}

// attribute skips ".attribute(…)".
func (p *parser) attribute() {
	if !p.is(tokenDot, "attribute") {
		return
	}
	p.advance()
	p.expect("(")
	for p.tok.kind != tokenEnd && !p.accept(")") {
		p.advance()
	}
}

func (p *parser) params() []*Variable {
	var vs []*Variable
	p.expect("(")
	if p.accept(")") {
		return vs
	}
	for p.err == nil {
		if p.tok.kind != tokenDot || p.tok.text != "param" && p.tok.text != "reg" {
			p.fail(p.tok.pos, "expected a parameter, found %s", p.tok)
			return vs
		}
		v := p.variableHead("")
		p.variableName(v)
		vs = append(vs, v)
		if p.accept(")") {
			break
		}
		p.expect(",")
	}
	return vs
}

// functionDirectives are those between a function's parameters and its body.
func (p *parser) functionDirectives(f *Function) {
	for p.tok.kind == tokenDot {
		switch p.tok.text {
		case "maxntid", "reqntid", "reqnctapercluster":
			word := p.tok.text
			p.advance()
			dims := &[3]uint32{1, 1, 1}
			for i := range 3 {
				pos := p.tok.pos
				n := p.integer("a number of threads")
				if p.err == nil && (n < 1 || n > 1<<31-1) {
					p.fail(pos, ".%s %d: not a number of threads", word, n)
					return
				}
				dims[i] = uint32(n)
				if !p.accept(",") {
					break
				}
			}
			switch word {
			case "maxntid":
				f.MaxThreads = dims
			case "reqntid":
				f.RequiredThreads = dims
			}
		case "minnctapersm", "maxnctapersm", "maxnreg", "maxclusterrank", "abi_preserve", "abi_preserve_control":
			p.advance()
			p.integer("a number")
		case "noreturn", "unique", "explicitcluster", "blocksareclusters":
			p.advance()
		case "pragma":
			p.directive("")
		case "attribute":
			p.attribute()
		default:
			p.fail(p.tok.pos, "unknown directive .%s of a function", p.tok.text)
		}
	}
}

func (p *parser) block() *Block {
	b := &Block{Pos: p.tok.pos}
	if !p.enter() {
		return b
	}
	defer p.leave()
	p.expect("{")
	for p.err == nil && !p.punct("}") {
		if p.tok.kind == tokenEnd {
			p.fail(b.Pos, "a block is not closed")
			return b
		}
		p.statement(b)
	}
	p.expect("}")
	return b
}

func (p *parser) statement(b *Block) {
	add := func(s Statement) { b.Statements = append(b.Statements, s) }
	switch {
	case p.accept(";"):
	case p.punct("{"):
		add(p.block())
	case p.punct("@"):
		add(p.guarded())
	case p.tok.kind == tokenDot:
		switch p.tok.text {
		case "loc":
			p.loc()
		case "pragma", "branchtargets", "calltargets", "callprototype":
			add(p.directive(""))
		default:
			for _, v := range p.variables("") {
				add(v)
			}
		}
	case p.tok.kind == tokenName:
		pos, word := p.tok.pos, p.tok.text
		p.advance()
		if p.accept(":") {
			if p.tok.kind == tokenDot && (p.tok.text == "branchtargets" || p.tok.text == "calltargets" || p.tok.text == "callprototype") {
				add(p.directive(word))
				return
			}
			add(&Label{pos, word})
			return
		}
		add(p.instruction(&Instruction{Pos: pos, Source: p.source, Opcode: word}))
	default:
		p.fail(p.tok.pos, "expected a statement, found %s", p.tok)
	}
}

func (p *parser) guarded() *Instruction {
	i := &Instruction{Source: p.source}
	p.expect("@")
	i.Negated = p.accept("!")
	i.Guard = p.name("a predicate")
	i.Pos = p.tok.pos
	i.Opcode = p.name("an instruction")
	return p.instruction(i)
}

// instruction takes modifiers and operands after the opcode.
func (p *parser) instruction(i *Instruction) *Instruction {
	for p.tok.kind == tokenDot {
		i.Modifiers = append(i.Modifiers, p.tok.text)
		p.advance()
	}
	for p.err == nil && !p.punct(";") {
		if p.tok.kind == tokenEnd {
			p.fail(p.tok.pos, "%s is not ended by a semicolon", i.Name())
			return i
		}
		i.Operands = append(i.Operands, p.operand())
		if !p.accept(",") {
			break
		}
	}
	p.expect(";")
	return i
}
