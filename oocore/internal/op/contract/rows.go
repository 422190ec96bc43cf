package contract

import (
	"errors"
	"fmt"

	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/op"
)

// Rows are the operations of this package.
var Rows = []op.Row{
	{Name: "dot", Passes: "as matmul", Holds: "as matmul", Build: op.Build(Dot),
		Go: "(a *Array) Dot(b *Array)", Doc: `Dot is NumPy's dot: of vectors a number, of matrices their product, of more axes the sum along the last of a and the last but one of b.`},
	{Name: "inner", Passes: "as matmul", Holds: "as matmul", Build: op.Build(Inner),
		Go: "(a *Array) Inner(b *Array)", Doc: `Inner sums products along the last axes of both.`},
	{Name: "vdot", Passes: "as matmul", Holds: "as matmul", Build: op.Build(Vdot),
		Go: "(a *Array) Vdot(b *Array)", Doc: `Vdot returns the sum of the products of all elements, those of a conjugated.`},
	{Name: "outer", Build: op.Build(Outer),
		Go: "(a *Array) Outer(b *Array)", Doc: `Outer returns the product of each element of a with each of b.`},
	{Name: "kron", Build: op.Build(Kron), Examples: `kron(slice(s, "0:128, 0:128"), slice(s, "0:128, 0:128"))`,
		Go: "(a *Array) Kron(b *Array)", Doc: `Kron returns the Kronecker product: blocks of b, each times an element of a.`},
	{Name: "vecdot", Passes: "1", Holds: "an accumulator for each result", Build: op.Build(Vecdot),
		Go: "(a *Array) Vecdot(b *Array, axis int)", Doc: `Vecdot returns the sum of products along an axis, a's conjugated, of arrays that are broadcast together along the others.`},
	{Name: "cross", Holds: op.Shown, Build: op.Build(Cross), Examples: `cross(slice(x, ":, 0:3"), slice(x, ":, 0:3"), 1)`,
		Go: "(a *Array) Cross(b *Array, axis int)", Doc: `Cross returns the vector product along an axis of length 3, of arrays that are broadcast together along the others.`},
	{Name: "tensordot", Passes: "as matmul; one more over an operand whose remaining axes lie apart, or whose summed ones do and are short, or do not end alike in both", Holds: "as matmul", Build: op.Build(summed), Examples: "tensordot(x, x, 0, 0)",
		Go: "Array.Tensordot"},
	{Name: "einsum", Passes: "as matmul, for each two operands, in the order that moves the fewest bytes", Holds: "as matmul", Build: op.Build(Einsum), Examples: `einsum("ij,jk->ik", s, s); einsum("nchw,nkhw->ck", c, c); einsum("ij,ij->i", x, y); einsum("ij,ik->jk", x, y)`,
		Go: "Einsum(subscripts string, operands ...*Array)", Doc: `Einsum is NumPy's einsum: Einsum("ij,jk->ik", a, b). Operands are contracted two at a time, in the order that moves the fewest bytes:
EinsumPath says it.`},
}

// Arguments, by the operation.
type (
	AlongArgs struct {
		A, B *graph.Node
		Axis int `default:"-1"`
	}
	EinsumArgs struct {
		Subscripts string        `usage:"ij,jk->ik"`
		Operands   []*graph.Node `usage:"a, b..." least:"1"`
	}
	summedArgs struct {
		A, B *graph.Node
		Axes []int
	}
)

// summed sums over so many axes, or over those that stand there: as many of a as of b.
func summed(site graph.Site, args summedArgs) (*graph.Node, error) {
	a, b, axes := args.A, args.B, args.Axes
	if n := len(axes); n > 1 && n%2 == 0 {
		return Tensordot(site, a, b, axes[:n/2], axes[n/2:])
	} else if n > 1 {
		return nil, graph.Reject(site, "tensordot", errors.New("takes one number of axes, or as many axes of a as of b: tensordot(a, b, 0, 1, 1, 2)"), a, b)
	}
	count := append(axes, 2)[0]
	if most := min(len(a.Shape), len(b.Shape)); count < 0 || count > most {
		return nil, graph.Reject(site, "tensordot", fmt.Errorf("sums over %d axes, where arrays of shapes %s and %s have %d in common", count, grid.Format(a.Shape), grid.Format(b.Shape), most), a, b)
	}
	var ofA, ofB []int
	for i := range count {
		ofA, ofB = append(ofA, i-count), append(ofB, i)
	}
	return Tensordot(site, a, b, ofA, ofB)
}
