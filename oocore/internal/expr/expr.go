// Package expr reads expressions in text: Go's expression syntax over NumPy's
// names, with positional axes, given by number or by the name of a dimension.
//
//	tanh(sqrt(b)*2 + exp(-b))    mean(x, 0)    astype(x, "float16")
//	slice(x, "0:100, ::2")       transpose(x, 1, 0)    where(x > 0, x, 0)
//	mean(x, "time")              decode_cf(x)
//
// The operators are Go's, from || over comparison to unary - and !, with NumPy's
// meaning for arrays; / is true division. Numbers are weak, as Python's: they
// take the type of the array that they meet. pi, e, inf, nan, true and false
// are known where no array has their name.
package expr

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op"
	"github.com/gonbext/gonbext/oocore/internal/op/decompose"
)

// Error is an expression that cannot be read: its syntax, an unknown name, or a
// function's arguments. Shapes and types that do not fit are a *graph.Error.
type Error struct {
	Expr   string
	Column int // of the expression, in characters, from 1
	Reason string
}

func (e *Error) Error() string { return fmt.Sprintf("expression, column %d: %s", e.Column, e.Reason) }

// Bounds of what is read, so that no text exhausts the stack.
const (
	maxLength = 1 << 16
	maxDepth  = 1000
)

// Host computes what an expression needs while it is built.
type Host interface {
	// Integers are the elements of a small array of int64 that a shape depends on, as
	// that of what a mask selects does. op is the function that asks.
	Integers(op string, n *graph.Node) ([]int64, error)
	// Labels are the elements of labels of places, []int64 or []float64.
	Labels(n *graph.Node) (any, error)
	// Decompose runs an algorithm.
	Decompose(d op.Decomposition) (*op.Decomposed, error)
}

// Parse builds the expression over named arrays. Its time grows with the text,
// and nothing is computed but by host, without which functions that need it are
// rejected. The error is an *Error or a *graph.Error, or host's.
func Parse(src string, names map[string]*graph.Node, host Host) (*graph.Node, error) {
	return Read(src).Build(names, host)
}

// Text is an expression that was read, over names that have no arrays yet.
type Text struct {
	src  string
	tree ast.Expr
	err  error // why it cannot be read
}

// Read reads an expression.
func Read(src string) *Text { return readTokens(src, lex(src)) }

// String returns what was read.
func (t *Text) String() string { return t.src }

// Build builds the expression, as Parse does.
func (t *Text) Build(names map[string]*graph.Node, host Host) (*graph.Node, error) {
	if t.err != nil {
		return nil, t.err
	}
	p := &reader{src: t.src, names: names, site: graph.Caller(), host: host, renamed: map[*graph.Node]*graph.Node{}, parts: map[decompositionKey]*op.Decomposed{}}
	v, err := p.eval(t.tree, 0)
	if err != nil {
		return nil, err
	}
	return p.node(v, t.tree)
}

// Unused returns those of the names that the expression does not have, sorted; none of an
// expression that cannot be read.
func (t *Text) Unused(names []string) (unused []string) {
	if t.err != nil {
		return nil
	}
	used := map[string]bool{}
	ast.Inspect(t.tree, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			used[id.Name] = true
		}
		return true
	})
	for _, name := range names {
		if !used[name] {
			unused = append(unused, name)
		}
	}
	slices.Sort(unused)
	return unused
}

// reader turns a syntax tree into nodes.
type reader struct {
	src     string
	names   map[string]*graph.Node
	site    graph.Site
	host    Host
	renamed map[*graph.Node]*graph.Node         // sources under their names here
	parts   map[decompositionKey]*op.Decomposed // by what was asked for
}

func (p *reader) fail(at token.Pos, format string, args ...any) error {
	return failAt(p.src, int(at)-1, format, args...)
}

// failAt is an error at a byte offset of a text.
func failAt(src string, offset int, format string, args ...any) *Error {
	return &Error{src, utf8.RuneCountInString(src[:min(max(offset, 0), len(src))]) + 1, fmt.Sprintf(format, args...)}
}

// Words of Go's own that are functions here have stand-ins while the text is parsed. Those
// have as many bytes, so that columns stay right.
const (
	variance  = "v\u00aa"
	selection = "sele\u00aa"
)

// standIns are by Go's words.
var standIns = map[token.Token]string{token.VAR: variance, token.SELECT: selection}

// lexeme is a token of a text.
type lexeme struct {
	at  int
	tok token.Token // ILLEGAL: lit is the scanner's message
	lit string
}

