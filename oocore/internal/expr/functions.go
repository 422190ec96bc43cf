package expr

import (
	"errors"
	"fmt"
	"go/ast"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/op"
	"github.com/gonbext/gonbext/oocore/internal/op/cf"
	"github.com/gonbext/gonbext/oocore/internal/op/contract"
	"github.com/gonbext/gonbext/oocore/internal/op/curve"
	"github.com/gonbext/gonbext/oocore/internal/op/decompose"
	"github.com/gonbext/gonbext/oocore/internal/op/edit"
	"github.com/gonbext/gonbext/oocore/internal/op/elements"
	"github.com/gonbext/gonbext/oocore/internal/op/fft"
	"github.com/gonbext/gonbext/oocore/internal/op/filter"
	"github.com/gonbext/gonbext/oocore/internal/op/group"
	"github.com/gonbext/gonbext/oocore/internal/op/index"
	"github.com/gonbext/gonbext/oocore/internal/op/label"
	"github.com/gonbext/gonbext/oocore/internal/op/linalg"
	"github.com/gonbext/gonbext/oocore/internal/op/nn"
	"github.com/gonbext/gonbext/oocore/internal/op/order"
	"github.com/gonbext/gonbext/oocore/internal/op/pad"
	"github.com/gonbext/gonbext/oocore/internal/op/quantize"
	"github.com/gonbext/gonbext/oocore/internal/op/random"
	"github.com/gonbext/gonbext/oocore/internal/op/regions"
	"github.com/gonbext/gonbext/oocore/internal/op/scan"
	"github.com/gonbext/gonbext/oocore/internal/op/shape"
	"github.com/gonbext/gonbext/oocore/internal/op/signal"
	"github.com/gonbext/gonbext/oocore/internal/op/stats"
	"github.com/gonbext/gonbext/oocore/internal/op/window"
)

// Functions lists what an expression can call, by name.
func Functions() []*op.Operation {
	return slices.SortedFunc(maps.Values(functions()), func(a, b *op.Operation) int { return strings.Compare(a.Name, b.Name) })
}

// Family is operations that belong together, under the title that documentation gives them.
type Family struct {
	Title string
	Rows  []op.Row
}

// Families are all operations, in the order of the documentation.
var Families = []Family{
	{"Functions of each element", slices.Concat(elements.Rows, cf.Rows)},
	{"Reductions and statistics", slices.Concat(stats.Rows, group.Rows)},
	{"Products and linear algebra", slices.Concat(contract.Rows, linalg.Rows, decompose.Rows)},
	{"Shape, order of axes and joins", slices.Concat(shape.Rows, pad.Rows, edit.Rows)},
	{"Selection by index, condition and label", slices.Concat(index.Rows, label.Rows)},
	{"Sorting, searching and sets", order.Rows},
	{"Along an axis: sums, differences, windows", slices.Concat(scan.Rows, window.Rows, curve.Rows)},
	{"Random numbers", random.Rows},
	{"Quantization", quantize.Rows},
	{"Transforms, filters and networks", slices.Concat(fft.Rows, filter.Rows, signal.Rows, regions.Rows, nn.Rows)},
}

// functions is all that Parse knows of names that are called. Rows are read at the first use:
// most programs call no expression.
var functions = sync.OnceValue(func() map[string]*op.Operation {
	var rows []op.Row
	for _, f := range Families {
		rows = append(rows, f.Rows...)
	}
	all, err := op.Read(rows...)
	if err != nil {
		panic(err)
	}
	return all
})

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
	f, ok := functions()[id.Name]
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
	c := &op.Call{Operation: f, Site: p.site, Values: make([]value, n), Fail: func(at int, format string, args ...any) error {
		return p.fail(x.Args[at].Pos(), format, args...)
	}}
	for i, arg := range x.Args {
		var err error
		if c.Values[i], err = p.eval(arg, depth); err != nil {
			return value{}, err
		}
	}
	if f.Name == "near" {
		return value{Number: op.Near(c.Values[0])}, nil
	}
	if p.host != nil {
		c.Labels = p.host.Labels
		c.Run = func(n *graph.Node) ([]int64, error) { return p.host.Integers(f.Name, n) }
		c.Decompose = p.decomposed
	}
	nameAxes(c)
	values := c.Values // all of them, of which a builder may take some away
	out, err := c.Build()
	explainNames(err, c, values)
	var rejected *graph.Error
	if errors.As(err, &rejected) && takesAxes(f) && rejected.Op == f.Name && strings.Contains(rejected.Err.Error(), "out of bounds for") {
		rejected.Err = fmt.Errorf("%w; the arguments are %s", rejected.Err, f.Usage) // one may have been meant for another
	}
	return result(out, err)
}
