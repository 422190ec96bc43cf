package graph

import (
	"errors"
	"fmt"
	"slices"
	"strings"

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

// widenNumbers makes an int64 of a weak number that is compared with an integer
// array whose type does not hold it: such a comparison has an answer.
func widenNumbers(in []*Node) []*Node {
	out := []*Node{in[0], in[1]}
	for i, n := range in {
		t := in[1-i].DType
		if n.Weak && n.DType.Integer() && !in[1-i].Weak && t.Integer() && !t.Fits(n.Value.Int()) {
			wide := *n
			wide.Weak = false
			out[i] = &wide
		}
	}
	return out
}

// mirrored is the comparison of the operands in the other order.
var mirrored = map[kernel.Op]kernel.Op{
	kernel.Equal: kernel.Equal, kernel.NotEqual: kernel.NotEqual,
	kernel.Less: kernel.Greater, kernel.LessEqual: kernel.GreaterEqual,
	kernel.Greater: kernel.Less, kernel.GreaterEqual: kernel.LessEqual,
}

// compareSigned compares signed integers with uint64 exactly. The type that
// they promote to, float64, would call neighbours beyond 2⁵³ equal.
func compareSigned(site Site, op kernel.Op, signed, unsigned *Node) (*Node, error) {
	zero := &Node{Kind: Constant, Shape: []int{}, DType: signed.DType, Value: dtype.FromInt(signed.DType, 0), Site: site}
	m := Maker{Site: site}
	compared := m.Apply(op, m.Cast(signed, dtype.Uint64), unsigned)
	test, join := kernel.GreaterEqual, kernel.LogicalAnd
	if op == kernel.Less || op == kernel.LessEqual || op == kernel.NotEqual {
		test, join = kernel.Less, kernel.LogicalOr
	}
	return m.Apply(join, m.Apply(test, signed, zero), compared), m.Err
}

// AsType returns the array in another type, as NumPy's astype, save that a complex
// array is not made real in silence.
func AsType(site Site, n *Node, t dtype.Type) (*Node, error) {
	out, err := cast(site, n, t)
	if err != nil {
		return nil, reject(site, "astype", err, n)
	}
	return out, nil
}

// CheckType returns what is wrong with the first argument of a function that makes an array, where that is no type: the
// length that a program had for NumPy, mostly. The right call begins with call, and goes on with it and the numbers behind it.
func CheckType(t dtype.Type, call string, numbers ...any) error {
	if t.Known() {
		return nil
	}
	given := strings.FieldsFunc(fmt.Sprint(uint32(t), numbers), func(r rune) bool { return strings.ContainsRune("[] ", r) })
	return fmt.Errorf("%s stands where the type of the elements does: write %s, %s)", given[0], call, strings.Join(given, ", "))
}

// checkType is CheckType for what makes an array of another.
func checkType(t dtype.Type) error {
	if t.Known() {
		return nil
	}
	return fmt.Errorf("%d is no type of elements: write one by its name, such as oocore.Float64", uint32(t))
}

func cast(site Site, n *Node, t dtype.Type) (*Node, error) {
	if err := checkType(t); err != nil {
		return nil, err
	}
	if n.DType == t && !n.Weak {
		return n, nil
	}
	if n.DType.Kind() == dtype.KindComplex && t.Kind() < dtype.KindComplex && t != dtype.Bool {
		return nil, fmt.Errorf("%s to %s would drop the imaginary part: take Real, Imag or Abs", n.DType, t)
	}
	if n.Kind == Constant {
		if v, ok := n.Value.Convert(t); ok {
			return &Node{Kind: Constant, Shape: n.Shape, DType: t, Value: v, Site: n.Site}, nil
		}
		strong := *n
		strong.Weak = false
		n = &strong
	}
	return &Node{Kind: Cast, Shape: n.Shape, DType: t, In: []*Node{n}, Site: site}, nil
}
