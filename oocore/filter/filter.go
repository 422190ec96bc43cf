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

import "github.com/gonbext/gonbext/oocore"

// Mode says what lies beyond the edges of an array, by scipy.ndimage's names.
type Mode = oocore.Boundary

// The modes, with what lies before and after a b c d.
const (
	Reflect  = oocore.BoundaryReflect  // d c b a | a b c d | d c b a
	Mirror   = oocore.BoundaryMirror   // d c b | a b c d | c b a
	Nearest  = oocore.BoundaryNearest  // a a a a | a b c d | d d d d
	Wrap     = oocore.BoundaryWrap     // a b c d | a b c d | a b c d
	Constant = oocore.BoundaryConstant // k k k k | a b c d | k k k k
)

// Options are the less common arguments of filters.
type Options struct {
	Mode   Mode
	Value  float64 // k of Constant
	Origin []int   // by how much windows are moved back; nil is by nothing
}

// GaussianOptions are the less common arguments of Gaussian.
type GaussianOptions struct {
	Mode     Mode
	Value    float64 // k of Constant
	Order    []int   // of the derivatives; nil is 0, the density itself
	Truncate float64 // standard deviations that the weights reach; 0 is 4
}

// TransformOptions are the less common arguments of what moves elements between places.
type TransformOptions struct {
	Order int     // of the spline through the elements, 1 to 5; 0 is 3, and -1 takes the nearest element
	Value float64 // of what lies outside of the array
}

func (o TransformOptions) order() int {
	switch o.Order {
	case 0:
		return 3
	case -1:
		return 0
	}
	return o.Order
}
