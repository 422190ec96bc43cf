package udf

import (
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
)

// flat reports a type whose values lie in one piece of memory.
func flat(t reflect.Type) bool {
	switch k := t.Kind(); {
	case k >= reflect.Bool && k <= reflect.Complex128 && k != reflect.Uintptr:
		return true
	case k == reflect.Array:
		return flat(t.Elem())
	case k == reflect.Struct:
		for i := range t.NumField() {
			if !flat(t.Field(i).Type) {
				return false
			}
		}
		return t.Size() > 0
	}
	return false
}

// Reducer reduces an array by Go functions: the state of no elements, which Init makes, takes elements in by Step,
// states of parts of the array are merged, and Finish makes the result's element of a state.
type Reducer[S any, T, U dtype.Element] struct {
	Init   func() S
	Step   func(s *S, x T)
	Merge  func(s, t *S)
	Finish func(s *S) U

	site graph.Site
	axes []int
	size int // of a state
}

const (
	reduceBytes = 2 << 20  // of a chunk that is reduced at a time, and of the states that are merged
	reduceRun   = 64 << 10 // of a chunk along the last axis, where that is long enough
	mostMerged  = 1 << 10  // states that are merged to one at a time
)

// Reduce returns x reduced along axes, all of them where there are none: a map of the chunks of x, which is stored in
// chunks of these lengths, to states, and maps that merge these; or one map where a chunk has all that is reduced.
func (r Reducer[S, T, U]) Reduce(site graph.Site, x *graph.Node, axes, stored []int) (_ *graph.Node, err error) {
	r.site, r.size = site, int(unsafe.Sizeof(*new(S)))
	if r.axes, err = grid.Axes(axes, len(x.Shape)); err != nil {
		return nil, err
	}
	if t := reflect.TypeFor[S](); !flat(t) {
		return nil, fmt.Errorf("the state %s has parts that do not lie in it: make it of numbers, bools, arrays and structs", t)
	}
	lengths := r.lengths(x.Shape, x.DType.Size(), stored)
	parts := slices.Clone(x.Shape) // states along each axis
	var kept, chunks []int
	single := true
	for d, n := range x.Shape {
		if !slices.Contains(r.axes, d) {
			kept, chunks = append(kept, n), append(chunks, lengths[d])
			continue
		}
		parts[d] = (n + lengths[d] - 1) / lengths[d]
		single = single && parts[d] == 1
	}
	result := MapOptions{Name: "reduce_func", Shape: append([]int{}, kept...)}
	if grid.Size(x.Shape) == 0 {
		return Map(r.site, func(dst []byte, _ [][]byte, _ grid.Box) error {
			r.finishAll(dst, r.initial(make([]S, len(dst)/dtype.Of[U]().Size())))
			return nil
		}, dtype.Of[U](), result)
	}
	if single && grid.Size(chunks)*r.size <= reduceBytes/2 {
		result.Chunks = append([]int{}, chunks...)
		result.From = func(_ int, at grid.Box) grid.Box { return r.across(at, x.Shape) }
		return Map(r.site, func(dst []byte, src [][]byte, at grid.Box) error {
			states := r.initial(make([]S, at.Size()))
			r.step(states, dtype.Slice[T](src[0]), r.across(at, x.Shape).Shape)
			r.finishAll(dst, states)
			return nil
		}, dtype.Of[U](), result, x)
	}
	cut := slices.Clone(lengths)
	for _, d := range r.axes {
		cut[d] = 1
	}
	states, err := r.mapStates(x, parts, cut, lengths, func(dst []S, src []byte, shape []int) {
		r.step(r.initial(dst), dtype.Slice[T](src), shape)
	})
	for err == nil {
		group, room := slices.Repeat([]int{1}, len(parts)), max(min(mostMerged, reduceBytes/r.size), 2)
		last := true
		for _, d := range slices.Backward(r.axes) {
			group[d] = min(parts[d], room)
			room /= group[d]
			last = last && group[d] == parts[d]
		}
		most := reduceBytes / r.size / grid.Size(group)
		if last {
			result.Chunks = grid.Auto(kept, 1, most)
			result.From = func(_ int, at grid.Box) grid.Box { return r.withState(r.across(at, parts)) }
			return Map(r.site, func(dst []byte, src [][]byte, at grid.Box) error {
				merged := r.initial(make([]S, at.Size()))
				r.mergeAll(merged, src[0], r.across(at, parts).Shape)
				r.finishAll(dst, merged)
				return nil
			}, dtype.Of[U](), result, states)
		}
		was := slices.Clone(parts)
		for _, d := range r.axes {
			parts[d] = (was[d] + group[d] - 1) / group[d]
			was[d] = 1
		}
		states, err = r.mapStates(states, parts, grid.Auto(was, 1, most), group, func(dst []S, src []byte, shape []int) {
			r.mergeAll(r.initial(dst), src, shape)
		})
	}
	return nil, err
}

