package ptx

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

func (p *parser) operand() Operand {
	o := Operand{Pos: p.tok.pos}
	if !p.enter() {
		return o
	}
	defer p.leave()
	switch {
	case p.accept("{"):
		o.Kind = Vector
		o.List = p.operands("}")
	case p.accept("("):
		o.Kind = List
		o.List = p.operands(")")
	case p.accept("["):
		p.address(&o)
	case p.accept("!"):
		o.Name, o.Negated = p.name("a predicate"), true
	case p.punct("-"), p.tok.kind == tokenNumber:
		p.literal(&o)
	case p.tok.kind == tokenName:
		p.named(&o)
		if p.accept("|") {
			second := Operand{Pos: p.tok.pos}
			p.named(&second)
			return Operand{Pos: o.Pos, Kind: Pair, List: []Operand{o, second}}
		}
	default:
		p.fail(p.tok.pos, "expected an operand, found %s", p.tok)
	}
	return o
}

func (p *parser) operands(end string) []Operand {
	list := []Operand{}
	for p.err == nil && !p.accept(end) {
		list = append(list, p.operand())
		if !p.accept(",") {
			p.expect(end)
			break
		}
	}
	return list
}

// named takes name, name.member, name+8, name-8 and generic(name).
func (p *parser) named(o *Operand) {
	o.Name = p.name("a name")
	if o.Name == "generic" && p.accept("(") {
		o.Name, o.Generic = p.name("a variable"), true
		p.expect(")")
	}
	if p.tok.kind == tokenDot {
		o.Member = p.tok.text
		p.advance()
	}
	o.Offset = p.offset()
}

func (p *parser) offset() int64 {
	switch {
	case p.accept("+"):
		return p.integer("an offset")
	case p.punct("-"):
		return p.integer("an offset")
	}
	return 0
}

func (p *parser) address(o *Operand) {
	o.Kind = Address
	switch {
	case p.tok.kind == tokenName:
		var base Operand
		p.named(&base)
		o.Name, o.Offset, o.Member = base.Name, base.Offset, base.Member
	default:
		o.Offset = p.integer("an address")
	}
	if p.accept(",") {
		o.List = p.operands("]")
		return
	}
	p.expect("]")
}

func (p *parser) literal(o *Operand) {
	negative := p.accept("-")
	if p.tok.kind != tokenNumber {
		p.fail(p.tok.pos, "expected a number, found %s", p.tok)
		return
	}
	text := p.tok.text
	if err := parseLiteral(text, o); err != nil {
		p.fail(p.tok.pos, "%v", err)
		return
	}
	p.advance()
	if !negative {
		return
	}
	switch {
	case o.Kind == Integer:
		o.Bits = -o.Bits
	case o.Single:
		o.Bits ^= 1 << 31
	default:
		o.Bits ^= 1 << 63
	}
}

func parseLiteral(text string, o *Operand) error {
	switch {
	case strings.HasPrefix(text, "0f"), strings.HasPrefix(text, "0F"):
		v, err := strconv.ParseUint(text[2:], 16, 32)
		if err != nil || len(text) != 10 {
			return fmt.Errorf("%q is not 0f and eight hexadecimal digits", text)
		}
		o.Kind, o.Single, o.Bits = Float, true, v
	case strings.HasPrefix(text, "0d"), strings.HasPrefix(text, "0D"):
		v, err := strconv.ParseUint(text[2:], 16, 64)
		if err != nil || len(text) != 18 {
			return fmt.Errorf("%q is not 0d and sixteen hexadecimal digits", text)
		}
		o.Kind, o.Bits = Float, v
	case !strings.HasPrefix(text, "0x") && !strings.HasPrefix(text, "0X") && strings.ContainsAny(text, ".eE"):
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || strings.Contains(text, "_") {
			return fmt.Errorf("%q is not a number", text)
		}
		o.Kind, o.Bits = Float, math.Float64bits(v)
	default:
		v, err := parseInteger(text)
		if err != nil {
			return err
		}
		o.Kind, o.Bits = Integer, v
	}
	return nil
}

// parseInteger reads decimal, 0x, 0b and octal literals, with an optional U.
func parseInteger(text string) (uint64, error) {
	digits := strings.TrimRight(text, "uU")
	v, err := strconv.ParseUint(digits, 0, 64)
	if err != nil || len(text)-len(digits) > 1 || strings.ContainsAny(digits, "_oO") {
		return 0, fmt.Errorf("%q is not an integer of 64 bits", text)
	}
	return v, nil
}
