package expr

import (
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/op/quantize"
)

func init() {
	for name, pick := range map[string]func(quantize.Quantized) *graph.Node{
		"quantize":       func(q quantize.Quantized) *graph.Node { return q.Values },
		"quantize_scale": func(q quantize.Quantized) *graph.Node { return q.Scale },
		"quantize_zero":  func(q quantize.Quantized) *graph.Node { return q.Zero },
	} {
		define(name+`(x, "int8 affine", axis, block)`, 2, 4, func(c *call) (*graph.Node, error) {
			x, err := c.arrays(1)
			if err != nil {
				return nil, err
			}
			s, err := c.scheme()
			if err != nil {
				return nil, err
			}
			q, err := quantize.Quantize(c.site, x[0], s)
			return pick(q), err
		})
	}
	document("quantize", Doc{NumPy: "clip(rint(x / scale) + zero, ...).astype", Passes: "2", Working: "an accumulator for each scale"})
	document("quantize_scale", Doc{NumPy: "max(abs(x)) / 127", Passes: "1", Working: "an accumulator for each scale"})
	document("quantize_zero", Doc{NumPy: "rint(low - min(x) / scale)", Passes: "1", Working: "an accumulator for each scale"})
	define("dequantize(q, scale, zero)", 3, 3, func(c *call) (*graph.Node, error) {
		in, err := c.arrays(3)
		if err != nil {
			return nil, err
		}
		return quantize.Dequantize(c.site, in[0], in[1], in[2])
	})
	document("dequantize", Doc{NumPy: "(q - zero) * scale", Passes: fused, Working: "a block"})
}

// scheme reads "int8", "uint8 affine", with an axis and a block after it.
func (c *call) scheme() (s quantize.Scheme, err error) {
	words := map[string]quantize.Scheme{
		"int8": {DType: dtype.Int8}, "uint8": {DType: dtype.Uint8},
		"int8 affine": {DType: dtype.Int8, Affine: true}, "uint8 affine": {DType: dtype.Uint8, Affine: true},
	}
	if c.values[1].Text != nil {
		s = words[*c.values[1].Text]
	}
	if s.DType == 0 {
		return s, c.fail(c.args[1].Pos(), `%s takes "int8", "uint8", "int8 affine" or "uint8 affine" here: %s`, c.f.Name, c.f.Usage)
	}
	ints, err := c.ints(2)
	if len(ints) > 0 {
		s.Axis = &ints[0]
	}
	if len(ints) > 1 {
		s.Block = ints[1]
	}
	return s, err
}
