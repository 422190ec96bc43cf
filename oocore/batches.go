package oocore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/format/npy"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/op/udf"
)

// Batch is a part of an array that a loop is given.
type Batch[T Element] struct {
	Index int   // 0, 1, 2 …
	At    Block // where it lies in the array; the last along an axis may be shorter
	Data  []T   // its elements, dense in C order
}

// Batches iterates over an array in parts of size elements along an axis:
//
//	for batch, err := range oocore.Batches[float32](ctx, images, 0, 64, oocore.Memory("256MiB")) {
//		if err != nil {
//			return err
//		}
//		train(batch.Data, batch.At.Shape)
//	}
//
// The array is computed once, in one run, whatever the number of batches. While the loop
// works on one batch, those that follow are made, as many as half of the budget holds: the
// rest is for runs in the loop, and one that does not fit into it is a *MemoryError. An error
// comes with the last iteration. Data is the loop's until its next iteration: copy
// what is needed later. T must be the type of a's elements. Leaving the loop ends the
// run, before the loop is left. See also RowsOf and ChunksOf.
func Batches[T Element](ctx context.Context, a *Array, axis, size int, opts ...Option) iter.Seq2[Batch[T], error] {
	return parts[T](ctx, graph.Caller(), "batches", "Batches", a, opts, func(n *graph.Node) ([]int, error) {
		if err := loops[T]("Batches", n); err != nil {
			return nil, err
		}
		_, lengths, err := batchLengths(n.Shape, axis, size)
		return lengths, err
	})
}

// ChunksOf iterates over an array of any dimensions chunk by chunk, in C order: in the lengths of
// the option Chunks, else in those of a.Chunks, else in boxes of about 2 MiB. All else is as Batches has it.
func ChunksOf[T Element](ctx context.Context, a *Array, opts ...Option) iter.Seq2[Batch[T], error] {
	return parts[T](ctx, graph.Caller(), "chunks_of", "ChunksOf", a, opts, func(n *graph.Node) ([]int, error) {
		if err := loops[T]("ChunksOf", n); err != nil {
			return nil, err
		}
		s, err := applyOptions(opts)
		if err != nil {
			return nil, err
		}
		lengths := s.Chunks
		if lengths == nil {
			lengths = a.Chunks()
		}
		if lengths == nil {
			lengths = grid.Auto(n.Shape, n.DType.Size(), 2<<20)
		}
		return lengths, udf.CheckChunks(lengths, n.Shape)
	})
}

// RowsOf iterates over the rows of an array, which are its parts along the first axis, each dense in
// C order. It reads blocks of about a MiB, or of a chunk's rows, and all else is as Batches has it:
// FromSeq stores what it gives.
func RowsOf[T Element](ctx context.Context, a *Array, opts ...Option) iter.Seq2[[]T, error] {
	blocks := parts[T](ctx, graph.Caller(), "rows_of", "RowsOf", a, opts, func(n *graph.Node) ([]int, error) {
		if err := loops[T]("RowsOf", n); err != nil {
			return nil, err
		}
		if len(n.Shape) == 0 {
			return nil, errors.New("the array has no dimension, and so no rows")
		}
		lengths := rowBlock(a)
		copy(lengths[1:], n.Shape[1:])
		return lengths, nil
	})
	return func(yield func([]T, error) bool) {
		for b, err := range blocks {
			if err != nil {
				yield(nil, err)
				return
			}
			n := b.At.Shape[0]
			for i, row := 0, len(b.Data)/n; i < n; i++ {
				if !yield(b.Data[i*row:(i+1)*row:(i+1)*row], nil) {
					return
				}
			}
		}
	}
}

// WriteTo computes the array to w, in C order and little-endian, as Batches computes it: format is "npy", or "bin" for
// the elements alone. An error, or the end of ctx, leaves what was written before.
func (a *Array) WriteTo(ctx context.Context, w io.Writer, format string, opts ...Option) error {
	site := graph.Caller()
	var header []byte
	blocks := parts[uint8](ctx, site, "write_to", "WriteTo", a, opts, func(n *graph.Node) (_ []int, err error) {
		switch format {
		case "npy":
			header, err = npy.Header(n.Shape, n.DType, 0)
		case "bin":
		default:
			err = fmt.Errorf("the format %.80q is not written to streams: give npy or bin", format)
		}
		return rowBlock(a), err
	})
	write := func(b []byte) error {
		_, err := w.Write(b)
		if err != nil {
			err = &Error{Op: "write_to", Site: site, Err: err}
		}
		return err
	}
	for b, err := range blocks {
		if err == nil && b.Index == 0 {
			err = write(header)
		}
		if err == nil {
			err = write(b.Data)
		}
		if err != nil {
			return err
		}
	}
	if a.Size() == 0 {
		return write(header)
	}
	return nil
}

