package index

import (
	"errors"
	"fmt"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

// flattened is the places that indices of axes of some lengths have among the elements in
// C order. positive rejects negative ones; none says that there are no indices at all.
func flattened(site graph.Site, indices []*graph.Node, lengths []int, none, positive bool) (flat *graph.Node, err error) {
	m := &graph.Maker{Site: site}
	for d, index := range indices {
		if index, err = Integers(site, index); err != nil {
			return nil, err
		}
		if !none && lengths[d] == 0 {
			return nil, fmt.Errorf("axis %d has no elements to take", d)
		}
		if grid.Size(index.Shape) > 0 {
			index = m.Blockwise("bounded", Bounded{Axis: d, Length: lengths[d], Positive: positive}, index.Shape, dtype.Int64, []*graph.Node{index})
		}
		if d == 0 {
			flat = index
		} else {
			flat = m.Apply(kernel.Add, m.Apply(kernel.Multiply, flat, constant(m, lengths[d])), index)
		}
		if m.Err != nil {
			return nil, m.Err
		}
	}
	return flat, nil
}

// RavelMulti is NumPy's ravel_multi_index: the places in C order of the elements of an
// array of some lengths that indices, one array for each axis, point to. An index out of
// range, and a negative one, is an error when it is computed.
func RavelMulti(site graph.Site, indices []*graph.Node, lengths []int) (*graph.Node, error) {
	flat, err := func() (*graph.Node, error) {
		if len(indices) != len(lengths) || len(indices) == 0 {
			return nil, fmt.Errorf("%d arrays of indices are given for %d lengths", len(indices), len(lengths))
		}
		if err := grid.Check(lengths, 8); err != nil {
			return nil, err
		}
		shapes := make([][]int, len(indices))
		for i, n := range indices {
			shapes[i] = n.Shape
		}
		shape, err := grid.Broadcast(shapes...)
		if err != nil {
			return nil, err
		}
		return flattened(site, indices, lengths, grid.Size(shape) == 0, true)
	}()
	return graph.Result(site, "ravel_multi_index", flat, err, indices...)
}

// Within brings indices into the range of an axis, by NumPy's mode: "raise" leaves them, "wrap"
// counts beyond an end from the other one, and "clip" takes the end.
func Within(site graph.Site, indices *graph.Node, length int, mode string) (_ *graph.Node, err error) {
	defer graph.Named(&err, site, "ravel_multi_index", indices)
	if mode == "raise" {
		return indices, nil
	}
	indices, err = Integers(site, indices)
	if err != nil {
		return nil, err
	}
	if length < 1 {
		return nil, fmt.Errorf("there is nothing of length %d to %s an index into", length, mode)
	}
	m := &graph.Maker{Site: site}
	switch mode {
	case "wrap":
		return m.Apply(kernel.Remainder, indices, constant(m, length)), m.Err
	case "clip":
		return m.Apply(kernel.Minimum, m.Apply(kernel.Maximum, indices, constant(m, 0)), constant(m, length-1)), m.Err
	}
	return nil, fmt.Errorf("what becomes of indices out of range is \"raise\", \"wrap\" or \"clip\", not %q", mode)
}

// Unravel is NumPy's unravel_index: of places in C order of the elements of an array of
// some lengths, the indices along each axis. A place out of range, and a negative one, is
// an error when it is computed.
func Unravel(site graph.Site, places *graph.Node, lengths []int) (all []*graph.Node, err error) {
	if all, err = unravel(site, places, lengths); err != nil {
		return nil, graph.Reject(site, "unravel_index", err, places)
	}
	return all, nil
}

func unravel(site graph.Site, places *graph.Node, lengths []int) ([]*graph.Node, error) {
	if len(lengths) == 0 {
		return nil, errors.New("there are no lengths of an array")
	}
	if err := grid.Check(lengths, 8); err != nil {
		return nil, err
	}
	places, err := Integers(site, places)
	if err != nil {
		return nil, err
	}
	m := &graph.Maker{Site: site}
	if grid.Size(places.Shape) > 0 {
		if grid.Size(lengths) == 0 {
			return nil, fmt.Errorf("an array of shape %s has no elements", grid.Format(lengths))
		}
		places = m.Blockwise("bounded", Bounded{Length: grid.Size(lengths), Positive: true}, places.Shape, dtype.Int64, []*graph.Node{places})
	}
	all := make([]*graph.Node, len(lengths))
	for d := range lengths {
		all[d] = m.Apply(kernel.FloorDivide, places, constant(m, max(grid.Size(lengths[d+1:]), 1)))
		if d > 0 {
			all[d] = m.Apply(kernel.Remainder, all[d], constant(m, max(lengths[d], 1)))
		}
	}
	return all, m.Err
}
