package regions

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

// Tiles are cut from the array in C order, and each finds the pieces of parts that it has by itself, numbered by
// their first elements. That is done again in each pass, as it takes less than storing the pieces would: the first
// counts them, so that they have numbers in the whole array; the second goes through the
// tiles in their order, and joins pieces that are neighbours of one before; the third writes the
// numbers of what was joined.

func init() {
	blockwise.Register("label_pieces", Pieces{}, blockwise.Exact)
	blockwise.Register("label_joined", Joined{}, blockwise.Exact)
	blockwise.Register("label", Labels{}, blockwise.Exact, blockwise.KeepsAxes)
}

// tileElems is about how many elements a tile has.
const tileElems = 1 << 20

// Tiles are those of an array, whose elements are neighbours where they differ by one along up to so many axes.
type Tiles struct {
	Shape        []int
	Connectivity int
}

// tile is a box whose elements follow each other in the array.
func (s Tiles) tile() []int { return grid.Auto(s.Shape, 1, tileElems) }

func (s Tiles) grid() grid.Grid { return grid.Grid{Shape: s.Shape, Chunks: s.tile()} }

// reach is how far before an element its neighbours are at most, in C order.
func (s Tiles) reach() int {
	n := 1
	for d, stride := range grid.Strides(s.Shape) {
		if s.Shape[d] > 1 {
			n += stride
		}
	}
	return min(n, grid.Size(s.Shape))
}

// beside is a row of neighbours before one of the array: how far away its elements are, and whether
// those one further along the last axis, to both sides, are neighbours too.
type beside struct {
	by   []int
	away int
	wide bool
}

// before are the rows of neighbours before a row.
func (s Tiles) before() (all []beside) {
	last := len(s.Shape) - 1
	strides := grid.Strides(s.Shape)
	by := make([]int, last)
	var each func(d, moved, away int)
	each = func(d, moved, away int) {
		if moved > s.Connectivity {
			return
		}
		if d == last {
			if away < 0 {
				all = append(all, beside{by: slices.Clone(by), away: away, wide: moved < s.Connectivity})
			}
			return
		}
		for by[d] = -1; by[d] <= 1; by[d]++ {
			m := moved
			if by[d] != 0 {
				m++
			}
			if moved == 0 && by[d] > 0 { // comes after
				continue
			}
			each(d+1, m, away+by[d]*strides[d])
		}
		by[d] = 0
	}
	each(0, 0, 0)
	return all
}

// pairs calls f for each element of a tile that is set and each place of a neighbour before it, both counted from the tile's first
// element: what is negative lies in a tile before.
func (s Tiles) pairs(mask []byte, box grid.Box, begin func(p int), f func(p, q int)) {
	last := len(s.Shape) - 1
	rows, width, n, first := s.before(), s.Shape[last], box.Shape[last], box.Start[last]
	at := slices.Clone(box.Start)
	for row := 0; row < len(mask); row += n {
		var near []beside
		for _, r := range rows {
			inside := true
			for d, by := range r.by {
				inside = inside && at[d]+by >= 0 && at[d]+by < s.Shape[d]
			}
			if inside {
				near = append(near, r)
			}
		}
		for i, v := range mask[row : row+n] {
			if v == 0 {
				continue
			}
			p, x := row+i, first+i
			begin(p)
			if x > 0 {
				f(p, p-1)
			}
			for _, r := range near {
				q := p + r.away
				f(p, q)
				if r.wide && x > 0 {
					f(p, q-1)
				}
				if r.wide && x < width-1 {
					f(p, q+1)
				}
			}
		}
		for d := last - 1; d >= 0; d-- {
			if at[d]++; at[d] < box.Start[d]+box.Shape[d] {
				break
			}
			at[d] = box.Start[d]
		}
	}
}

// root is the first element of a set, in which each points to one before it; on the way they are brought nearer.
func root(sets []int32, i int32) int32 {
	for sets[i] != i {
		sets[i] = sets[sets[i]]
		i = sets[i]
	}
	return i
}

// join makes one of two sets.
func join(sets []int32, a, b int32) {
	if a, b = root(sets, a), root(sets, b); a < b {
		sets[b] = a
	} else {
		sets[a] = b
	}
}

// number replaces each element by the number of its set, from 1 on in the order of their first elements; what is
// negative becomes 0. It returns the number of sets.
func number(sets []int32) (count int32) {
	for i, to := range sets {
		switch {
		case to < 0:
			sets[i] = 0
		case int(to) == i:
			count++
			sets[i] = count
		default: // to comes before it, and has its number
			sets[i] = sets[to]
		}
	}
	return count
}

