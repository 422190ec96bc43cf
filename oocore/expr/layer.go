package expr

import (
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/op/nn"
)

func init() {
	for name, f := range map[string]func(graph.Site, *graph.Node) (*graph.Node, error){
		"relu": nn.ReLU, "sigmoid": nn.Sigmoid, "silu": nn.SiLU,
	} {
		define(name+"(x)", 1, 1, onArray(func(c *call, x *graph.Node, _ []int) (*graph.Node, error) { return f(c.site, x) }))
		document(name, Doc{NumPy: "torch.nn.functional." + name, Passes: fused, Working: "a block"})
	}
	define(`gelu(x, "tanh")`, 1, 2, func(c *call) (*graph.Node, error) {
		in, err := c.arrays(1)
		if err != nil {
			return nil, err
		}
		if len(c.values) == 1 {
			return nn.GELU(c.site, in[0])
		}
		if text := c.values[1].Text; text == nil || *text != "tanh" {
			return nil, c.fail(c.args[1].Pos(), `gelu takes "tanh" here, for its tanh form, or nothing: %s`, c.f.Usage)
		}
		return nn.TanhGELU(c.site, in[0])
	})
	document("gelu", Doc{NumPy: "torch.nn.functional.gelu", Passes: fused, Working: "a block"})
	define("softmax(x, axis)", 2, 2, onArray(func(c *call, x *graph.Node, axis []int) (*graph.Node, error) {
		return nn.Softmax(c.site, x, axis[0])
	}))
	document("softmax", Doc{NumPy: "scipy.special.softmax", Passes: "3", Working: "two accumulators for each sum"})
	define("layer_norm(x, weight, bias, epsilon)", 1, 4, func(c *call) (*graph.Node, error) {
		arrays, epsilon := len(c.values), 1e-5
		if c.values[arrays-1].Number != nil && arrays > 1 {
			arrays--
			var err error
			if epsilon, err = c.float(arrays); err != nil {
				return nil, err
			}
		}
		if arrays > 3 {
			return nil, c.fail(c.args[3].Pos(), "%s takes a real number here: %s", c.f.Name, c.f.Usage)
		}
		in, err := c.arrays(arrays)
		if err != nil {
			return nil, err
		}
		in = append(in, nil, nil)
		return nn.LayerNorm(c.site, in[0], in[1], in[2], epsilon)
	})
	document("layer_norm", Doc{NumPy: "torch.nn.functional.layer_norm", Passes: "2", Working: "a mean and a variance for each position"})
	define("conv2d(x, weights, bias, stride, padding, dilation, groups)", 2, 7, func(c *call) (*graph.Node, error) {
		arrays := 2
		if len(c.values) > 2 && c.values[2].Number == nil {
			arrays = 3
		}
		in, err := c.arrays(arrays)
		if err != nil {
			return nil, err
		}
		in = append(in, nil)
		n, err := c.ints(arrays)
		if err != nil {
			return nil, err
		}
		if len(n) > 4 {
			return nil, c.fail(c.args[len(c.args)-1].Pos(), "%s takes four integers at most: %s", c.f.Name, c.f.Usage)
		}
		given := append(n, []int{1, 0, 1, 1}[len(n):]...)
		for i, least := range []int{1, 0, 1, 1} {
			if given[i] < least {
				return nil, c.fail(c.args[arrays+i].Pos(), "%s takes %d or more here: %s", c.f.Name, least, c.f.Usage)
			}
		}
		return nn.Conv2D(c.site, in[0], in[1], in[2], nn.ConvOptions{
			Stride: both(given[0]), Padding: both(given[1]), Dilation: both(given[2]), Groups: given[3]})
	})
	document("conv2d", Doc{NumPy: "torch.nn.functional.conv2d", Passes: fused, Working: "one image of a box with its border, the box's weights, 0.5 MiB"})
	for name, f := range map[string]func(graph.Site, *graph.Node, nn.PoolOptions) (*graph.Node, error){
		"max_pool2d": nn.MaxPool2D, "avg_pool2d": nn.AvgPool2D,
	} {
		define(name+"(x, kernel, stride, padding)", 2, 4, onArray(func(c *call, x *graph.Node, n []int) (*graph.Node, error) {
			given := append(n, []int{0, 0, 0}[len(n):]...)
			if len(n) > 1 && n[1] < 1 {
				return nil, c.fail(c.args[2].Pos(), "%s takes 1 or more here: %s", c.f.Name, c.f.Usage)
			}
			return f(c.site, x, nn.PoolOptions{Kernel: both(given[0]), Stride: both(given[1]), Padding: both(given[2])})
		}))
		document(name, Doc{NumPy: "torch.nn.functional." + name, Passes: fused, Working: "what the windows of a box show"})
	}
}

// both is one number along rows and columns.
func both(n int) [2]int { return [2]int{n, n} }
