package quantize

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/codec"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op"
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

// FP4Scheme says which floats of four bits an array becomes.
type FP4Scheme struct {
	X      *graph.Node
	Scheme string `usage:"mxfp4"`
}

// QuantizeFP4 returns the bytes of two floats of four bits each, of blocks along the last axis.
func QuantizeFP4(site graph.Site, a FP4Scheme) (*graph.Node, error) {
	m := &graph.Maker{Site: site}
	name, apart := strings.CutSuffix(a.Scheme, " blocks")
	q := toFP4(m, a.X, name, "")
	if apart && m.Err == nil {
		f := codec.FP4[name]
		last := len(q.Shape) - 1
		q = m.Reshape(q, append(slices.Clone(q.Shape[:last]), q.Shape[last]/f.Elements, f.Elements)...)
	}
	return m.Result("quantize_fp4", q, a.X)
}

// QuantizeFP4Scale returns the scales of the blocks: of MXFP4 E8M0 in uint8, of NVFP4 float8_e4m3fn.
func QuantizeFP4Scale(site graph.Site, a FP4Scheme) (*graph.Node, error) {
	m := &graph.Maker{Site: site}
	s := toFP4(m, a.X, a.Scheme, " scale")
	if a.Scheme == "nvfp4" {
		s = m.Cast(s, dtype.Float8E4M3FN)
	}
	return m.Result("quantize_fp4_scale", s, a.X)
}

// QuantizeFP4Global returns the scale of the whole array in NVFP4: amax / (6·448), with which the scales of blocks are at most 448.
func QuantizeFP4Global(site graph.Site, a op.Unary) (*graph.Node, error) {
	m := &graph.Maker{Site: site}
	return m.Result("quantize_fp4_global", fp4Global(m, inFloat32(m, a.X)), a.X)
}

func inFloat32(m *graph.Maker, x *graph.Node) *graph.Node {
	if x.DType.Kind() != dtype.KindFloat {
		m.Fail(fmt.Errorf("takes floats, not %s", x.DType))
	}
	return m.Cast(x, dtype.Float32)
}

func fp4Global(m *graph.Maker, x *graph.Node) *graph.Node {
	if grid.Size(x.Shape) == 0 {
		m.Fail(fmt.Errorf("shape %s has no elements", grid.Format(x.Shape)))
	}
	scale := m.Of(kernel.Divide, m.Reduce(kernel.Max, m.Apply(kernel.Absolute, x), graph.ReduceOptions{}), 6*448)
	return m.Of(kernel.Where, m.Of(kernel.Equal, scale, 0), 1, scale)
}

// toFP4 is a part of what an array becomes by a scheme.
func toFP4(m *graph.Maker, x *graph.Node, scheme, part string) *graph.Node {
	if scheme != "mxfp4" && scheme != "nvfp4" {
		m.Fail(fmt.Errorf(`takes "mxfp4" or "nvfp4", not %q`, scheme))
	}
	if x = inFloat32(m, x); scheme == "nvfp4" {
		x = m.Apply(kernel.Divide, x, fp4Global(m, x))
	}
	return m.Make(func() (*graph.Node, error) { return ToBlocks(m.Site, x, scheme+part) })
}
