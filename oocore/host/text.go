package host

import (
	"context"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/internal/expr"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/op"
	"github.com/gonbext/gonbext/oocore/internal/suggest"
)

// Operation is a function of expressions: its row.
type Operation = op.Operation

// Operations lists what an expression can call, by name.
func Operations() []*Operation { return expr.Functions() }

// ExpressionError is an expression that cannot be read: its syntax, an unknown name, or a
// function's arguments.
type ExpressionError = expr.Error

// Definition is an expression that was read, with a name, which those after it can use.
type Definition = expr.Definition

// Definitions reads "NAME = EXPR; NAME = EXPR …". A text that does not begin with NAME = is one
// expression without a name.
func Definitions(text string) ([]Definition, error) { return expr.Definitions(text) }

// Eval is oocore.EvalContext for an expression that has been parsed.
func Eval(ctx context.Context, d Definition, names oocore.Names, opts ...oocore.Option) *oocore.Array {
	if d.Text == nil {
		return oocore.EvalContext(ctx, "", names, opts...)
	}
	return internals.Eval(ctx, d.Text, names, opts)
}

// ParseShape reads a shape written as 3075200x512, 1,256,1024, [384, 192] or (5,).
func ParseShape(text string) ([]int, error) { return grid.Parse(text) }

// FormatShape writes a shape as NumPy does: (3, 4), (5,), ().
func FormatShape(shape []int) string { return grid.Format(shape) }

// CheckShape rejects a shape with a negative length, too many dimensions, or more bytes than
// an int64 counts.
func CheckShape(shape []int, itemsize int) error { return grid.Check(shape, itemsize) }

// Elements returns the number of elements of a shape.
func Elements(shape []int) int { return grid.Size(shape) }

// Chunks cuts a shape into C-contiguous chunks of about target bytes: whole rows where they
// fit.
func Chunks(shape []int, itemsize, target int) []int { return grid.Auto(shape, itemsize, target) }

// Grid is a shape and the chunks that it is cut into.
type Grid = grid.Grid

// View is what a slice takes of an array.
type View = grid.View

// ParseSlice views an array as NumPy does between brackets: "0:100, ::2, -1", "...",
// "newaxis".
func ParseSlice(text string, shape []int) (View, error) { return grid.ParseSlice(text, shape) }

// Distance returns the number of bytes to add, drop or change, or of neighbours to swap, to turn one word into
// another, for messages that name what was probably meant.
func Distance(a, b string) int { return suggest.Distance(a, b) }
