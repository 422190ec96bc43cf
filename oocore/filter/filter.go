// Package filter computes elements from their neighbours, as scipy.ndimage does:
//
//	smooth := filter.Gaussian(x, []float64{2}, filter.GaussianOptions{})
//
// Filters are lazy and join the expression that they stand in: a run reads boxes with
// their borders and writes nothing between. Large weights are the exception, of which
// Convolve tells. Results have the array's type and, for any cutting into chunks, the
// same bits.
//
// What lies beyond the edges is filled in by a Mode; Reflect is the zero value's. A
// window may be longer than the array: reflections and repetitions then continue. Lists of
// sizes, sigmas, orders and origins have one number for each axis, or one for all; a
// size of 1 or a sigma of 0 leaves an axis alone.
package filter

import (
	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/op/filter"
	"github.com/gonbext/gonbext/oocore/op/window"
)

// Mode says what lies beyond the edges of an array, by scipy.ndimage's names.
type Mode = window.Mode

// The modes, with what lies before and after a b c d.
const (
	Reflect  = window.Reflect  // d c b a | a b c d | d c b a
	Mirror   = window.Mirror   // d c b | a b c d | c b a
	Nearest  = window.Nearest  // a a a a | a b c d | d d d d
	Wrap     = window.Wrap     // a b c d | a b c d | a b c d
	Constant = window.Constant // k k k k | a b c d | k k k k
)

// Options are the less common arguments of filters.
type Options struct {
	Mode   Mode
	Value  float64 // k of Constant
	Origin []int   // by how much windows are moved back; nil is by nothing
}

func (o Options) border() window.Border {
	return window.Border{Mode: o.Mode, Value: o.Value, Origin: o.Origin}
}

func of(name string, a *oocore.Array, f func(site graph.Site, x *graph.Node) (*graph.Node, error)) *oocore.Array {
	return oocore.Build(name, func(site graph.Site, in []*graph.Node) (*graph.Node, error) { return f(site, in[0]) }, a)
}

// Convolve returns the sum over a window of what it shows times the weights, an array of real
// numbers with as many dimensions, reversed along all axes: scipy.ndimage.convolve.
//
// Sums are in float64. Weights of zero take no part. Of integers the fraction is cut off.
// Weights of more than a few thousand elements are multiplied by Fourier transforms, tile
// by tile: then the result is computed by a stage of its own, and rounding errors are
// relative to the largest element of a tile.
func Convolve(a, weights *oocore.Array, o Options) *oocore.Array {
	return oocore.Build("convolve", func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		return filter.Convolve(site, in[0], in[1], o.border())
	}, a, weights)
}

// Correlate is Convolve with the weights as they are: scipy.ndimage.correlate.
func Correlate(a, weights *oocore.Array, o Options) *oocore.Array {
	return oocore.Build("correlate", func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		return filter.Correlate(site, in[0], in[1], o.border())
	}, a, weights)
}

// GaussianOptions are the less common arguments of Gaussian.
type GaussianOptions struct {
	Mode     Mode
	Value    float64 // k of Constant
	Order    []int   // of the derivatives; nil is 0, the density itself
	Truncate float64 // standard deviations that the weights reach; 0 is 4
}

// Gaussian returns the sum with weights of a normal density of standard deviations sigma in
// elements, or of its derivatives, along one axis after another:
// scipy.ndimage.gaussian_filter.
func Gaussian(a *oocore.Array, sigma []float64, o GaussianOptions) *oocore.Array {
	if o.Order == nil {
		o.Order = []int{0}
	}
	if o.Truncate == 0 {
		o.Truncate = 4
	}
	return of("gaussian_filter", a, func(site graph.Site, x *graph.Node) (*graph.Node, error) {
		return filter.Gaussian(site, x, sigma, o.Order, o.Truncate, window.Border{Mode: o.Mode, Value: o.Value})
	})
}

// Uniform returns the mean over windows of the given lengths: scipy.ndimage.uniform_filter. A
// NaN reaches as far as its windows do, and no further. Of integers the fraction is cut
// off after each axis.
func Uniform(a *oocore.Array, size []int, o Options) *oocore.Array {
	return of("uniform_filter", a, func(site graph.Site, x *graph.Node) (*graph.Node, error) {
		return filter.Uniform(site, x, size, o.border())
	})
}

// Median returns the middle element of windows of the given lengths, the upper one of an even
// number; NaN where there is one: scipy.ndimage.median_filter.
func Median(a *oocore.Array, size []int, o Options) *oocore.Array {
	return of("median_filter", a, func(site graph.Site, x *graph.Node) (*graph.Node, error) {
		return filter.MedianOf(site, x, size, o.border())
	})
}

// Minimum returns the smallest element of windows of the given lengths; NaN where there is
// one: scipy.ndimage.minimum_filter.
func Minimum(a *oocore.Array, size []int, o Options) *oocore.Array {
	return of("minimum_filter", a, func(site graph.Site, x *graph.Node) (*graph.Node, error) {
		return filter.Minimum(site, x, size, o.border())
	})
}

// Maximum returns the largest element of windows of the given lengths; NaN where there is
// one: scipy.ndimage.maximum_filter.
func Maximum(a *oocore.Array, size []int, o Options) *oocore.Array {
	return of("maximum_filter", a, func(site graph.Site, x *graph.Node) (*graph.Node, error) {
		return filter.Maximum(site, x, size, o.border())
	})
}

// Downsample returns the mean of blocks of the given factors. Blocks at the end of an axis
// that it does not fill are means of fewer elements. Means of integers are float64.
func Downsample(a *oocore.Array, factors []int) *oocore.Array {
	return of("downsample", a, func(site graph.Site, x *graph.Node) (*graph.Node, error) {
		return filter.Downsample(site, x, factors)
	})
}
