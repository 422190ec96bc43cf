package oocore

import (
	"context"
	"errors"
	"fmt"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op/quantize"
	"github.com/gonbext/gonbext/oocore/internal/op/shape"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/types"
)

// MemoryError is a budget that is too small, found before anything is read. One
// of Need bytes works.
type MemoryError = types.MemoryError

// Save computes the array into a file or a store and returns the array that it
// holds: x.npy, x.bin, x.zarr, x.npz#name, x.safetensors#name; npy and bin also in
// Fortran's order and big-endian, as x.npy?order=F&dtype=>f4. It takes no more
// memory than its budget. The output appears when it is whole; an error, or the end
// of ctx, leaves what was there before.
//
// Where the same expression of the same inputs was saved to the same place and
// nothing has changed since, nothing is computed. Where that was begun and not
// finished, in whatever way it ended, only what is missing is. The run's record says
// so.
func (a *Array) Save(ctx context.Context, path string, opts ...Option) (*Array, error) {
	site := graph.Caller()
	if path == "" {
		return nil, &Error{Op: "save", Site: site, Err: errors.New("the path is empty: name a file such as x.npy, or bring the values to memory with Collect")}
	}
	r, err := a.prepare(site, path, opts)
	if err != nil {
		return nil, err
	}
	out, err := r.save(ctx)
	if err != nil {
		return nil, &Error{Op: "save", Site: site, Err: err}
	}
	return out[0], nil
}

// Collect computes the array into the program's memory, in C order. What it
// returns is part of the budget. T must be the type of the elements.
func Collect[T Element](ctx context.Context, a *Array, opts ...Option) ([]T, error) {
	site := graph.Caller()
	r, err := a.prepare(site, "", opts)
	if err != nil {
		return nil, err
	}
	if t := dtype.Of[T](); t != r.roots[0].DType {
		return nil, &Error{Op: "collect", Shapes: [][]int{r.roots[0].Shape}, Types: []dtype.Type{r.roots[0].DType}, Site: site,
			Err: fmt.Errorf("the array's elements are %s, not %s: AsType brings them there", r.roots[0].DType, t)}
	}
	var out []T
	err = r.collect(ctx, func(n int) []byte {
		out = make([]T, n)
		return dtype.Bytes(out)
	})
	if err != nil {
		return nil, &Error{Op: "collect", Site: site, Err: err}
	}
	return out, nil
}

// CollectAll computes several arrays of one type into the program's memory, in one run: what they share is
// computed once, and reductions of one array along the same axes share a pass. What it returns is part of the
// budget. All else is as Collect has it.
func CollectAll[T Element](ctx context.Context, arrays []*Array, opts ...Option) ([][]T, error) {
	if len(arrays) == 0 {
		return nil, nil
	}
	joined := build("collect", func(site graph.Site, in []*graph.Node) (_ *graph.Node, err error) {
		for i, n := range in {
			if err := takes[T](site, "collect", n); err != nil {
				return nil, err
			}
			if in[i], err = graph.Reshape(site, n, grid.Size(n.Shape)); err != nil {
				return nil, err
			}
		}
		return shape.Concatenate(site, 0, in...)
	}, anys(arrays)...)
	all, err := Collect[T](ctx, joined, opts...)
	if err != nil {
		return nil, err
	}
	parts := make([][]T, len(arrays))
	for i, a := range arrays {
		n := min(a.Size(), len(all)) // under a plan only there are none
		parts[i], all = all[:n:n], all[n:]
	}
	return parts, nil
}

// Item computes an array of one element, such as the result of a reduction of all axes. T
// must be the type of the element.
func Item[T Element](ctx context.Context, a *Array, opts ...Option) (v T, err error) {
	if n, err := a.expression(); err == nil && grid.Size(n.Shape) != 1 {
		return v, &Error{Op: "item", Shapes: [][]int{n.Shape}, Types: []dtype.Type{n.DType}, Site: graph.Caller(),
			Err: errors.New("the array has not one element: Collect gives all of them")}
	}
	all, err := Collect[T](ctx, a, opts...)
	if err != nil {
		return v, err
	}
	if len(all) == 1 { // under a plan only there is none
		v = all[0]
	}
	return v, nil
}

