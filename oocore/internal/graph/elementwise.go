package graph

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

// Apply applies an operation to operands that are broadcast together and
// promoted as NumPy's universal functions do. The condition of a Where may have
// any type: what is not zero is true.
//
// An integer's power takes an exponent that is not negative. The caller makes sure of
// that for an array of exponents.
func Apply(site Site, op kernel.Op, in ...*Node) (*Node, error) {
	n, err := apply(site, op, in...)
	arrays := 0
	for _, in := range in {
		if in != nil && len(in.Shape) > 0 {
			arrays++
		}
	}
	if err == nil && arrays > 1 && n.Kind == Elementwise {
		n.Joins = true
	}
	return n, err
}

func apply(site Site, op kernel.Op, in ...*Node) (*Node, error) {
	if len(in) != op.Arity() {
		return nil, reject(site, op.String(), fmt.Errorf("takes %d operands, not %d", op.Arity(), len(in)), in...)
	}
	in = slices.Clone(in)
	for i, n := range in {
		in[i] = Computable(site, n)
	}
	if op.Row().Family == kernel.Comparison {
		in = widenNumbers(in)
		switch a, b := in[0], in[1]; {
		case a.DType.Kind() == dtype.KindInt && b.DType == dtype.Uint64 && !a.Weak:
			return compareSigned(site, op, a, b)
		case a.DType == dtype.Uint64 && b.DType.Kind() == dtype.KindInt && !b.Weak:
			return compareSigned(site, mirrored[op], b, a)
		}
	}
	typed := in
	if op == kernel.Where {
		typed = in[1:]
	}
	t, err := operandType(op, typed)
	if err == nil && op == kernel.Power {
		err = checkExponent(t, in[1])
	}
	if err != nil {
		return nil, reject(site, op.String(), err, in...)
	}
	shapes := make([][]int, len(in))
	for i, n := range in {
		shapes[i] = n.Shape
	}
	shape, err := grid.Broadcast(shapes...)
	if err == nil {
		err = grid.Check(shape, t.Size())
	}
	if err != nil {
		return nil, reject(site, op.String(), err, in...)
	}
	operands := make([]*Node, len(in))
	for i, n := range in {
		to := t
		if op == kernel.Where && i == 0 {
			to = dtype.Bool
		}
		if n, err = cast(site, n, to); err != nil {
			return nil, reject(site, op.String(), err, in...)
		}
		operands[i] = broadcast(site, n, shape)
	}
	return simplify(&Node{Kind: Elementwise, Op: op, Shape: shape, DType: op.Result(t), In: operands, Site: site}), nil
}

// simplify replaces operations that change nothing, or nothing but a constant,
// for the operands' type.
func simplify(n *Node) *Node {
	x := n.In[0]
	real := x.DType.Kind() < dtype.KindComplex
	whole := x.DType.Kind() < dtype.KindFloat
	constant := func(v dtype.Value) *Node {
		return &Node{Kind: Constant, Shape: n.Shape, DType: n.DType, Value: v, Site: n.Site}
	}
	switch n.Op {
	case kernel.Floor, kernel.Ceil, kernel.Trunc:
		if whole {
			return x
		}
	case kernel.Absolute:
		if x.DType == dtype.Bool || x.DType.Kind() == dtype.KindUint {
			return x
		}
	case kernel.Real, kernel.Conjugate:
		if real {
			return x
		}
	case kernel.Imag:
		if real {
			return constant(dtype.FromInt(n.DType, 0))
		}
	case kernel.IsNaN, kernel.IsInf, kernel.IsFinite:
		if whole {
			return constant(dtype.ValueOf(n.Op == kernel.IsFinite))
		}
	case kernel.Power:
		if e := n.In[1]; e.Kind == Constant && e.Value.Complex() == 2 {
			return &Node{Kind: Elementwise, Op: kernel.Square, Shape: n.Shape, DType: n.DType, In: n.In[:1], Site: n.Site}
		}
	}
	return n
}

func checkExponent(t dtype.Type, exponent *Node) error {
	if t.Kind() == dtype.KindInt && exponent.DType.Kind() == dtype.KindInt && exponent.Kind == Constant && exponent.Value.Int() < 0 {
		return errors.New("integers have no negative integer powers: bring either side to float64 with AsType")
	}
	return nil
}
