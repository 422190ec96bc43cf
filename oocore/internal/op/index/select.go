package index

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op"
)

func init() {
	blockwise.Register("count_blocks", Counted{}, blockwise.Exact)
	blockwise.Register("select", Selected{}, blockwise.Exact, blockwise.Selects)
}

// Counted is the number of trues in each block of a mask: blocks whose elements follow
// each other in C order, as their numbers do.
type Counted struct{ Shape, Block []int }

// countsAtOnce is how many blocks a task counts: some megabytes of what the mask is of.
const countsAtOnce = 4

func (o Counted) grid() grid.Grid { return grid.Grid{Shape: o.Shape, Chunks: o.Block} }

// Chunks are a few blocks each, so that they are counted by several tasks.
func (o Counted) Chunks() []int { return []int{countsAtOnce} }

// Requirements is a block of the mask.
func (o Counted) Requirements([]int) blockwise.Requirements {
	return blockwise.Requirements{Reads: [][]int{o.Block}, Scratch: int64(grid.Size(o.Block)), DisjointReads: true}
}

// Foreseen returns the largest counts that there can be, of no more than most trues.
func (o Counted) Foreseen(most int) []int64 {
	counts := make([]int64, o.grid().Len())
	for i := range counts {
		counts[i] = int64(min(o.grid().Box(i).Size(), most))
		most -= int(counts[i])
	}
	return counts
}

// Fill counts block by block.
func (o Counted) Fill(ctx context.Context, t *blockwise.Task) error {
	counts := dtype.Slice[int64](t.Dst)
	for i := range counts {
		box := o.grid().Box(t.Box.Start[0] + i)
		mask := t.Scratch[:box.Size()]
		if err := t.ComputeFrom(ctx, 0, box, mask, func() error { counts[i] = int64(trues(mask)); return nil }); err != nil {
			return err
		}
	}
	return nil
}

// trues counts bytes that are not zero.
func trues(mask []byte) (n int) {
	for ; len(mask) >= 8; mask = mask[8:] {
		n += bits.OnesCount64(flags(binary.LittleEndian.Uint64(mask)))
	}
	for _, m := range mask {
		if m != 0 {
			n++
		}
	}
	return n
}

// flags has the lowest bit of each byte set that is not zero.
func flags(w uint64) uint64 {
	const low = 0x0101010101010101
	w |= w >> 4
	w |= w >> 2
	w |= w >> 1
	return w & low
}

// Selected is the elements of an array where a mask of its shape is true, in C order.
// Its third input has for each block the number of trues up to its end.
type Selected struct {
	Shape, Block []int
	Cut          int // chunks of the result; 0: any
	Item         int // bytes of an element
}

// Chunks are nil where the mask is true often enough for a box of the result to come of
// as much of the input; else pieces that come of some blocks each.
func (o Selected) Chunks() []int {
	if o.Cut == 0 {
		return nil
	}
	return []int{o.Cut}
}

// KeptAxes are that of a list; several become one, which is new.
func (o Selected) KeptAxes() []int {
	if len(o.Shape) == 1 {
		return []int{0}
	}
	return []int{-1}
}

// endsAtOnce is how many blocks' ends are read at once.
const endsAtOnce = 64

// Requirements is a block of the array and of the mask.
func (o Selected) Requirements([]int) blockwise.Requirements {
	n := grid.Size(o.Block)
	return blockwise.Requirements{Reads: [][]int{o.Block, o.Block, {endsAtOnce}}, Scratch: blockwise.Aligned(n) + int64(n*o.Item), DisjointReads: true}
}

// Fill goes through the blocks that the box's elements are in.
func (o Selected) Fill(ctx context.Context, t *blockwise.Task) error {
	return walk(ctx, t, o.Shape, o.Block, 1, func(box grid.Box, mask []byte, skip, count, at int) error {
		return o.block(ctx, t, box, mask, skip, count, at)
	})
}

