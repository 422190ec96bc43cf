// Package graph is the lazy expression: nodes with their shapes and types, and
// the line of the user's program that made each.
//
// Nodes are immutable once built and may be shared between expressions. The
// constructors follow NumPy's rules for shapes, broadcasting and promotion, and
// reject what those reject; nothing is read or computed here beyond the headers
// of files.
//
// What a reader of nodes may rely on:
//   - The inputs of an Elementwise node have its shape; those of a Where have
//     the types bool, t and t, all others one type t that the operation takes.
//     Broadcasting and promotion have become View and Cast nodes.
//   - A View's input is no View and no Constant, and its view is not the plain one.
//     Views stay where they were written; the planner moves them.
//   - A Source is in the order of its file; a Fortran file's is under a View.
//   - The inputs of a MatMul have two dimensions or more, and its own type or one
//     that kernel.GemmWidens.
//   - A Constant with Weak set meets no other node: it is a number that nothing
//     has given a type yet, and may only be an expression's root.
package graph

import (
	"iter"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/types"
)

// Kind says what a node is.
type Kind uint8

// The kinds of nodes.
const (
	Source      Kind = iota + 1 // a stored array
	Constant                    // one value, everywhere
	Inline                      // values from the program's own memory
	Iota                        // First + Delta times the linear position
	Random                      // uniform in [0, 1), from the seed and the linear position
	Elementwise                 // Op of inputs of this shape
	Cast                        // the input in another type
	View                        // the input seen through a grid.View
	Reduce                      // the input folded along axes
	MatMul                      // the last two axes multiplied, those before perhaps summed, the rest broadcast
	Blockwise                   // a blockwise.Op of boxes of the inputs
)

// Node is one operation of an expression.
type Node struct {
	Kind  Kind
	Shape []int
	DType dtype.Type
	In    []*Node
	Name  string // of a source or a named input: what reports call it
	Site  Site

	Op     kernel.Op   // Elementwise
	Joins  bool        // Elementwise, or Blockwise one after another: of arrays that the program has put together, whose labels are to be the same
	Stored *Stored     // Source
	Value  dtype.Value // Constant
	Weak   bool        // Constant: a number of the program, which takes the type of what it meets
	Data   []byte      // Inline, dense in C order
	First  dtype.Value // Iota
	Delta  dtype.Value // Iota
	Seed   uint64      // Random
	View   grid.View   // View
	Fold   *Fold       // Reduce
	Summed int         // MatMul: axes of both inputs before the last two along which products are summed
	Blocks *Blocks     // Blockwise

	Written *Written // how the caller wrote what several nodes compute, of which this is the last; nil: as it is

	// Details are the attributes and fill value of a computed array, where the operation
	// knows them; nil: what follows from the inputs.
	Details *store.Details
	// NamedAfter has for each axis the one whose name and labels it has, where the operation knows
	// that; nil: what follows from the inputs. See NameAxes.
	NamedAfter []Axis
	// Labels is, of an array of one dimension that labels a dimension of others, the name of that dimension, which
	// is its own too.
	Labels string
}

// Stored is a stored array seen as a shape of its own: a reshape of a file
// needs no movement.
type Stored struct {
	Info  store.Info
	Shape []int
}

// Fold says how a Reduce node folds its input. Axes are sorted and not
// negative; the node's own shape has them removed. Kept axes come back as a View.
type Fold struct {
	Kind kernel.Reduction
	Axes []int
	DDof float64 // of var and std
}

// Blocks is an operation that fills boxes, with what titles write of it.
type Blocks struct {
	Op   blockwise.Op
	Name string   // "pad"
	Args []string // after its inputs: "(1, 2)"
}

// Site is the place in the user's own program where a node was made.
type Site = types.Site

// Error is an operation that was rejected.
type Error = types.Error

func reject(site Site, op string, err error, in ...*Node) error {
	e := &Error{Op: op, Site: site, Err: err}
	for _, n := range in {
		if n == nil { // an operand that could not be made is what err is about
			continue
		}
		e.Shapes = append(e.Shapes, n.Shape)
		e.Types = append(e.Types, n.DType)
	}
	return e
}

// Nodes returns the nodes that an expression is made of, each once.
func Nodes(root *Node) iter.Seq[*Node] {
	return func(yield func(*Node) bool) {
		seen := map[*Node]bool{}
		var visit func(n *Node) bool
		visit = func(n *Node) bool {
			if seen[n] {
				return true
			}
			seen[n] = true
			for _, in := range n.In {
				if !visit(in) {
					return false
				}
			}
			return yield(n)
		}
		visit(root)
	}
}
