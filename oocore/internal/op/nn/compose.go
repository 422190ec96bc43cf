package nn

import (
	"fmt"
	"math"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op"
)

// formula makes nodes of arrays and numbers.
type formula struct{ graph.Maker }

func (f *formula) fold(kind kernel.Reduction, x *graph.Node, axes ...int) *graph.Node {
	return f.Reduce(kind, x, graph.ReduceOptions{Axes: axes, KeepDims: true})
}

// function is a layer that computes in floats and gives back the type of x.
func function(site graph.Site, name string, x *graph.Node, with func(f *formula, x *graph.Node) *graph.Node) (*graph.Node, error) {
	f := &formula{graph.Maker{Site: site}}
	wide, result, err := computed(site, x)
	var out *graph.Node
	if !f.Fail(err) {
		out = f.Cast(with(f, wide), result)
	}
	return f.Result(name, out, x)
}

// ReLU is max(x, 0); NaN stays.
func ReLU(site graph.Site, a op.Unary) (*graph.Node, error) {
	f := &formula{graph.Maker{Site: site}}
	return f.Of(kernel.Maximum, a.X, 0), f.Err
}

// LeakyReLU is x where it is not negative, else slope·x.
func LeakyReLU(site graph.Site, x *graph.Node, slope float64) (*graph.Node, error) {
	return function(site, "leaky_relu", x, func(f *formula, x *graph.Node) *graph.Node {
		return f.Of(kernel.Where, f.Of(kernel.GreaterEqual, x, 0), x, f.Of(kernel.Multiply, x, slope))
	})
}

// Sigmoid is 1 / (1 + exp(-x)).
func Sigmoid(site graph.Site, a op.Unary) (*graph.Node, error) {
	return function(site, "sigmoid", a.X, func(f *formula, x *graph.Node) *graph.Node {
		return f.Of(kernel.Divide, 1.0, f.logistic(x))
	})
}

// SiLU is x / (1 + exp(-x)).
func SiLU(site graph.Site, a op.Unary) (*graph.Node, error) {
	return function(site, "silu", a.X, func(f *formula, x *graph.Node) *graph.Node {
		return f.Of(kernel.Divide, x, f.logistic(x))
	})
}

func (f *formula) logistic(x *graph.Node) *graph.Node {
	return f.Of(kernel.Add, f.Of(kernel.Exp, f.Of(kernel.Negative, x)), 1.0)
}

// GELU is x/2 · (1 + erf(x/√2)), or its tanh form, x/2 · (1 + tanh(√(2/π)·(x + 0.044715·x³))) (Hendrycks and
// Gimpel, 2016).
func GELU(site graph.Site, a GELUArgs) (*graph.Node, error) {
	return function(site, "gelu", a.X, func(f *formula, x *graph.Node) *graph.Node {
		if a.Tanh {
			// x·(1 + 0.044715·x²) is the sum without a power.
			inner := f.Of(kernel.Multiply, x, f.Of(kernel.Add, f.Of(kernel.Multiply, f.Of(kernel.Square, x), 0.044715), 1.0))
			tanh := f.Of(kernel.Tanh, f.Of(kernel.Multiply, inner, math.Sqrt(2/math.Pi)))
			return f.Of(kernel.Multiply, f.Of(kernel.Multiply, x, 0.5), f.Of(kernel.Add, tanh, 1.0))
		}
		erf := f.Of(kernel.Erf, f.Of(kernel.Multiply, x, 1/math.Sqrt2))
		return f.Of(kernel.Multiply, f.Of(kernel.Multiply, x, 0.5), f.Of(kernel.Add, erf, 1.0))
	})
}

// Softmax is exp(x - max) by its sum along an axis.
func Softmax(site graph.Site, a op.Numbered) (*graph.Node, error) {
	return function(site, "softmax", a.X, func(f *formula, x *graph.Node) *graph.Node {
		d, err := grid.Axis(a.N, len(x.Shape))
		if f.Fail(err) {
			return nil
		}
		if x.Shape[d] == 0 {
			return x
		}
		e := f.Of(kernel.Exp, f.Of(kernel.Subtract, x, f.fold(kernel.Max, x, d)))
		return f.Of(kernel.Divide, e, f.fold(kernel.Sum, e, d))
	})
}