// pieces numbers those of a tile.
func (s Tiles) pieces(labels []int32, mask []byte, box grid.Box) int32 {
	for i := range labels {
		labels[i] = -1
	}
	s.pairs(mask, box, func(p int) { labels[p] = int32(p) }, func(p, q int) {
		if q >= 0 && mask[q] != 0 {
			join(labels, int32(q), int32(p))
		}
	})
	return number(labels)
}

// Pieces is how many pieces each tile has.
type Pieces struct{ Tiles }

// Chunks are single tiles.
func (s Pieces) Chunks() []int { return []int{1} }

// foreseen is how many pieces are planned with before they are counted: an array of noise has more, and is refused by a
// budget that they do not fit when they are counted. The most that there can be, half of the elements, no real one has.
const foreseen = 4 << 20

// Foreseen returns counts as large as they are planned with, of no more than most in all.
func (s Pieces) Foreseen(most int) []int64 {
	most = min(most, foreseen)
	counts := make([]int64, s.grid().Len())
	for i := range counts {
		counts[i] = int64(min((s.grid().Box(i).Size()+1)/2, most))
		most -= int(counts[i])
	}
	return counts
}

// Requirements is a tile and the sets of its elements.
func (s Pieces) Requirements([]int) blockwise.Requirements {
	n := grid.Size(s.tile())
	return blockwise.Requirements{Reads: [][]int{s.tile()}, Scratch: blockwise.Aligned(n) + int64(4*n), DisjointReads: true, Work: 10 * int64(n)}
}

// Fill counts tile by tile.
func (s Pieces) Fill(ctx context.Context, t *blockwise.Task) error {
	counts := dtype.Slice[int64](t.Dst)
	for i := range counts {
		box := s.grid().Box(t.Box.Start[0] + i)
		m := t.ScratchLayout()
		mask := m.Take(grid.Size(s.tile()))[:box.Size()]
		labels := dtype.Slice[int32](m.Take(4 * box.Size()))
		if err := t.ComputeFrom(ctx, 0, box, mask, func() error { counts[i] = int64(s.pieces(labels, mask, box)); return nil }); err != nil {
			return err
		}
	}
	return nil
}

// Joined is the number of the part that each piece is of. Its second input is how many pieces there are
// before each tile.
type Joined struct {
	Tiles
	Count int
}

// Chunks are all pieces.
func (s Joined) Chunks() []int { return []int{s.Count} }

func (s Joined) work(m *blockwise.ScratchLayout) (mask, labels, ends, ring []byte) {
	n := grid.Size(s.tile())
	return m.Take(n), m.Take(4 * n), m.Take(8), m.Take(4 * s.reach())
}

// Requirements is a tile, the sets of its elements, and the pieces of the elements before it.
func (s Joined) Requirements([]int) blockwise.Requirements {
	var m blockwise.ScratchLayout
	s.work(&m)
	return blockwise.Requirements{Reads: [][]int{s.tile(), {1}}, Scratch: m.Size(), Work: 15 * int64(grid.Size(s.Shape)), State: int64(4*s.Count + 4*s.reach())}
}

// Fill goes through the tiles in their order. A step is a tile.
func (s Joined) Fill(ctx context.Context, t *blockwise.Task) error {
	m := t.ScratchLayout()
	tile, sets, end, kept := s.work(m)
	parts, ring := dtype.Slice[int32](t.Dst), dtype.Slice[int32](kept)
	for i := range parts {
		parts[i] = int32(i)
	}
	clear(ring)
	steps := t.Steps(ctx, func(int) [][]byte { return [][]byte{t.Dst, kept} })
	first := 0
	for i, box := range s.grid().All() {
		n := box.Size()
		mask, labels := tile[:n], dtype.Slice[int32](sets[:4*n])
		if !steps.Skips() {
			if err := t.In[0].Read(ctx, box, mask); err != nil {
				return err
			}
			if err := t.In[1].Read(ctx, grid.Box{Start: []int{i}, Shape: []int{1}}, end); err != nil {
				return err
			}
		}
		if err := t.Compute(func() error {
			if !steps.Next() {
				return nil
			}
			s.link(parts, ring, labels, mask, box, first, int32(dtype.Slice[int64](end)[0]))
			return steps.End()
		}); err != nil {
			return err
		}
		first += n
	}
	return t.Compute(func() error {
		if !steps.Next() {
			return nil
		}
		number(parts)
		return steps.End()
	})
}

// link joins the pieces of a tile, the first element of which is so many behind the array's, with those before them.
func (s Joined) link(parts, ring, labels []int32, mask []byte, box grid.Box, first int, before int32) {
	if s.pieces(labels, mask, box) > 0 {
		s.pairs(mask, box, func(int) {}, func(p, q int) {
			if q < 0 {
				if piece := ring[(first+q)%len(ring)]; piece > 0 {
					join(parts, piece-1, before+labels[p]-1)
				}
			}
		})
	}
	for p := max(0, len(labels)-len(ring)); p < len(labels); p++ {
		piece := labels[p]
		if piece > 0 {
			piece += before
		}
		ring[(first+p)%len(ring)] = piece
	}
}

