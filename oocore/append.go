package oocore

import (
	"context"
	"errors"

	"github.com/gonbext/gonbext/oocore/internal/graph"
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
	r, err := a.prepare(site, path, append(opts[:len(opts):len(opts)], set(func(s *settings) { s.Grow = &axis })))
	if err != nil {
		return nil, err
	}
	return r.saveOne(ctx, "append")
}
