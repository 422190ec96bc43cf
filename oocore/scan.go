package oocore

import (
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/op/scan"
)

// Cumsum returns the sums of the elements up to each along an axis; without one, in the
// array as if flattened. Integers are added in 64 bits, where they wrap; floats at
// least as accurately as Sum does. Two passes read the array, or one where its lines
// are short; none writes it, as the sums are part of whatever reads them. The working
// set is a block of 256 KiB.
func (a *Array) Cumsum(axis ...int) *Array { return a.cumulative("cumsum", false, axis) }

// Cumprod returns the products of the elements up to each along an axis; without one, in the
// array as if flattened. A product of floats that is beyond their range is infinite or
// zero there, and right again where later factors bring it back. Passes and working set
// are those of Cumsum.
func (a *Array) Cumprod(axis ...int) *Array { return a.cumulative("cumprod", true, axis) }

// CumulativeSum is Cumsum along an axis, which only an array of one dimension may leave
// out; with initial, a zero comes before each line. Passes and working set are those of
// Cumsum.
func (a *Array) CumulativeSum(initial bool, axis ...int) *Array {
	return a.along("cumulative_sum", false, initial, axis)
}

// CumulativeProd is Cumprod along an axis, which only an array of one dimension may
// leave out; with initial, a one comes before each line. Passes and working set are
// those of Cumsum.
func (a *Array) CumulativeProd(initial bool, axis ...int) *Array {
	return a.along("cumulative_prod", true, initial, axis)
}

// Gradient returns NumPy's gradient along one axis, of elements that are spacing apart: half
// the difference of both neighbours, at the ends the difference of the one, or with an edge
// order of 2 the slope there of the parabola through three elements. Integers are computed in
// float64. It is part of whatever reads it.
func (a *Array) Gradient(spacing float64, axis int, edgeOrder ...int) *Array {
	return a.view("gradient", func(site graph.Site, n *graph.Node) (*graph.Node, error) {
		return scan.Gradient(site, n, spacing, axis, append(edgeOrder, 1)[0])
	})
}

// GradientAt is Gradient of elements that stand at coordinates, a vector with one for each
// element along the axis: inside, the slopes on both sides count by the distance on the other.
func (a *Array) GradientAt(coordinates *Array, axis int, edgeOrder ...int) *Array {
	return build("gradient", func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		return scan.GradientAt(site, in[0], in[1], axis, append(edgeOrder, 1)[0])
	}, a, coordinates)
}

func (a *Array) along(name string, product, initial bool, axis []int) *Array {
	return a.view(name, func(site graph.Site, n *graph.Node) (*graph.Node, error) {
		return scan.Along(site, name, product, n, initial, axis...)
	})
}

func (a *Array) cumulative(name string, product bool, axis []int) *Array {
	return a.view(name, func(site graph.Site, n *graph.Node) (*graph.Node, error) {
		return scan.Cumulative(site, name, product, n, axis...)
	})
}

// Diff returns the differences of neighbours along an axis, taken so many times: each is as
// much shorter. Bools differ or not. It is part of whatever reads it.
func (a *Array) Diff(times, axis int) *Array {
	return a.view("diff", func(site graph.Site, n *graph.Node) (*graph.Node, error) {
		return scan.Diff(site, n, times, axis)
	})
}

// EDiff1D returns NumPy's ediff1d: the differences of neighbours of the array as if
// flattened, between toBegin and toEnd, which are arrays, numbers or nil for none, and take
// the array's type. It is part of whatever reads it.
func (a *Array) EDiff1D(toBegin, toEnd any) *Array {
	operands := []any{a}
	places := [2]int{}
	for i, end := range []any{toBegin, toEnd} {
		if end != nil {
			places[i] = len(operands)
			operands = append(operands, end)
		}
	}
	return build("ediff1d", func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		var ends [2]*graph.Node
		for i, at := range places {
			if at > 0 {
				ends[i] = in[at]
			}
		}
		return scan.EDiff1D(site, in[0], ends[0], ends[1])
	}, operands...)
}
