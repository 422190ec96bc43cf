package expr

import (
	"errors"
	"fmt"
	"go/ast"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/kernel"
	"github.com/gonbext/gonbext/oocore/op"
	"github.com/gonbext/gonbext/oocore/op/elements"
	"github.com/gonbext/gonbext/oocore/op/scan"
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
var rows = slices.Concat(scan.Rows)

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

// aliases are NumPy's other names of some operations.
var aliases = map[string]string{
	"absolute": "abs", "conj": "conjugate", "pow": "power", "mod": "remainder", "true_divide": "divide",
	"acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh", "atan": "arctan",
	"atanh": "arctanh", "atan2": "arctan2", "bitwise_invert": "invert", "permute_dims": "transpose",
	"bitwise_left_shift": "left_shift", "bitwise_right_shift": "right_shift",
}

func init() {
	for op := kernel.Add; op <= kernel.Where; op++ {
		usage := "(x)"
		switch op.Arity() {
		case 2:
			usage = "(a, b)"
		case 3:
			usage = "(condition, x, y)"
		}
		most := op.Arity()
		if op.Result(dtype.Float64) == dtype.Float64 && op != kernel.Where {
			usage, most = strings.TrimSuffix(usage, ")")+`, "dtype=float32")`, most+1
		}
		define(op.String()+usage, op.Arity(), most, func(c *call) (*graph.Node, error) {
			in, err := c.arrays(op.Arity())
			if err != nil {
				return nil, err
			}
			if len(c.values) > len(in) {
				return c.applyIn(op, in)
			}
			return applied(c.site, op, in...)
		})
	}
	for kind := kernel.Sum; kind <= kernel.CountNonzero; kind++ {
		usage, most := `(x, axes..., where, "dtype=float32", "keepdims", "axis=()")`, -1
		switch kind {
		case kernel.ArgMin, kernel.ArgMax:
			usage, most = `(x, axis, "keepdims")`, 3
		case kernel.Var, kernel.Std:
			usage = `(x, axes..., where, "ddof=1", "dtype=float32", "keepdims", "axis=()")`
		case kernel.Sum, kernel.Prod:
			usage = `(x, axes..., where, "initial=0", "dtype=float32", "keepdims", "axis=()")`
		case kernel.Min, kernel.Max:
			usage = `(x, axes..., where, "initial=0", "keepdims", "axis=()")`
		case kernel.Any, kernel.All, kernel.CountNonzero:
			usage = `(x, axes..., where, "keepdims", "axis=()")`
		}
		define(kind.String()+usage, 1, most, func(c *call) (*graph.Node, error) {
			in, err := c.arrays(1)
			if err != nil {
				return nil, err
			}
			o, err := c.reduction()
			if err != nil {
				return nil, err
			}
			return graph.Aggregate(c.site, kind, in[0], o)
		})
	}
	define("transpose(x, axes...)", 1, -1, onArray(func(c *call, x *graph.Node, axes []int) (*graph.Node, error) {
		return graph.Transpose(c.site, x, axes...)
	}))
	define("reshape(x, lengths...)", 1, -1, onArray(func(c *call, x *graph.Node, shape []int) (*graph.Node, error) {
		return graph.Reshape(c.site, x, shape...)
	}))
	define("broadcast_to(x, lengths...)", 1, -1, onArray(func(c *call, x *graph.Node, shape []int) (*graph.Node, error) {
		return graph.BroadcastTo(c.site, x, shape...)
	}))
	define("expand_dims(x, axes...)", 2, -1, onArray(func(c *call, x *graph.Node, axes []int) (*graph.Node, error) {
		return graph.ExpandDims(c.site, x, axes...)
	}))
	define("squeeze(x, axes...)", 1, -1, onArray(func(c *call, x *graph.Node, axes []int) (*graph.Node, error) {
		return graph.Squeeze(c.site, x, axes...)
	}))
	define("round(x, decimals)", 1, 2, onArray(func(c *call, x *graph.Node, decimals []int) (*graph.Node, error) {
		return elements.Round(c.site, x, append(decimals, 0)[0])
	}))
	define(`matmul(a, b, "int32")`, 2, 3, func(c *call) (*graph.Node, error) {
		in, err := c.arrays(2)
		if err != nil {
			return nil, err
		}
		if len(c.values) == 2 {
			return graph.Product(c.site, in[0], in[1])
		}
		if c.values[2].Text == nil {
			return nil, c.fail(c.args[2].Pos(), "matmul takes the type of its result in double quotes here: %s", c.f.Usage)
		}
		t, err := dtype.Parse(*c.values[2].Text)
		if err != nil {
			return nil, c.fail(c.args[2].Pos(), "%v", err)
		}
		return graph.ProductAs(c.site, in[0], in[1], t)
	})
	define("clip(x, low, high)", 3, 3, func(c *call) (*graph.Node, error) {
		in, err := c.arrays(3)
		if err != nil {
			return nil, err
		}
		return graph.Clip(c.site, in[0], in[1], in[2])
	})
	define(`astype(x, "float16")`, 2, 2, withText(func(c *call, x *graph.Node, name string) (*graph.Node, error) {
		t, err := dtype.Parse(name)
		if err != nil {
			return nil, c.fail(c.args[1].Pos(), "%v", err)
		}
		return graph.AsType(c.site, x, t)
	}))
	define(`slice(x, "0:100, ::2")`, 2, 2, withText(func(c *call, x *graph.Node, spec string) (*graph.Node, error) {
		return graph.Slice(c.site, x, spec)
	}))
	defineLeaves()
	for name, of := range aliases {
		alias(name, of)
	}
}

// defineLeaves adds the arrays that come from no file.
func defineLeaves() {
	define(`arange(start, stop, step, "dtype=float32")`, 1, 4, func(c *call) (*graph.Node, error) {
		as, err := c.dtypeOption()
		if err != nil {
			return nil, err
		}
		in, err := c.arrays(len(c.values))
		if err != nil {
			return nil, err
		}
		zero, err := graph.Scalar(c.site, 0)
		if err != nil {
			return nil, err
		}
		one, err := graph.Scalar(c.site, 1)
		if err != nil {
			return nil, err
		}
		switch len(in) {
		case 0, 4:
			return nil, c.fail(c.args[0].Pos(), "arange takes one, two or three numbers: %s", c.f.Usage)
		case 1:
			in = []*graph.Node{zero, in[0], one}
		case 2:
			in = append(in, one)
		}
		return graph.Arange(c.site, in[0], in[1], in[2], as...)
	})
	define(`linspace(start, stop, count, "endpoint=false")`, 3, 4, func(c *call) (*graph.Node, error) {
		open := c.option("endpoint=false")
		count, err := c.ints(2)
		if err != nil {
			return nil, err
		}
		if len(count) != 1 {
			return nil, c.fail(c.args[2].Pos(), "linspace takes a count here: %s", c.f.Usage)
		}
		if open && count[0] >= 0 { // one step more, of which the last is left out
			count[0]++
		}
		var out *graph.Node
		if c.values[0].Node != nil || c.values[1].Node != nil {
			ends, err := c.arrays(2)
			if err != nil {
				return nil, err
			}
			out, err = elements.Linspace(c.site, ends[0], ends[1], count[0])
			if err != nil {
				return nil, err
			}
		} else {
			start, err := c.float(0)
			if err != nil {
				return nil, err
			}
			stop, err := c.float(1)
			if err != nil {
				return nil, err
			}
			if out, err = graph.Linspace(c.site, start, stop, count[0]); err != nil {
				return nil, err
			}
		}
		if !open {
			return out, nil
		}
		return graph.Slice(c.site, out, ":-1")
	})
	define("full(value, lengths...)", 1, -1, onArray(func(c *call, x *graph.Node, shape []int) (*graph.Node, error) {
		if x.Kind != graph.Constant && len(x.Shape) == 0 {
			return graph.BroadcastTo(c.site, x, shape...)
		}
		if x.Kind != graph.Constant {
			return nil, c.fail(c.args[0].Pos(), "the value of full is a number, or an array without axes")
		}
		return graph.Full(c.site, x.Value, shape...)
	}))
	define("zeros(lengths...)", 0, -1, filled(0))
	define("ones(lengths...)", 0, -1, filled(1))
	define("random(seed, lengths...)", 1, -1, func(c *call) (*graph.Node, error) {
		n, err := c.ints(0)
		if err != nil {
			return nil, err
		}
		if n[0] < 0 {
			return nil, c.fail(c.args[0].Pos(), "a seed is not negative")
		}
		return graph.Uniform(c.site, dtype.Float64, uint64(n[0]), n[1:]...)
	})
}

// filled is a function of lengths that makes an array of one float64.
func filled(value float64) func(c *call) (*graph.Node, error) {
	return func(c *call) (*graph.Node, error) {
		shape, err := c.ints(0)
		if err != nil {
			return nil, err
		}
		return graph.Full(c.site, dtype.FromFloat(dtype.Float64, value), shape...)
	}
}

// applied is an operation on operands that the user gives.
func applied(site graph.Site, op kernel.Op, in ...*graph.Node) (*graph.Node, error) {
	if op == kernel.Power {
		return elements.Power(site, in[0], in[1])
	}
	return graph.Apply(site, op, in...)
}

// dtypeOption takes "dtype=float32" from the end of the arguments, where it stands there.
func (c *call) dtypeOption() ([]dtype.Type, error) {
	last := len(c.values) - 1
	text := c.values[last].Text
	if text == nil {
		return nil, nil
	}
	name, is := strings.CutPrefix(*text, "dtype=")
	if !is {
		return nil, c.fail(c.args[last].Pos(), "%s does not take %q: %s", c.f.Name, *text, c.f.Usage)
	}
	t, err := dtype.Parse(name)
	if err != nil {
		return nil, c.fail(c.args[last].Pos(), "%v", err)
	}
	c.values = c.values[:last]
	return []dtype.Type{t}, nil
}

// applyIn applies an operation in the type that the last argument names, NumPy's dtype of
// universal functions: operands are brought to it, and the result has it.
func (c *call) applyIn(op kernel.Op, in []*graph.Node) (*graph.Node, error) {
	at := c.args[len(in)].Pos()
	as, err := c.dtypeOption()
	if err != nil {
		return nil, err
	}
	if len(as) == 0 {
		return nil, c.fail(at, "%s does not take %d arguments: %s", c.f.Name, len(in)+1, c.f.Usage)
	}
	t := as[0]
	for i, n := range in {
		from, to := n.DType.Kind(), t.Kind()
		if from > to && !(from == dtype.KindInt && to == dtype.KindUint && n.Weak) {
			return nil, c.fail(at, "%s of %s is not computed in %s, which cannot hold it: astype says so of an operand", c.f.Name, n.DType, t)
		}
		if n.Weak {
			if _, err := n.Value.Weaken(t); err != nil {
				return nil, c.fail(c.args[i].Pos(), "%v", err)
			}
		}
		if in[i], err = graph.AsType(c.site, n, t); err != nil {
			return nil, err
		}
	}
	out, err := applied(c.site, op, in...)
	if err == nil && out.DType != t {
		return nil, c.fail(at, "%s of %s gives %s, not %s", c.f.Name, t, out.DType, t)
	}
	return out, err
}

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

// withText is a function of an array and a text.
func withText(f func(c *call, x *graph.Node, text string) (*graph.Node, error)) func(c *call) (*graph.Node, error) {
	return func(c *call) (*graph.Node, error) {
		x, err := c.arrays(1)
		if err != nil {
			return nil, err
		}
		if c.values[1].Text == nil {
			return nil, c.fail(c.args[1].Pos(), "%s takes text in double quotes: %s", c.f.Name, c.f.Usage)
		}
		return f(c, x[0], *c.values[1].Text)
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

// reduction are the arguments of a reduction after its array: axes, then bools that say
// which elements to include, then options in text.
func (c *call) reduction() (o graph.ReduceOptions, err error) {
	words := len(c.values)
	for words > 1 && c.values[words-1].Text != nil {
		words--
		switch word, is, valued := strings.Cut(*c.values[words].Text, "="); word {
		case "keepdims":
			if o.KeepDims = true; valued {
				err = errors.New("")
			}
		case "axis":
			if o.NoAxes = true; is != "()" {
				err = errors.New("")
			}
		case "ddof":
			o.DDof, err = strconv.ParseFloat(is, 64)
		case "initial":
			o.Initial, err = number(is)
		case "dtype":
			o.DType, err = dtype.Parse(is)
		default:
			err = errors.New("")
		}
		if err != nil {
			return o, c.fail(c.args[words].Pos(), "%s does not take %q: %s", c.f.Name, *c.values[words].Text, c.f.Usage)
		}
	}
	if where := c.values[words-1].Node; words > 1 && where != nil && where.DType == dtype.Bool {
		o.Where = where
		words--
	}
	of := *c
	of.values = c.values[:words]
	o.Axes, err = of.ints(1)
	return o, err
}

// number is a whole number or a float in text.
func number(text string) (any, error) {
	if n, err := strconv.Atoi(text); err == nil {
		return n, nil
	}
	if n, err := strconv.ParseUint(text, 10, 64); err == nil {
		return n, nil
	}
	return op.Float(text)
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
