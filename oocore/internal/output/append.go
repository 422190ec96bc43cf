package output

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/store"
)

// growth is what an array at a path gets when another is appended to it: where that lies,
// and the shape of both together.
func (s *Settings) growth(root *graph.Node, path string) (box *grid.Box, whole []int, err error) {
	switch {
	case s.Region != "":
		return nil, nil, errors.New("what is appended comes after the end of the array: leave out Region")
	case s.Chunks != nil || s.Shards != nil || s.Codec != "":
		return nil, nil, errors.New("chunks, shards and codec are those of the array that is appended to")
	}
	stored, err := store.Open(path)
	if err != nil {
		return nil, nil, err
	}
	info := stored.Info()
	if err := stored.Close(); err != nil {
		return nil, nil, err
	}
	if !strings.HasPrefix(info.Format, "zarr") {
		return nil, nil, fmt.Errorf("%s: only Zarr arrays grow: convert it to NAME.zarr and append to that", path)
	}
	dims := len(info.Shape)
	axis, err := grid.Axis(*s.Grow, dims)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	fits := len(root.Shape) == dims
	for d := 0; fits && d < dims; d++ {
		fits = d == axis || root.Shape[d] == info.Shape[d]
	}
	switch {
	case !fits:
		return nil, nil, fmt.Errorf("%s has shape %s: what is appended along axis %d has the same lengths along the others, not %s",
			path, grid.Format(info.Shape), axis, grid.Format(root.Shape))
	case info.DType != root.DType:
		return nil, nil, fmt.Errorf("%s has elements of %s, not %s: AsType brings them there", path, info.DType, root.DType)
	case root.Shape[axis] == 0:
		return nil, nil, fmt.Errorf("an array of shape %s has no elements to append", grid.Format(root.Shape))
	}
	whole = slices.Clone(info.Shape)
	whole[axis] += root.Shape[axis]
	if err := grid.Check(whole, info.DType.Size()); err != nil {
		return nil, nil, err
	}
	b := grid.Box{Start: make([]int, dims), Shape: slices.Clone(root.Shape)}
	b.Start[axis] = info.Shape[axis]
	return &b, whole, nil
}