// lex returns the tokens of a text, up to what is none. A text that is too long has none.
func lex(src string) (tokens []lexeme) {
	if len(src) > maxLength {
		return nil
	}
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(src))
	var bad *lexeme
	s.Init(file, []byte(inOneLine(src)), func(at token.Position, msg string) {
		if bad == nil {
			bad = &lexeme{at.Offset, token.ILLEGAL, msg}
		}
	}, scanner.ScanComments)
	for {
		at, tok, lit := s.Scan()
		if bad != nil {
			return append(tokens, *bad)
		}
		if tok == token.EOF {
			return tokens
		}
		if tok != token.SEMICOLON || lit == ";" { // others are the scanner's own, for the end
			tokens = append(tokens, lexeme{file.Offset(at), tok, lit})
		}
	}
}

// inOneLine has spaces for the ends of lines, which would end the expression.
func inOneLine(src string) string { return strings.NewReplacer("\n", " ", "\r", " ").Replace(src) }

// readTokens parses a text of tokens, and rejects what Go would read otherwise than its
// writer meant: a // that is Python's floor division.
func readTokens(src string, tokens []lexeme) *Text {
	t := &Text{src: src}
	if len(src) > maxLength {
		t.err = failAt(src, 0, "%d bytes of text are more than %d", len(src), maxLength)
		return t
	}
	if strings.TrimSpace(src) == "" {
		t.err = failAt(src, 0, "there is no expression")
		return t
	}
	readable := []byte(inOneLine(src))
	python := habits{src: src}
	for _, l := range tokens {
		if l.tok == token.ILLEGAL {
			t.err = failAt(src, l.at, "%s", scanned(l.lit))
			return t
		}
		if reason, from := python.token(l.at, l.tok, l.lit); reason != "" {
			t.err = failAt(src, from, "%s", reason)
			return t
		}
		copy(readable[l.at:], standIns[l.tok])
		if l.tok == token.COMMENT {
			t.err = failAt(src, l.at, "%s is not an operator: write floor_divide(a, b)", l.lit[:2])
			return t
		}
	}
	tree, err := parser.ParseExprFrom(token.NewFileSet(), "", readable, parser.SkipObjectResolution)
	if list, ok := err.(scanner.ErrorList); ok && len(list) > 0 {
		t.err = failAt(src, list[0].Pos.Offset, "%s", parsed(list[0].Msg))
		return t
	}
	if err != nil {
		t.err = failAt(src, 0, "%v", err)
		return t
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			for word, standIn := range standIns {
				if id.Name == standIn {
					id.Name = word.String()
				}
			}
		}
		return true
	})
	t.tree = tree
	return t
}

// scanned is the scanner's message for someone who knows Python.
func scanned(msg string) string {
	if strings.Contains(msg, "rune literal") {
		return `text stands in double quotes: "float16"`
	}
	if strings.Contains(msg, "'@'") {
		return "@ is not an operator: write matmul(a, b)"
	}
	return msg
}

// parsed is the parser's message without Go's statements.
func parsed(msg string) string {
	msg, _, _ = strings.Cut(msg, " (") // what Go would have liked
	msg = strings.Replace(msg, "expected 'EOF'", "expected an operator", 1)
	if strings.HasPrefix(msg, "missing ','") {
		return "expected ',' or ')'"
	}
	return strings.NewReplacer("'EOF'", "the end", variance, "var", selection, "select").Replace(msg)
}

// value is what a part of an expression stands for.
type value = op.Value

// node is a value as an array.
func (p *reader) node(v value, at ast.Expr) (*graph.Node, error) {
	switch {
	case v.Text != nil:
		return nil, p.fail(at.Pos(), "text %q stands where an array or a number has to", *v.Text)
	case v.Node != nil:
		return v.Node, nil
	}
	if i, ok := v.Number.(int64); ok {
		v.Number = int(i) // the weak type
	}
	return graph.Scalar(p.site, v.Number)
}

