package linalg

import (
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/op/shape"
)

// MatrixPower is NumPy's matrix_power of square matrices: products by repeated squaring,
// each with matmul's passes; of a negative power those of the inverse.
func MatrixPower(site graph.Site, n *graph.Node, power int) (*graph.Node, error) {
	stack, m, err := squareOf(n)
	if err != nil {
		return nil, graph.Reject(site, "matrix_power", err, n)
	}
	if power == 0 {
		ones, err := graph.Full(site, dtype.FromInt(n.DType, 1), m)
		if err != nil {
			return nil, err
		}
		if ones, err = shape.Diag(site, ones, 0); err != nil {
			return nil, err
		}
		return graph.BroadcastTo(site, ones, append(stack, m, m)...)
	}
	times := uint64(power)
	if power < 0 {
		if n, err = Inv(site, n); err != nil {
			return nil, err
		}
		times = -times // also of the smallest integer, which has no negative
	}
	var out *graph.Node
	for {
		switch {
		case times&1 == 0:
		case out == nil:
			out = n
		default:
			if out, err = graph.Product(site, out, n); err != nil {
				return nil, err
			}
		}
		if times >>= 1; times == 0 {
			return out, nil
		}
		if n, err = graph.Product(site, n, n); err != nil {
			return nil, err
		}
	}
}
