// Package op says what operations are: each is a Row, in the folder of its family. From rows
// come the functions of expressions with their usage and their errors, the methods and functions
// of Go with their comments, and the list of operations, OPERATIONS.md.
package op

import (
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

// What many rows say of their costs: Fused are the passes of what is part of whatever reads
// it, and Block is what that holds; Shown is what an operation of boxes holds. None is NumPy's name of
// what neither NumPy nor SciPy has.
const (
	Fused = "none of its own"
	Block = "a block"
	Shown = "what its box shows of the inputs"
	None  = kernel.None
)

// Row is an operation.
type Row struct {
	Name string
	Also string // other names, with spaces between
	// Names are those of the first arguments, with spaces between, where they have others than the
	// builder's fields. Without are fields that are no arguments of this row.
	Names, Without string
	// Parts are the names of a builder's results where it has several, of which an expression takes one.
	// Of a list it is the name of the number that says which; "" is part.
	Parts string
	NumPy string // its name there, or None; "" is np. and the name
	// Passes are those over the data, "" is Fused. Holds is what it holds at once, in addition to one
	// chunk of its inputs and its result; "" is Block.
	Passes, Holds string
	// Go is the method or function of Go. One with parameters, "(a *Array) TopK(k, axis int)"
	// or "linalg.QR(a *Array) (q, r *Array)", is generated, with Doc and the costs as its
	// comment: its parameters are the builder's fields, by name or else in order, and an array may be
	// any, for numbers too. What the fields are otherwise stands behind it: "linalg.FullSVD(a
	// *Array) (u, s, vt *Array) = a, true". Of one that is written by hand this is the name.
	Go, Doc string
	More    []Func // other functions of Go
	// Moves says that elements are moved, and not computed with: arrays that are stored in floats of 8
	// bits stay in them.
	Moves bool
	// Examples are calls, with a semicolon between, that the page of operations tries on a
	// device and that a test runs on arrays larger than its memory: x and y are matrices of
	// float32 from 0.1 to 0.9, s is a square one and n a tall one, i and j have int32, z has
	// complex64, t has three axes and c has four.
	Examples string
	Build    Builder
}

// Func is a function of Go and its comment, as a row's.
type Func struct{ Go, Doc string }

// GoName is what Go calls the operation: Array.TopK, or linalg.QR; "" where it has no name.
func (o *Operation) GoName() string {
	return Func{Go: o.Go}.Name()
}

// Defines reports whether a function of Go, by its name, is generated from the row.
func (o *Operation) Defines(name string) bool {
	return slices.ContainsFunc(append([]Func{{Go: o.Go}}, o.More...), func(f Func) bool { return strings.Contains(f.Go, "(") && f.Name() == name })
}

// Name is the function's: Array.TopK, or linalg.QR; "" of none.
func (f Func) Name() string {
	name := f.Go
	if method, is := strings.CutPrefix(name, "(a *Array) "); is {
		name = "Array." + method
	}
	name, _, _ = strings.Cut(name, "(")
	return name
}

// Costs are the passes and what is held, as the comments of Go's functions say it; "" of what is
// part of whatever reads it and holds a block.
func (o *Operation) Costs() string {
	switch {
	case o.Holds == Block && o.Passes == Fused:
		return ""
	case o.Passes == Fused:
		return "Held at once: " + o.Holds + "."
	}
	return "Passes: " + o.Passes + ". Held at once: " + o.Holds + "."
}
