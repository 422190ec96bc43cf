package oocore

import (
	"context"

	"github.com/gonbext/gonbext/oocore/internal/door"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/op"
)

// The methods and functions of rows: see package op.
//go:generate go run ./internal/methods

func called(op string) door.Call[Array, *Array] { return door.Called[Array](op) }

func moving(op string) door.Call[Array, *Array] { return door.Moving[Array](op) }

// results are those of an operation whose shape follows from values: see counted. An error comes as
// each that there would be.
func results(ctx context.Context, c *door.Call[Array, *Array], opts []Option, build func(run op.Run) ([]*graph.Node, error)) []*Array {
	if c.Err() != nil {
		return c.List(nil, nil)
	}
	return c.List(counted(ctx, c.Op, opts, build))
}