// walk goes through the blocks that a box of selected elements comes of, numbered along
// its first axis, with the mask and the ends as the task's inputs from a place on. visit
// has the block's mask, read into the beginning of Scratch, of which the first skip
// trues are not for the box; the count after them go to a place in it.
func walk(ctx context.Context, t *blockwise.Task, shape, block []int, inputs int, visit func(box grid.Box, mask []byte, skip, count, at int) error) error {
	blocks := grid.Grid{Shape: shape, Chunks: block}
	low, high := int64(t.Box.Start[0]), int64(t.Box.Start[0]+t.Box.Shape[0])
	e := ends{in: t.In[inputs+1], n: blocks.Len()}
	first, err := e.search(ctx, low)
	if err != nil {
		return err
	}
	before := int64(0)
	if first > 0 {
		if before, err = e.at(ctx, first-1); err != nil {
			return err
		}
	}
	for b := first; b < e.n && before < high; b++ {
		after, err := e.at(ctx, b)
		if err != nil {
			return err
		}
		if after > before {
			box := blocks.Box(b)
			mask := t.Scratch[:box.Size()]
			if err := t.ComputeFrom(ctx, inputs, box, mask, func() error {
				if n := int64(trues(mask)); n != after-before {
					return fmt.Errorf("the mask has changed since its trues were counted: %d of block %v, and %d now", after-before, box, n)
				}
				return nil
			}); err != nil {
				return err
			}
			skip, at := int(max(low-before, 0)), int(max(before-low, 0))
			if err := visit(box, mask, skip, int(min(after, high)-max(before, low)), at); err != nil {
				return err
			}
		}
		before = after
	}
	return nil
}

// ends reads the numbers of trues up to blocks' ends, some at a time.
type ends struct {
	in    blockwise.Input
	n     int
	first int // of those that were read
	count int
	read  [endsAtOnce]int64
}

func (e *ends) at(ctx context.Context, b int) (int64, error) {
	if b < e.first || b >= e.first+e.count {
		e.first, e.count = b, min(e.n-b, endsAtOnce)
		if err := e.in.Read(ctx, grid.Box{Start: []int{b}, Shape: []int{e.count}}, dtype.Bytes(e.read[:e.count])); err != nil {
			return 0, err
		}
	}
	return e.read[b-e.first], nil
}

