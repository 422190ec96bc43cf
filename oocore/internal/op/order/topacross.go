package order

import (
	"context"
	"math"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

// The first elements of lines that lie side by side in the input are found without
// putting the lines in order: TopAcross goes once through its part of all lines, with a
// few records of each, and TopAcrossJoined takes the first of those of all parts.

func init() {
	blockwise.Register("top_across", TopAcross{})
	blockwise.Register("top_across_joined", TopAcrossJoined{})
}

// Across is the first elements of lines along an axis that is not the last. The elements
// are real.
type Across struct {
	Sorting
	Shape []int
	Axis  int
	First int
}

// acrossBytes are the most of the records that a task has of its lines.
const acrossBytes = 4 << 20

func (s Across) line() Line       { return Line{Sorting: s.Sorting, N: s.Shape[s.Axis]} }
func (s Across) records() records { return s.line().records() }

// room is how many records a task has of each line.
func (s Across) room() int { return topRoom(s.First) }

// topRoom is how many records there is room for of a line whose first so many are looked for.
func topRoom(first int) int { return first + max(first, 16) }

// columns are the lengths of the lines that one task goes through, along the axes behind
// that of the lines.
func (s Across) columns() []int {
	return grid.Auto(s.Shape[s.Axis+1:], s.room()*s.records().size()+12, acrossBytes)
}

// rows is how many elements of each line one task goes through.
func (s Across) rows() int {
	const least = 8 // tasks
	n, columns := s.Shape[s.Axis], grid.Size(s.columns())
	panels := (grid.Size(s.Shape)/n + columns - 1) / columns
	groups := max((least+panels-1)/panels, (n*columns*s.Type.Size()+taskBytes-1)/taskBytes)
	groups = min(groups, max(rowBytes/(4*s.First*s.records().size()), 1))
	return (n + groups - 1) / groups
}

// groups is the number of parts of a line.
func (s Across) groups() int { return (s.Shape[s.Axis] + s.rows() - 1) / s.rows() }

// little reports that what is written of all parts is little compared with the input, and that
// the lines of a task are read in tiles that are not short.
func (s Across) little() bool {
	l := s.line()
	columns := s.columns()
	return 16*s.groups()*s.First*l.records().size() <= l.N*s.Type.Size() &&
		(grid.Size(columns)*s.Type.Size() >= 1<<10 || slices.Equal(columns, s.Shape[s.Axis+1:]))
}

// partShape is the shape of the records of all parts.
func (s Across) partShape() []int {
	_, words := s.line().stored()
	return slices.Concat(s.Shape[:s.Axis], []int{s.groups(), s.First}, s.Shape[s.Axis+1:], []int{words})
}

// nodes are the first elements by one pass over the input.
func (s Across) nodes(site graph.Site, name string, n *graph.Node, args []string) (*graph.Node, error) {
	stored, _ := s.line().stored()
	parts, err := graph.NewBlockwise(site, name+" parts", TopAcross{s}, s.partShape(), stored, []*graph.Node{n})
	if err != nil {
		return nil, err
	}
	shape := slices.Clone(s.Shape)
	shape[s.Axis] = s.First
	return graph.NewBlockwise(site, name, TopAcrossJoined{s}, shape, s.result(), []*graph.Node{parts}, args...)
}

// TopAcross has for each part of the lines the first of its records in their order. Its
// result has the axes of the input, with the parts and the records of each for that of
// the lines, and one for the words of a record. A part with fewer has its last again.
type TopAcross struct{ Across }

// Chunks are single parts of neighbouring lines.
func (s TopAcross) Chunks() []int {
	_, words := s.line().stored()
	return slices.Concat(ones(s.Axis+1), []int{s.First}, s.columns(), []int{words})
}

// tile is what is read at once for a box of the result.
func (s TopAcross) tile(box []int) []int {
	columns := box[s.Axis+2 : len(box)-1]
	rows := min(max((1<<20)/(grid.Size(columns)*s.Type.Size()), 1), s.rows())
	return slices.Concat(ones(s.Axis), []int{rows}, columns)
}

// work is what a box takes: a tile of the input, records of each line and room to sort
// them, and of each line their number and the largest key that is looked at.
func (s TopAcross) work(p *blockwise.ScratchLayout, tile []int) (in, records, other []byte, counts []uint32, most []uint64) {
	size, columns := s.records().size(), grid.Size(tile[s.Axis+1:])
	in = p.Take(grid.Size(tile) * s.Type.Size())
	records, other = p.Take(columns*s.room()*size), p.Take(s.room()*size)
	return in, records, other, dtype.Slice[uint32](p.Take(4 * columns)), dtype.Slice[uint64](p.Take(8 * columns))
}

// Requirements is a tile of the input, and the records of its lines.
func (s TopAcross) Requirements(box []int) blockwise.Requirements {
	var p blockwise.ScratchLayout
	tile := s.tile(box)
	s.work(&p, tile)
	return blockwise.Requirements{Reads: [][]int{tile}, Scratch: p.Size()}
}

// Fill goes through a part of the box's lines.
func (s TopAcross) Fill(ctx context.Context, t *blockwise.Task) error {
	tile := s.tile(t.Box.Shape)
	f := filter{records: s.Across.records(), class: s.class(), first: s.First, columns: grid.Size(tile[s.Axis+1:])}
	var in []byte
	in, f.all, f.other, f.counts, f.most = s.work(t.ScratchLayout(), tile)
	f.begin()
	part := grid.Box{Start: slices.Clone(t.Box.Start[:s.Axis+1]), Shape: slices.Clone(tile)}
	part.Start = append(part.Start, t.Box.Start[s.Axis+2:len(t.Box.Start)-1]...)
	part.Start[s.Axis] *= s.rows()
	part.Shape[s.Axis] = min(s.rows(), s.Shape[s.Axis]-part.Start[s.Axis])
	for box := range part.Split(tile) {
		in := in[:box.Size()*s.Type.Size()]
		if err := t.ComputeFrom(ctx, 0, box, in, func() error {
			kernel.BySize(s.Type.Size(), pass[uint8], pass[uint16], pass[uint32], pass[uint64])(&f, in, box.Start[s.Axis])
			return nil
		}); err != nil {
			return err
		}
	}
	return t.Compute(func() error {
		f.finish(t.Dst)
		return nil
	})
}

// filter keeps those elements of lines that may be among the first.
type filter struct {
	records records
	class   class
	first   int      // so many of each line
	columns int      // lines
	all     []byte   // room for records of each line
	other   []byte   // and to sort those of one
	counts  []uint32 // of the records of each
	most    []uint64 // the largest key that may be among the first of each
}

func (f *filter) begin() {
	clear(f.counts)
	for i := range f.most {
		f.most[i] = math.MaxUint64
	}
}

// line has the room for the records of one.
func (f *filter) line(i int) []byte {
	room := topRoom(f.first) * f.records.size()
	return f.all[i*room:][:room]
}

// pass filters rows of elements, of which the first is at a position of its lines.
func pass[W word](f *filter, bytes []byte, position int) {
	var keys [512]W
	for in := view[W](bytes); len(in) > 0; in, position = in[f.columns:], position+1 {
		for from := 0; from < f.columns; from += len(keys) {
			k := keys[:min(len(keys), f.columns-from)]
			encode(f.class, k, in, from, 1, len(k))
			most := f.most[from:][:len(k)]
			for i, key := range k {
				if uint64(key) <= most[i] {
					keep(f, from+i, key, position)
				}
			}
		}
	}
}

// keep adds a record to those of a line. Where there is no room for more, the first of
// them stay.
func keep[W word](f *filter, column int, key W, position int) {
	n, line := int(f.counts[column]), f.line(column)
	switch f.records.(type) {
	case list[uint64]:
		view[uint64](line)[n] = uint64(key)<<32 | uint64(position)
	case list[pair]:
		view[pair](line)[n] = pair{uint64(key), uint64(position)}
	default:
		view[W](line)[n] = key
	}
	if n++; n == topRoom(f.first) {
		n = f.first
		f.records.first(line, f.other, n)
		var last uint64
		switch f.records.(type) {
		case list[uint64]:
			last = view[uint64](line)[n-1] >> 32
		case list[pair]:
			last = view[pair](line)[n-1].key
		default:
			last = uint64(view[W](line)[n-1])
		}
		f.most[column] = max(last, 1) - 1 // an equal one that comes later is not among the first
	}
	f.counts[column] = uint32(n)
}

// sorted are the first records of a line in their order; fewer where it has fewer.
func (f *filter) sorted(column int) []byte {
	line := f.line(column)[:int(f.counts[column])*f.records.size()]
	f.records.first(line, f.other[:len(line)], f.first)
	return line[:min(len(line), f.first*f.records.size())]
}

// finish writes the first records of each line.
func (f *filter) finish(dst []byte) {
	size := f.records.size()
	for column := range f.columns {
		line := f.sorted(column)
		for k := range f.first {
			at := min(k*size, len(line)-size)
			copy(dst[(k*f.columns+column)*size:][:size], line[at:])
		}
	}
}

// TopAcrossJoined is the first of the records of all parts.
type TopAcrossJoined struct{ Across }

// Chunks are neighbouring lines.
func (s TopAcrossJoined) Chunks() []int {
	return slices.Concat(ones(s.Axis), []int{s.First}, grid.Auto(s.Shape[s.Axis+1:], s.groups()*s.First*s.records().size(), acrossBytes))
}

// read is what a box of lines takes of the parts.
func (s TopAcrossJoined) read(box []int) []int {
	_, words := s.line().stored()
	return slices.Concat(ones(s.Axis), []int{s.groups(), s.First}, box[s.Axis+1:], []int{words})
}

// Requirements is the records of all parts, and twice those of one line.
func (s TopAcrossJoined) Requirements(box []int) blockwise.Requirements {
	read := s.read(box)
	stored, _ := s.line().stored()
	line := blockwise.Aligned(s.groups() * s.First * s.records().size())
	return blockwise.Requirements{Reads: [][]int{read}, Scratch: blockwise.Aligned(grid.Size(read)*stored.Size()) + 2*line}
}

// Fill joins the parts of lines.
func (s TopAcrossJoined) Fill(ctx context.Context, t *blockwise.Task) error {
	r := s.records()
	size := r.size()
	read := grid.Box{Shape: s.read(t.Box.Shape)}
	read.Start = slices.Concat(t.Box.Start[:s.Axis], []int{0, 0}, t.Box.Start[s.Axis+1:], []int{0})
	columns := grid.Size(t.Box.Shape[s.Axis+1:])
	p := t.ScratchLayout()
	in := p.Take(s.groups() * s.First * columns * size)
	line, other := p.Take(s.groups()*s.First*size), p.Take(s.groups()*s.First*size)
	return t.ComputeFrom(ctx, 0, read, in, func() error {
		for column := range columns {
			n := 0
			for g := range s.groups() {
				for k := range min(s.First, s.rows(), s.Shape[s.Axis]-g*s.rows()) {
					n += copy(line[n:], in[((g*s.First+k)*columns+column)*size:][:size])
				}
			}
			r.first(line[:n], other[:n], s.First)
			r.store(t.Dst, column, columns, line[:s.First*size])
		}
		return nil
	})
}

// Moves reports the axis of the lines.
func (s TopAcross) Moves(axis int) bool { return axis == s.Axis }

// KeptAxes are those of the input, that of the lines for its parts.
func (s TopAcross) KeptAxes() []int {
	axes := append(grid.UpTo(s.Axis+1), -1)
	for d := s.Axis + 1; d < len(s.Shape); d++ {
		axes = append(axes, d)
	}
	return append(axes, -1)
}

// KeptAxes are those of the input of the parts.
func (s TopAcrossJoined) KeptAxes() []int {
	axes := grid.UpTo(s.Axis + 1)
	for d := s.Axis + 1; d < len(s.Shape); d++ {
		axes = append(axes, d+1)
	}
	return axes
}
