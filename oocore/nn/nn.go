// Package nn runs the forward pass of a small network over batches that do not fit
// into memory:
//
//	w := func(name string) *oocore.Array { return oocore.Open("weights.safetensors#" + name) }
//	model := nn.Model{
//		nn.Conv2D(w("conv.weight"), w("conv.bias"), nn.Conv{Padding: [2]int{1, 1}}),
//		nn.ReLU(),
//		nn.MaxPool2D(nn.Pool{Kernel: [2]int{2, 2}}),
//		nn.Flatten(),
//		nn.Dense(w("fc.weight"), w("fc.bias")),
//		nn.Softmax(-1),
//	}
//	y, err := model.Forward(x).Save(ctx, "y.npy", oocore.Memory("64MiB"))
//
// Forward is one lazy expression: activations exist in parts, as many as a budget holds.
// Keep saves each one instead, as training would have to hold them for gradients.
package nn

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/internal/door"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/op/nn"
)

// internals plan and group the runs of a forward pass.
var internals = door.Get(oocore.Plan{})

// Layer is a step of a forward pass: its name, and what makes its result of its input.
type Layer struct {
	Name  string
	Apply func(x *oocore.Array) *oocore.Array
}

// Model is layers, each of which takes the result of the one before.
type Model []Layer

// Forward returns the model's result, lazy and fused: nothing is read or computed yet.
func (m Model) Forward(x *oocore.Array) *oocore.Array {
	for _, l := range m {
		if l.Apply == nil {
			return door.Made[oocore.Array](nil, errors.New("forward: a layer of the model is nil"))
		}
		x = l.Apply(x)
	}
	return x
}

// Kept is a forward pass with every activation.
type Kept struct {
	Activations []*oocore.Array // each layer's result, as it was saved
	Bytes       int64           // of all of them: what training would have to hold
}

// Keep saves the result of each layer, each computed from the one before: into the folder
// at path as 00-name.npy, 01-name.npy and so on or, where path ends in .zarr, as arrays
// 00-name, 01-name of that group. The runs are one record, whose series "MiB kept by
// layer" grows with each layer.
//
// Where a layer fails, those before it are returned with the error.
func (m Model) Keep(ctx context.Context, x *oocore.Array, path string, opts ...oocore.Option) (*Kept, error) {
	k := &Kept{}
	// What cannot be computed is rejected before anything is written.
	if err := m.Forward(x).Err(); err != nil {
		return k, err
	}
	if len(m) == 0 {
		return k, errors.New("keep: the model has no layers")
	}
	folder := false
	member := func(name string) string { return filepath.Join(path, name+".npy") }
	switch path = strings.TrimSuffix(path, "/"); filepath.Ext(path) {
	case ".zarr":
		member = func(name string) string { return path + "/" + name }
	case ".npy", ".npz", ".safetensors":
		return k, fmt.Errorf("keep: %s is one file, which each layer would write anew: give a folder, or a group such as kept.zarr", path)
	default:
		folder = true
	}
	begun := x
	layers := func(opts []oocore.Option, note func(string, float64)) error {
		x, *k = begun, Kept{}
		for i, l := range m {
			name := fmt.Sprintf("%02d-%s", i, strings.ReplaceAll(l.Name, "/", "-"))
			y, err := l.Apply(x).Save(ctx, member(name), opts...)
			if err != nil {
				return fmt.Errorf("layer %d, %s: %w", i, l.Name, err)
			}
			x = y
			k.Activations = append(k.Activations, y)
			k.Bytes += y.Bytes()
			note("MiB kept by layer", float64(k.Bytes)/(1<<20))
		}
		return nil
	}
	opts, err := internals.Fits(opts, func(opts []oocore.Option) error { return layers(opts, func(string, float64) {}) })
	if err != nil {
		return &Kept{}, err
	}
	if folder {
		if err := os.MkdirAll(path, 0o777); err != nil {
			return &Kept{}, err
		}
	}
	err = internals.RunGroup("forward pass, activations kept", opts, layers)
	return k, err
}

