package elements

import (
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op/shape"
)

// PackBits is NumPy's packbits: 8 elements along an axis to the bits of a uint8.
func PackBits(site graph.Site, a BitsArgs) (_ *graph.Node, err error) {
	defer graph.Named(&err, site, "packbits", a.X)
	x, at, err := along(site, a)
	if err == nil && x.DType.Kind() >= dtype.KindFloat {
		err = fmt.Errorf("takes integers or bools, not %s: x != 0 first", x.DType)
	}
	if err != nil {
		return nil, err
	}
	m := &graph.Maker{Site: site}
	bits := m.Cast(m.Cast(x, dtype.Bool), dtype.Uint8)
	count := (x.Shape[at] + 7) / 8
	bits = m.Reshape(extended(m, bits, at, 8*count), slices.Concat(x.Shape[:at], []int{count, 8}, x.Shape[at+1:])...)
	bits = m.Apply(kernel.LeftShift, bits, shifts(m, 8, at+1, len(x.Shape)+1, a.Little))
	return m.Reduce(kernel.Sum, bits, graph.ReduceOptions{Axes: []int{at + 1}, DType: dtype.Uint8}), m.Err
}

// UnpackBits is NumPy's unpackbits: the bits of uint8s along an axis.
func UnpackBits(site graph.Site, a BitsArgs) (_ *graph.Node, err error) {
	defer graph.Named(&err, site, "unpackbits", a.X)
	x, at, err := along(site, a)
	if err == nil && x.DType != dtype.Uint8 {
		err = fmt.Errorf("takes uint8s, not %s", x.DType)
	}
	if err != nil {
		return nil, err
	}
	n := 8 * x.Shape[at]
	count := append(slices.Clone(a.Count), n)[0]
	if count < 0 {
		count += n
	}
	if len(a.Count) > 1 || count < 0 {
		return nil, fmt.Errorf("a count is one number, of no less than %d, not %d", -n, a.Count)
	}
	m := &graph.Maker{Site: site}
	bits := m.Make(func() (*graph.Node, error) { return shape.Repeat(site, x, 8, at) })
	bits = m.Apply(kernel.BitAnd, m.Apply(kernel.RightShift, bits, shifts(m, n, at, len(x.Shape), a.Little)), m.Number(1))
	return extended(m, m.Part(bits, at, 0, min(count, n)), at, count), m.Err
}

// along is the array, flat where no axis is named, and the axis.
func along(site graph.Site, a BitsArgs) (*graph.Node, int, error) {
	x, axis, err := shape.Along(site, a.X, a.Axis)
	if err == nil {
		axis, err = grid.Axis(axis, len(x.Shape))
	}
	return x, axis, err
}

// shifts are the places of n bits along an axis, again and again from the highest of a uint8 down, or from the lowest up.
func shifts(m *graph.Maker, n, axis, dims int, little bool) *graph.Node {
	by := m.Apply(kernel.BitAnd, m.Arange(n), m.Number(7))
	if !little {
		by = m.Apply(kernel.Subtract, m.Number(7), by)
	}
	return m.Along(m.Cast(by, dtype.Uint8), axis, dims)
}

// extended is an array with zeros after it along an axis, up to a length.
func extended(m *graph.Maker, n *graph.Node, axis, length int) *graph.Node {
	if m.Err != nil || n.Shape[axis] == length {
		return n
	}
	rest := slices.Clone(n.Shape)
	rest[axis] = length - n.Shape[axis]
	return m.Make(func() (*graph.Node, error) {
		return shape.Concatenate(m.Site, axis, n, m.Full(dtype.FromInt(n.DType, 0), rest...))
	})
}
