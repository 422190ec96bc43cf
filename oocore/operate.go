package oocore

import (
	"context"
	"fmt"

	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/lazy"
	"github.com/gonbext/gonbext/oocore/internal/op"
)

// The methods and functions of rows: see package op.
//go:generate go run ./internal/methods

// operate returns the results of an operation's row, of an argument for each of its
// parameters, where nil is the default.
func operate(name string, args ...any) []*Array { return lazy.Operate[Array](name, args...) }

// computed is operate for an operation whose shape follows from values: see counted.
func computed(ctx context.Context, opts []Option, name string, args ...any) []*Array {
	return lazy.Computed[Array](name, func(build func(run op.Run) ([]*graph.Node, error)) ([]*graph.Node, error) {
		return counted(ctx, name, opts, build)
	}, args)
}

// one is the value of a parameter that may be left out, or an error for several.
func one[T any](values []T, otherwise T) any {
	if len(values) > 1 {
		return fmt.Errorf("takes one value as its last argument, or none, not %d", len(values))
	}
	return append(values, otherwise)[0]
}
