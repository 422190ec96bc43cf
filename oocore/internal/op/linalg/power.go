package linalg

import (
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/op"
	"github.com/gonbext/gonbext/oocore/internal/op/shape"
)

// MatrixPower is NumPy's matrix_power of square matrices: products by repeated squaring,
// each with matmul's passes; of a negative power those of the inverse.
func MatrixPower(site graph.Site, a op.Numbered) (*graph.Node, error) {
	n, power := a.X, a.N
	stack, size, err := squareOf(n)
	if err != nil {
		return nil, graph.Reject(site, "matrix_power", err, n)
	}
	m := &graph.Maker{Site: site}
	if power == 0 {
		ones := m.Full(dtype.FromInt(n.DType, 1), size)
		one := m.Make(func() (*graph.Node, error) { return shape.Diag(site, op.Shifted{X: ones, Offset: 0}) })
		return m.BroadcastTo(one, append(stack, size, size)...), m.Err
	}
	times := uint64(power)
	if power < 0 {
		n, m.Err = Inv(site, op.Unary{X: n})
		times = -times // also of the smallest integer, which has no negative
	}
	var out *graph.Node
	for {
		switch {
		case times&1 == 0:
		case out == nil:
			out = n
		default:
			out = m.Product(out, n)
		}
		if times >>= 1; times == 0 || m.Err != nil {
			return out, m.Err
		}
		n = m.Product(n, n)
	}
}
