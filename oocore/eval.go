package oocore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/door"
	"github.com/gonbext/gonbext/oocore/internal/expr"
	"github.com/gonbext/gonbext/oocore/internal/graph"
)

// Names are the arrays of an expression in text.
type Names map[string]*Array

// Eval returns the array of an expression in text, in Go's expression syntax over NumPy's
// names with positional axes: Eval("tanh(x - mean(x, 0))", Names{"x": x}). An axis may be
// named where the first argument has dimension names: mean(x, "time").
func Eval(expression string, names Names) *Array {
	return EvalContext(context.Background(), expression, names)
}

// EvalContext is Eval for expressions that run something at once, within the context and
// the budget that the options say. Where a shape depends on values, as that of
// mask(x, x > 0) does, a pass over them counts. cp, tucker and hosvd decompose, in a
// program that imports oocore/decomp. Under PlanOnly an expression whose shape depends on values is
// rejected, and of a decomposition what follows its own passes is planned.
func EvalContext(ctx context.Context, expression string, names Names, opts ...Option) *Array {
	return evaluate(ctx, expr.Read(expression), names, opts)
}

func evaluate(ctx context.Context, expression *expr.Text, names Names, opts []Option) *Array {
	site := graph.Caller()
	nodes := make(map[string]*graph.Node, len(names))
	for _, name := range slices.Sorted(maps.Keys(names)) { // for the first error to be always the same
		n, err := names[name].expression()
		if door.IsMissing(err) {
			err = graph.Reject(site, "eval", fmt.Errorf("%s: %w", name, err))
		}
		if err != nil {
			return made(nil, err)
		}
		nodes[name] = n
	}
	n, err := expression.Build(nodes, &host{ctx, opts, func(opts []Option) error {
		s, err := applyOptions(opts)
		if err != nil {
			return err
		}
		whole := made(expression.Build(nodes, &host{ctx: ctx, opts: opts}))
		if s.target == nil {
			_, err = whole.Plan(s.SomeFile("result"), append(opts[:len(opts):len(opts)], unstored)...)
		} else {
			_, err = whole.Plan(*s.target, opts...)
		}
		return err
	}})
	if unreadable, ok := errors.AsType[*expr.Error](err); ok {
		err = graph.Reject(site, "eval", unreadable)
	}
	return made(n, err)
}

// Eval is EvalContext of an expression that was read.
func (internals) Eval(ctx context.Context, e *expr.Text, names Names, opts []Option) *Array {
	return evaluate(ctx, e, names, opts)
}
