package lazy

import (
	"github.com/gonbext/gonbext/oocore/internal/expr"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/op"
)

// Operate returns the results of an operation's row, of an argument for each of its
// parameters, where nil is the default.
func Operate[T any, A Array[T]](name string, args ...any) []A { return Computed[T, A](name, nil, args) }

// Computed is Operate; compute gives rows that compute something at the call what they run.
func Computed[T any, A Array[T]](name string, compute func(build func(run op.Run) ([]*graph.Node, error)) ([]*graph.Node, error), args []any) []A {
	o := expr.Operation(name)
	site := graph.Caller()
	nodes, err := func() ([]*graph.Node, error) {
		for i := range args {
			var err error
			if args[i], err = converted[T, A](site, o.Params[i], args[i]); err != nil {
				if _, earlier := err.(*graph.Error); !earlier {
					err = &graph.Error{Op: name, Site: site, Err: err}
				}
				return nil, err
			}
		}
		build := func(run op.Run) ([]*graph.Node, error) { return o.Build(site, run, args) }
		if compute == nil {
			return build(nil)
		}
		return compute(build)
	}()
	n := o.Results()
	if n < 0 { // the error, for each that there would be
		n = grid.MaxDims
	}
	return All[T, A](n, nodes, err)
}

// converted is an argument of Go as one of a builder.
func converted[T any, A Array[T]](site graph.Site, p op.Param, arg any) (any, error) {
	if err, is := arg.(error); is {
		return nil, err
	}
	switch p.Kind {
	case op.Array:
		if a, is := arg.(A); p.Optional && (arg == nil || is && a == nil) {
			return nil, nil
		}
		return Operand[T, A](site, arg)
	case op.Arrays:
		list, _ := arg.([]any)
		if arrays, is := arg.([]A); is {
			for _, a := range arrays {
				list = append(list, a)
			}
		}
		nodes := make([]*graph.Node, len(list))
		for i, a := range list {
			var err error
			if nodes[i], err = Operand[T, A](site, a); err != nil {
				return nil, err
			}
		}
		return nodes, nil
	}
	return arg, nil
}
