package door

import (
	"cmp"
	"fmt"

	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
)

// Call is a call of an operation from Go: it makes nodes of what it was given, for the builder's struct
// of arguments, and keeps the first error.
type Call[T any, A Array[T]] struct {
	Op    string
	Site  graph.Site
	moves bool
	err   error
}

// Called begins a call of an operation. It is called by exported functions and methods, whose caller's
// line it notes.
func Called[T any, A Array[T]](op string) Call[T, A] {
	return Call[T, A]{Op: op, Site: graph.Caller()}
}

// Moving is Called for an operation that moves elements, and does not compute with them.
func Moving[T any, A Array[T]](op string) Call[T, A] {
	return Call[T, A]{Op: op, Site: graph.Caller(), moves: true}
}

// Fail keeps an error of the call.
func (c *Call[T, A]) Fail(err error) {
	if _, earlier := err.(*graph.Error); !earlier {
		err = &graph.Error{Op: c.Op, Site: c.Site, Err: err}
	}
	if c.err == nil {
		c.err = err
	}
}

// Node is an array or a number; of an array that carries an error, a number, as no builder panics for one.
func (c *Call[T, A]) Node(v any) *graph.Node {
	n, err := Operand[T, A](c.Site, v)
	if err != nil {
		c.Fail(err)
		n, _ = graph.Scalar(c.Site, 0)
	}
	if !c.moves {
		n = graph.Computable(c.Site, n)
	}
	return n
}

// Optional is Node, or nil for no array.
func (c *Call[T, A]) Optional(v any) *graph.Node {
	if a, is := v.(A); v == nil || is && a == nil {
		return nil
	}
	return c.Node(v)
}

// Nodes are several arrays or numbers.
func Nodes[E, T any, A Array[T]](c *Call[T, A], list []E) []*graph.Node {
	nodes := make([]*graph.Node, len(list))
	for i, v := range list {
		nodes[i] = c.Node(v)
	}
	return nodes
}

// Single is the value of a parameter that may be left out; several are an error.
func Single[E, T any, A Array[T]](c *Call[T, A], values []E, otherwise E) E {
	if len(values) > 1 {
		c.Fail(fmt.Errorf("takes one value as its last argument, or none, not %d", len(values)))
	}
	return append(values, otherwise)[0]
}

// Err is the first error of what the call was given.
func (c *Call[T, A]) Err() error { return c.err }

// Result is that of a builder.
func (c *Call[T, A]) Result(n *graph.Node, err error) A {
	return Made[T, A](n, cmp.Or(c.err, err))
}

// Pair is Result of two.
func (c *Call[T, A]) Pair(x, y *graph.Node, err error) (A, A) {
	return c.Result(x, err), c.Result(y, err)
}

// Triple is Result of three.
func (c *Call[T, A]) Triple(x, y, z *graph.Node, err error) (A, A, A) {
	return c.Result(x, err), c.Result(y, err), c.Result(z, err)
}

// List is Result of as many as there are; an error comes as each that there would be.
func (c *Call[T, A]) List(nodes []*graph.Node, err error) []A {
	return All[T, A](grid.MaxDims, nodes, cmp.Or(c.err, err))
}
