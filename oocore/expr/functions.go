package expr

import (
	"errors"
	"fmt"
	"go/ast"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/op"
	"github.com/gonbext/gonbext/oocore/op/cf"
	"github.com/gonbext/gonbext/oocore/op/contract"
	"github.com/gonbext/gonbext/oocore/op/edit"
	"github.com/gonbext/gonbext/oocore/op/elements"
	"github.com/gonbext/gonbext/oocore/op/fft"
	"github.com/gonbext/gonbext/oocore/op/filter"
	"github.com/gonbext/gonbext/oocore/op/linalg"
	"github.com/gonbext/gonbext/oocore/op/nn"
	"github.com/gonbext/gonbext/oocore/op/order"
	"github.com/gonbext/gonbext/oocore/op/quantize"
	"github.com/gonbext/gonbext/oocore/op/random"
	"github.com/gonbext/gonbext/oocore/op/scan"
	"github.com/gonbext/gonbext/oocore/op/shape"
	"github.com/gonbext/gonbext/oocore/op/stats"
	"github.com/gonbext/gonbext/oocore/op/window"
)

// Functions lists what an expression can call, by name.
func Functions() []*op.Operation {
	for name, o := range functions {
		if o.Row.Build != nil {
			continue
		}
		if o.Alias != "" {
			name = o.Alias
		}
		o.NumPy, o.Passes, o.Holds = docs[name].NumPy, docs[name].Passes, docs[name].Working
	}
	return slices.SortedFunc(maps.Values(functions), func(a, b *op.Operation) int { return strings.Compare(a.Name, b.Name) })
}

// Operation returns the operation of a name; nil where there is none.
func Operation(name string) *op.Operation { return functions[name] }

// rows are those of all families.
var rows = slices.Concat(
	cf.Rows, contract.Rows, elements.Rows, fft.Rows, filter.Rows, linalg.Rows, nn.Rows, order.Rows, quantize.Rows, random.Rows, scan.Rows, shape.Rows, edit.Rows, stats.Rows, window.Rows,
)

// functions is all that Parse knows of names that are called.
var functions = func() map[string]*op.Operation {
	all, err := op.Read(rows...)
	if err != nil {
		panic(err)
	}
	return all
}()

// legacy are functions that read their arguments here.
var legacy = map[string]func(c *call) (*graph.Node, error){}

// define adds a function by its usage.
func define(usage string, min, max int, f func(c *call) (*graph.Node, error)) {
	name, _, _ := strings.Cut(usage, "(")
	functions[name], legacy[name] = &op.Operation{Name: name, Usage: usage, Least: min, Most: max}, f
}

// onArray is a function of an array and integers.
func onArray(f func(c *call, x *graph.Node, ints []int) (*graph.Node, error)) func(c *call) (*graph.Node, error) {
	return func(c *call) (*graph.Node, error) {
		x, err := c.arrays(1)
		if err != nil {
			return nil, err
		}
		ints, err := c.ints(1)
		if err != nil {
			return nil, err
		}
		return f(c, x[0], ints)
	}
}

// call is a function with the arguments of one call.
type call struct {
	*reader
	f      *op.Operation
	args   []ast.Expr
	values []value
}

