package index

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

func init() {
	blockwise.Register("gather", Gather{}, blockwise.Exact, blockwise.OnlyMoves, blockwise.Selects)
}

// Gather is an array with one axis replaced by those of an array of indices.
type Gather struct {
	Axis  int
	Dims  int   // of the indices
	Shape []int // of the input
	Tile  []int // lengths of what is read of it at once
	Item  int   // bytes of an element
	// Chunked says that a tile is a stored chunk: all that is needed of it is read at
	// once.
	Chunked bool
}

// nearBytes is how far apart rows are read together: what lies between costs less than
// another read.
const nearBytes = 8 << 10

// KeptAxes are all but the one that indices replace, and that too where they are a list.
func (o Gather) KeptAxes() []int {
	var axes []int
	for d := range o.Shape {
		switch {
		case d == o.Axis && o.Dims != 1:
			axes = append(axes, slices.Repeat([]int{-1}, o.Dims)...)
		default:
			axes = append(axes, d)
		}
	}
	return axes
}

// of are the parts of a list of the result's axes that belong to the indices, and to
// the input without the axis.
func (o Gather) of(list []int) (indices, others []int) {
	indices = list[o.Axis : o.Axis+o.Dims]
	return indices, append(slices.Clone(list[:o.Axis]), list[o.Axis+o.Dims:]...)
}

// Requirements is a tile of the input, and the box's indices with their order.
func (o Gather) Requirements(box []int) blockwise.Requirements {
	indices, others := o.of(box)
	others = slices.Insert(others, o.Axis, o.Shape[o.Axis])
	reads := make([]int, len(o.Tile))
	for d := range reads {
		reads[d] = max(min(o.Tile[d], others[d]), 1)
	}
	k := grid.Size(indices)
	return blockwise.Requirements{Reads: [][]int{reads, slices.Clone(indices)}, DisjointReads: true, Gather: true,
		Scratch: blockwise.Aligned(8*k) + blockwise.Aligned(4*k) + int64(grid.Size(reads)*o.Item)}
}

// Fill reads the indices, and then the input in their order.
func (o Gather) Fill(ctx context.Context, t *blockwise.Task) error {
	start, others := o.of(t.Box.Start)
	lengths, shape := o.of(t.Box.Shape)
	k := grid.Size(lengths)
	f := taking{Gather: o, t: t, k: k, index: dtype.Slice[int64](t.Scratch[:8*k]),
		order: dtype.Slice[uint32](t.Scratch[blockwise.Aligned(8*k):][:4*k]), buffer: t.Scratch[blockwise.Aligned(8*k)+blockwise.Aligned(4*k):]}
	if err := t.ComputeFrom(ctx, 1, grid.Box{Start: start, Shape: lengths}, t.Scratch[:8*k], func() error {
		sorted, err := resolve(f.index, o.Axis, o.Shape[o.Axis])
		if err != nil || sorted {
			f.order = nil
			return err
		}
		if f.dense() {
			f.order = nil
			return nil
		}
		for i := range f.order {
			f.order[i] = uint32(i)
		}
		slices.SortFunc(f.order, func(a, b uint32) int { return cmp.Or(cmp.Compare(f.index[a], f.index[b]), cmp.Compare(a, b)) })
		return nil
	}); err != nil {
		return err
	}
	_, f.strides = o.of(grid.Strides(t.Box.Shape))
	f.stride = grid.Size(t.Box.Shape[o.Axis+o.Dims:])
	tile := slices.Delete(slices.Clone(o.Tile), o.Axis, o.Axis+1)
	all := grid.Box{Start: others, Shape: shape}
	for part := range all.Align(nil, tile) {
		at := 0
		for d := range part.Start {
			at += (part.Start[d] - others[d]) * f.strides[d]
		}
		if err := f.part(ctx, part, at); err != nil {
			return err
		}
	}
	return nil
}

