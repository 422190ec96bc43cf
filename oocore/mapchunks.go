package oocore

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/op/udf"
)

// MapOptions are the options of MapChunks and MapAll.
type MapOptions struct {
	// Chunks are the lengths of a chunk of the result. For nil they are those of the first input's
	// stored chunks, or give chunks of about 2 MiB.
	Chunks []int
	// Shape is the shape of the result where it differs from that of the inputs. Source then
	// returns the box of an input, given by its number, that a chunk of the result is computed
	// from. The box of the first chunk is the longest along each axis. Source is called often.
	Shape  []int
	Source func(input int, at Block) Block
	// Row are the lengths of the result's rows where only they differ from the inputs'. The result
	// has as many rows as the first input, and a chunk of it is computed from the same whole rows of each input.
	// Shape and Source are then left out, and only the first length of Chunks is used.
	Row []int
}

// MapChunks computes each chunk of the result by a Go function: f fills dst from src,
// the same block of a or the one that o.Source names, both dense in C order. at is where
// dst lies in the result: at.Start[d] / o.Chunks[d] is the block's number along axis d. T
// must be the type of a's elements: AsType brings them there.
//
// The function is called once for each chunk, for many at once, each time with memory
// that is its own until it returns; dst is zero before. Its error ends
// the run, as does a panic, and the use of that memory after the function has returned, where
// it is seen. A run holds the chunk, and what it is computed from, for each of the chunks in
// flight; it is one pass over a.
func MapChunks[T, U Element](f func(dst []U, src []T, at Block) error, a *Array, o MapOptions) *Array {
	return build("map_chunks", func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		if f == nil {
			return nil, noFunction(site, "map_chunks")
		}
		return mapped[T, U](site, func(dst []byte, src [][]byte, at Block) error {
			return f(dtype.Slice[U](dst), dtype.Slice[T](src[0]), at)
		}, functionName(f), o, in)
	}, a)
}

// MapArrays is MapAll.
//
// Deprecated: MapAll takes its arguments in the order of the other functions that take one.
func MapArrays[T, U Element](f func(dst []U, src [][]T, at Block) error, o MapOptions, arrays ...*Array) *Array {
	return MapAll(f, arrays, o)
}

// MapAll is MapChunks of several arrays of one type, which are broadcast together
// where o has no Source: src has a block of each. Without arrays it makes values of their places
// alone, and o.Shape is needed.
func MapAll[T, U Element](f func(dst []U, src [][]T, at Block) error, arrays []*Array, o MapOptions) *Array {
	return build("map_chunks", func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		if f == nil {
			return nil, noFunction(site, "map_chunks")
		}
		return mapped[T, U](site, func(dst []byte, src [][]byte, at Block) error {
			typed := make([][]T, len(src))
			for i := range src {
				typed[i] = dtype.Slice[T](src[i])
			}
			return f(dtype.Slice[U](dst), typed, at)
		}, functionName(f), o, in)
	}, anys(arrays)...)
}

func mapped[T, U Element](site graph.Site, call udf.Function, name string, o MapOptions, in []*graph.Node) (*graph.Node, error) {
	for _, n := range in {
		if err := takes[T](site, "map_chunks", n); err != nil {
			return nil, err
		}
	}
	if o.Row != nil {
		var err error
		if o, err = o.ofRows(in, max(dtype.Of[T]().Size(), dtype.Of[U]().Size())); err != nil {
			return nil, graph.Reject(site, "map_chunks", err, in...)
		}
	}
	options := udf.MapOptions{Name: name, Chunks: o.Chunks, Shape: o.Shape}
	if o.Source != nil {
		options.From = func(input int, at grid.Box) grid.Box { return o.Source(input, at) }
	}
	return udf.Map(site, call, dtype.Of[U](), options, in...)
}