// LayerNorm is (x - mean) / √(var + epsilon) along the last axes, times weight plus bias,
// which have the shape of these axes or are nil: then it is the last axis.
func LayerNorm(site graph.Site, a LayerNormArgs) (*graph.Node, error) {
	return function(site, "layer_norm", a.X, func(f *formula, x *graph.Node) *graph.Node {
		of := []int{}
		if n := len(x.Shape); n > 0 {
			of = x.Shape[n-1:]
		}
		for _, p := range []*graph.Node{a.Bias, a.Weight} {
			if p != nil {
				of = p.Shape
			}
		}
		first := len(x.Shape) - len(of)
		if first < 0 || len(of) == 0 || !slices.Equal(of, x.Shape[first:]) {
			f.Fail(fmt.Errorf("a weight of shape %s is not for the last axes of shape %s", grid.Format(of), grid.Format(x.Shape)))
			return nil
		}
		var axes []int
		for d := first; d < len(x.Shape); d++ {
			axes = append(axes, d)
		}
		out := f.normal(x, f.fold(kernel.Mean, x, axes...), f.fold(kernel.Var, x, axes...), a.Epsilon)
		return f.scaled(out, a.Weight, a.Bias, of)
	})
}

// normal is (x - mean) / √(variance + epsilon).
func (f *formula) normal(x, mean, variance *graph.Node, epsilon float64) *graph.Node {
	if !(epsilon >= 0) {
		f.Fail(fmt.Errorf("epsilon is %v, and has to be 0 or more", epsilon))
		return nil
	}
	return f.Of(kernel.Divide, f.Of(kernel.Subtract, x, mean), f.Of(kernel.Sqrt, f.Of(kernel.Add, variance, epsilon)))
}

// scaled is x times weight plus bias, where they are given, of one shape.
func (f *formula) scaled(x, weight, bias *graph.Node, shape []int) *graph.Node {
	for i, p := range []*graph.Node{weight, bias} {
		if p == nil || f.Err != nil {
			continue
		}
		if !slices.Equal(p.Shape, shape) {
			f.Fail(fmt.Errorf("a weight or bias of shape %s is not of shape %s", grid.Format(p.Shape), grid.Format(shape)))
			return nil
		}
		x = f.Of([]kernel.Op{kernel.Multiply, kernel.Add}[i], x, f.Cast(p, x.DType))
	}
	return x
}

// BatchNorm normalizes the channels, which are axis 1, by the mean and variance that
// training has kept of each: (x - mean) / √(variance + epsilon) · weight + bias. Weight and
// bias may be nil.
func BatchNorm(site graph.Site, x, mean, variance, weight, bias *graph.Node, epsilon float64) (*graph.Node, error) {
	return function(site, "batch_norm", x, func(f *formula, x *graph.Node) *graph.Node {
		if len(x.Shape) < 2 {
			f.Fail(fmt.Errorf("takes an array (N, C, ...), not shape %s", grid.Format(x.Shape)))
			return nil
		}
		var wide [4]*graph.Node // each with an axis for each after the channels
		for i, p := range []*graph.Node{mean, variance, weight, bias} {
			if p == nil {
				continue
			}
			if len(p.Shape) != 1 || p.Shape[0] != x.Shape[1] {
				f.Fail(fmt.Errorf("a parameter of shape %s is not one number for each of %d channels", grid.Format(p.Shape), x.Shape[1]))
				return nil
			}
			if wide[i] = f.Cast(p, x.DType); len(x.Shape) > 2 {
				var after []int
				for d := 1; d < len(x.Shape)-1; d++ {
					after = append(after, d)
				}
				wide[i] = f.ExpandDims(wide[i], after...)
			}
		}
		out := f.normal(x, wide[0], wide[1], epsilon)
		for i, op := range []kernel.Op{kernel.Multiply, kernel.Add} {
			if p := wide[2+i]; p != nil {
				out = f.Of(op, out, p)
			}
		}
		return out
	})
}

// Dense is x·wᵀ + bias along the last axis of x, with weights (out, in) as PyTorch's
// Linear stores them and a bias (out), which may be nil.
func Dense(site graph.Site, x, w, bias *graph.Node) (*graph.Node, error) {
	if len(w.Shape) != 2 || len(x.Shape) == 0 || x.Shape[len(x.Shape)-1] != w.Shape[1] || bias != nil && !slices.Equal(bias.Shape, w.Shape[:1]) {
		text := "none"
		if bias != nil {
			text = grid.Format(bias.Shape)
		}
		return nil, graph.Reject(site, "dense", fmt.Errorf("takes an array (..., in), weights (out, in) and a bias (out), not shapes %s, %s and %s", grid.Format(x.Shape), grid.Format(w.Shape), text), x, w)
	}
	f := &formula{graph.Maker{Site: site}}
	out := f.Product(x, f.Transpose(w))
	if bias != nil {
		out = f.Of(kernel.Add, out, bias)
	}
	return out, f.Err
}

// Flatten joins all axes but the first.
func Flatten(site graph.Site, x *graph.Node) (*graph.Node, error) {
	if len(x.Shape) == 0 {
		return nil, graph.Reject(site, "flatten", fmt.Errorf("takes an array (N, ...), not one number"), x)
	}
	return graph.Reshape(site, x, x.Shape[0], grid.Size(x.Shape[1:]))
}