// search is the block that the selected element at a place is in.
func (e *ends) search(ctx context.Context, at int64) (int, error) {
	low, high := 0, e.n
	for low < high {
		middle := (low + high) / 2
		end, err := e.at(ctx, middle)
		if err != nil {
			return 0, err
		}
		if end <= at {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low, nil
}

// block takes count of a block's selected elements, after the first skip, to a place of
// the box.
func (o Selected) block(ctx context.Context, t *blockwise.Task, box grid.Box, mask []byte, skip, count, at int) error {
	// Of the block those rows are needed from the first that has a true to the last.
	axis, row := 0, 1
	for axis < len(box.Shape)-1 && box.Shape[axis] == 1 {
		axis++
	}
	from := grid.Box{Start: slices.Clone(box.Start), Shape: slices.Clone(box.Shape)}
	if len(box.Shape) > 0 {
		row = grid.Size(box.Shape[axis+1:])
	}
	first, last := 0, len(mask)-1
	for ; mask[first] == 0; first++ {
	}
	for ; mask[last] == 0; last-- {
	}
	first, last = first/row, last/row
	if len(box.Shape) > 0 {
		from.Start[axis] += first
		from.Shape[axis] = last - first + 1
	}
	in := t.Scratch[blockwise.Aligned(grid.Size(o.Block)):][:from.Size()*o.Item]
	return t.ComputeFrom(ctx, 0, from, in, func() error {
		mask := mask[first*row : (last+1)*row]
		dst := t.Dst[at*o.Item:]
		kernel.BySize(o.Item, compress[uint8], compress[uint16], compress[uint32], compress[uint64], compress[complex128])(dst, in, mask, skip, count)
		return nil
	})
}

// compress copies count of the elements whose mask is not zero, after the first skip.
func compress[T dtype.Element](to, from, mask []byte, skip, count int) {
	dst, src := dtype.Slice[T](to), dtype.Slice[T](from)
	i := 0
	for ; skip > 0; i++ {
		if mask[i] != 0 {
			skip--
		}
	}
	n := 0
	for ; n+8 <= count && i+8 <= len(mask); i += 8 {
		f := flags(binary.LittleEndian.Uint64(mask[i:]))
		if f == 0 {
			continue
		}
		// Each element goes to the next place, which moves on only if it stays.
		for k := range 8 {
			dst[n] = src[i+k]
			n += int(f & 1)
			f >>= 8
		}
	}
	for ; n < count; i++ {
		if mask[i] != 0 {
			dst[n] = src[i]
			n++
		}
	}
}

// Count makes a mask ready for Select, in a pass over it that counts its trues.
func Count(site graph.Site, mask *graph.Node, item int, run op.Run) (Mask, []int64, error) {
	m, err := NewMask(mask, item)
	if err != nil {
		return m, nil, graph.Reject(site, "count", err, mask)
	}
	n, err := m.Counts(site)
	if err != nil {
		return m, nil, err
	}
	if grid.Size(n.Shape) == 0 {
		return m, nil, nil
	}
	counts, err := run(n)
	return m, counts, err
}

// BooleanMask is the elements of an array where a mask of its first axes is true, in C order,
// as NumPy's x[mask].
func BooleanMask(site graph.Site, a op.Counting2) (*graph.Node, error) {
	run, n, mask := a.Run, a.A, a.B
	b := &graph.Maker{Site: site}
	if len(mask.Shape) == 0 && mask.DType == dtype.Bool { // of the whole array: all of it, or nothing
		if n, mask = b.ExpandDims(n, 0), b.Reshape(mask, 1); b.Err != nil {
			return nil, b.Err
		}
	}
	k, whole := len(mask.Shape), n
	var err error
	switch {
	case mask.DType != dtype.Bool:
		err = fmt.Errorf("a mask has bools, not %s: compare with != 0", mask.DType)
	case k == 0 || k > len(n.Shape) || !slices.Equal(mask.Shape, n.Shape[:k]):
		err = fmt.Errorf("a mask of shape %s is not for an array of shape %s", grid.Format(mask.Shape), grid.Format(n.Shape))
	}
	if err != nil {
		return nil, graph.Reject(site, "mask", err, n, mask)
	}
	if k < len(n.Shape) {
		n, mask = b.Reshape(n, append([]int{grid.Size(n.Shape[:k])}, n.Shape[k:]...)...), b.Reshape(mask, grid.Size(mask.Shape))
		out := b.Make(func() (*graph.Node, error) { return Compress(site, n, mask, 0, run) })
		if b.Err != nil || k == 1 {
			return out, b.Err
		}
		return graph.NameAxes(out, append(make([]graph.Axis, 1), graph.AllAxes(whole)[k:]...)...), nil
	}
	m, counts, err := Count(site, mask, n.DType.Size(), run)
	if err != nil {
		return nil, err
	}
	return m.Select(site, n, counts)
}

// Compress is the parts of an array along an axis where a mask, which has one
// dimension, is true, as NumPy's compress.
func Compress(site graph.Site, n, mask *graph.Node, axis int, run op.Run) (*graph.Node, error) {
	at, err := grid.Axis(axis, len(n.Shape))
	if err == nil && (len(mask.Shape) != 1 || mask.DType != dtype.Bool) {
		err = fmt.Errorf("takes a condition of one dimension of bools, not %s of shape %s", mask.DType, grid.Format(mask.Shape))
	}
	if err != nil {
		return nil, graph.Reject(site, "compress", err, n, mask)
	}
	alone := len(n.Shape) == 1 && n.Shape[0] == mask.Shape[0]
	item := 8
	if alone {
		item = n.DType.Size()
	}
	m, counts, err := Count(site, mask, item, run)
	if err != nil {
		return nil, err
	}
	if alone {
		return m.Select(site, n, counts)
	}
	places, err := m.Places(site, counts)
	if err != nil {
		return nil, err
	}
	return Take(site, n, places, at)
}

// Mask is one whose trues are being counted, for Select.
type Mask struct {
	node  *graph.Node
	block []int
}

// NewMask is a mask of bools for arrays whose elements have so many bytes.
func NewMask(mask *graph.Node, item int) (Mask, error) {
	if mask.DType != dtype.Bool {
		return Mask{}, fmt.Errorf("a mask has bools, not %s: compare with != 0", mask.DType)
	}
	m := Mask{node: mask, block: grid.Auto(mask.Shape, item, windowBytes)}
	// Where stored chunks are higher than a block of rows, those of a row of chunks are
	// read together.
	if c := cells(mask); c != nil {
		for d := range m.block {
			if rest := grid.Size(m.block[d+1:]); m.block[d] > 1 && m.block[d] < c[d] && c[d]*rest*item <= 16*windowBytes {
				m.block[d] = min(c[d], mask.Shape[d])
				break
			}
		}
	}
	return m, nil
}

// Counts is the node of the numbers of trues of the mask's blocks, of type int64.
func (m Mask) Counts(site graph.Site) (*graph.Node, error) {
	if grid.Size(m.node.Shape) == 0 {
		return empty(site, dtype.Int64, []int{0}), nil
	}
	op := Counted{Shape: m.node.Shape, Block: m.block}
	return graph.NewBlockwise(site, "count", op, []int{op.grid().Len()}, dtype.Int64, []*graph.Node{m.node})
}

// Select is the elements of an array where the mask is true, in C order, by what
// computing Counts gave. The array has the mask's shape.
func (m Mask) Select(site graph.Site, n *graph.Node, counts []int64) (*graph.Node, error) {
	if !slices.Equal(n.Shape, m.node.Shape) {
		return nil, graph.Reject(site, "select", fmt.Errorf("a mask of shape %s is not for an array of shape %s", grid.Format(m.node.Shape), grid.Format(n.Shape)), n, m.node)
	}
	total, last, err := sums(site, counts)
	if err != nil {
		return nil, err
	}
	if total == 0 {
		return empty(site, n.DType, []int{0}), nil
	}
	op := Selected{Shape: m.node.Shape, Block: m.block, Item: n.DType.Size(), Cut: m.cut(counts, total, n.DType.Size())}
	return graph.NewBlockwise(site, "select", op, []int{total}, n.DType, []*graph.Node{n, m.node, last})
}

// Positions is where the mask is true: for each axis the indices along it, as NumPy's
// nonzero.
func (m Mask) Positions(site graph.Site, counts []int64) ([]*graph.Node, error) {
	b := &graph.Maker{Site: site}
	rows := b.Make(func() (*graph.Node, error) { return m.ArgWhere(site, counts) })
	all := make([]*graph.Node, len(m.node.Shape))
	for d := range all {
		all[d] = b.Slice(rows, ":, %d", d)
	}
	return all, b.Err
}

// ArgWhere is where the mask is true, a row of indices each, as NumPy's argwhere.
func (m Mask) ArgWhere(site graph.Site, counts []int64) (*graph.Node, error) {
	return m.located(site, Nonzero{Shape: m.node.Shape, Block: m.block}, counts)
}

// Places is where the mask is true, as if it were flat: NumPy's flatnonzero.
func (m Mask) Places(site graph.Site, counts []int64) (*graph.Node, error) {
	return m.located(site, Nonzero{Shape: m.node.Shape, Block: m.block, Flat: true}, counts)
}

func (m Mask) located(site graph.Site, op Nonzero, counts []int64) (*graph.Node, error) {
	total, last, err := sums(site, counts)
	if err != nil {
		return nil, err
	}
	lengths := []int{total}
	if !op.Flat {
		lengths = append(lengths, len(op.Shape))
	}
	if err := grid.Check(lengths, 8); err != nil {
		return nil, graph.Reject(site, "argwhere", err, m.node)
	}
	if grid.Size(lengths) == 0 {
		return empty(site, dtype.Int64, lengths), nil
	}
	op.Cut = m.cut(counts, total, 8*grid.Size(lengths[1:]))
	return graph.NewBlockwise(site, "argwhere", op, lengths, dtype.Int64, []*graph.Node{m.node, last})
}

// sums is the numbers of trues up to the end of each block, and of all.
func sums(site graph.Site, counts []int64) (total int, last *graph.Node, err error) {
	ends := make([]int64, len(counts))
	for i, c := range counts {
		total += int(c)
		ends[i] = int64(total)
	}
	last, err = graph.FromBytes(site, dtype.Bytes(ends), dtype.Int64, len(ends))
	return total, last, err
}

// cut is how the selected elements, of so many bytes each, are cut where there are few
// of many blocks, or blocks are large: into pieces that come of some blocks each, on
// average. 0 is not at all.
func (m Mask) cut(counts []int64, total, item int) int {
	const often = 32
	blocks := endsAtOnce
	if total*often >= grid.Size(m.node.Shape) {
		if grid.Size(m.block)*item <= 4*windowBytes {
			return 0
		}
		blocks = 4 // each is decoded for every piece that has a part of it
	}
	return max(min(total*blocks/len(counts), 4*windowBytes/item), 1)
}
