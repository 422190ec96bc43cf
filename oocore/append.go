package oocore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/store"
)

// Append computes the array onto the end of a stored Zarr array along an axis, and returns
// the array that is stored then. Open(path).Axis(name) is the axis of a dimension's name. The stored array has the same dtype, and the same lengths
// along the other axes; its chunks, codec and attributes stay as they are. It grows when
// all is computed: until then, and after an error or a kill, it is what it was. While one
// run appends to it another is rejected. An append that was cut off resumes where it
// stopped; one that is whole is done again by the next call.
func (a *Array) Append(ctx context.Context, path string, axis int, opts ...Option) (*Array, error) {
	site := graph.Caller()
	if path == "" {
		return nil, &Error{Op: "append", Site: site, Err: errors.New("the path is empty: name a Zarr array such as x.zarr")}
	}
	r, err := a.prepare(site, path, append(opts[:len(opts):len(opts)], set(func(s *settings) { s.grow = &axis })))
	if err != nil {
		return nil, err
	}
	all, err := r.save(ctx)
	if err != nil {
		return nil, &Error{Op: "append", Site: site, Err: err}
	}
	return all[0], nil
}

// growth returns the box that an array takes when it is appended to the one at a path, and the
// shape of both together.
func growth(root *graph.Node, path string, axis int, s *settings) (box *grid.Box, whole []int, err error) {
	switch {
	case s.region != "":
		return nil, nil, errors.New("Append writes after the end of the array: leave out Region")
	case s.chunks != nil || s.shards != nil || s.codec != "":
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
	if axis, err = grid.Axis(axis, dims); err != nil {
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