func (p *reader) eval(x ast.Expr, depth int) (value, error) {
	if depth++; depth > maxDepth {
		return value{}, p.fail(x.Pos(), "the expression is nested more than %d deep", maxDepth)
	}
	switch x := x.(type) {
	case *ast.ParenExpr:
		return p.eval(x.X, depth)
	case *ast.BasicLit:
		return p.literal(x)
	case *ast.Ident:
		return p.name(x)
	case *ast.UnaryExpr:
		return p.unary(x, depth)
	case *ast.BinaryExpr:
		return p.binary(x, depth)
	case *ast.CallExpr:
		return p.call(x, depth)
	case *ast.SelectorExpr:
		if x.Sel.Name == "T" {
			v, err := p.array(x.X, depth)
			if err != nil {
				return value{}, err
			}
			return result(graph.Transpose(p.site, v))
		}
		return value{}, p.fail(x.Sel.Pos(), "only .T may follow a point, not .%s: functions take the array as an argument", x.Sel.Name)
	case *ast.StarExpr:
		return value{}, p.fail(x.Star, "* and ** do not stand before an operand: a power is power(a, b)")
	case *ast.IndexExpr:
		if index, ok := x.Index.(*ast.BinaryExpr); ok && binaries[index.Op] != kernel.Invalid && binaries[index.Op].Row().Family != kernel.Arithmetic {
			return value{}, p.fail(x.Lbrack, "an index of bools is written mask(%s, %s)", p.text(x.X), p.text(index))
		}
		return value{}, p.fail(x.Lbrack, indexing)
	}
	return value{}, p.fail(x.Pos(), "this is not an expression over arrays")
}

func result(n *graph.Node, err error) (value, error) { return value{Node: n}, err }

// array evaluates to an array, which a number also is.
func (p *reader) array(x ast.Expr, depth int) (*graph.Node, error) {
	v, err := p.eval(x, depth)
	if err != nil {
		return nil, err
	}
	return p.node(v, x)
}

func (p *reader) literal(x *ast.BasicLit) (value, error) {
	var v value
	var err error
	switch x.Kind {
	case token.INT:
		v.Number, err = strconv.ParseInt(x.Value, 0, 64)
	case token.FLOAT:
		v.Number, err = op.Float(x.Value)
	case token.IMAG:
		var f float64
		f, err = op.Float(strings.TrimSuffix(x.Value, "i"))
		v.Number = complex(0, f)
	case token.STRING:
		var s string
		s, err = strconv.Unquote(x.Value)
		v.Text = &s
	default:
		return v, p.fail(x.Pos(), `text stands in double quotes: "float16"`)
	}
	if err != nil {
		return v, p.fail(x.Pos(), "%s is out of range", x.Value)
	}
	return v, nil
}

var constants = map[string]any{"pi": math.Pi, "e": math.E, "inf": math.Inf(1), "nan": math.NaN()}

func (p *reader) name(x *ast.Ident) (value, error) {
	if n, ok := p.names[x.Name]; ok {
		return value{Node: p.named(x.Name, n)}, nil
	}
	if c, ok := constants[x.Name]; ok {
		return value{Number: c}, nil
	}
	switch strings.ToLower(x.Name) {
	case "true", "false":
		return result(graph.Scalar(p.site, strings.EqualFold(x.Name, "true")))
	}
	if f, ok := functions()[x.Name]; ok {
		return value{}, p.fail(x.Pos(), "%s is a function: %s", x.Name, f.Usage)
	}
	return value{}, p.fail(x.Pos(), "the name %q is unknown%s", x.Name, nearest(x.Name, slices.Collect(maps.Keys(p.names))))
}

// named is a source under the name that the expression has for it, which is
// then that of titles. It shares its Stored with the original.
func (p *reader) named(name string, n *graph.Node) *graph.Node {
	if n.Kind != graph.Source {
		return n
	}
	out, ok := p.renamed[n]
	if !ok {
		c := *n
		c.Name = name
		out = &c
		p.renamed[n] = out
	}
	return out
}

var unaries = map[token.Token]kernel.Op{
	token.SUB: kernel.Negative, token.NOT: kernel.LogicalNot, token.XOR: kernel.Invert, token.TILDE: kernel.Invert,
}

func (p *reader) unary(x *ast.UnaryExpr, depth int) (value, error) {
	v, err := p.eval(x.X, depth)
	if err != nil {
		return value{}, err
	}
	if v.Number != nil {
		switch x.Op {
		case token.ADD:
			return v, nil
		case token.SUB:
			n, err := foldNumbers(token.SUB, int64(0), v.Number)
			if f, ok := v.Number.(float64); ok {
				n = -f // of zero, too
			}
			if err != nil {
				return value{}, p.fail(x.Pos(), "%v", err)
			}
			return value{Number: n}, nil
		}
	}
	n, err := p.node(v, x.X)
	if err != nil {
		return value{}, err
	}
	if x.Op == token.ADD {
		return value{Node: n}, nil
	}
	op, ok := unaries[x.Op]
	if !ok {
		return value{}, p.fail(x.Pos(), "%s does not stand before an operand", x.Op)
	}
	return result(graph.Apply(p.site, op, n))
}

