package stats

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

func init() { blockwise.Register("count", Count{}) }

const (
	// groupsMost is how many parts of the elements are counted by themselves, so that
	// several tasks can; each is groupBytes at the least.
	groupsMost = 32
	groupBytes = 4 << 20
	// tileBytes are about those of the elements that are read at once.
	tileBytes = 1 << 20
)

// Count is how many elements lie in each bin, or what those weigh. Its inputs are the
// elements, an array of one shape for each coordinate of a bin, or one of points; the edges of the bins of
// each coordinate; and the weights. Its result has the bins of each part of the elements.
//
// Elements that are in no bin, and NaN, do not count.
type Count struct {
	Shape []int      // of the elements
	Type  dtype.Type // of elements and edges: float32, float64, int64 or uint64
	Bins  []int      // along each coordinate
	// Even says of which coordinates the edges are at about equal distances.
	Even []bool
	// Points says that the coordinates are the columns of one array of points, the first input.
	Points bool `json:",omitempty"`
	// Numbers says that there are no edges: an element is the number of its bin.
	Numbers bool
	Weights dtype.Type `json:",omitempty"` // float64 or int64; Invalid: each element counts one
}

// node is the sum of the counts of all parts, an element a bin.
func (s Count) node(site graph.Site, name string, in []*graph.Node) (*graph.Node, error) {
	t := dtype.Int64
	if s.Weights != dtype.Invalid {
		t = s.Weights
	}
	n, err := graph.NewBlockwise(site, name, s, []int{s.groups(), s.bins()}, t, in)
	if err != nil {
		return nil, err
	}
	if s.groups() == 1 {
		return graph.Squeeze(site, n, 0)
	}
	return graph.Aggregate(site, kernel.Sum, n, graph.ReduceOptions{Axes: []int{0}})
}

// bins is their number in all.
func (s Count) bins() int { return grid.Size(s.Bins) }

// cut is the axis along which the elements are cut into parts, and the length of each.
func (s Count) cut() (axis, length int) {
	for d, n := range s.Shape {
		if n > s.Shape[axis] {
			axis = d
		}
	}
	// What parts count is written and read again: that has to be little compared with the
	// elements.
	least := max(groupBytes, 4*8*s.bins())
	groups := min(max(grid.Size(s.Shape)*s.Type.Size()/least, 1), groupsMost)
	return axis, (s.Shape[axis] + groups - 1) / groups
}

// groups is the number of parts.
func (s Count) groups() int {
	axis, length := s.cut()
	return (s.Shape[axis] + length - 1) / length
}

// Chunks are all bins of one part.
func (s Count) Chunks() []int { return []int{1, s.bins()} }

// part is the box of the elements of a part.
func (s Count) part(i int) grid.Box {
	b := grid.Box{Start: make([]int, len(s.Shape)), Shape: slices.Clone(s.Shape)}
	axis, length := s.cut()
	b.Start[axis] = i * length
	b.Shape[axis] = min(length, s.Shape[axis]-b.Start[axis])
	return b
}

// arrays is the number of inputs that are elements.
func (s Count) arrays() int {
	if s.Points {
		return 1
	}
	return len(s.Bins)
}

// tile is what is read at once of each coordinate.
func (s Count) tile() []int {
	size := 8
	if s.Points {
		size *= len(s.Bins)
	}
	return grid.Auto(s.part(0).Shape, size, tileBytes)
}

// lost is the bytes of what rounding has lost of each sum of weights.
func (s Count) lost() int {
	if s.Weights != dtype.Float64 {
		return 0
	}
	return s.bins() * 8
}

// Requirements is a box of each input, the edges, and for each sum of floats the rounding error
// that it carries.
func (s Count) Requirements([]int) blockwise.Requirements {
	var n blockwise.Requirements
	add := func(shape []int, size int) {
		n.Reads = append(n.Reads, shape)
		n.Scratch += blockwise.Aligned(grid.Size(shape) * size)
	}
	if s.Points {
		add(append(s.tile(), len(s.Bins)), s.Type.Size())
		n.Scratch += int64(len(s.Bins)) * blockwise.Aligned(grid.Size(s.tile())*s.Type.Size())
	} else {
		for range s.Bins {
			add(s.tile(), s.Type.Size())
		}
	}
	if !s.Numbers {
		for _, bins := range s.Bins {
			add([]int{bins + 1}, s.Type.Size())
		}
	}
	if s.Weights != dtype.Invalid {
		add(s.tile(), s.Weights.Size())
	}
	n.Scratch += int64(s.lost())
	return n
}

// Fill counts a part tile by tile.
func (s Count) Fill(ctx context.Context, t *blockwise.Task) error {
	switch s.Type {
	case dtype.Float32:
		return fill[float32](ctx, s, t)
	case dtype.Float64:
		return fill[float64](ctx, s, t)
	case dtype.Int64:
		return fill[int64](ctx, s, t)
	}
	return fill[uint64](ctx, s, t)
}

type number interface {
	float32 | float64 | int64 | uint64
}

