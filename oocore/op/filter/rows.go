package filter

import (
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/op"
	"github.com/gonbext/gonbext/oocore/op/window"
)

// Rows are the operations of this package.
var Rows = []op.Row{
	{Usage: `uniform_filter(x, sizes...1, "reflect"=, constant=0)`, NumPy: "scipy.ndimage.uniform_filter", Holds: "a box with its border", Build: withSizes(Uniform), Examples: "uniform_filter(s, 5)",
		Go: "filter.Uniform"},
	{Usage: `median_filter(x, sizes...1, "reflect"=, constant=0)`, NumPy: "scipy.ndimage.median_filter", Holds: "a box with its border", Build: withSizes(MedianOf), Examples: "median_filter(s, 5)",
		Go: "filter.Median"},
	{Usage: `minimum_filter(x, sizes...1, "reflect"=, constant=0)`, NumPy: "scipy.ndimage.minimum_filter", Holds: "a box with its border", Build: withSizes(Minimum),
		Go: "filter.Minimum"},
	{Usage: `maximum_filter(x, sizes...1, "reflect"=, constant=0)`, NumPy: "scipy.ndimage.maximum_filter", Holds: "a box with its border", Build: withSizes(Maximum), Examples: "maximum_filter(s, 3)",
		Go: "filter.Maximum"},
	{Usage: `gaussian_filter(x, sigmas...1, "reflect"=, constant=0, orders...)`, NumPy: "scipy.ndimage.gaussian_filter", Holds: "a box with its border, for each axis", Build: smoothed, Examples: `gaussian_filter(s, 2.0, "reflect")`,
		Go: "filter.Gaussian"},
	{Usage: `convolve(x, weights, "reflect"=, constant=0)`, NumPy: "scipy.ndimage.convolve", Passes: "none of its own; 1 with more than 1000 weights", Holds: "a box with its border; then three tiles in complex128 too", Build: withWeights(Convolve), Examples: "convolve(s, full(0.1, 5, 5))",
		Go: "filter.Convolve"},
	{Usage: `correlate(x, weights, "reflect"=, constant=0)`, NumPy: "scipy.ndimage.correlate", Passes: "none of its own; 1 with more than 1000 weights", Holds: "a box with its border; then three tiles in complex128 too", Build: withWeights(Correlate), Examples: "correlate(s, full(0.1, 3, 3))",
		Go: "filter.Correlate"},
	{Usage: "downsample(x, factors...1)", NumPy: "skimage.transform.downscale_local_mean", Holds: "the elements of a few blocks", Build: Downsample, Examples: "downsample(s, 4)",
		Go: "filter.Downsample"},
}

func withSizes(f func(graph.Site, *graph.Node, []int, window.Border) (*graph.Node, error)) any {
	return func(site graph.Site, x *graph.Node, sizes []int, mode string, value float64) (*graph.Node, error) {
		return f(site, x, sizes, window.Border{Mode: window.Mode(mode), Value: value})
	}
}

func withWeights(f func(graph.Site, *graph.Node, *graph.Node, window.Border) (*graph.Node, error)) any {
	return func(site graph.Site, x, weights *graph.Node, mode string, value float64) (*graph.Node, error) {
		return f(site, x, weights, window.Border{Mode: window.Mode(mode), Value: value})
	}
}

func smoothed(site graph.Site, x *graph.Node, sigmas []float64, mode string, value float64, orders []int) (*graph.Node, error) {
	if orders == nil {
		orders = []int{0}
	}
	return Gaussian(site, x, sigmas, orders, 4, window.Border{Mode: window.Mode(mode), Value: value})
}