// resolve checks indices and makes negative ones count from the end. It reports whether
// none is less than the one before it.
func resolve(index []int64, axis, length int) (sorted bool, err error) {
	sorted = true
	n, last := int64(length), int64(0)
	for i, x := range index {
		if x < 0 {
			x += n
		}
		if x < 0 || x >= n {
			return false, fmt.Errorf("index %d is out of bounds for axis %d with size %d", index[i], axis, length)
		}
		index[i] = x
		sorted = sorted && x >= last
		last = x
	}
	return sorted, nil
}

// taking fills one box.
type taking struct {
	Gather
	t       *blockwise.Task
	k       int      // indices
	index   []int64  // into the input
	order   []uint32 // the indices from low to high; nil where they are so already, or are read as one
	span    [2]int64 // the least and the greatest index, where all between are read as one
	buffer  []byte
	strides []int // in the box, of the input's axes without the one
	stride  int   // of an index
}

// near is how far apart indices may lie for what follows the axis to be read together.
func (f *taking) near(after []int) int64 {
	return max(int64(nearBytes/max(grid.Size(after)*f.Item, 1)), 1)
}

// dense finds out whether the indices, which are not sorted, lie in one tile and so close to each
// other that it is read as one: then their order does not matter.
func (f *taking) dense() bool {
	tile := int64(f.Tile[f.Axis])
	low, high := slices.Min(f.index), slices.Max(f.index)
	if low/tile != high/tile || !f.Chunked && (high-low)/int64(f.k) > f.near(f.Tile[f.Axis+1:]) {
		return false
	}
	f.span = [2]int64{low, high}
	return true
}

// nth is the place in the box of the i-th lowest index.
func (f *taking) nth(i int) int {
	if f.order == nil {
		return i
	}
	return int(f.order[i])
}

// part takes all indices of a part of the other axes that lies at a place of the box.
func (f *taking) part(ctx context.Context, part grid.Box, at int) error {
	if f.span[1] > 0 {
		return f.rows(ctx, part, at, 0, f.k, int(f.span[0]), int(f.span[1]-f.span[0]+1))
	}
	most, near := int64(f.Tile[f.Axis]), f.near(part.Shape[f.Axis:])
	for i := 0; i < f.k; {
		low := f.index[f.nth(i)]
		high, j := low, i+1
		for ; j < f.k; j++ {
			x := f.index[f.nth(j)]
			if x/most != low/most || x-high > near && !f.Chunked {
				break // in another tile, or not worth reading what lies between
			}
			high = x
		}
		if err := f.rows(ctx, part, at, i, j, int(low), int(high-low+1)); err != nil {
			return err
		}
		i = j
	}
	return nil
}

// rows takes the indices from i to j in order, which point to count of the input's.
func (f *taking) rows(ctx context.Context, part grid.Box, at, i, j, low, count int) error {
	from := grid.Box{Start: slices.Insert(slices.Clone(part.Start), f.Axis, low), Shape: slices.Insert(slices.Clone(part.Shape), f.Axis, count)}
	n := from.Size() * f.Item
	one := j == i+1 || f.order == nil && count == j-i && f.consecutive(i, j)
	if one && grid.Size(part.Shape[:f.Axis]) == 1 && grid.Size(part.Shape[f.Axis:]) == f.stride {
		to := (at + f.nth(i)*f.stride) * f.Item
		return f.t.In[0].Read(ctx, from, f.t.Dst[to:to+n])
	}
	in := f.buffer[:n]
	return f.t.ComputeFrom(ctx, 0, from, in, func() error {
		source := grid.Strides(from.Shape)
		step := source[f.Axis]
		source = slices.Delete(source, f.Axis, f.Axis+1)
		if step == 1 && f.stride == 1 { // one element at a time: rows of them
			for to, src := range grid.Places(part.Shape, f.strides, source) {
				f.elements(at+to, in[src*f.Item:], i, j, low)
			}
			return nil
		}
		for ; i < j; i++ {
			p := f.nth(i)
			kernel.Copy(f.Item, part.Shape, f.t.Dst, at+p*f.stride, f.strides, in, (int(f.index[p])-low)*step, source)
		}
		return nil
	})
}

