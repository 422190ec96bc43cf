package blockwise

import (
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

// Formulaic is an Op that has a formula, by which a device computes it as part of the program
// that reads its result.
type Formulaic interface {
	Op
	// Formula is that of a result of a shape; nil where there is none: for some types, or for
	// a window of too many elements. It gives the bits that Fill gives.
	Formula(shape []int) *Formula
}

// Formula computes an element of a result from elements of the inputs, term by term.
type Formula struct {
	Windows []Window
	Terms   []Term
	Result  int   // the term that is the element
	Fails   []int // terms, bools, that are errors where they are true: Fill says of what
}

// Window is the elements around an element's place that a formula takes of an input. It lies in
// the result of an Op that OnlyMoves, which adds what is beyond the input's edges.
type Window struct {
	Input  int
	Border Op         // one that OnlyMoves that input
	Type   dtype.Type // of the input's elements
	// Of each axis of the Border's result: the axis of the formula's result that windows move
	// along, or -1; from a window to the next one; and the window's length.
	Axis, Step, Extent []int
}

// Joiner is the Border of a Window that can take in the border of what it surrounds.
type Joiner interface {
	// Join returns the border of both, where an Op with a window in this one is applied to
	// the result of an Op with a window in inner.
	Join(inner Op) (Op, bool)
}

// Retyper is the Border of a Window that adds only elements of its input, so that it is one of whatever the
// input is computed of.
type Retyper interface {
	// Of returns the border of an input of another type; false where it adds an element of its
	// own.
	Of(t dtype.Type) (Op, bool)
}

// MaxTerms bounds the terms of a formula, and of the formulas of a program together.
const MaxTerms = 2048

// TermKind says what a term is.
type TermKind uint8

// The kinds of terms.
const (
	Element  TermKind = iota // of an input, at the result's own place
	Tap                      // an element of a window
	Number                   // a constant
	Position                 // of the element in C order, from 0, as uint64
	Applied                  // an operation on other terms, or a cast
)

// Term is a value that a formula computes.
type Term struct {
	Kind  TermKind
	Of    int         // the input, or the window
	At    []int       // in the window
	Value dtype.Value // of a Number
	Op    kernel.Op   // Invalid for a cast
	From  dtype.Type  // of the operands; of Where, of the last two
	Type  dtype.Type
	Args  []int
}

// Taps is the number of terms that are elements of a window.
func (f *Formula) Taps() (n int) {
	for i := range f.Terms {
		if f.Terms[i].Kind == Tap {
			n++
		}
	}
	return n
}

func (f *Formula) add(t Term) int {
	if len(f.Terms) > 8*MaxTerms {
		panic("blockwise: the formula of a damaged operation has no end")
	}
	f.Terms = append(f.Terms, t)
	return len(f.Terms) - 1
}

// Element adds the element of an input, which has the result's shape.
func (f *Formula) Element(input int, t dtype.Type) int {
	return f.add(Term{Kind: Element, Of: input, Type: t})
}

// Tap adds an element of a window.
func (f *Formula) Tap(window int, at ...int) int {
	return f.add(Term{Kind: Tap, Of: window, At: slices.Clone(at), Type: f.Windows[window].Type})
}

// Position adds the element's position in C order.
func (f *Formula) Position() int { return f.add(Term{Kind: Position, Type: dtype.Uint64}) }

// Number adds a constant.
func (f *Formula) Number(t dtype.Type, v float64) int {
	value := dtype.FromFloat(t, v)
	if t.Kind() < dtype.KindFloat {
		value = dtype.FromInt(t, int64(v))
	}
	return f.Constant(value)
}

// Constant is Number of a value.
func (f *Formula) Constant(v dtype.Value) int {
	return f.add(Term{Kind: Number, Value: v, Type: v.Type})
}

// Apply adds an operation on terms.
func (f *Formula) Apply(op kernel.Op, args ...int) int {
	of := f.Terms[args[len(args)-1]].Type
	return f.add(Term{Kind: Applied, Op: op, From: of, Type: op.Result(of), Args: args})
}

// Cast adds a conversion of a term; none where it has the type.
func (f *Formula) Cast(term int, t dtype.Type) int {
	from := f.Terms[term].Type
	if from == t {
		return term
	}
	return f.add(Term{Kind: Applied, From: from, Type: t, Args: []int{term}})
}

// AddProduct adds a·b + c as the vector loops of this machine compute it: rounded once, or
// without vectors twice.
func (f *Formula) AddProduct(a, b, c int) int {
	if kernel.Level() == "go" {
		return f.Apply(kernel.Add, c, f.Apply(kernel.Multiply, a, b))
	}
	return f.Apply(kernel.MulAdd, a, b, c)
}
