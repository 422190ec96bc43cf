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
	"cmp"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/internal/op/signal"
)

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

// LFilter returns the signals along an axis through a linear filter from rest, of the coefficients of its numerator b and its
// denominator a: scipy.signal.lfilter. The result is in float64, or complex128.
//
// Passes: 2 that read, 1 where lines are short or a has one number. Held at once: 256 KiB, and what the filter remembers of
// each line.
func LFilter(b, a []float64, x *oocore.Array, axis int) *oocore.Array {
	in := called("lfilter")
	return in.Result(signal.LFilter(in.Site, signal.Doubles(b), signal.Doubles(a), in.Node(x), axis))
}

// SOSFilt returns the signals along an axis through a cascade of second-order sections from rest, as scipy.signal designs them: b0, b1, b2,
// 1, a1 and a2 of each. It is scipy.signal.sosfilt, in float64 or complex128.
//
// Passes: 2 that read, 1 where lines are short. Held at once: 256 KiB, and what the filter remembers of each line.
func SOSFilt(sos [][6]float64, x *oocore.Array, axis int) *oocore.Array {
	in := called("sosfilt")
	return in.Result(signal.SOSFilt(in.Site, sections(sos), in.Node(x), axis))
}

// FiltFiltOptions are the less common arguments of SOSFiltFilt.
type FiltFiltOptions struct {
	PadType string // how lines are continued at both ends: "odd", which "" is, "even", "constant" or "none"
	PadLen  int    // by how many elements; 0 is three times as many as the filter has coefficients
}

// SOSFiltFilt returns the signals along an axis through second-order sections there and back, which shifts no phase:
// scipy.signal.sosfiltfilt. Lines are longer than what they are continued by.
//
// Passes: 2 that read and 1 that writes there, and 2 that read back. Held at once: as SOSFilt.
func SOSFiltFilt(sos [][6]float64, x *oocore.Array, axis int, o FiltFiltOptions) *oocore.Array {
	in := called("sosfiltfilt")
	return in.Result(signal.SOSFiltFilt(in.Site, sections(sos), in.Node(x), axis, signal.Extension{PadType: cmp.Or(o.PadType, "odd"), PadLen: cmp.Or(o.PadLen, -1)}))
}

func sections(sos [][6]float64) signal.Coefficients {
	var all []float64
	for _, s := range sos {
		all = append(all, s[:]...)
	}
	return signal.Doubles(all)
}

// ResampleOptions are the less common arguments of ResamplePoly.
type ResampleOptions struct {
	Window  string  // of the filter: "kaiser,5.0" with its beta, which "" is, "boxcar", "hann", "hamming", "blackman", "nuttall", "blackmanharris" or "flattop"
	PadType string  // what lies beyond the ends of lines: "constant", which "" is, "edge", "reflect", "symmetric", "wrap", or "mean", "median", "minimum" or "maximum" of the line
	Value   float64 // of "constant"
}

func (o ResampleOptions) window() string  { return cmp.Or(o.Window, "kaiser,5.0") }
func (o ResampleOptions) padType() string { return cmp.Or(o.PadType, "constant") }
