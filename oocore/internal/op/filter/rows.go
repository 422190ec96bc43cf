package filter

import (
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/op"
	"github.com/gonbext/gonbext/oocore/internal/op/window"
)

// Rows are the operations of this package.
var Rows = []op.Row{
	{Name: "uniform_filter", NumPy: "scipy.ndimage.uniform_filter", Holds: "a box with its border", Build: op.Build(Uniform), Examples: "uniform_filter(s, 5)",
		Go: "filter.Uniform(a *Array, size []int, o Options) = a, size, window.Mode(o.Mode), o.Value, o.Origin", Doc: `Uniform returns the mean over windows of the given lengths: scipy.ndimage.uniform_filter. A NaN reaches as far as its windows do, and no further. Of integers the fraction is cut off after each axis.`},
	{Name: "median_filter", NumPy: "scipy.ndimage.median_filter", Holds: "a box with its border", Build: op.Build(MedianOf), Examples: "median_filter(s, 5)",
		Go: "filter.Median(a *Array, size []int, o Options) = a, size, window.Mode(o.Mode), o.Value, o.Origin", Doc: `Median returns the middle element of windows of the given lengths, the upper one of an even number; NaN where there is one: scipy.ndimage.median_filter.`},
	{Name: "minimum_filter", NumPy: "scipy.ndimage.minimum_filter", Holds: "a box with its border", Build: op.Build(Minimum),
		Go: "filter.Minimum(a *Array, size []int, o Options) = a, size, window.Mode(o.Mode), o.Value, o.Origin", Doc: `Minimum returns the smallest element of windows of the given lengths; NaN where there is one: scipy.ndimage.minimum_filter.`},
	{Name: "maximum_filter", NumPy: "scipy.ndimage.maximum_filter", Holds: "a box with its border", Build: op.Build(Maximum), Examples: "maximum_filter(s, 3)",
		Go: "filter.Maximum(a *Array, size []int, o Options) = a, size, window.Mode(o.Mode), o.Value, o.Origin", Doc: `Maximum returns the largest element of windows of the given lengths; NaN where there is one: scipy.ndimage.maximum_filter.`},
	{Name: "gaussian_filter", Without: "Origin", NumPy: "scipy.ndimage.gaussian_filter", Holds: "a box with its border, for each axis", Build: op.Build(Gaussian), Examples: `gaussian_filter(s, 2.0, "reflect")`,
		Go: "filter.Gaussian(a *Array, sigma []float64, o GaussianOptions) = a, sigma, window.Mode(o.Mode), o.Value, o.Order, o.Truncate", Doc: `Gaussian returns the sum with weights of a normal density of standard deviations sigma in elements, or of its derivatives, along one axis after another: scipy.ndimage.gaussian_filter.`},
	{Name: "convolve", NumPy: "scipy.ndimage.convolve", Passes: "none of its own; 1 with more than 1000 weights", Holds: "a box with its border; then three tiles in complex128 too", Build: op.Build(Convolve), Examples: "convolve(s, full(0.1, 5, 5))",
		Go: "filter.Convolve(a, weights *Array, o Options) = a, weights, window.Mode(o.Mode), o.Value, o.Origin", Doc: `Convolve returns the sum over a window of what it shows times the weights, an array of real numbers with as many dimensions, reversed along all axes: scipy.ndimage.convolve.

Sums are in float64. Weights of zero take no part. Of integers the fraction is cut off. Weights of more than a few thousand elements are multiplied by Fourier transforms, tile by tile: then the result is computed by a stage of its own, and rounding errors are relative to the largest element of a tile.`},
	{Name: "correlate", NumPy: "scipy.ndimage.correlate", Passes: "none of its own; 1 with more than 1000 weights", Holds: "a box with its border; then three tiles in complex128 too", Build: op.Build(Correlate), Examples: "correlate(s, full(0.1, 3, 3))",
		Go: "filter.Correlate(a, weights *Array, o Options) = a, weights, window.Mode(o.Mode), o.Value, o.Origin", Doc: `Correlate is Convolve with the weights as they are: scipy.ndimage.correlate.`},
	{Name: "downsample", Names: "x factors", NumPy: "skimage.transform.downscale_local_mean", Holds: "the elements of a few blocks", Build: op.Build(Downsample), Examples: "downsample(s, 4)",
		Go: "filter.Downsample(a *Array, factors []int)", Doc: `Downsample returns the mean of blocks of the given factors. Blocks at the end of an axis that it does not fill are means of fewer elements. Means of integers are float64.`},
}

// Arguments, by the operation.
type (
	SizeArgs struct {
		X     *graph.Node
		Sizes []int `least:"1"`
		window.Border
	}
	WeightArgs struct {
		X, Weights *graph.Node
		window.Border
	}
	// GaussianArgs are the arguments of gaussian_filter. No orders are 0, and a truncation of 0 is 4.
	GaussianArgs struct {
		X      *graph.Node
		Sigmas []float64 `least:"1"`
		window.Border
		Orders   []int
		Truncate float64 `word:"4"`
	}
)
