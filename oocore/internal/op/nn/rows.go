package nn

import (
	"fmt"

	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/op"
)

// Rows are the operations of this package.
var Rows = []op.Row{
	{Usage: "relu(x)", NumPy: "torch.nn.functional.relu", Build: ReLU,
		Go: "nn.ReLU() Layer", Doc: `ReLU returns max(x, 0).`},
	{Usage: "sigmoid(x)", NumPy: "torch.nn.functional.sigmoid", Build: Sigmoid,
		Go: "nn.Sigmoid() Layer", Doc: `Sigmoid returns 1 / (1 + exp(-x)).`},
	{Usage: "silu(x)", NumPy: "torch.nn.functional.silu", Build: SiLU,
		Go: "nn.SiLU() Layer", Doc: `SiLU returns x / (1 + exp(-x)).`},
	{Usage: `gelu(x, "tanh")`, NumPy: "torch.nn.functional.gelu", Build: gelu,
		Go: "nn.GELU() Layer", Doc: `GELU returns x/2 · (1 + erf(x/√2)).`,
		More: []op.Func{{Go: "nn.TanhGELU() Layer = true", Doc: `TanhGELU returns GELU's tanh form (PyTorch's approximate="tanh").`}}},
	{Usage: "softmax(x, axis)", NumPy: "scipy.special.softmax", Passes: "1 of rows up to 4 MiB with their results; 3 along other axes", Holds: "whole rows; along other axes two accumulators for each sum", Build: Softmax, Examples: "softmax(x, 1); softmax(conv2d(c, full(0.1, 4, 8, 3, 3)), 1)",
		Go: "nn.Softmax(axis int) Layer", Doc: `Softmax returns exp(x - max) by its sum along an axis.`},
	{Usage: "layer_norm(x, weight=, bias=, epsilon=1e-5)", NumPy: "torch.nn.functional.layer_norm", Passes: "1 of rows up to 4 MiB with their results, else 2", Holds: "whole rows, else a mean and a variance for each position", Build: LayerNorm,
		Go: "nn.LayerNorm(w, b *Array, epsilon float64) Layer", Doc: `LayerNorm returns (x - mean) / √(variance + epsilon) · w + b, with mean and variance along the last axes of x, whose shape w and b have; without these along the last one. PyTorch's epsilon is 1e-5.`},
	{Usage: "conv2d(x, weights, bias=, stride=1, padding=0, dilation=1, groups=1)", NumPy: "torch.nn.functional.conv2d", Holds: "one image of a box with its border, the box's weights, 0.5 MiB", Build: conv2d, Examples: `conv2d(c, slice(c, "0:4, :, 0:3, 0:3"))`,
		Go: "nn.Conv2D"},
	{Usage: "max_pool2d(x, kernel, stride, padding=0)", NumPy: "torch.nn.functional.max_pool2d", Holds: "what the windows of a box show", Build: pool2d("max_pool2d", MaxPool2D),
		Go: "nn.MaxPool2D"},
	{Usage: "avg_pool2d(x, kernel, stride, padding=0)", NumPy: "torch.nn.functional.avg_pool2d", Holds: "what the windows of a box show", Build: pool2d("avg_pool2d", AvgPool2D),
		Go: "nn.AvgPool2D"},
}

func gelu(site graph.Site, x *graph.Node, tanh bool) (*graph.Node, error) {
	if tanh {
		return TanhGELU(site, x)
	}
	return GELU(site, x)
}

func conv2d(site graph.Site, x, weights, bias *graph.Node, stride, padding, dilation, groups int) (*graph.Node, error) {
	if min(stride, dilation, groups) < 1 || padding < 0 {
		return nil, graph.Reject(site, "conv2d", fmt.Errorf("stride, dilation and groups are 1 or more and padding 0 or more, not %d, %d, %d and %d", stride, dilation, groups, padding), x)
	}
	return Conv2D(site, x, weights, bias, ConvOptions{Stride: square(stride), Padding: square(padding), Dilation: square(dilation), Groups: groups})
}

func pool2d(name string, f func(graph.Site, *graph.Node, PoolOptions) (*graph.Node, error)) any {
	return func(site graph.Site, x *graph.Node, kernel int, stride []int, padding int) (*graph.Node, error) {
		if len(stride) > 0 && stride[0] < 1 {
			return nil, graph.Reject(site, name, fmt.Errorf("a stride is 1 or more, not %d", stride[0]), x)
		}
		return f(site, x, PoolOptions{Kernel: square(kernel), Stride: square(append(stride, 0)[0]), Padding: square(padding)})
	}
}

// square is one number along rows and columns.
func square(n int) [2]int { return [2]int{n, n} }
