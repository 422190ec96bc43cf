package shape

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/op"
)

// Roll moves elements along axes, those that leave at an end coming in at the other, as
// NumPy's roll: one shift for all axes, or one for each; an axis that is named twice
// moves by both. Without axes the array moves as if it were flat.
func Roll(site graph.Site, n *graph.Node, shifts, axes []int) (*graph.Node, error) {
	args := []string{ints(shifts), ints(axes)}
	if len(axes) == 0 {
		flat, err := graph.Reshape(site, n, -1)
		if err == nil {
			total := 0
			for _, s := range shifts {
				total += s
			}
			flat, err = Roll(site, flat, []int{total}, []int{0})
		}
		if err != nil {
			return nil, err
		}
		return graph.Reshape(site, flat, n.Shape...)
	}
	if len(shifts) != 1 && len(axes) != 1 && len(shifts) != len(axes) {
		return nil, graph.Reject(site, "roll", fmt.Errorf("%d shifts are not for %d axes: give one, or one for each", len(shifts), len(axes)), n)
	}
	op := IndexMap{Axes: make([]Axis, len(n.Shape))}
	for i := range max(len(shifts), len(axes)) {
		axis, err := grid.Axis(axes[min(i, len(axes)-1)], len(n.Shape))
		if err != nil {
			return nil, graph.Reject(site, "roll", err, n)
		}
		a := &op.Axes[axis]
		if length := n.Shape[axis]; length > 0 {
			a.Kind, a.Shift = KindWrap, mod(a.Shift+mod(shifts[min(i, len(shifts)-1)], length), length)
		}
	}
	return Named(site, "roll", n)(Map(site, "roll", n, op, n.Shape, args...))
}

// Tile repeats the array along axes, as NumPy's tile: the numbers are for the last
// axes, or for new ones before the first.
func Tile(site graph.Site, a op.Lengths) (*graph.Node, error) {
	n, times := a.X, a.Lengths
	if err := counts(times); err != nil {
		return nil, graph.Reject(site, "tile", err, n)
	}
	if more := len(times) - len(n.Shape); more > 0 {
		wide, err := graph.ExpandDims(site, n, grid.UpTo(more)...)
		if err != nil {
			return nil, err
		}
		n = wide
	}
	args := ints(times)
	times = append(slices.Repeat([]int{1}, len(n.Shape)-len(times)), times...)
	op := IndexMap{Axes: make([]Axis, len(n.Shape))}
	shape := slices.Clone(n.Shape)
	for d, k := range times {
		if err := product(&shape[d], k); err != nil {
			return nil, graph.Reject(site, "tile", err, n)
		}
		op.Axes[d].Kind = KindWrap
	}
	return Named(site, "tile", n)(Map(site, "tile", n, op, shape, args))
}

// Repeat has each element along an axis so many times after another, as NumPy's repeat.
func Repeat(site graph.Site, n *graph.Node, times, axis int) (*graph.Node, error) {
	at, err := grid.Axis(axis, len(n.Shape))
	if err == nil {
		err = counts([]int{times})
	}
	shape := slices.Clone(n.Shape)
	if err == nil {
		err = product(&shape[at], times)
	}
	if err != nil {
		return nil, graph.Reject(site, "repeat", err, n)
	}
	op := IndexMap{Axes: make([]Axis, len(n.Shape))}
	op.Axes[at] = Axis{Kind: KindRepeat, Times: times}
	return Named(site, "repeat", n)(Map(site, "repeat", n, op, shape, strconv.Itoa(times), strconv.Itoa(axis)))
}

// Flip reverses axes; none given, all.
func Flip(site graph.Site, a op.Axes) (*graph.Node, error) {
	n := a.X
	at, err := grid.Axes(a.Axes, len(n.Shape))
	if err != nil {
		return nil, graph.Reject(site, "flip", err, n)
	}
	spec := make([]string, len(n.Shape))
	for d := range spec {
		spec[d] = ":"
		if slices.Contains(at, d) {
			spec[d] = "::-1"
		}
	}
	return graph.Slice(site, n, strings.Join(spec, ", "))
}

