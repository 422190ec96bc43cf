package graph

import (
	"errors"
	"fmt"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

// common is the type that operands meet in: NumPy's result_type, with weak
// numbers taking the type of the others.
func common(in []*Node) (dtype.Type, error) {
	var strong dtype.Type
	var weak dtype.Kind
	for _, n := range in {
		switch {
		case n.Weak:
			weak = max(weak, n.DType.Kind())
		case strong == dtype.Invalid:
			strong = n.DType
		default:
			strong = dtype.Promote(strong, n.DType)
		}
	}
	if weak == dtype.KindInvalid {
		return strong, nil
	}
	t := dtype.PromoteWeak(strong, weak)
	for _, n := range in {
		if n.Weak {
			if _, err := n.Value.Weaken(t); err != nil {
				return dtype.Invalid, err
			}
		}
	}
	return t, nil
}

// Computable returns the array in a type that operations compute in: float32 in place of a float of
// 8 bits, and any other array as it is.
func Computable(site Site, n *Node) *Node {
	if !n.DType.StorageOnly() {
		return n
	}
	n, _ = cast(site, n, dtype.Float32) // which has no reason to fail
	return n
}

// errStorageOnly is the error of a result in a type that nothing is computed in.
func errStorageOnly(t dtype.Type) error {
	return fmt.Errorf("nothing is computed in %s, which arrays are stored in: call AsType on the result", t)
}

// operandType is the type that an operation's operands are brought to: the one
// that they meet in, or what NumPy computes the operation in. For Where it is
// that of the second and third.
func operandType(op kernel.Op, in []*Node) (dtype.Type, error) {
	takes := op.Row().Takes
	if takes == kernel.Bools {
		return dtype.Bool, nil
	}
	t, err := common(in)
	if err != nil {
		return t, err
	}
	if takes == kernel.EachFloat && t.Kind() < dtype.KindFloat {
		t = floatOf(t, in)
	} else {
		t = takes.Meet(t)
	}
	computed := t
	if t.Short() {
		computed = dtype.Float32
	}
	if _, ok := kernel.Lookup(op, computed); !ok {
		return t, unsupported(op, t)
	}
	return t, nil
}

// floatOf is the float that holds each of the integer operands: that of int8
// and uint8 is float16, though the two meet in int16.
func floatOf(t dtype.Type, in []*Node) dtype.Type {
	var f dtype.Type
	for _, n := range in {
		if !n.Weak {
			if f == dtype.Invalid {
				f = n.DType.Float()
			}
			f = dtype.Promote(f, n.DType.Float())
		}
	}
	if f == dtype.Invalid || t == dtype.Int64 {
		return t.Float()
	}
	return f
}

// unsupported says why an operation has no meaning for a type, as a person
// would.
func unsupported(op kernel.Op, t dtype.Type) error {
	switch {
	case t == dtype.Bool && op == kernel.Subtract:
		return errors.New("bools have no difference: use LogicalXor, or AsType first")
	case t == dtype.Bool && op == kernel.Negative:
		return errors.New("bools have no negative: use LogicalNot, or AsType first")
	case op.Row().Family == kernel.Bits:
		return fmt.Errorf("takes integers or bools, not %s", t)
	}
	return fmt.Errorf("is not defined for %s", t)
}