var binaries = map[token.Token]kernel.Op{
	token.ADD: kernel.Add, token.SUB: kernel.Subtract, token.MUL: kernel.Multiply, token.QUO: kernel.Divide,
	token.REM: kernel.Remainder, token.AND: kernel.BitAnd, token.OR: kernel.BitOr, token.XOR: kernel.BitXor,
	token.SHL: kernel.LeftShift, token.SHR: kernel.RightShift,
	token.LAND: kernel.LogicalAnd, token.LOR: kernel.LogicalOr,
	token.EQL: kernel.Equal, token.NEQ: kernel.NotEqual, token.LSS: kernel.Less,
	token.LEQ: kernel.LessEqual, token.GTR: kernel.Greater, token.GEQ: kernel.GreaterEqual,
}

// binary evaluates operators from the left on, so that a sum of many terms is not nested.
func (p *reader) binary(x *ast.BinaryExpr, depth int) (value, error) {
	chain, first := []*ast.BinaryExpr{}, ast.Expr(x)
	for left, is := x, true; is; left, is = first.(*ast.BinaryExpr) {
		if _, ok := binaries[left.Op]; !ok {
			return value{}, p.fail(left.OpPos, "%s is not an operator on arrays", left.Op)
		}
		if star, ok := left.Y.(*ast.StarExpr); ok && left.Op == token.MUL {
			return value{}, p.fail(star.Star, "** is not an operator: write power(a, b)")
		}
		chain, first = append(chain, left), left.X
	}
	v, err := p.eval(first, depth)
	for _, x := range slices.Backward(chain) {
		if err == nil {
			v, err = p.operator(x, v, depth)
		}
	}
	return v, err
}

// operator applies an operator to the value of its left operand.
func (p *reader) operator(x *ast.BinaryExpr, a value, depth int) (value, error) {
	op := binaries[x.Op]
	b, err := p.eval(x.Y, depth)
	if err != nil {
		return value{}, err
	}
	if a.Number != nil && b.Number != nil {
		n, err := foldNumbers(x.Op, a.Number, b.Number)
		if err != nil {
			return value{}, p.fail(x.OpPos, "%v", err)
		}
		if n != nil {
			return value{Number: n}, nil
		}
	}
	left, err := p.node(a, x.X)
	if err != nil {
		return value{}, err
	}
	right, err := p.node(b, x.Y)
	if err != nil {
		return value{}, err
	}
	n, err := graph.Apply(p.site, op, left, right)
	var rejected *graph.Error
	if errors.As(err, &rejected) && (x.Op == token.AND || x.Op == token.OR || x.Op == token.XOR) && max(left.DType.Kind(), right.DType.Kind()) >= dtype.KindFloat {
		rejected.Err = fmt.Errorf("%w; %s binds tighter than comparisons: conditions are joined as (a > 0.5) && (a < 0.7)", rejected.Err, x.Op)
	}
	return result(n, err)
}

// text is what the expression's writer wrote of a part of it.
func (p *reader) text(x ast.Expr) string {
	return strings.TrimSpace(p.src[min(max(int(x.Pos())-1, 0), len(p.src)):min(max(int(x.End())-1, 0), len(p.src))])
}

// Decomposes reports whether the expression calls what runs an algorithm.
func (t *Text) Decomposes() (found bool) {
	if t.err != nil {
		return false
	}
	ast.Inspect(t.tree, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			id, named := call.Fun.(*ast.Ident)
			found = found || named && slices.ContainsFunc(decompose.Rows, func(r op.Row) bool { return r.Name == id.Name })
		}
		return true
	})
	return found
}

// decompositionKey tells apart what is decomposed in one expression. It holds the array,
// so that no other one is at its address.
type decompositionKey struct {
	x    *graph.Node
	rest string
}

func keyOf(d op.Decomposition) decompositionKey {
	x := d.X
	d.X, d.Site = nil, graph.Site{}
	return decompositionKey{x, fmt.Sprintf("%+v", d)}
}

// decomposed runs a decomposition, once for all its parts that an expression takes of one
// array: a named one, for what is computed is another at each place where it is written.
func (p *reader) decomposed(d op.Decomposition) (*op.Decomposed, error) {
	key := keyOf(d)
	if out := p.parts[key]; out != nil {
		return out, nil
	}
	out, err := p.host.Decompose(d)
	if err == nil {
		p.parts[key] = out
	}
	return out, err
}
