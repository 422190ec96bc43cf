package exec_test

import (
	"context"
	"sync/atomic"

	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

// storeOp is an operation that can fail.
type storeOp uint8

// The operations of arrays and writers.
const (
	readOp storeOp = iota
	writeOp
	commitOp
	syncOp
)

// storeFault lets the N-th operation of a kind fail with Err, counted from 1 over
// all arrays and writers that it wraps. With Short, half of the operation is
// done first, as when a disk fills up or a file is cut short. N of 0 lets
// nothing fail and only counts.
type storeFault struct {
	Op    storeOp
	N     int64
	Err   error
	Short bool

	count atomic.Int64
}

// Count returns the number of operations of the kind so far.
func (f *storeFault) Count() int64 { return f.count.Load() }

func (f *storeFault) hits(op storeOp) bool { return op == f.Op && f.count.Add(1) == f.N }

// Array wraps an array. It is a storage.Reshaper, or a storage.Coded, where a is one,
// and a storage.Listed where a Coded one is.
func (f *storeFault) Array(a store.Array) store.Array {
	switch inner := a.(type) {
	case storage.Reshaper:
		return faultyReshaper{faultyArray{a, f}, inner}
	case interface {
		storage.Coded
		storage.Listed
	}:
		return faultyListed{faultyCoded{faultyArray{a, f}, inner}, inner}
	case storage.Coded:
		return faultyCoded{faultyArray{a, f}, inner}
	}
	return faultyArray{a, f}
}

// Writer wraps a writer. It is a storage.CodedWriter where w is one.
func (f *storeFault) Writer(w store.Writer) store.Writer {
	if inner, ok := w.(storage.CodedWriter); ok {
		return faultyCodedWriter{faultyWriter{w, f}, inner}
	}
	return faultyWriter{w, f}
}

type faultyArray struct {
	store.Array
	fault *storeFault
}

func (a faultyArray) Read(ctx context.Context, dst []byte, r grid.Region) error {
	return a.fault.read(dst, r, func(dst []byte, r grid.Region) error { return a.Array.Read(ctx, dst, r) })
}

// read reads, or does half of it where it fails.
func (f *storeFault) read(dst []byte, r grid.Region, do func(dst []byte, r grid.Region) error) error {
	if !f.hits(readOp) {
		return do(dst, r)
	}
	if f.Short && len(r.Count) > 0 && r.Count[0] > 1 {
		n := r.Count[0] / 2
		half := grid.Region{Start: r.Start, Count: append([]int{n}, r.Count[1:]...), Step: r.Step}
		if err := do(dst[:len(dst)/r.Count[0]*n], half); err != nil {
			return err
		}
	}
	return f.Err
}

type faultyReshaper struct {
	faultyArray
	inner storage.Reshaper
}

func (r faultyReshaper) Reshape(shape []int) (store.Array, error) {
	a, err := r.inner.Reshape(shape)
	if err != nil {
		return nil, err
	}
	return r.fault.Array(a), nil
}

type faultyCoded struct {
	faultyArray
	inner storage.Coded
}

func (c faultyCoded) Session(work []byte) (store.Session, error) {
	s, err := c.inner.Session(work)
	if err != nil {
		return nil, err
	}
	return faultySession{s, c.fault}, nil
}

type faultySession struct {
	store.Session
	fault *storeFault
}

func (s faultySession) Read(ctx context.Context, dst []byte, r grid.Region) (stored int64, err error) {
	err = s.fault.read(dst, r, func(dst []byte, r grid.Region) (err error) {
		stored, err = s.Session.Read(ctx, dst, r)
		return err
	})
	return stored, err
}

type faultyListed struct {
	faultyCoded
	list storage.Listed
}

func (l faultyListed) Chunks(ctx context.Context, each func(index []int, bytes int64) error) error {
	return l.list.Chunks(ctx, each)
}

func (l faultyListed) Digest(ctx context.Context) (string, error) { return l.list.Digest(ctx) }

type faultyWriter struct {
	store.Writer
	fault *storeFault
}

func (w faultyWriter) Write(ctx context.Context, src []byte, b grid.Box) error {
	return w.fault.write(src, b, func(src []byte, b grid.Box) error { return w.Writer.Write(ctx, src, b) })
}

// write writes, or does half of it where it fails.
func (f *storeFault) write(src []byte, b grid.Box, do func(src []byte, b grid.Box) error) error {
	if !f.hits(writeOp) {
		return do(src, b)
	}
	if f.Short && len(b.Shape) > 0 && b.Shape[0] > 1 {
		n := b.Shape[0] / 2
		half := grid.Box{Start: b.Start, Shape: append([]int{n}, b.Shape[1:]...)}
		if err := do(src[:len(src)/b.Shape[0]*n], half); err != nil {
			return err
		}
	}
	return f.Err
}

func (w faultyWriter) Sync(ctx context.Context) error {
	if w.fault.hits(syncOp) {
		return w.fault.Err
	}
	return w.Writer.Sync(ctx)
}

func (w faultyWriter) Commit(ctx context.Context) error {
	if w.fault.hits(commitOp) {
		return w.fault.Err
	}
	return w.Writer.Commit(ctx)
}

// Resumed is asked by storage.Resumed.
func (w faultyWriter) Resumed() bool { return storage.Resumed(w.Writer) }

type faultyCodedWriter struct {
	faultyWriter
	inner storage.CodedWriter
}

func (w faultyCodedWriter) Session(work []byte) (store.WriteSession, error) {
	s, err := w.inner.Session(work)
	if err != nil {
		return nil, err
	}
	return faultyWriteSession{s, w.fault}, nil
}

type faultyWriteSession struct {
	store.WriteSession
	fault *storeFault
}

func (s faultyWriteSession) Write(ctx context.Context, src []byte, b grid.Box) (stored int64, err error) {
	err = s.fault.write(src, b, func(src []byte, b grid.Box) (err error) {
		stored, err = s.WriteSession.Write(ctx, src, b)
		return err
	})
	return stored, err
}
