package quantize

import (
	"errors"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/op"
	"strings"
)

// Rows are the operations of this package.
var Rows = []op.Row{
	{Usage: `quantize(x, "int8 affine", axis, block=0)`, NumPy: "clip(rint(x / scale) + zero, ...).astype", Passes: "2", Holds: "an accumulator for each scale", Build: of(func(q Quantized) *graph.Node { return q.Values }), Examples: `quantize(x, "int8"); quantize(x, "uint8 affine", 1)`,
		Go: "Array.Quantize"},
	{Usage: `quantize_scale(x, "int8 affine", axis, block=0)`, NumPy: "max(abs(x)) / 127", Passes: "1", Holds: "an accumulator for each scale", Build: of(func(q Quantized) *graph.Node { return q.Scale }), Examples: `quantize_scale(x, "int8", 1, 4)`,
		Go: "Array.Quantize"},
	{Usage: `quantize_zero(x, "int8 affine", axis, block=0)`, NumPy: "rint(low - min(x) / scale)", Passes: "1", Holds: "an accumulator for each scale", Build: of(func(q Quantized) *graph.Node { return q.Zero }), Examples: `quantize_zero(x, "uint8 affine")`,
		Go: "Array.Quantize"},
	{Usage: "dequantize(q, scale, zero)", NumPy: "(q - zero) * scale", Build: Dequantize,
		Go: "Quantized.Dequantize"},
}

// of is a part of what a scheme in text quantizes an array to.
func of(part func(Quantized) *graph.Node) any {
	return func(site graph.Site, x *graph.Node, scheme string, axis []int, block int) (*graph.Node, error) {
		name, affine := strings.CutSuffix(scheme, " affine")
		s := Scheme{DType: map[string]dtype.Type{"int8": dtype.Int8, "uint8": dtype.Uint8}[name], Affine: affine, Block: block}
		if s.DType == 0 {
			return nil, graph.Reject(site, "quantize", errors.New(`takes "int8", "uint8", "int8 affine" or "uint8 affine"`), x)
		}
		if len(axis) > 0 {
			s.Axis = &axis[0]
		}
		q, err := Quantize(site, x, s)
		return part(q), err
	}
}
