package quantize

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op/shape"
)

// FP4Args are floats of four bits as checkpoints have them: bytes of two each, E2M1, the lower half first, and scales, each of as
// many that follow each other: powers of two in uint8 (E8M0, of MXFP4), or float8_e4m3fn and other floats (of NVFP4).
type FP4Args struct {
	Q, Scale *graph.Node
}

// DequantizeFP4 returns the floats. Blocks that have an axis of their own, which the scales lack, are joined along it, as in
// the *_blocks and *_scales of MXFP4. What a tensor has as one scale for all, of NVFP4, is left to the caller.
func DequantizeFP4(site graph.Site, a FP4Args) (*graph.Node, error) {
	m := &graph.Maker{Site: site}
	n, err := fp4(m, a.Q, graph.Computable(site, a.Scale))
	return graph.Result(site, "dequantize_fp4", n, err, a.Q, a.Scale)
}

func fp4(m *graph.Maker, q, scale *graph.Node) (*graph.Node, error) {
	if q.DType != dtype.Uint8 || scale.DType != dtype.Uint8 && scale.DType.Kind() != dtype.KindFloat {
		return nil, fmt.Errorf("takes uint8, which are two floats of four bits each, and a scale in uint8 or floats, not %s and %s", q.DType, scale.DType)
	}
	last := len(q.Shape) - 1
	if last < 0 || len(scale.Shape) != last && len(scale.Shape) != last+1 {
		return nil, fmt.Errorf("bytes of shape %s have no scales of shape %s", grid.Format(q.Shape), grid.Format(scale.Shape))
	}
	halves, err := shape.Stack(m.Site, -1, m.Of(kernel.BitAnd, q, uint8(15)), m.Of(kernel.RightShift, q, uint8(4)))
	if err != nil || m.Err != nil {
		return nil, cmp.Or(err, m.Err)
	}
	wide := slices.Clone(q.Shape)
	wide[last] *= 2
	n := m.Cast(m.Reshape(halves, wide...), dtype.Float32)
	negative := m.Of(kernel.GreaterEqual, n, 8)
	n = m.Of(kernel.Where, negative, m.Of(kernel.Subtract, n, 8), n)
	// 1 to 4 are so many halves, each above stands for one half more, and 7 for two more than that.
	above := func(v int) *graph.Node { return m.Of(kernel.Subtract, m.Of(kernel.Maximum, n, v), v) }
	x := m.Of(kernel.Multiply, m.Of(kernel.Add, m.Of(kernel.Add, n, above(4)), m.Of(kernel.Multiply, above(6), 2)), 0.5)
	x = m.Of(kernel.Where, negative, m.Of(kernel.Negative, x), x)
	if scale.DType == dtype.Uint8 {
		e := m.Cast(scale, dtype.Float32)
		scale = m.Of(kernel.Where, m.Of(kernel.Equal, e, 255), math.NaN(), m.Of(kernel.Exp2, m.Of(kernel.Subtract, e, 127)))
	}
	if scale = m.Cast(scale, dtype.Float32); m.Err != nil {
		return nil, m.Err
	}
	if len(scale.Shape) == last {
		scale = m.ExpandDims(scale, last)
		if x, err = dequantize(m, x, scale, nil, 0); err != nil || last == 0 {
			return x, err
		}
		joined := slices.Clone(wide[:last])
		joined[last-1] *= wide[last]
		return m.Reshape(x, joined...), m.Err
	}
	return dequantize(m, x, scale, nil, 0)
}