// built is a layer of nodes, with parameters that may be nil.
func built(name string, f func(site graph.Site, x *graph.Node, p []*graph.Node) (*graph.Node, error), parameters ...*oocore.Array) Layer {
	return Layer{name, func(x *oocore.Array) *oocore.Array {
		operands := []any{x}
		for _, p := range parameters {
			if p != nil {
				operands = append(operands, p)
			}
		}
		return door.Build[oocore.Array](name, func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
			nodes := make([]*graph.Node, len(parameters))
			next := 1
			for i, p := range parameters {
				if p != nil {
					nodes[i] = in[next]
					next++
				}
			}
			return f(site, in[0], nodes)
		}, operands...)
	}}
}

var errNoWeights = errors.New("its weights are nil")

// Dense returns x·wᵀ + b along the last axis of x (..., in), with w (out, in) as PyTorch's
// Linear stores it, and b (out) or nil.
func Dense(w, b *oocore.Array) Layer {
	return built("dense", func(site graph.Site, x *graph.Node, p []*graph.Node) (*graph.Node, error) {
		if p[0] == nil {
			return nil, graph.Reject(site, "dense", errNoWeights, x)
		}
		return nn.Dense(site, x, p[0], p[1])
	}, w, b)
}

// Conv are the less common arguments of Conv2D, along rows and columns. Strides,
// dilations and groups of zero are 1.
type Conv struct {
	Stride, Padding, Dilation [2]int
	Groups                    int
}

// Conv2D returns PyTorch's conv2d of images (N, C, H, W) with w (O, C / groups, KH, KW) and
// b (O) or nil. It is fused; a task holds one image of its box with the border, the
// box's weights and 0.5 MiB.
func Conv2D(w, b *oocore.Array, o Conv) Layer {
	return built("conv2d", func(site graph.Site, x *graph.Node, p []*graph.Node) (*graph.Node, error) {
		if p[0] == nil {
			return nil, graph.Reject(site, "conv2d", errNoWeights, x)
		}
		return nn.Conv2D(site, x, p[0], p[1], nn.ConvOptions(o))
	}, w, b)
}

// Pool are the arguments of MaxPool2D and AvgPool2D, along rows and columns. A stride of
// zero is the kernel's length.
type Pool struct {
	Kernel, Stride, Padding [2]int
}

// MaxPool2D returns the largest element in each window of the last two axes. Padding takes
// no part; NaN wins.
func MaxPool2D(o Pool) Layer {
	return plain("max_pool2d", func(site graph.Site, x *graph.Node) (*graph.Node, error) {
		return nn.MaxPool2D(site, x, nn.PoolOptions(o))
	})
}

// AvgPool2D returns the mean of each window of the last two axes. Padding counts as zeros.
func AvgPool2D(o Pool) Layer {
	return plain("avg_pool2d", func(site graph.Site, x *graph.Node) (*graph.Node, error) {
		return nn.AvgPool2D(site, x, nn.PoolOptions(o))
	})
}

// BatchNorm normalizes axis 1 of x (N, C, ...) by the running mean and variance (C) that
// training has kept: (x - mean) / √(variance + epsilon) · w + b, where w and b (C) may be
// nil. PyTorch's epsilon is 1e-5.
func BatchNorm(mean, variance, w, b *oocore.Array, epsilon float64) Layer {
	return built("batch_norm", func(site graph.Site, x *graph.Node, p []*graph.Node) (*graph.Node, error) {
		if p[0] == nil || p[1] == nil {
			return nil, graph.Reject(site, "batch_norm", errors.New("its mean or variance is nil"), x)
		}
		return nn.BatchNorm(site, x, p[0], p[1], p[2], p[3], epsilon)
	}, mean, variance, w, b)
}

func plain(name string, f func(site graph.Site, x *graph.Node) (*graph.Node, error)) Layer {
	return built(name, func(site graph.Site, x *graph.Node, _ []*graph.Node) (*graph.Node, error) { return f(site, x) })
}

// LeakyReLU returns x where it is not negative, else slope·x.
func LeakyReLU(slope float64) Layer {
	return plain("leaky_relu", func(site graph.Site, x *graph.Node) (*graph.Node, error) { return nn.LeakyReLU(site, x, slope) })
}

// Tanh returns the hyperbolic tangent.
func Tanh() Layer { return Layer{"tanh", (*oocore.Array).Tanh} }

// Flatten joins all axes but the first.
func Flatten() Layer { return plain("flatten", nn.Flatten) }
