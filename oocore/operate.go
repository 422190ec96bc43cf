package oocore

import (
	"context"

	"github.com/gonbext/gonbext/oocore/expr"
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/op"
)

// The methods and functions of rows: see package op.
//go:generate go run ./internal/methods

// operate returns the results of an operation's row, of an argument for each of its
// parameters, where nil is the default. compute is for rows that compute something at the call:
// it gives them what they run.
func operate(name string, compute func(build func(run op.Run) ([]*graph.Node, error)) ([]*graph.Node, error), args ...any) []*Array {
	o := expr.Operation(name)
	site := graph.Caller()
	nodes, err := func() ([]*graph.Node, error) {
		for i := range args {
			var err error
			if args[i], err = converted(site, o.Params[i], args[i]); err != nil {
				if _, earlier := err.(*Error); !earlier {
					err = &Error{Op: name, Site: site, Err: err}
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
	if err != nil {
		n := o.Results()
		if n < 0 { // the error, for each that there would be
			n = grid.MaxDims
		}
		out := make([]*Array, n)
		for i := range out {
			out[i] = &Array{err: err}
		}
		return out
	}
	out := make([]*Array, len(nodes))
	for i, n := range nodes {
		out[i] = made(n, nil)
	}
	return out
}

// converted is an argument of Go as one of a builder.
func converted(site graph.Site, p op.Param, arg any) (any, error) {
	switch p.Kind {
	case op.Array:
		if a, is := arg.(*Array); p.Optional && (arg == nil || is && a == nil) {
			return nil, nil
		}
		return operand(site, arg)
	case op.Arrays:
		var all []any
		switch list := arg.(type) {
		case []any:
			all = list
		case []*Array:
			all = anys(list)
		}
		nodes := make([]*graph.Node, len(all))
		for i, a := range all {
			var err error
			if nodes[i], err = operand(site, a); err != nil {
				return nil, err
			}
		}
		return nodes, nil
	}
	return arg, nil
}

// computed is operate for an operation whose shape follows from values: see counted.
func computed(ctx context.Context, opts []Option, name string, args ...any) []*Array {
	return operate(name, func(build func(run op.Run) ([]*graph.Node, error)) ([]*graph.Node, error) {
		return counted(ctx, name, opts, build)
	}, args...)
}

// call is operate for an operation with one result.
func call(name string, args ...any) *Array { return operate(name, nil, args...)[0] }