// rowBlock are the lengths of a block, in which an array is read in C order: of about a MiB, or of the
// rows of a chunk where these have no more than 32 MiB, so that each chunk is read once.
func rowBlock(a *Array) []int {
	shape, size := a.Shape(), a.DType().Size()
	lengths := grid.Auto(shape, size, 1<<20)
	if chunks := a.Chunks(); len(chunks) > 0 {
		rows := slices.Concat([]int{max(lengths[0]/chunks[0], 1) * chunks[0]}, grid.Whole(shape).Chunks[1:])
		if grid.Size(rows)*size <= 32<<20 {
			return rows
		}
	}
	return lengths
}

// parts iterates over an array, or over the bytes of its elements, in boxes whose lengths cut gives.
func parts[T Element](ctx context.Context, site graph.Site, op, name string, a *Array, opts []Option, cut func(n *graph.Node) ([]int, error)) iter.Seq2[Batch[T], error] {
	if ctx == nil {
		ctx = context.Background()
	}
	return func(yield func(Batch[T], error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		handed := make(chan *Batch[T])
		back := make(chan struct{})
		hand := func(ctx context.Context, part int, data []byte, at grid.Box) error {
			select {
			case handed <- &Batch[T]{part, at, dtype.Slice[T](data)}:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			<-back // the loop is always done with a batch at some time
			return nil
		}
		n, err := a.expression()
		if err == nil {
			var lengths []int
			if lengths, err = cut(n); err == nil {
				n, err = udf.Feeding(site, n, lengths, hand)
			} else {
				err = &Error{Op: op, Shapes: [][]int{n.Shape}, Types: []dtype.Type{n.DType}, Site: site, Err: err}
			}
		}
		if err != nil {
			yield(Batch[T]{}, err)
			return
		}
		loop := set(func(s *settings) {
			s.Loop = "the loop over " + name + " at " + site.String()
			s.Chunks = nil // those of ChunksOf
		})
		ended := make(chan error, 1)
		go func() {
			_, err := Collect[uint8](ctx, made(n, nil), append(slices.Clone(opts), loop)...)
			ended <- err
		}()
		for {
			select {
			case b := <-handed:
				more := false
				func() {
					defer func() { // also where the loop's body panics
						if !more {
							cancel()
						}
						b.Data = nil // it is lent, and the loop no longer has it
						back <- struct{}{}
						if !more {
							<-ended
						}
					}()
					more = yield(*b, nil)
				}()
				if !more {
					return
				}
			case err := <-ended:
				if err != nil {
					yield(Batch[T]{}, batchError(site, op, err))
				}
				return
			}
		}
	}
}

// batchError is a run's error under the name of what the program called.
func batchError(site graph.Site, op string, err error) error {
	if e, ok := errors.AsType[*Error](err); ok && e.Op == "collect" {
		err = e.Err
	}
	if errors.Is(err, udf.ErrRetained) {
		err = errors.New("the loop used a batch after its iteration, when its memory held another: copy what is needed later")
	}
	return &Error{Op: op, Site: site, Err: err}
}

// loops rejects an array of other elements than a loop over it asks for.
func loops[T Element](name string, n *graph.Node) error {
	if t := dtype.Of[T](); n.DType != t {
		return fmt.Errorf("asks for %s[%s] of a %s array: ask for %s[%s], or bring the array to %s with AsType", name, t, n.DType, name, n.DType, t)
	}
	return nil
}

// batchLengths resolves an axis, and returns the lengths of a batch along it.
func batchLengths(shape []int, axis, size int) (int, []int, error) {
	if size < 1 {
		return 0, nil, fmt.Errorf("a batch size of %d: give 1 or more", size)
	}
	axis, err := grid.Axis(axis, len(shape))
	if err != nil {
		return 0, nil, err
	}
	lengths := grid.Whole(shape).Chunks
	lengths[axis] = size
	return axis, lengths, nil
}

// MapBatches computes an array batch by batch: f fills dst from a batch of size elements
// of a along an axis, and has as many elements. It is MapChunks with batches as chunks,
// which a run computes when the result is asked for. Where rows become others, as in inference, MapChunks
// takes their lengths as MapOptions.Row, and the size of a batch as its Chunks.
func MapBatches[T, U Element](f func(dst []U, batch Batch[T]) error, a *Array, axis, size int) *Array {
	return build("map_batches", func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		if f == nil {
			return nil, noFunction(site, "map_batches")
		}
		n := in[0]
		if err := takes[T](site, "map_batches", n); err != nil {
			return nil, err
		}
		axis, chunks, err := batchLengths(n.Shape, axis, size)
		if err != nil {
			return nil, &Error{Op: "map_batches", Shapes: [][]int{n.Shape}, Types: []dtype.Type{n.DType}, Site: site, Err: err}
		}
		call := func(dst []byte, src [][]byte, at Block) error {
			return f(dtype.Slice[U](dst), Batch[T]{at.Start[axis] / size, at, dtype.Slice[T](src[0])})
		}
		return udf.Map(site, call, dtype.Of[U](), udf.MapOptions{Name: functionName(f), Chunks: chunks}, n)
	}, a)
}
