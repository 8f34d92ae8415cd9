package ptx

import (
	"fmt"
	"strings"
)

type tokenKind uint8

const (
	tokenEnd    tokenKind = iota
	tokenName             // opcode, register, variable: %r1, $L__BB0_2, add
	tokenDot              // text without its dot: global, L2::128B
	tokenNumber           // as written
	tokenString           // without its quotes
	tokenPunct            // one character
)

type token struct {
	kind tokenKind
	text string
	pos  Pos
}

func (t token) String() string {
	switch t.kind {
	case tokenEnd:
		return "the end of the file"
	case tokenDot:
		return fmt.Sprintf("%q", "."+t.text)
	}
	return fmt.Sprintf("%q", t.text)
}

// lexer cuts source into tokens, on demand.
type lexer struct {
	file      string
	src       string
	at        int
	line      int
	lineStart int
}

func (l *lexer) pos() Pos { return Pos{l.file, l.line, l.at - l.lineStart + 1} }

func isLetter(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c == '$' || c == '%'
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isWord(c byte) bool { return isLetter(c) && c != '%' || isDigit(c) }

func (l *lexer) peek(n int) byte {
	if l.at+n < len(l.src) {
		return l.src[l.at+n]
	}
	return 0
}

// space skips blanks, comments and preprocessor lines.
func (l *lexer) space() error {
	for l.at < len(l.src) {
		c := l.src[l.at]
		switch {
		case c == '\n':
			l.at++
			l.line++
			l.lineStart = l.at
		case c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v':
			l.at++
		case c == '/' && l.peek(1) == '/', c == '#' && l.at == l.lineStart:
			n := strings.IndexByte(l.src[l.at:], '\n')
			if n < 0 {
				n = len(l.src) - l.at
			}
			l.at += n
		case c == '/' && l.peek(1) == '*':
			start := l.pos()
			n := strings.Index(l.src[l.at+2:], "*/")
			if n < 0 {
				return &Error{start, "a comment is not closed"}
			}
			comment := l.src[l.at : l.at+2+n+2]
			if k := strings.LastIndexByte(comment, '\n'); k >= 0 {
				l.line += strings.Count(comment, "\n")
				l.lineStart = l.at + k + 1
			}
			l.at += len(comment)
		default:
			return nil
		}
	}
	return nil
}

func (l *lexer) next() (token, error) {
	if err := l.space(); err != nil {
		return token{}, err
	}
	t := token{pos: l.pos()}
	if l.at >= len(l.src) {
		return t, nil
	}
	start := l.at
	c := l.src[l.at]
	switch {
	case isLetter(c):
		l.at++
		l.words()
		t.kind, t.text = tokenName, l.src[start:l.at]
	case c == '.' && (isLetter(l.peek(1)) || isDigit(l.peek(1))):
		l.at++
		l.words()
		for l.peek(0) == ':' && l.peek(1) == ':' && isWord(l.peek(2)) {
			l.at += 2
			l.words()
		}
		t.kind, t.text = tokenDot, l.src[start+1:l.at]
	case isDigit(c):
		l.number()
		t.kind, t.text = tokenNumber, l.src[start:l.at]
	case c == '"':
		n := strings.IndexAny(l.src[l.at+1:], "\"\n")
		if n < 0 || l.src[l.at+1+n] == '\n' {
			return t, &Error{t.pos, "a string is not closed on its line"}
		}
		t.kind, t.text = tokenString, l.src[l.at+1:l.at+1+n]
		l.at += n + 2
	case c > ' ' && c < 0x7f:
		l.at++
		t.kind, t.text = tokenPunct, l.src[start:l.at]
	case c == 0 && strings.Trim(l.src[l.at:], "\x00") == "":
		// PTX is often handed over as a C string.
		l.at = len(l.src)
	default:
		return t, &Error{t.pos, fmt.Sprintf("unexpected byte %#x", c)}
	}
	return t, nil
}

func (l *lexer) words() {
	for l.at < len(l.src) && isWord(l.src[l.at]) {
		l.at++
	}
}

// number takes 12, 0x1F, 0b1, 017, 12U, 0f3F800000, 0d3FF0000000000000, 1.5e-3.
func (l *lexer) number() {
	start := l.at
	l.words()
	if len(l.src) > start+1 && l.src[start] == '0' && strings.IndexByte("xXfFdDbB", l.src[start+1]) >= 0 {
		return
	}
	if l.peek(0) == '.' && isDigit(l.peek(1)) {
		l.at++
		l.words()
	}
	if last := l.src[l.at-1]; (last == 'e' || last == 'E') && (l.peek(0) == '-' || l.peek(0) == '+') && isDigit(l.peek(1)) {
		l.at++
		l.words()
	}
}