// Rotate turns the plane of two axes by quarters of a turn, from the first towards the
// second, as NumPy's rot90.
func Rotate(site graph.Site, args RotateArgs) (*graph.Node, error) {
	n, quarters, axis, other := args.X, args.Quarters, args.Axis, args.Other
	a, err := grid.Axis(axis, len(n.Shape))
	var b int
	if err == nil {
		b, err = grid.Axis(other, len(n.Shape))
	}
	if err == nil && a == b {
		err = fmt.Errorf("axis %d is named twice", axis)
	}
	if err != nil {
		return nil, graph.Reject(site, "rot90", err, n)
	}
	switch mod(quarters, 4) {
	case 1:
		if n, err = Flip(site, op.Axes{X: n, Axes: []int{b}}); err == nil {
			return Swap(site, SwapArgs{X: n, Axis: a, Other: b})
		}
	case 2:
		return Flip(site, op.Axes{X: n, Axes: []int{a, b}})
	case 3:
		if n, err = Swap(site, SwapArgs{X: n, Axis: a, Other: b}); err == nil {
			return Flip(site, op.Axes{X: n, Axes: []int{b}})
		}
	}
	return n, err
}

// Swap exchanges two axes, as NumPy's swapaxes.
func Swap(site graph.Site, args SwapArgs) (*graph.Node, error) {
	n, axis, other := args.X, args.Axis, args.Other
	a, err := grid.Axis(axis, len(n.Shape))
	var b int
	if err == nil {
		b, err = grid.Axis(other, len(n.Shape))
	}
	if err != nil {
		return nil, graph.Reject(site, "swapaxes", err, n)
	}
	if a == b {
		return n, nil
	}
	order := grid.UpTo(len(n.Shape))
	order[a], order[b] = b, a
	return graph.Transpose(site, n, order...)
}

// Move puts axes at other places, the others staying in their order, as NumPy's
// moveaxis.
func Move(site graph.Site, args MoveArgs) (*graph.Node, error) {
	n, from, to := args.X, args.Axes, args.Places
	dims := len(n.Shape)
	if len(from) != len(to) {
		return nil, graph.Reject(site, "moveaxis", fmt.Errorf("%d axes do not go to %d places", len(from), len(to)), n)
	}
	if len(from) == 0 {
		return n, nil
	}
	order := slices.Repeat([]int{-1}, dims)
	moved := make([]bool, dims)
	for i := range from {
		a, err := grid.Axis(from[i], dims)
		b := 0
		if err == nil {
			b, err = grid.Axis(to[i], dims)
		}
		if err == nil && (moved[a] || order[b] >= 0) {
			err = errors.New("an axis is named twice")
		}
		if err != nil {
			return nil, graph.Reject(site, "moveaxis", err, n)
		}
		order[b], moved[a] = a, true
	}
	next := 0
	for i := range order {
		if order[i] >= 0 {
			continue
		}
		for moved[next] {
			next++
		}
		order[i] = next
		next++
	}
	if dims == 0 {
		return n, nil
	}
	return graph.Transpose(site, n, order...)
}

// RollAxis is NumPy's rollaxis: an axis before the one that stands at a place, or after all
// where the place is their number.
func RollAxis(site graph.Site, a RollAxisArgs) (*graph.Node, error) {
	n, axis, start := a.X, a.Axis, a.Start
	dims := len(n.Shape)
	from, err := grid.Axis(axis, dims)
	if start < 0 {
		start += dims
	}
	if err == nil && (start < 0 || start > dims) {
		err = fmt.Errorf("there is no place %d among %d axes", start, dims)
	}
	if err != nil {
		return nil, graph.Reject(site, "rollaxis", err, n)
	}
	if start > from { // its own place becomes free
		start--
	}
	return Move(site, MoveArgs{X: n, Axes: []int{from}, Places: []int{start}})
}

// counts rejects negative numbers of times.
func counts(times []int) error {
	for _, k := range times {
		if k < 0 {
			return fmt.Errorf("%d times are fewer than none", k)
		}
	}
	return nil
}

// product multiplies a length, unless that is beyond an int.
func product(length *int, by int) error {
	if by > 0 && *length > int(^uint(0)>>1)/by {
		return fmt.Errorf("%d times a length of %d is more than 63 bits count", by, *length)
	}
	*length *= by
	return nil
}

// Named names an operation in the error of what has none yet.
func Named(site graph.Site, op string, in ...*graph.Node) func(*graph.Node, error) (*graph.Node, error) {
	return func(n *graph.Node, err error) (*graph.Node, error) {
		if _, named := errors.AsType[*graph.Error](err); err == nil || named {
			return n, err
		}
		return nil, graph.Reject(site, op, err, in...)
	}
}

// ints is a list as an argument in a title.
func ints(v []int) string {
	if len(v) == 1 {
		return strconv.Itoa(v[0])
	}
	return grid.Format(v)
}
