// Package memstore keeps arrays in memory, for tests and for measuring what
// everything but storage costs. It satisfies the same contracts as files do.
package memstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync/atomic"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/strided"
	"github.com/gonbext/gonbext/oocore/store"
)

// Array is an array over bytes that the caller keeps.
type Array struct {
	info   store.Info
	data   []byte
	closed *atomic.Bool
}

// New shows elements, dense and in C order, as a stored array. It does not copy
// them. It panics where their length is not that of the shape, which only a
// wrong test can bring about.
func New(shape []int, t dtype.Type, data []byte) *Array {
	if want := grid.Size(shape) * t.Size(); len(data) != want {
		panic(fmt.Sprintf("memstore: shape %s of %s needs %d bytes, %d given", grid.Format(shape), t, want, len(data)))
	}
	return &Array{
		info: store.Info{
			Path: "memory", Format: "memory", Shape: slices.Clone(shape), DType: t,
			Bytes: int64(len(data)), ID: store.FileVersion{Size: int64(len(data))},
		},
		data:   data,
		closed: new(atomic.Bool),
	}
}

// Info describes the array.
func (a *Array) Info() store.Info {
	info := a.info
	info.Shape = slices.Clone(info.Shape)
	return info
}

// Read copies a region's elements.
func (a *Array) Read(ctx context.Context, dst []byte, r grid.Region) error {
	l, err := layout(ctx, a.closed, a.info, len(dst), r)
	if err == nil && len(dst) > 0 {
		l.Gather(dst, a.data, 0)
	}
	return err
}

// Reshape shows the same elements in another shape.
func (a *Array) Reshape(shape []int) (store.Array, error) {
	if err := grid.Check(shape, a.info.DType.Size()); err != nil {
		return nil, err
	}
	if grid.Size(shape) != grid.Size(a.info.Shape) {
		return nil, fmt.Errorf("shape %s cannot become %s", grid.Format(a.info.Shape), grid.Format(shape))
	}
	b := *a
	b.info.Shape = slices.Clone(shape)
	return &b, nil
}

// Close makes further reads fail, as those of a file do.
func (a *Array) Close() error {
	a.closed.Store(true)
	return nil
}

// layout checks a read as every store has to.
func layout(ctx context.Context, closed *atomic.Bool, info store.Info, length int, r grid.Region) (strided.Layout, error) {
	if err := ctx.Err(); err != nil {
		return strided.Layout{}, err
	}
	if closed.Load() {
		return strided.Layout{}, fmt.Errorf("read %s: %w", info.Path, fs.ErrClosed)
	}
	l, err := strided.Of(info.Shape, info.DType.Size(), r)
	if err == nil && length != l.Bytes() {
		err = errors.New("the buffer has another size than the region")
	}
	if err != nil {
		return strided.Layout{}, fmt.Errorf("read %s: %w", info.Path, err)
	}
	return l, nil
}

// Into returns a Writer to memory that the caller keeps: dense, in C order, of the
// shape's size.
func Into(shape []int, t dtype.Type, data []byte) store.Writer {
	return &into{shape, t.Size(), data}
}

type into struct {
	shape []int
	size  int
	data  []byte
}

func (w *into) Write(ctx context.Context, src []byte, b grid.Box) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	l, err := strided.Of(w.shape, w.size, b.Region())
	if err == nil && len(src) != l.Bytes() {
		err = errors.New("the buffer has another size than the box")
	}
	if err != nil {
		return fmt.Errorf("write to memory: %w", err)
	}
	if len(src) > 0 {
		l.Scatter(w.data, src, 0)
	}
	return nil
}

func (w *into) Sync(ctx context.Context) error { return ctx.Err() }

func (w *into) Commit(ctx context.Context) error { return ctx.Err() }

func (w *into) Suspend() error { return nil }

func (w *into) Abort() error { return nil }
