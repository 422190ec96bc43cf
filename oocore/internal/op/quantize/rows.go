package quantize

import (
	"errors"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/op"
)

// Rows are the operations of this package.
var Rows = []op.Row{
	{Name: "quantize", NumPy: "clip(rint(x / scale) + zero, ...).astype; \"float8_e4m3fn 128x128\" has square blocks, and no zero", Passes: "2", Holds: "an accumulator for each scale", Build: op.Build(of(func(q Quantized) *graph.Node { return q.Values })), Examples: `quantize(x, "int8"); quantize(x, "uint8 affine", 1)`,
		Go: "Array.Quantize"},
	{Name: "quantize_scale", NumPy: "max(abs(x)) / 127, 448 or 57344", Passes: "1", Holds: "an accumulator for each scale", Build: op.Build(of(func(q Quantized) *graph.Node { return q.Scale })), Examples: `quantize_scale(x, "int8", 1, 4)`,
		Go: "Array.Quantize"},
	{Name: "quantize_zero", NumPy: "rint(low - min(x) / scale)", Passes: "1", Holds: "an accumulator for each scale", Build: op.Build(of(func(q Quantized) *graph.Node { return q.Zero })), Examples: `quantize_zero(x, "uint8 affine")`,
		Go: "Array.Quantize"},
	{Name: "dequantize", NumPy: "(q - zero) * scale", Examples: `dequantize(quantize(x, "float8_e4m3fn", 0), quantize_scale(x, "float8_e4m3fn", 0))`, Build: op.Build(Dequantize),
		Go: "Quantized.Dequantize"},
	{Name: "dequantize_fp4", NumPy: "q.view of ml_dtypes.float4_e2m1fn, two to a byte, * scale", Examples: `dequantize_fp4(astype(x, "uint8"), abs(x))`, Build: op.Build(DequantizeFP4)},
	{Name: "quantize_fp4", NumPy: "(x / scale).astype(ml_dtypes.float4_e2m1fn), saturated, two to a byte; \"mxfp4\" has blocks of 32 along the last axis, \"nvfp4\" of 16; \"mxfp4 blocks\" gives them an axis of their own", Passes: `none of its own; 2 of "nvfp4"`,
		Examples: `quantize_fp4(x, "mxfp4"); quantize_fp4(x, "nvfp4")`, Build: op.Build(QuantizeFP4)},
	{Name: "quantize_fp4_scale", NumPy: "2**(floor(log2(max(abs(block)))) - 2) in E8M0, as uint8; of \"nvfp4\" max(abs(block)) / quantize_fp4_global(x) / 6 in float8_e4m3fn", Passes: `none of its own; 2 of "nvfp4"`,
		Examples: `quantize_fp4_scale(x, "mxfp4")`, Build: op.Build(QuantizeFP4Scale)},
	{Name: "quantize_fp4_global", NumPy: "max(abs(x)) / (6 * 448), by which \"nvfp4\" is multiplied again", Passes: "1", Holds: "an accumulator", Examples: "quantize_fp4_global(x)", Build: op.Build(QuantizeFP4Global)},
}

// Arguments, by the operation.
type (
	quantizeArgs struct {
		X      *graph.Node
		Scheme string `usage:"int8 affine"`
		Axis   []int  `most:"1"`
		Block  int    `default:"0"`
	}
	DequantizeArgs struct {
		Q, Scale *graph.Node
		Zero     *graph.Node `default:""`
		Block    int         `word:"128" default:"0"`
	}
)

// of is a part of what a scheme in text quantizes an array to.
func of(part func(Quantized) *graph.Node) func(site graph.Site, a quantizeArgs) (*graph.Node, error) {
	return func(site graph.Site, a quantizeArgs) (*graph.Node, error) {
		x, axis, block := a.X, a.Axis, a.Block
		name, affine := strings.CutSuffix(a.Scheme, " affine")
		name, square, blocks := strings.Cut(name, " ")
		s := Scheme{DType: map[string]dtype.Type{"int8": dtype.Int8, "uint8": dtype.Uint8, "float8_e4m3fn": dtype.Float8E4M3FN, "float8_e5m2": dtype.Float8E5M2}[name], Affine: affine, Block: block}
		if blocks && block == 0 && len(axis) == 0 {
			rows, columns, _ := strings.Cut(square, "x")
			if n, err := strconv.Atoi(rows); err == nil && rows == columns {
				s.Block, blocks = n, n < 1
			}
		}
		if s.DType == 0 || blocks {
			return nil, graph.Reject(site, "quantize", errors.New(`takes "int8", "uint8", "float8_e4m3fn" or "float8_e5m2", followed by " affine" or by square blocks as in "float8_e4m3fn 128x128"`), x)
		}
		if len(axis) > 0 {
			s.Axis = &axis[0]
		}
		q, err := Quantize(site, x, s)
		return part(q), err
	}
}