// Labels are the numbers of parts. Its further inputs are Joined and how many pieces there are before each tile.
type Labels struct {
	Tiles
	Count int
}

// Chunks are tiles.
func (s Labels) Chunks() []int { return s.tile() }

func (s Labels) work(m *blockwise.ScratchLayout) (mask, parts, end []byte) {
	n := grid.Size(s.tile())
	return m.Take(n), m.Take(4 * min(n, s.Count)), m.Take(8)
}

// Requirements is a tile and the parts of its pieces.
func (s Labels) Requirements([]int) blockwise.Requirements {
	var m blockwise.ScratchLayout
	s.work(&m)
	n := grid.Size(s.tile())
	return blockwise.Requirements{Reads: [][]int{s.tile(), {min(n, s.Count)}, {1}}, Scratch: m.Size(), DisjointReads: true, Work: 10 * int64(n)}
}

// Fill numbers a tile's pieces, and looks up the parts that they are of.
func (s Labels) Fill(ctx context.Context, t *blockwise.Task) error {
	m := t.ScratchLayout()
	mask, parts, end := s.work(m)
	mask = mask[:t.Box.Size()]
	if err := t.In[0].Read(ctx, t.Box, mask); err != nil {
		return err
	}
	labels := dtype.Slice[int32](t.Dst)
	count := 0
	if err := t.Compute(func() error { count = int(s.pieces(labels, mask, t.Box)); return nil }); err != nil || count == 0 {
		return err
	}
	at := grid.Offset(t.Box.Start, grid.Entire(s.Shape))
	tile, g := 0, s.grid()
	for d, c := range g.Chunks {
		tile = tile*g.Count(d) + t.Box.Start[d]/c
	}
	if err := t.In[2].Read(ctx, grid.Box{Start: []int{tile}, Shape: []int{1}}, end); err != nil {
		return err
	}
	first := int(dtype.Slice[int64](end)[0])
	if first+count > s.Count {
		return fmt.Errorf("the array has other parts at element %d than when they were counted: it has changed", at)
	}
	return t.ComputeFrom(ctx, 1, grid.Box{Start: []int{first}, Shape: []int{count}}, parts[:4*count], func() error {
		of := dtype.Slice[int32](parts)
		for i, piece := range labels {
			if piece > 0 {
				labels[i] = of[piece-1]
			}
		}
		return nil
	})
}

// Label is scipy.ndimage.label with generate_binary_structure(dimensions, connectivity).
func Label(site graph.Site, a Args) (_ *graph.Node, err error) {
	x := a.X
	defer graph.Named(&err, site, "label", x)
	dims := len(x.Shape)
	if a.Connectivity == 0 {
		a.Connectivity = 1
	}
	switch {
	case a.Connectivity < 1 || a.Connectivity > max(dims, 1):
		return nil, fmt.Errorf("elements of %d dimensions are neighbours along 1 to %d axes, not %d", dims, dims, a.Connectivity)
	case x.DType.Kind() == dtype.KindComplex:
		return nil, errors.New("takes real numbers or bools")
	case a.Run == nil:
		return nil, errors.New("the pieces of parts have to be counted, which cannot be done here")
	}
	m := &graph.Maker{Site: site}
	mask := m.Apply(kernel.NotEqual, x, m.Number(0))
	if x.DType == dtype.Bool {
		mask = x
	}
	if dims == 0 || grid.Size(x.Shape) == 0 {
		return m.Cast(mask, dtype.Int32), m.Err
	}
	s := Tiles{Shape: x.Shape, Connectivity: a.Connectivity}
	counts := m.Blockwise("label pieces", Pieces{s}, []int{s.grid().Len()}, dtype.Int64, []*graph.Node{mask})
	if m.Err != nil {
		return nil, m.Err
	}
	each, err := a.Run(counts)
	if err != nil {
		return nil, err
	}
	before, total := make([]int64, len(each)), int64(0)
	for i, n := range each {
		before[i] = total
		total += n
	}
	switch {
	case total > math.MaxInt32:
		return nil, fmt.Errorf("%d pieces of parts are more than int32 has numbers for", total)
	case total == 0:
		return m.Full(dtype.FromInt(dtype.Int32, 0), x.Shape...), m.Err
	}
	ends := m.Bytes(dtype.Bytes(before), dtype.Int64, len(before))
	parts := m.Blockwise("label parts", Joined{s, int(total)}, []int{int(total)}, dtype.Int32, []*graph.Node{mask, ends})
	return m.Blockwise("label", Labels{s, int(total)}, x.Shape, dtype.Int32, []*graph.Node{mask, parts, ends}), m.Err
}
