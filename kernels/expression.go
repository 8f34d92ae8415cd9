package kernels

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"
)

// scope names the variables that an expression may use.
type scope map[string]any

func newScope(names ...string) scope {
	s := scope{}
	for _, n := range names {
		s[n] = 0
	}
	return s
}

func (s scope) names() []string {
	return append(slices.Sorted(maps.Keys(s)), helperNames...)
}

// expression is compiled and type-checked; text is kept for messages.
type expression struct {
	text    string
	program *vm.Program
}

// helperNames are the functions of the expression language beside its
// operators. All of them work on whole numbers.
var helperNames = []string{"div", "ceildiv", "roundup", "pow2", "min", "max"}

func binary(name string, f func(a, b int) (int, error)) expr.Option {
	return expr.Function(name, func(p ...any) (any, error) {
		return f(p[0].(int), p[1].(int))
	}, new(func(int, int) int))
}

func helpers() []expr.Option {
	return []expr.Option{
		expr.DisableAllBuiltins(),
		binary("add", add),
		binary("sub", sub),
		binary("mul", mul),
		binary("div", div),
		binary("ceildiv", ceildiv),
		binary("roundup", func(a, b int) (int, error) {
			n, err := ceildiv(a, b)
			if err != nil {
				return 0, err
			}
			return mul(n, b)
		}),
		binary("min", func(a, b int) (int, error) { return min(a, b), nil }),
		binary("max", func(a, b int) (int, error) { return max(a, b), nil }),
		expr.Function("pow2", func(p ...any) (any, error) {
			if p[0].(int) > 1<<62 {
				return 0, errOverflow
			}
			n := 1
			for n < p[0].(int) {
				n *= 2
			}
			return n, nil
		}, new(func(int) int)),
	}
}

// wholeNumber compiles an integer expression: "/" is integer division, as in C.
func wholeNumber(text string, s scope) (expression, error) {
	return compileWhole(text, s, expr.AsInt())
}

// realNumber compiles a floating-point expression: "/" divides as float64.
func realNumber(text string, s scope) (expression, error) {
	if strings.TrimSpace(text) == "" {
		return expression{}, errors.New("the expression is empty")
	}
	return compile(text, s, expr.AsFloat64())
}

// condition compiles a boolean expression over whole numbers.
func condition(text string, s scope) (expression, error) {
	return compileWhole(text, s, expr.AsBool())
}

// compileWhole compiles an expression in which every number is whole.
//
// The library's own way to give "/" another meaning, expr.Operator, makes its
// checker pass over unknown names inside function calls. So "/" becomes a call
// of div in the text, before the library sees it; and "+", "-" and "*", which
// would wrap around, become calls that do not.
func compileWhole(text string, s scope, result expr.Option) (expression, error) {
	if strings.TrimSpace(text) == "" {
		return expression{}, errors.New("the expression is empty")
	}
	tree, err := parser.Parse(text)
	if err != nil {
		return expression{}, describe(err, s)
	}
	v := &wholeNumbers{}
	ast.Walk(&tree.Node, v)
	if v.fraction != "" {
		return expression{}, fmt.Errorf("%s gives a fraction where a whole number is needed", v.fraction)
	}
	e, err := compile(tree.Node.String(), s, result)
	e.text = text
	return e, err
}

func compile(text string, s scope, result expr.Option) (expression, error) {
	options := append(helpers(), expr.Env(map[string]any(s)), result, expr.WarnOnAny())
	program, err := expr.Compile(text, options...)
	if err != nil {
		return expression{}, describe(err, s)
	}
	return expression{text, program}, nil
}

// describe makes one line of an error of the expression compiler.
func describe(err error, s scope) error {
	message, _, _ := strings.Cut(err.Error(), "\n")
	var located *file.Error
	if errors.As(err, &located) {
		message = located.Message
	}
	if name, ok := strings.CutPrefix(message, "unknown name "); ok {
		return fmt.Errorf("%s%s", message, suggest(name, s.names()))
	}
	return errors.New(message)
}

// wholeCalls are the functions that take the place of operators.
var wholeCalls = map[string]string{"+": "add", "-": "sub", "*": "mul", "/": "div"}

// wholeNumbers puts wholeCalls in place and finds numbers and operators that
// are not of whole numbers; the library would cut their result to one silently.
type wholeNumbers struct{ fraction string }

func (v *wholeNumbers) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.FloatNode:
		v.fraction = n.String()
	case *ast.BinaryNode:
		switch n.Operator {
		case "**", "^":
			v.fraction = n.Operator
		case "+", "-", "*", "/":
			ast.Patch(node, &ast.CallNode{
				Callee:    &ast.IdentifierNode{Value: wholeCalls[n.Operator]},
				Arguments: []ast.Node{n.Left, n.Right},
			})
		}
	}
}

func (e expression) integer(env scope) (int, error) {
	v, err := e.run(env)
	if err != nil {
		return 0, err
	}
	return v.(int), nil
}

func (e expression) real(env scope) (float64, error) {
	v, err := e.run(env)
	if err != nil {
		return 0, err
	}
	return v.(float64), nil
}

func (e expression) holds(env scope) (bool, error) {
	v, err := e.run(env)
	if err != nil {
		return false, err
	}
	return v.(bool), nil
}

func (e expression) run(env scope) (any, error) {
	v, err := expr.Run(e.program, map[string]any(env))
	if err != nil {
		message, _, _ := strings.Cut(err.Error(), "\n")
		return nil, fmt.Errorf("%q: %s", e.text, message)
	}
	return v, nil
}
