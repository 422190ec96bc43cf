package oocore

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/op/udf"
)

// Batch is a part of an array along an axis.
type Batch[T Element] struct {
	Index int   // 0, 1, 2 …
	At    Block // where it lies in the array; the last may be shorter along the axis
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
// run, before the loop is left.
func Batches[T Element](ctx context.Context, a *Array, axis, size int, opts ...Option) iter.Seq2[Batch[T], error] {
	site := graph.Caller()
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
		n, err := batching[T](site, a, axis, size, hand)
		if err != nil {
			yield(Batch[T]{}, err)
			return
		}
		loop := option(func(s *settings) error {
			s.loop = "the loop over Batches at " + site.String()
			return nil
		})
		ended := make(chan error, 1)
		go func() {
			_, err := Collect[uint8](ctx, n, append(slices.Clone(opts), loop)...)
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
					yield(Batch[T]{}, batchError(site, err))
				}
				return
			}
		}
	}
}

// batchError is a run's error under the name of what the program called.
func batchError(site graph.Site, err error) error {
	if e, ok := errors.AsType[*Error](err); ok && e.Op == "collect" {
		err = e.Err
	}
	if errors.Is(err, udf.ErrRetained) {
		err = errors.New("the loop used a batch after its iteration, when its memory held another: copy what is needed later")
	}
	return &Error{Op: "batches", Site: site, Err: err}
}

// batching is the array whose computation hands over batches.
func batching[T Element](site graph.Site, a *Array, axis, size int, hand func(ctx context.Context, part int, data []byte, at grid.Box) error) (*Array, error) {
	n, err := a.expression()
	if err != nil {
		return nil, err
	}
	if t := dtype.Of[T](); n.DType != t {
		return nil, &Error{Op: "batches", Shapes: [][]int{n.Shape}, Types: []dtype.Type{n.DType}, Site: site,
			Err: fmt.Errorf("asks for Batches[%s] of a %s array: ask for Batches[%s], or bring the array to %s with AsType", t, n.DType, n.DType, t)}
	}
	axis, err = batchAxis(n.Shape, axis, size)
	if err != nil {
		return nil, &Error{Op: "batches", Shapes: [][]int{n.Shape}, Types: []dtype.Type{n.DType}, Site: site, Err: err}
	}
	return made(udf.Feeding(site, n, axis, size, hand)), nil
}

func batchAxis(shape []int, axis, size int) (int, error) {
	if size < 1 {
		return 0, fmt.Errorf("a batch size of %d: give 1 or more", size)
	}
	return grid.Axis(axis, len(shape))
}

// MapBatches computes an array batch by batch: f fills dst from a batch of size elements
// of a along an axis, and has as many elements. It is MapChunks with batches as chunks,
// which a run computes when the result is asked for.
func MapBatches[T, U Element](f func(dst []U, batch Batch[T]) error, a *Array, axis, size int) *Array {
	return build("map_batches", func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		if f == nil {
			return nil, noFunction(site, "map_batches")
		}
		n := in[0]
		if err := takes[T](site, "map_batches", n); err != nil {
			return nil, err
		}
		axis, err := batchAxis(n.Shape, axis, size)
		if err != nil {
			return nil, &Error{Op: "map_batches", Shapes: [][]int{n.Shape}, Types: []dtype.Type{n.DType}, Site: site, Err: err}
		}
		chunks := slices.Clone(n.Shape)
		for d := range chunks {
			chunks[d] = max(chunks[d], 1)
		}
		chunks[axis] = size
		call := func(dst []byte, src [][]byte, at Block) error {
			return f(dtype.Slice[U](dst), Batch[T]{at.Start[axis] / size, at, dtype.Slice[T](src[0])})
		}
		return udf.Map(site, call, dtype.Of[U](), udf.MapOptions{Name: functionName(f), Chunks: chunks}, n)
	}, a)
}
