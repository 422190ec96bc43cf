package index

import (
	"errors"
	"fmt"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/kernel"
)

// flattened is the places that indices of axes of some lengths have among the elements in
// C order. positive rejects negative ones; none says that there are no indices at all.
func flattened(site graph.Site, indices []*graph.Node, lengths []int, none, positive bool) (flat *graph.Node, err error) {
	for d, index := range indices {
		if index, err = Integers(site, index); err != nil {
			return nil, err
		}
		if !none && lengths[d] == 0 {
			return nil, fmt.Errorf("axis %d has no elements to take", d)
		}
		if grid.Size(index.Shape) > 0 {
			if index, err = graph.NewBlockwise(site, "bounded", Bounded{Axis: d, Length: lengths[d], Positive: positive}, index.Shape, dtype.Int64, []*graph.Node{index}); err != nil {
				return nil, err
			}
		}
		if flat == nil {
			flat = index
			continue
		}
		if flat, err = graph.Apply(site, kernel.Multiply, flat, constant(site, dtype.Int64, lengths[d])); err != nil {
			return nil, err
		}
		if flat, err = graph.Apply(site, kernel.Add, flat, index); err != nil {
			return nil, err
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
	if err != nil {
		return nil, graph.Reject(site, "ravel_multi_index", err, indices...)
	}
	return flat, nil
}

// Within brings indices into the range of an axis, by NumPy's mode: "raise" leaves them, "wrap"
// counts beyond an end from the other one, and "clip" takes the end.
func Within(site graph.Site, indices *graph.Node, length int, mode string) (*graph.Node, error) {
	out, err := within(site, indices, length, mode)
	if err != nil {
		return nil, graph.Reject(site, "ravel_multi_index", err, indices)
	}
	return out, nil
}

func within(site graph.Site, indices *graph.Node, length int, mode string) (*graph.Node, error) {
	if mode == "raise" {
		return indices, nil
	}
	indices, err := Integers(site, indices)
	if err != nil {
		return nil, err
	}
	if length < 1 {
		return nil, fmt.Errorf("there is nothing of length %d to %s an index into", length, mode)
	}
	switch mode {
	case "wrap":
		return graph.Apply(site, kernel.Remainder, indices, constant(site, dtype.Int64, length))
	case "clip":
		if indices, err = graph.Apply(site, kernel.Maximum, indices, constant(site, dtype.Int64, 0)); err != nil {
			return nil, err
		}
		return graph.Apply(site, kernel.Minimum, indices, constant(site, dtype.Int64, length-1))
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
	if grid.Size(places.Shape) > 0 {
		if grid.Size(lengths) == 0 {
			return nil, fmt.Errorf("an array of shape %s has no elements", grid.Format(lengths))
		}
		if places, err = graph.NewBlockwise(site, "bounded", Bounded{Length: grid.Size(lengths), Positive: true}, places.Shape, dtype.Int64, []*graph.Node{places}); err != nil {
			return nil, err
		}
	}
	all := make([]*graph.Node, len(lengths))
	for d := range lengths {
		after := max(grid.Size(lengths[d+1:]), 1)
		n, err := graph.Apply(site, kernel.FloorDivide, places, constant(site, dtype.Int64, after))
		if err == nil && d > 0 {
			n, err = graph.Apply(site, kernel.Remainder, n, constant(site, dtype.Int64, max(lengths[d], 1)))
		}
		if err != nil {
			return nil, err
		}
		all[d] = n
	}
	return all, nil
}
