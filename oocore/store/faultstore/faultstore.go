// Package faultstore makes stores fail at a chosen operation, to test what
// depends on them.
package faultstore

import (
	"context"
	"sync/atomic"

	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/store"
)

// Op is an operation that can fail.
type Op uint8

// The operations of arrays and writers.
const (
	Read Op = iota
	Write
	Commit
)

// Fault lets the N-th operation of a kind fail with Err, counted from 1 over
// all arrays and writers that it wraps. With Short, half of the operation is
// done first, as when a disk fills up or a file is cut short. N of 0 lets
// nothing fail and only counts.
type Fault struct {
	Op    Op
	N     int64
	Err   error
	Short bool

	count atomic.Int64
}

// Count is the number of operations of the kind so far.
func (f *Fault) Count() int64 { return f.count.Load() }

func (f *Fault) hits(op Op) bool { return op == f.Op && f.count.Add(1) == f.N }

// Array wraps an array; it is a store.Reshaper where a is one.
func (f *Fault) Array(a store.Array) store.Array {
	if r, ok := a.(store.Reshaper); ok {
		return reshaper{array{a, f}, r}
	}
	return array{a, f}
}

// Writer wraps a writer.
func (f *Fault) Writer(w store.Writer) store.Writer { return writer{w, f} }

type array struct {
	store.Array
	fault *Fault
}

func (a array) Read(ctx context.Context, dst []byte, r grid.Region) error {
	if !a.fault.hits(Read) {
		return a.Array.Read(ctx, dst, r)
	}
	if a.fault.Short && len(r.Count) > 0 && r.Count[0] > 1 {
		n := r.Count[0] / 2
		half := grid.Region{Start: r.Start, Count: append([]int{n}, r.Count[1:]...), Step: r.Step}
		if err := a.Array.Read(ctx, dst[:len(dst)/r.Count[0]*n], half); err != nil {
			return err
		}
	}
	return a.fault.Err
}

type reshaper struct {
	array
	inner store.Reshaper
}

func (r reshaper) Reshape(shape []int) (store.Array, error) {
	a, err := r.inner.Reshape(shape)
	if err != nil {
		return nil, err
	}
	return r.fault.Array(a), nil
}

type writer struct {
	store.Writer
	fault *Fault
}

func (w writer) Write(ctx context.Context, src []byte, b grid.Box) error {
	if !w.fault.hits(Write) {
		return w.Writer.Write(ctx, src, b)
	}
	if w.fault.Short && len(b.Shape) > 0 && b.Shape[0] > 1 {
		n := b.Shape[0] / 2
		half := grid.Box{Start: b.Start, Shape: append([]int{n}, b.Shape[1:]...)}
		if err := w.Writer.Write(ctx, src[:len(src)/b.Shape[0]*n], half); err != nil {
			return err
		}
	}
	return w.fault.Err
}

func (w writer) Commit(ctx context.Context) error {
	if w.fault.hits(Commit) {
		return w.fault.Err
	}
	return w.Writer.Commit(ctx)
}