func fill[T number](ctx context.Context, s Count, t *blockwise.Task) error {
	scratch := t.ScratchLayout()
	tile := grid.Size(s.tile())
	room := make([][]byte, 0, len(t.In))
	for range s.Bins {
		room = append(room, scratch.Take(tile*s.Type.Size()))
	}
	c := counter[T]{Count: s, sums: t.Dst}
	var points []byte
	if s.Points {
		points = scratch.Take(tile * len(s.Bins) * s.Type.Size())
	}
	clear(t.Dst)
	if !s.Numbers {
		for d, bins := range s.Bins {
			b := scratch.Take((bins + 1) * s.Type.Size())
			if err := t.In[s.arrays()+d].Read(ctx, grid.Entire([]int{bins + 1}), b); err != nil {
				return err
			}
			edges := dtype.Slice[T](b)
			if err := rise(edges); err != nil {
				return err
			}
			c.edges = append(c.edges, edges)
		}
	}
	if s.Weights != dtype.Invalid {
		room = append(room, scratch.Take(tile*s.Weights.Size()))
	}
	c.lost = dtype.Slice[float64](scratch.Take(s.lost()))
	clear(c.lost)
	for box := range s.part(t.Box.Start[0]).Split(s.tile()) {
		c.elements = c.elements[:0]
		if s.Points {
			all := points[:box.Size()*len(s.Bins)*s.Type.Size()]
			if err := t.In[0].Read(ctx, grid.Box{Start: append(slices.Clone(box.Start), 0), Shape: append(slices.Clone(box.Shape), len(s.Bins))}, all); err != nil {
				return err
			}
			for d := range s.Bins {
				c.elements = append(c.elements, column(dtype.Slice[T](room[d])[:box.Size()], dtype.Slice[T](all), d, len(s.Bins)))
			}
		}
		for i, b := range room {
			if s.Points && i < len(s.Bins) {
				continue
			}
			from, size := i, s.Type.Size()
			if i == len(s.Bins) { // the weights, which are the last input
				from, size = len(t.In)-1, s.Weights.Size()
			}
			b = b[:box.Size()*size]
			if err := t.In[from].Read(ctx, box, b); err != nil {
				return err
			}
			if i == len(s.Bins) {
				c.weights = b
			} else {
				c.elements = append(c.elements, dtype.Slice[T](b))
			}
		}
		if err := t.Compute(c.tile); err != nil {
			return err
		}
	}
	if s.Weights == dtype.Float64 {
		sums := dtype.Slice[float64](t.Dst)
		for i, lost := range c.lost {
			if v := sums[i] + lost; v == v { // an infinite sum has lost NaN
				sums[i] = v
			}
		}
	}
	return nil
}

// column copies one coordinate of points.
func column[T number](to, points []T, d, coordinates int) []T {
	for i := range to {
		to[i] = points[i*coordinates+d]
	}
	return to
}

// rise rejects edges that fall somewhere, and such as are NaN.
func rise[T number](edges []T) error {
	for i, e := range edges {
		if e != e || i > 0 && e < edges[i-1] {
			return errors.New("the edges of bins have to rise all along")
		}
	}
	return nil
}

// counter counts a part of the elements.
type counter[T number] struct {
	Count
	edges    [][]T // of each coordinate
	elements [][]T // a tile
	weights  []byte
	sums     []byte
	lost     []float64
}

// tile counts a tile, some elements at a time.
func (c *counter[T]) tile() error {
	var places [512]int
	for at := 0; at < len(c.elements[0]); at += len(places) {
		some := places[:min(len(places), len(c.elements[0])-at)]
		clear(some)
		for d, x := range c.elements {
			x = x[at:][:len(some)]
			switch {
			case c.Numbers:
				if err := numbers(some, x, c.Bins[d]); err != nil {
					return err
				}
			case c.Even[d]:
				locateEven(some, x, c.edges[d])
			default:
				locate(some, x, c.edges[d])
			}
		}
		switch c.Weights {
		case dtype.Invalid:
			sums := dtype.Slice[int64](c.sums)
			for _, p := range some {
				if p >= 0 {
					sums[p]++
				}
			}
		case dtype.Int64:
			sums, weights := dtype.Slice[int64](c.sums), dtype.Slice[int64](c.weights)[at:]
			for i, p := range some {
				if p >= 0 {
					sums[p] += weights[i]
				}
			}
		default:
			sums, weights := dtype.Slice[float64](c.sums), dtype.Slice[float64](c.weights)[at:]
			for i, p := range some {
				if p >= 0 { // Knuth's exact addition
					a, v := sums[p], weights[i]
					s := a + v
					b := s - a
					sums[p] = s
					c.lost[p] += (a - (s - b)) + (v - b)
				}
			}
		}
	}
	return nil
}

// A place is the number of an element's bin, -1 where it is in none. That of several
// coordinates grows by one after the other, the last the fastest.

// numbers takes elements as places.
func numbers[T number](places []int, x []T, bins int) error {
	for i, v := range x {
		p := int(v)
		if p < 0 || p >= bins {
			return fmt.Errorf("the element %v is not the number of one of %d bins", v, bins)
		}
		places[i] = p
	}
	return nil
}

// locate looks for elements between edges by halves. The last bin has both its edges,
// the others their first.
func locate[T number](places []int, x, edges []T) {
	last := len(edges) - 1
	for i, v := range x {
		switch {
		case places[i] < 0:
		case !(v >= edges[0] && v <= edges[last]):
			places[i] = -1
		case v == edges[last]:
			places[i] = places[i]*last + last - 1
		default:
			places[i] = places[i]*last + sort.Search(last, func(k int) bool { return edges[k] > v }) - 1
		}
	}
}

// locateEven goes from where an element is between the first and the last edge to the
// bin whose edges are around it.
func locateEven[T number](places []int, x, edges []T) {
	last := len(edges) - 1
	low, high := edges[0], edges[last]
	scale := float64(last) / (float64(high) - float64(low))
	if math.IsInf(float64(high)-float64(low), 0) || math.IsInf(scale, 0) {
		locate(places, x, edges) // there is no telling from the distance
		return
	}
	for i, v := range x {
		if places[i] < 0 {
			continue
		}
		if !(v >= low && v <= high) {
			places[i] = -1
			continue
		}
		k := min(int((float64(v)-float64(low))*scale), last-1)
		for v < edges[k] {
			k--
		}
		for k < last-1 && v >= edges[k+1] {
			k++
		}
		places[i] = places[i]*last + k
	}
}
