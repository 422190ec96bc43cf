package graph

import (
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

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