func (p *reader) call(x *ast.CallExpr, depth int) (value, error) {
	id, ok := x.Fun.(*ast.Ident)
	if method, is := x.Fun.(*ast.SelectorExpr); is {
		arguments := make([]string, len(x.Args))
		for i, a := range x.Args {
			arguments[i] = p.text(a)
		}
		if root, is := method.X.(*ast.Ident); !is || p.names[root.Name] != nil { // not np or numpy
			arguments = append([]string{p.text(method.X)}, arguments...)
		}
		return value{}, p.fail(x.Fun.Pos(), "functions are called by name alone: write %s(%s)", method.Sel.Name, strings.Join(arguments, ", "))
	}
	if !ok {
		return value{}, p.fail(x.Fun.Pos(), "functions are called by name alone: sqrt(x)")
	}
	f, ok := functions[id.Name]
	if !ok {
		if _, array := p.names[id.Name]; array {
			return value{}, p.fail(id.Pos(), `%s is an array and cannot be called: a part of it is slice(%s, "0:100")`, id.Name, id.Name)
		}
		return value{}, p.fail(id.Pos(), "the function %q is unknown%s", id.Name, nearestFunction(id.Name))
	}
	n := len(x.Args)
	if n < f.Least || f.Most >= 0 && n > f.Most || x.Ellipsis.IsValid() {
		return value{}, p.fail(id.Pos(), "%s does not take %d arguments: %s", id.Name, n, f.Usage)
	}
	c := &call{reader: p, f: f, args: x.Args, values: make([]value, n)}
	for i, arg := range x.Args {
		var err error
		if c.values[i], err = p.eval(arg, depth); err != nil {
			return value{}, err
		}
	}
	c.nameAxes()
	out, err := c.build()
	c.explainNames(err)
	var rejected *graph.Error
	if errors.As(err, &rejected) && strings.Contains(f.Usage, "ax") && rejected.Op == f.Name && strings.Contains(rejected.Err.Error(), "out of bounds for") {
		rejected.Err = fmt.Errorf("%w; the arguments are %s", rejected.Err, f.Usage) // one may have been meant for another
	}
	return result(out, err)
}

// build makes the node of a call.
func (c *call) build() (*graph.Node, error) {
	if f := legacy[c.f.Name]; f != nil {
		return f(c)
	}
	of := &op.Call{Operation: c.f, Site: c.site, Values: c.values, Names: c.dimNames(), Fail: func(at int, format string, args ...any) error {
		return c.fail(c.args[at].Pos(), format, args...)
	}}
	if c.host != nil {
		of.Run = func(n *graph.Node) ([]int64, error) { return c.host.Integers(c.f.Name, n) }
	}
	return of.Build()
}

// arrays are the first n arguments.
func (c *call) arrays(n int) ([]*graph.Node, error) {
	in := make([]*graph.Node, n)
	for i := range in {
		var err error
		if in[i], err = c.node(c.values[i], c.args[i]); err != nil {
			return nil, err
		}
	}
	return in, nil
}

// ints are the arguments from a place on.
func (c *call) ints(from int) ([]int, error) {
	var out []int
	for i := from; i < len(c.values); i++ {
		n, ok := c.values[i].Number.(int64)
		if !ok {
			return nil, c.fail(c.args[i].Pos(), "%s takes an integer here: %s", c.f.Name, c.f.Usage)
		}
		out = append(out, int(n))
	}
	return out, nil
}

// float is the argument at a place.
func (c *call) float(at int) (float64, error) {
	switch n := c.values[at].Number.(type) {
	case int64:
		return float64(n), nil
	case float64:
		return n, nil
	}
	return 0, c.fail(c.args[at].Pos(), "%s takes a real number here: %s", c.f.Name, c.f.Usage)
}

// text is that of an argument; "" where it is none.
func text(v value) string {
	if v.Text == nil {
		return ""
	}
	return *v.Text
}

// option takes a word from the end of the arguments, and reports whether it stood there.
func (c *call) option(word string) bool {
	last := len(c.values) - 1
	if last == 0 || c.values[last].Text == nil || *c.values[last].Text != word {
		return false
	}
	c.values = c.values[:last]
	return true
}

// list is integers in the text of an argument, between commas.
func (c *call) list(at int, text string) (all []int, err error) {
	for field := range strings.SplitSeq(text, ",") {
		field = strings.TrimSpace(field)
		n, err := strconv.Atoi(field)
		if c.values[0].Node != nil && err != nil {
			if n = slices.Index(c.dimNames(), field); n >= 0 {
				err = nil
			}
		}
		if err != nil {
			return nil, c.fail(c.args[at].Pos(), "%s takes integers here, such as %q: %s", c.f.Name, "2, 3", c.f.Usage)
		}
		all = append(all, n)
	}
	return all, nil
}
