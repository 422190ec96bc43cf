package oocore

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/op/label"
	"github.com/gonbext/gonbext/oocore/internal/op/shape"
	"github.com/gonbext/gonbext/oocore/internal/plan/compile"
	"github.com/gonbext/gonbext/oocore/internal/receipt"
	"github.com/gonbext/gonbext/oocore/internal/run"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/types"
)

// MemoryError is a budget that is too small, found before anything is read. One
// of Need bytes works.
type MemoryError = types.MemoryError

// Save computes the array into a file or a store and returns the array that it
// holds: x.npy, x.bin, x.zarr, x.nc#name, x.h5#name, x.npz#name, x.safetensors#name; npy and bin also in
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
	to := store.Info{Path: storage.NamedPath(path), Shape: a.Shape(), Details: store.Details{Dims: r.Dims}}
	if r.Dims == nil {
		to.Details.Dims = a.DimNames()
	}
	if err := a.saveLabels(ctx, to, true); err != nil && r.Region == "" {
		return nil, &Error{Op: "save", Site: site, Err: unwrapped(err)}
	}
	saved, err := r.saveOne(ctx, "save")
	if err != nil || r.MakesNothing() || r.Region != "" {
		return saved, err
	}
	if r.receipt != "" {
		if ctx == nil {
			ctx = context.Background()
		}
		if err := receipt.Export(ctx, path, r.receipt); err != nil {
			return nil, &Error{Op: "save", Site: site, Err: fmt.Errorf("%s is saved, and its receipt is not: %w", path, err)}
		}
	}
	n, err := saved.expression()
	if err != nil || n.Kind != graph.Source {
		return saved, err
	}
	if err := a.saveLabels(ctx, n.Stored.Info, false); err != nil {
		return nil, &Error{Op: "save", Site: site, Err: fmt.Errorf("%s is saved, and its labels are not: %w", path, unwrapped(err))}
	}
	return saved, nil
}

// Collect computes the array into the program's memory, in C order. What it
// returns is part of the budget. T must be the type of the elements.
func Collect[T Element](ctx context.Context, a *Array, opts ...Option) ([]T, error) {
	site := graph.Caller()
	r, err := a.prepare(site, "", opts)
	if err != nil {
		return nil, err
	}
	root := r.Roots[0]
	if t := dtype.Of[T](); t != root.DType {
		return nil, &Error{Op: "collect", Shapes: [][]int{root.Shape}, Types: []dtype.Type{root.DType}, Site: site,
			Err: fmt.Errorf("the array's elements are %s, not %s: AsType brings them there", root.DType, t)}
	}
	var out []T
	err = r.collect(ctx, func(n int) []byte {
		out = make([]T, n)
		return dtype.Bytes(out)
	})
	return out, err
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

// request is a run that was planned, under its settings.
type request struct {
	*settings
	*run.Job
}

// prepare plans a run that makes outputs.
func (s *settings) prepare(site graph.Site, op string, outputs ...compile.Output) (*request, error) {
	if s.ShardSize != 0 && outputs[0].Target.Collection == nil {
		return nil, &Error{Op: op, Site: site, Err: errors.New("ShardSize is of a checkpoint, which Collection.Save writes")}
	}
	j, err := s.Prepare(site, op, s.Warnings, outputs...)
	if err != nil {
		return nil, err
	}
	if err := s.checkReceipt(op, j); err != nil {
		return nil, &Error{Op: op, Site: site, Err: err}
	}
	return &request{s, j}, nil
}

// save makes the outputs, and returns the arrays that they hold.
func (r *request) save(ctx context.Context, op string) (all []*Array, err error) {
	result, err := r.Save(ctx, r.Job)
	infos := result.Foreseen
	if err == nil && infos == nil {
		infos, err = r.Stored(ctx)
	}
	if err != nil {
		return nil, &Error{Op: op, Site: r.Site, Err: err}
	}
	return r.arrays(infos)
}

// arrays are those of files, made at the line that saved them.
func (r *request) arrays(infos []store.Info) (all []*Array, err error) {
	for _, info := range infos {
		n, err := graph.Open(r.Site, info, "")
		if err != nil {
			return nil, err
		}
		all = append(all, made(n, nil))
	}
	return all, nil
}

// saveOne makes the output of a run that has one.
func (r *request) saveOne(ctx context.Context, op string) (*Array, error) {
	all, err := r.save(ctx, op)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// collect computes the output into memory, for which allocate makes room.
func (r *request) collect(ctx context.Context, allocate func(n int) []byte) error {
	result, err := r.Collect(ctx, r.Job, allocate)
	if result.End != nil && result.End.Status == record.Planned {
		err = errors.Join(ErrPlanned, err)
	}
	if err != nil {
		return &Error{Op: "collect", Site: r.Site, Err: err}
	}
	return nil
}

// materialise is the array with its elements in the program's memory.
func (a *Array) materialise(ctx context.Context, opts []Option) (*Array, error) {
	site := graph.Caller()
	r, err := a.prepare(site, "", append(opts[:len(opts):len(opts)], unstored))
	if err != nil {
		return nil, err
	}
	var data []byte
	root := r.Roots[0]
	if err := r.collect(ctx, func(n int) []byte {
		data = make([]byte, n*root.DType.Size())
		return data
	}); err != nil {
		return nil, err
	}
	n, err := graph.FromBytes(site, data, root.DType, root.Shape...)
	if err != nil {
		return nil, err
	}
	return made(n, nil), nil
}

// prepare plans a run, and rejects what can be rejected without reading.
func (a *Array) prepare(site graph.Site, path string, opts []Option) (_ *request, err error) {
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
	if s.Grow != nil {
		op = "append"
	}
	if path == "" {
		if err := s.unusable(); err != nil {
			return nil, &Error{Op: op, Site: site, Err: err}
		}
	}
	defer func() {
		if err != nil {
			s.Rejected(root.String())
		}
	}()
	path = storage.NamedPath(path)
	out, err := s.output(site, op, a, path)
	if err != nil {
		return nil, err
	}
	outputs, err := a.withLabels(s, site, out)
	if err != nil {
		return nil, &Error{Op: op, Site: site, Err: unwrapped(err)}
	}
	if op == "save" && s.Region == "" {
		if dims := unsavedLabels(&out); len(dims) > 0 {
			s.Lost = fmt.Sprintf("the labels of %s are not saved: %s is an array in no group: save to %s/NAME to keep them", strings.Join(dims, ", "), path, strings.TrimRight(path, "/"))
		}
	}
	return s.prepare(site, op, outputs...)
}

// output is an array with its place, as plans have it. An error is one of what can be
// rejected without planning.
func (s *settings) output(site graph.Site, op string, a *Array, path string) (out compile.Output, err error) {
	root, err := a.expression()
	if err != nil {
		return out, err
	}
	if !s.MakesNothing() { // what is planned reads nothing
		if err := label.Check(root, labels(context.Background())); err != nil {
			return out, err
		}
	}
	if out, err = s.Output(site, op, root, a.chunks, path); err == nil && s.SideReductions != nil {
		out.Target.SideReductions = s.SideReductions.Of
	}
	return out, err
}