// materialise is the array with its elements in the program's memory.
func (a *Array) materialise(ctx context.Context, opts []Option) (*Array, error) {
	site := graph.Caller()
	r, err := a.prepare(site, "", append(opts[:len(opts):len(opts)], unstored))
	if err != nil {
		return nil, err
	}
	var data []byte
	if err := r.collect(ctx, func(n int) []byte {
		data = make([]byte, n*r.roots[0].DType.Size())
		return data
	}); err != nil {
		return nil, &Error{Op: "collect", Site: site, Err: err}
	}
	n, err := graph.FromBytes(site, data, r.roots[0].DType, r.roots[0].Shape...)
	if err != nil {
		return nil, err
	}
	return made(n, nil), nil
}

// prepare plans a run, and rejects what can be rejected without reading.
func (a *Array) prepare(site graph.Site, path string, opts []Option) (_ *run, err error) {
	op := "save"
	if path == "" {
		op = "collect"
	}
	root, err := a.expression()
	if err != nil {
		return nil, err
	}
	s, err := applyOptions(opts)
	if err != nil {
		return nil, &Error{Op: op, Site: site, Err: err}
	}
	if s.grow != nil {
		op = "append"
	}
	if path == "" {
		if err := s.unusable(); err != nil {
			return nil, &Error{Op: op, Site: site, Err: err}
		}
	}
	defer func() {
		if err != nil {
			s.rejected(root.String())
		}
	}()
	out, err := s.output(site, op, a, path)
	if err != nil {
		return nil, err
	}
	return s.prepare(site, op, out)
}

// output is an array with its place, as plans have it. An error is one of what can be
// rejected without planning.
func (s *settings) output(site graph.Site, op string, a *Array, path string) (out plan.Output, err error) {
	root, err := a.expression()
	if err != nil {
		return out, err
	}
	chunks := s.chunks
	if chunks == nil && s.region == "" && s.grow == nil && path != "" {
		chunks = a.chunks
	}
	failed := func(err error) (plan.Output, error) {
		return out, &Error{Op: op, Shapes: [][]int{root.Shape}, Types: []dtype.Type{root.DType}, Site: site, Err: err}
	}
	codec := s.codec
	if name, ok := store.Encoded(path, codec); ok {
		if root, codec, err = inQ8(site, root, name); err != nil {
			return out, err
		}
		chunks = nil
	}
	out = plan.Output{Root: root, Target: plan.Target{Path: path, Chunks: chunks, Shards: s.shards, Codec: codec}}
	if out.Target.Details, err = s.details(root, path); err != nil {
		return failed(err)
	}
	if s.sideReductions != nil {
		if out.Target.SideReductions, err = s.sideReductions.nodes(); err != nil {
			return out, err
		}
	}
	if s.region != "" {
		if out.Root, out.Target.Region, out.Target.Whole, err = intoRegion(root, path, s); err != nil {
			return failed(err)
		}
	}
	if s.grow != nil {
		if out.Target.Region, out.Target.Whole, err = growth(root, path, *s.grow, s); err != nil {
			return failed(err)
		}
		out.Target.Grow = true
	}
	return out, nil
}

// inQ8 are the bytes of an array in Q8_0 and the name of that codec, as llama.cpp's converter has
// matrices; vectors and what has no whole blocks become float32.
func inQ8(site graph.Site, x *graph.Node, name string) (*graph.Node, string, error) {
	if n := len(x.Shape); n < 2 || x.Shape[n-1]%kernel.Q8Floats != 0 || x.DType.Kind() != dtype.KindFloat {
		if x.DType.Kind() == dtype.KindFloat {
			x, err := graph.AsType(site, x, dtype.Float32)
			return x, "", err
		}
		return x, "", nil
	}
	x, err := quantize.ToQ8(site, x)
	return x, name, err
}