// ofRows are the options of a result whose rows are others than the inputs'.
func (o MapOptions) ofRows(in []*graph.Node, size int) (MapOptions, error) {
	if o.Shape != nil || o.Source != nil {
		return o, errors.New("takes Row, or Shape and Source, not both")
	}
	if len(in) == 0 || len(in[0].Shape) == 0 {
		return o, errors.New("takes Row with an input that has rows")
	}
	rows, most := in[0].Shape[0], grid.Size(o.Row)
	for _, n := range in {
		if len(n.Shape) == 0 || n.Shape[0] != rows {
			return o, fmt.Errorf("takes the rows of inputs that have as many each, not of shapes %s and %s", grid.Format(in[0].Shape), grid.Format(n.Shape))
		}
		most = max(most, grid.Size(n.Shape[1:]))
	}
	lengths := grid.Whole(slices.Concat([]int{rows}, o.Row)).Chunks
	switch chunks := made(in[0], nil).Chunks(); {
	case len(o.Chunks) > 0:
		lengths[0] = o.Chunks[0]
	case chunks != nil: // each is read once
		lengths[0] = chunks[0]
	default:
		lengths[0] = max((2<<20)/max(most*size, 1), 1)
	}
	o.Chunks, o.Shape = lengths, slices.Concat([]int{rows}, o.Row)
	o.Source = func(input int, at Block) Block {
		b := grid.Entire(slices.Clone(in[input].Shape))
		b.Start[0], b.Shape[0] = at.Start[0], at.Shape[0]
		return b
	}
	return o, nil
}

// takes rejects an array of another type than a function's.
func takes[T Element](site graph.Site, op string, n *graph.Node) error {
	if want := dtype.Of[T](); n.DType != want {
		return &Error{Op: op, Shapes: [][]int{n.Shape}, Types: []dtype.Type{n.DType}, Site: site,
			Err: fmt.Errorf("the function takes %s elements, the array has %s: AsType brings them there", want, n.DType)}
	}
	return nil
}

func noFunction(site graph.Site, op string) error {
	return &Error{Op: op, Site: site, Err: errors.New("the function is nil")}
}

// functionName is a declared function's own name; "" for a literal's, which has
// none.
func functionName(f any) string {
	name := runtime.FuncForPC(reflect.ValueOf(f).Pointer()).Name()
	name = name[strings.LastIndex(name, "/")+1:]
	_, name, _ = strings.Cut(name, ".")
	if strings.ContainsAny(name, ".[") {
		return ""
	}
	return name
}

// ReduceFunc reduces an array along axes, or all of it, by Go functions: the state of no elements, which init makes, takes elements in by
// step, states of parts of the array are merged, and finish makes the result's element of a state.
// The root of the mean square along the last axis is
//
//	type state struct{ sum, n float64 }
//	rms := oocore.ReduceFunc(
//		func() state { return state{} },
//		func(s *state, x float32) { s.sum += float64(x) * float64(x); s.n++ },
//		func(s, t *state) { s.sum += t.sum; s.n += t.n },
//		func(s *state) float64 { return math.Sqrt(s.sum / s.n) }, x, -1)
//
// T must be the type of a's elements. The state is of numbers, bools, and arrays and structs of these: states lie between tasks as bytes.
// Elements are taken in, and parts merged, in an order that follows from the shape and the chunks that a is stored in:
// results do not depend on the budget. merge is to be associative. The result has no reduced axes; one along an empty
// axis is that of init. It is one pass over a; a run holds chunks of about 2 MiB, and where an axis that is reduced is longer than
// one, a state for each of its chunks and each result.
func ReduceFunc[S any, T, U Element](init func() S, step func(s *S, x T), merge func(s, t *S), finish func(s *S) U, a *Array, axes ...int) *Array {
	return build("reduce_func", func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		x := in[0]
		if init == nil || step == nil || merge == nil || finish == nil {
			return nil, noFunction(site, "reduce_func")
		}
		if err := takes[T](site, "reduce_func", x); err != nil {
			return nil, err
		}
		r := udf.Reducer[S, T, U]{Init: init, Step: step, Merge: merge, Finish: finish}
		n, err := r.Reduce(site, x, axes, made(x, nil).Chunks())
		if err != nil {
			err = graph.Reject(site, "reduce_func", unwrapped(err), x)
		}
		return n, err
	}, a)
}
