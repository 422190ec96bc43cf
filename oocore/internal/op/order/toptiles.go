package order

import (
	"context"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op/contract"
)

func init() { blockwise.Register("top_tiles", TopTiles{}) }

// TopTiles has the first records, in their order, of lines along the last of two axes. It goes through many lines
// side by side, tile by tile, so that those of a product need not be written. Where a line is one row the result is
// what the records stand for, else it is as that of TopRows.
type TopTiles struct {
	Line
	First      int
	Rows, Cols int // of a tile
}

// leastTile is how many lines a tile has at least that products are computed by.
const leastTile = 64

// newTopTiles suits an expression of a product's elements with so many lines of a length; false where tasks have
// room for the records of few of them.
func newTopTiles(t contract.Tiles, lines, length, first int, s Sorting) (TopTiles, bool) {
	p := TopTiles{Line: newLine(length, s), First: first}
	p.Rows, p.Cols = t.Sides(lines)
	p.Rows = min(p.Rows, acrossBytes/(topRoom(first)*p.records().size()))
	const least = 8 // tasks
	tasks := (lines + p.Rows - 1) / max(p.Rows, 1)
	tiles := (length + p.Cols - 1) / p.Cols
	parts := min((least+tasks-1)/max(tasks, 1), max(length/(16*first), 1))
	p.Row = (tiles + parts - 1) / parts * p.Cols
	return p, p.Rows >= min(lines, leastTile)
}

// nodes are the first of lines along an axis.
func (s TopTiles) nodes(site graph.Site, name string, n *graph.Node, axis int, args []string) (*graph.Node, error) {
	return along(site, n, axis, func(n *graph.Node) (*graph.Node, error) {
		in := []*graph.Node{n}
		if s.whole() {
			return graph.NewBlockwise(site, name, s, []int{n.Shape[0], s.First}, s.result(), in, args...)
		}
		stored, words := s.stored()
		rows, err := graph.NewBlockwise(site, name+" rows", s, []int{n.Shape[0], s.rows(), s.First * words}, stored, in)
		if err != nil {
			return nil, err
		}
		return s.joined(site, name, rows, s.First, args)
	})
}

// whole reports lines of one row.
func (s TopTiles) whole() bool { return s.rows() == 1 }

// TakesTiles says that boxes are those of a product.
func (s TopTiles) TakesTiles() {}

// Chunks are the rows of neighbouring lines.
func (s TopTiles) Chunks() []int {
	if s.whole() {
		return []int{s.Rows, s.First}
	}
	_, words := s.stored()
	return []int{s.Rows, 1, s.First * words}
}

// Requirements is a tile of the input, and records of its lines.
func (s TopTiles) Requirements(box []int) blockwise.Requirements {
	var p blockwise.ScratchLayout
	s.work(&p, box[0])
	return blockwise.Requirements{Reads: [][]int{{box[0], min(s.Cols, s.N)}}, Spans: [][]int{{box[0], min(s.Row, s.N)}}, Scratch: p.Size()}
}

// work is what lines take: a tile of them, its extremes, and what a filter has of each.
func (s TopTiles) work(p *blockwise.ScratchLayout, lines int) (tile []byte, e extremes, f filter) {
	size := s.records().size()
	f = filter{records: s.records(), class: s.class(), first: s.First, columns: lines}
	tile = p.Take(lines * s.Cols * s.Type.Size())
	f.all, f.other = p.Take(lines*topRoom(s.First)*size), p.Take(topRoom(s.First)*size)
	f.counts, f.most = dtype.Slice[uint32](p.Take(4*lines)), dtype.Slice[uint64](p.Take(8*lines))
	kind := kernel.Min
	if s.Descending {
		kind = kernel.Max
	}
	if e.folder, _ = kernel.NewFolder(kind, s.Type); e.folder != nil {
		e.states, e.keys = p.Take(lines*e.folder.Size()), p.Take(lines*s.Type.Size())
	}
	return tile, e, f
}

// extremes are the largest or smallest element of each line of a tile: most tiles have none that is among the
// first, and vectors find that.
type extremes struct {
	folder       kernel.Folder // nil of a type that has none
	states, keys []byte
}

// Fill goes through a row of each line of the box.
func (s TopTiles) Fill(ctx context.Context, t *blockwise.Task) error {
	lines, from := t.Box.Shape[0], 0
	if !s.whole() {
		from = t.Box.Start[1] * s.Row
	}
	in, e, f := s.work(t.ScratchLayout(), lines)
	f.begin()
	row := grid.Box{Start: []int{t.Box.Start[0], from}, Shape: []int{lines, min(s.Row, s.N-from)}}
	for tile := range row.Split([]int{lines, s.Cols}) {
		in := in[:tile.Size()*s.Type.Size()]
		if err := t.ComputeFrom(ctx, 0, tile, in, func() error {
			kernel.BySize(s.Type.Size(), tops[uint8], tops[uint16], tops[uint32], tops[uint64])(&f, &e, in, tile)
			return nil
		}); err != nil {
			return err
		}
	}
	return t.Compute(func() error {
		each := len(t.Dst) / lines
		for i := range lines {
			if dst := t.Dst[i*each:][:each]; s.whole() {
				f.records.store(dst, 0, 1, f.sorted(i))
			} else {
				fill(dst, f.sorted(i), f.records.size())
			}
		}
		return nil
	})
}

// tops filters the elements of a tile, line by line.
func tops[W word](f *filter, e *extremes, bytes []byte, tile grid.Box) {
	lines, cols := tile.Shape[0], tile.Shape[1]
	var extreme []W
	if e.folder != nil {
		e.folder.Init(e.states, lines)
		e.folder.Rows(e.states, lines, 0, bytes, lines, cols, 0)
		e.folder.Finish(e.keys, e.states, lines, int64(cols), 0)
		extreme = view[W](e.keys)
		encode(f.class, extreme, extreme, 0, 1, lines)
	}
	// A NaN hides other elements, and a zero one of the other sign.
	var zero [1]W
	encode(f.class, zero[:], zero[:], 0, 1, 1)
	nan, isFloat := ^W(0)^W(f.class.flip), f.class.kind == dtype.KindFloat
	var keys [512]W
	in := view[W](bytes)
	for line := range lines {
		if extreme != nil {
			if x := extreme[line]; uint64(x) > f.most[line] && !(isFloat && (x == nan || x-zero[0]+1 <= 2)) {
				continue
			}
		}
		for from := 0; from < cols; from += len(keys) {
			k := keys[:min(len(keys), cols-from)]
			encode(f.class, k, in, line*cols+from, 1, len(k))
			for i, key := range k {
				if uint64(key) <= f.most[line] {
					keep(f, line, key, tile.Start[1]+from+i)
				}
			}
		}
	}
}

// Moves reports the axis of the lines.
func (s TopTiles) Moves(axis int) bool { return axis == 1 }

// KeptAxes are those of the lines and, of rows, none for the records.
func (s TopTiles) KeptAxes() []int {
	if s.whole() {
		return grid.UpTo(2)
	}
	return append(grid.UpTo(2), -1)
}