// lengths are those of the chunks of an array that are reduced to a state each: whole chunks of a stored one. Along
// reduced axes they are as long as can be, so that states are few.
func (r *Reducer[S, T, U]) lengths(shape []int, size int, stored []int) []int {
	base := slices.Repeat([]int{1}, len(shape))
	for d, n := range stored {
		base[d] = max(min(n, shape[d]), 1)
	}
	lengths := slices.Clone(base)
	grow := func(d, bytes int) {
		n := bytes / (grid.Size(lengths) / lengths[d] * size) / base[d] * base[d]
		lengths[d] = max(lengths[d], min(n, shape[d]))
	}
	if last := len(shape) - 1; last >= 0 {
		grow(last, reduceRun)
	}
	for _, d := range slices.Backward(r.axes) {
		grow(d, reduceBytes)
	}
	for d := range slices.Backward(shape) {
		grow(d, reduceBytes)
	}
	return lengths
}

// across is a box of the result with all of the reduced axes of a shape.
func (r *Reducer[S, T, U]) across(at grid.Box, shape []int) grid.Box {
	b := grid.Box{}
	for d, n := range shape {
		start, length := 0, n
		if before, reduced := slices.BinarySearch(r.axes, d); !reduced {
			start, length = at.Start[d-before], at.Shape[d-before]
		}
		b.Start, b.Shape = append(b.Start, start), append(b.Shape, length)
	}
	return b
}

// withState is a box of states as one of their bytes.
func (r *Reducer[S, T, U]) withState(at grid.Box) grid.Box {
	return grid.Box{Start: append(at.Start, 0), Shape: append(at.Shape, r.size)}
}

// mapStates is an array of states, as bytes along one more axis, in chunks of one along reduced axes. fill sets those of a chunk
// from a box of the input, which is group long along reduced axes.
func (r *Reducer[S, T, U]) mapStates(in *graph.Node, parts, chunks, group []int, fill func(dst []S, src []byte, shape []int)) (*graph.Node, error) {
	from := func(at grid.Box) grid.Box {
		b := grid.Box{Start: slices.Clone(at.Start[:len(parts)]), Shape: slices.Clone(at.Shape[:len(parts)])}
		for _, d := range r.axes {
			b.Start[d] = at.Start[d] * group[d]
			b.Shape[d] = min(group[d], in.Shape[d]-b.Start[d])
		}
		return b
	}
	o := MapOptions{Name: "reduce_func", Shape: append(slices.Clone(parts), r.size), Chunks: append(slices.Clone(chunks), r.size),
		From: func(_ int, at grid.Box) grid.Box {
			if b := from(at); len(in.Shape) == len(parts) {
				return b
			} else {
				return r.withState(b)
			}
		}}
	return Map(r.site, func(dst []byte, src [][]byte, at grid.Box) error {
		states := statesOf[S](dst)
		fill(states, src[0], from(at).Shape)
		copy(dst, bytesOf(states)) // where they could not lie there
		return nil
	}, dtype.Uint8, o, in)
}

// initial sets states to those of nothing.
func (r *Reducer[S, T, U]) initial(states []S) []S {
	for i := range states {
		states[i] = r.Init()
	}
	return states
}

// runs goes through a box along its last axis: n elements from i on belong to the states from k on, which are
// by apart.
func (r *Reducer[S, T, U]) runs(shape []int, f func(i, n, k, by int)) {
	if len(shape) == 0 {
		f(0, 1, 0, 0)
		return
	}
	strides := make([]int, len(shape)) // of states
	size := 1
	for d := len(shape) - 1; d >= 0; d-- {
		if !slices.Contains(r.axes, d) {
			strides[d] = size
			size *= shape[d]
		}
	}
	last := len(shape) - 1
	index, k := make([]int, last), 0
	for i := 0; i < grid.Size(shape); i += shape[last] {
		f(i, shape[last], k, strides[last])
		for d := last - 1; d >= 0; d-- {
			index[d]++
			k += strides[d]
			if index[d] < shape[d] {
				break
			}
			k -= index[d] * strides[d]
			index[d] = 0
		}
	}
}

// step takes the elements of a box in.
func (r *Reducer[S, T, U]) step(states []S, x []T, shape []int) {
	r.runs(shape, func(i, n, k, by int) {
		for j, v := range x[i : i+n] {
			r.Step(&states[k+j*by], v)
		}
	})
}

// mergeAll merges states, which are a box's bytes.
func (r *Reducer[S, T, U]) mergeAll(states []S, b []byte, shape []int) {
	of := statesOf[S](b)
	r.runs(shape, func(i, n, k, by int) {
		for j := range n {
			r.Merge(&states[k+j*by], &of[i+j])
		}
	})
}

func (r *Reducer[S, T, U]) finishAll(dst []byte, states []S) {
	out := dtype.Slice[U](dst)
	for i := range states {
		out[i] = r.Finish(&states[i])
	}
}

// statesOf are the states whose bytes these are: in place, where they are aligned.
func statesOf[S any](b []byte) []S {
	var s S
	n := len(b) / int(unsafe.Sizeof(s))
	if at := unsafe.Pointer(unsafe.SliceData(b)); uintptr(at)%unsafe.Alignof(s) == 0 {
		return unsafe.Slice((*S)(at), n)
	}
	states := make([]S, n)
	copy(bytesOf(states), b)
	return states
}

func bytesOf[S any](states []S) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(states))), len(states)*int(unsafe.Sizeof(*new(S))))
}