// consecutive reports indices that rise by one.
func (f *taking) consecutive(i, j int) bool {
	for ; i+1 < j; i++ {
		if f.index[i+1] != f.index[i]+1 {
			return false
		}
	}
	return true
}

// elements puts the elements that the indices from i to j point to, in a row that was
// read from low on, to their places after a place in the box.
func (f *taking) elements(to int, row []byte, i, j, low int) {
	dst := f.t.Dst[to*f.Item:]
	kernel.BySize(f.Item, gather[uint8], gather[uint16], gather[uint32], gather[uint64], gather[complex128])(dst, row, f, i, j, low)
}

func gather[T dtype.Element](to, from []byte, f *taking, i, j, low int) {
	dst, src := dtype.Slice[T](to), dtype.Slice[T](from)
	if f.order == nil {
		for p, x := range f.index[i:j] {
			dst[i+p] = src[int(x)-low]
		}
		return
	}
	for _, p := range f.order[i:j] {
		dst[p] = src[int(f.index[p])-low]
	}
}

// Take is the array with an axis replaced by the elements that indices point to along
// it, as NumPy's take. Indices are integers; negative ones count from the end, and one
// that is out of range is found when it is read.
func Take(site graph.Site, n, indices *graph.Node, axis int) (*graph.Node, error) {
	at, err := grid.Axis(axis, len(n.Shape))
	if err == nil {
		indices, err = Integers(site, indices)
	}
	if err != nil {
		return nil, graph.Reject(site, "take", err, n, indices)
	}
	shape := slices.Concat(n.Shape[:at], indices.Shape, n.Shape[at+1:])
	if len(shape) > grid.MaxDims {
		return nil, graph.Reject(site, "take", fmt.Errorf("%d dimensions are more than %d", len(shape), grid.MaxDims), n, indices)
	}
	if err := grid.Check(shape, n.DType.Size()); err != nil {
		return nil, graph.Reject(site, "take", err, n, indices)
	}
	if grid.Size(indices.Shape) > 0 && n.Shape[at] == 0 {
		return nil, graph.Reject(site, "take", fmt.Errorf("axis %d has no elements to take", at), n, indices)
	}
	if grid.Size(shape) == 0 {
		return empty(site, n.DType, shape), nil
	}
	op := Gather{Axis: at, Dims: len(indices.Shape), Shape: n.Shape, Tile: tiles(n, at), Item: n.DType.Size(), Chunked: cells(n) != nil}
	out, err := graph.NewBlockwise(site, "take", op, shape, n.DType, []*graph.Node{n, indices}, strconv.Itoa(axis))
	names := indices.DimNames()
	if err != nil || names == nil {
		return out, err
	}
	axes, taken := graph.AllAxes(n), graph.AllAxes(indices)
	for d, name := range names {
		switch other := slices.Index(n.DimNames(), name); {
		case name != "" && (other < 0 || other == at):
		case len(names) == 1: // which the array's other axes have
			taken[d] = axes[at]
		default:
			taken[d] = graph.Axis{}
		}
	}
	return graph.NameAxes(out, slices.Concat(axes[:at], taken, axes[at+1:])...), nil
}

// Integers are indices as int64.
func Integers(site graph.Site, n *graph.Node) (*graph.Node, error) {
	if !n.DType.Integer() && grid.Size(n.Shape) > 0 {
		return n, fmt.Errorf("indices are integers, not %s", n.DType)
	}
	return graph.AsType(site, n, dtype.Int64)
}

func empty(site graph.Site, t dtype.Type, shape []int) *graph.Node {
	return &graph.Node{Kind: graph.Constant, Shape: shape, DType: t, Value: dtype.FromInt(t, 0), Site: site}
}
