// Package door is what packages of this module have of package oocore that programs do not: the
// expression of an oocore.Array and how arrays are made, the plan of an oocore.Plan, the options of
// hosts, and what algorithms of several runs are made of.
package door

import (
	"errors"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
)

// Value is the expression of an array, which embeds it.
type Value struct {
	node *graph.Node // nil where err is set
	err  error
}

func (v *Value) value() *Value { return v }

// Array is *oocore.Array, the pointer to a struct that embeds a Value.
type Array[T any] interface {
	*T
	value() *Value
}

// The errors of an array that no function of package oocore made.
var (
	errNoArray   = errors.New("the *oocore.Array is nil: make one with Open or FromSlice")
	errZeroArray = errors.New("the oocore.Array is a zero value, which has no elements: make one with Open or FromSlice")
)

// IsMissing reports the error of an array that no function of package oocore made.
func IsMissing(err error) bool { return errors.Is(err, errNoArray) || errors.Is(err, errZeroArray) }

// Node returns an array's node, or the error that it carries.
func Node[T any, A Array[T]](a A) (*graph.Node, error) {
	if a == nil {
		return nil, errNoArray
	}
	v := a.value()
	if v.err == nil && v.node == nil {
		return nil, errZeroArray
	}
	return v.node, v.err
}

// Made returns the array of a node, or one that carries an error.
func Made[T any, A Array[T]](n *graph.Node, err error) A {
	a := A(new(T))
	if err != nil {
		n = nil
	}
	*a.value() = Value{n, err}
	return a
}

// Operand returns the node of what an operation was given: an array or a number.
func Operand[T any, A Array[T]](site graph.Site, v any) (*graph.Node, error) {
	if a, ok := v.(A); ok {
		return Node(a)
	}
	return graph.Scalar(site, v)
}

// Several makes the results of one operation on arrays and numbers: see All. It is called by
// exported functions and methods, whose caller's line it notes.
func Several[T any, A Array[T]](n int, op string, f func(site graph.Site, in []*graph.Node) ([]*graph.Node, error), operands ...any) []A {
	site := graph.Caller()
	nodes, err := func() ([]*graph.Node, error) {
		in := make([]*graph.Node, len(operands))
		for i, v := range operands {
			var err error
			if in[i], err = Operand[T, A](site, v); err != nil {
				if _, earlier := errors.AsType[*graph.Error](err); !earlier {
					err = &graph.Error{Op: op, Site: site, Err: err}
				}
				return nil, err
			}
		}
		return f(site, in)
	}()
	return All[T, A](n, nodes, err)
}

// All returns the arrays of nodes. An error comes as n of them, so that taking one of them by its
// index finds it.
func All[T any, A Array[T]](n int, nodes []*graph.Node, err error) []A {
	if err != nil {
		return slices.Repeat([]A{Made[T, A](nil, err)}, n)
	}
	out := make([]A, len(nodes))
	for i, n := range nodes {
		out[i] = Made[T, A](n, nil)
	}
	return out
}

// Build makes the result of one operation: see Several.
func Build[T any, A Array[T]](op string, f func(site graph.Site, in []*graph.Node) (*graph.Node, error), operands ...any) A {
	return Several[T, A](1, op, func(site graph.Site, in []*graph.Node) ([]*graph.Node, error) {
		n, err := f(site, in)
		return []*graph.Node{n}, err
	}, operands...)[0]
}

// One is Build of an operation on one array and nothing else.
func One[T any, A Array[T]](op string, f func(site graph.Site, n *graph.Node) (*graph.Node, error), a A) A {
	return Build[T, A](op, func(site graph.Site, in []*graph.Node) (*graph.Node, error) { return f(site, in[0]) }, a)
}

// Plan is the sized plan of an oocore.Plan, which embeds it; or what is left of one that another process has made.
type Plan struct {
	sized *size.Plan
	copy  *PlanCopy
}

// PlanCopy is what a plan says to programs.
type PlanCopy struct {
	Text    string
	Encoded []byte
	Error   string // why there is no Encoded
}

func (p *Plan) plan() *Plan { return p }

// PlanOf returns the plan that an oocore.Plan shows.
func PlanOf(p interface{ plan() *Plan }) *size.Plan { return p.plan().sized }

// NewPlan returns what an oocore.Plan embeds.
func NewPlan(s *size.Plan) Plan { return Plan{sized: s} }

// CopyOf returns what a plan says; nil for an oocore.Plan that no function has made.
func CopyOf(p interface{ plan() *Plan }) *PlanCopy {
	switch own := p.plan(); {
	case own.copy != nil || own.sized == nil:
		return own.copy
	default:
		c := &PlanCopy{Text: own.sized.String()}
		var err error
		if c.Encoded, err = own.sized.Encode(); err != nil {
			c.Error = err.Error()
		}
		return c
	}
}

// SetCopy makes an oocore.Plan say what another one says.
func SetCopy(p interface{ plan() *Plan }, c *PlanCopy) { *p.plan() = Plan{copy: c} }
