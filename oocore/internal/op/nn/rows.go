package nn

import (
	"fmt"

	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/op"
)

// Rows are the operations of this package.
var Rows = []op.Row{
	{Name: "relu", NumPy: "torch.nn.functional.relu", Build: op.Build(ReLU),
		Go: "nn.ReLU() Layer", Doc: `ReLU returns max(x, 0).`},
	{Name: "sigmoid", NumPy: "torch.nn.functional.sigmoid", Build: op.Build(Sigmoid),
		Go: "nn.Sigmoid() Layer", Doc: `Sigmoid returns 1 / (1 + exp(-x)).`},
	{Name: "silu", NumPy: "torch.nn.functional.silu", Build: op.Build(SiLU),
		Go: "nn.SiLU() Layer", Doc: `SiLU returns x / (1 + exp(-x)).`},
	{Name: "gelu", NumPy: "torch.nn.functional.gelu", Build: op.Build(GELU),
		Go: "nn.GELU() Layer", Doc: `GELU returns x/2 · (1 + erf(x/√2)).`,
		More: []op.Func{{Go: "nn.TanhGELU() Layer = true", Doc: `TanhGELU returns GELU's tanh form (PyTorch's approximate="tanh").`}}},
	{Name: "softmax", Names: "x axis", NumPy: "scipy.special.softmax", Passes: "1 of rows up to 4 MiB with their results; 3 along other axes", Holds: "whole rows; along other axes two accumulators for each sum", Build: op.Build(Softmax), Examples: "softmax(x, 1); softmax(conv2d(c, full(0.1, 4, 8, 3, 3)), 1)",
		Go: "nn.Softmax(axis int) Layer", Doc: `Softmax returns exp(x - max) by its sum along an axis.`},
	{Name: "layer_norm", NumPy: "torch.nn.functional.layer_norm", Passes: "1 of rows up to 4 MiB with their results, else 2", Holds: "whole rows, else a mean and a variance for each position", Build: op.Build(LayerNorm),
		Go: "nn.LayerNorm(w, b *Array, epsilon float64) Layer", Doc: `LayerNorm returns (x - mean) / √(variance + epsilon) · w + b, with mean and variance along the last axes of x, whose shape w and b have; without these along the last one. PyTorch's epsilon is 1e-5.`},
	{Name: "conv2d", NumPy: "torch.nn.functional.conv2d", Holds: "one image of a box with its border, the box's weights, 0.5 MiB", Build: op.Build(conv2d), Examples: `conv2d(c, slice(c, "0:4, :, 0:3, 0:3"))`,
		Go: "nn.Conv2D"},
	{Name: "max_pool2d", NumPy: "torch.nn.functional.max_pool2d", Holds: "what the windows of a box show", Build: op.Build(pool2d("max_pool2d", MaxPool2D)),
		Go: "nn.MaxPool2D"},
	{Name: "avg_pool2d", NumPy: "torch.nn.functional.avg_pool2d", Holds: "what the windows of a box show", Build: op.Build(pool2d("avg_pool2d", AvgPool2D)),
		Go: "nn.AvgPool2D"},
}

// Arguments, by the operation.
type (
	GELUArgs struct {
		X    *graph.Node
		Tanh bool
	}
	LayerNormArgs struct {
		X            *graph.Node
		Weight, Bias *graph.Node `default:""`
		Epsilon      float64     `default:"1e-5"`
	}
	convArgs struct {
		X, Weights *graph.Node
		Bias       *graph.Node `default:""`
		Stride     int         `default:"1"`
		Padding    int         `default:"0"`
		Dilation   int         `default:"1"`
		Groups     int         `default:"1"`
	}
	poolArgs struct {
		X       *graph.Node
		Kernel  int
		Stride  []int `most:"1"`
		Padding int   `default:"0"`
	}
)

func conv2d(site graph.Site, a convArgs) (*graph.Node, error) {
	x, weights, bias, stride, padding, dilation, groups := a.X, a.Weights, a.Bias, a.Stride, a.Padding, a.Dilation, a.Groups
	if min(stride, dilation, groups) < 1 || padding < 0 {
		return nil, graph.Reject(site, "conv2d", fmt.Errorf("stride, dilation and groups are 1 or more and padding 0 or more, not %d, %d, %d and %d", stride, dilation, groups, padding), x)
	}
	return Conv2D(site, x, weights, bias, ConvOptions{Stride: square(stride), Padding: square(padding), Dilation: square(dilation), Groups: groups})
}

func pool2d(name string, f func(graph.Site, *graph.Node, PoolOptions) (*graph.Node, error)) func(site graph.Site, a poolArgs) (*graph.Node, error) {
	return func(site graph.Site, a poolArgs) (*graph.Node, error) {
		if len(a.Stride) > 0 && a.Stride[0] < 1 {
			return nil, graph.Reject(site, name, fmt.Errorf("a stride is 1 or more, not %d", a.Stride[0]), a.X)
		}
		return f(site, a.X, PoolOptions{Kernel: square(a.Kernel), Stride: square(append(a.Stride, 0)[0]), Padding: square(a.Padding)})
	}
}

// square is one number along rows and columns.
func square(n int) [2]int { return [2]int{n, n} }
