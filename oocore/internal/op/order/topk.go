package order

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/op/contract"
)

func init() {
	blockwise.Register("top_rows", TopRows{})
	blockwise.Register("top_joined", TopConcat{})
}

// Top is Dask's topk along an axis: the k largest elements, the largest first, or with
// k < 0 the -k smallest, the smallest first. Where the axis has fewer it is all of them.
// NaN is larger than any number. One pass, unless k is more than a quarter of the 16 MiB
// of records that a task has: then the axis is sorted. Lines that lie across the input are
// put in order first only where k is more than a 256th of them, or they are complex.
func Top(site graph.Site, a TopArgs) (*graph.Node, error) {
	return top(site, "topk", a.X, a.K, a.Axis, false)
}

// ArgTop is the positions of what Top gives, as int64; of equal elements the first
// comes first.
func ArgTop(site graph.Site, a TopArgs) (*graph.Node, error) {
	return top(site, "argtopk", a.X, a.K, a.Axis, true)
}

func top(site graph.Site, name string, n *graph.Node, k, axis int, positions bool) (*graph.Node, error) {
	n, axis, err := strong(site, name, n, axis)
	if err == nil && k == 0 {
		err = graph.Reject(site, name, errors.New("takes the k largest elements, or with k < 0 the smallest: k is 0"), n)
	}
	if err != nil {
		return nil, err
	}
	s := Sorting{Type: n.DType, Positions: positions, Descending: k > 0}
	length := n.Shape[axis]
	count := min(max(k, -k), length)
	shape := slices.Clone(n.Shape)
	shape[axis] = count
	args := []string{strconv.Itoa(k), strconv.Itoa(axis)}
	if grid.Size(shape) == 0 {
		return graph.Full(site, dtype.FromInt(s.result(), 0), shape...)
	}
	if t, ok := contract.Below(n); ok && n.DType.Kind() != dtype.KindComplex {
		if tiles, ok := newTopTiles(t, n.Shape[1-axis], length, count, s); ok {
			return tiles.nodes(site, name, n, axis, args)
		}
	}
	l := newLine(length, s)
	lines := Lines{Sorting: s, Shape: n.Shape, Axis: axis, First: count}
	across := Across{Sorting: s, Shape: n.Shape, Axis: axis, First: count}
	switch {
	case axis < len(n.Shape)-1 && n.DType.Kind() != dtype.KindComplex && lines.scattered() && across.little():
		return across.nodes(site, name, n, args)
	case length <= l.Row:
		return graph.NewBlockwise(site, name, lines, shape, s.result(), []*graph.Node{n}, args...)
	case count > l.Row/4:
		all, err := sorted(site, name, n, axis, s)
		if err != nil {
			return nil, err
		}
		return graph.Slice(site, all, strings.Repeat(":, ", axis)+":"+strconv.Itoa(count))
	}
	return along(site, n, axis, func(n *graph.Node) (*graph.Node, error) {
		dims := len(n.Shape)
		outer := n.Shape[:dims-1]
		stored, words := l.stored()
		rows := TopRows{Line: l, Dims: dims, First: count}
		m, err := graph.NewBlockwise(site, name+" rows", rows, append(slices.Clone(outer), l.rows(), count*words), stored, []*graph.Node{n})
		if err != nil {
			return nil, err
		}
		return l.joined(site, name, m, count, args)
	})
}

// joined is the first so many of each line, of those of its rows.
func (l Line) joined(site graph.Site, name string, m *graph.Node, count int, args []string) (_ *graph.Node, err error) {
	dims := len(m.Shape) - 1
	outer := m.Shape[:dims-1]
	stored, words := l.stored()
	for have, span := l.rows(), 1; ; {
		j := TopConcat{Line: l, Dims: dims, First: count, Rows: have, Span: span, Join: min(have, max(rowBytes/l.records().size()/count, 2))}
		have, span = (have+j.Join-1)/j.Join, span*j.Join
		if j.Last = have == 1; j.Last {
			return graph.NewBlockwise(site, name, j, append(slices.Clone(outer), count), l.result(), []*graph.Node{m}, args...)
		}
		if m, err = graph.NewBlockwise(site, name+" rows", j, append(slices.Clone(outer), have, count*words), stored, []*graph.Node{m}); err != nil {
			return nil, err
		}
	}
}

// TopRows has for each row of a line the first of its records in their order. Its input
// has lines along the last axis; its result has rows for them, and records along one
// more axis. A row with fewer has its last again.
type TopRows struct {
	Line
	Dims  int // of the input
	First int
}

// Chunks are single rows.
func (s TopRows) Chunks() []int {
	_, words := s.stored()
	return append(ones(s.Dims), s.First*words)
}

// Requirements is a row of elements, and two of records.
func (s TopRows) Requirements([]int) blockwise.Requirements {
	read := ones(s.Dims)
	read[s.Dims-1] = min(s.Row, s.N)
	row := blockwise.Aligned(s.Row * s.records().size())
	return blockwise.Requirements{Reads: [][]int{read}, Scratch: 2*row + int64(s.Row*s.Type.Size())}
}

// Fill finds the first records of the row of the box.
func (s TopRows) Fill(ctx context.Context, t *blockwise.Task) error {
	r := s.records()
	read := grid.Box{Start: slices.Clone(t.Box.Start[:s.Dims]), Shape: ones(s.Dims)}
	from := t.Box.Start[s.Dims-1] * s.Row
	n := min(s.Row, s.N-from)
	read.Start[s.Dims-1], read.Shape[s.Dims-1] = from, n
	row := blockwise.Aligned(s.Row * r.size())
	a, b, in := t.Scratch[:n*r.size()], t.Scratch[row:][:n*r.size()], t.Scratch[2*row:][:n*s.Type.Size()]
	return t.ComputeFrom(ctx, 0, read, in, func() error {
		r.load(a, in, 0, 1, n, int64(from))
		r.first(a, b, s.First)
		fill(t.Dst, a[:min(s.First, n)*r.size()], r.size())
		return nil
	})
}

// fill copies records, and the last of them as often as there is room.
func fill(dst, src []byte, size int) {
	for n := copy(dst, src); n < len(dst); {
		n += copy(dst[n:], dst[n-size:n])
	}
}

// TopConcat is the first records of several rows', or, as the last of a line, what they
// stand for.
type TopConcat struct {
	Line
	Dims       int // of the lines
	First      int
	Rows       int // of its input
	Span, Join int // rows of the line that each stands for, and how many become one
	Last       bool
}

// Chunks are single rows.
func (s TopConcat) Chunks() []int {
	if s.Last {
		return append(ones(s.Dims-1), s.First)
	}
	_, words := s.stored()
	return append(ones(s.Dims), s.First*words)
}

// Requirements is the rows that are joined, and as much again.
func (s TopConcat) Requirements([]int) blockwise.Requirements {
	_, words := s.stored()
	return blockwise.Requirements{Reads: [][]int{append(ones(s.Dims-1), s.Join, s.First*words)}, Scratch: 2 * blockwise.Aligned(s.Join*s.First*s.records().size())}
}

// held is how many records the i-th row of the input has: fewer than are looked for
// where it stands for the end of the line.
func (s TopConcat) held(i int) int { return min(s.First, s.N-i*s.Span*s.Row) }

// Fill joins rows.
func (s TopConcat) Fill(ctx context.Context, t *blockwise.Task) error {
	r := s.records()
	_, words := s.stored()
	i := 0
	if !s.Last {
		i = t.Box.Start[s.Dims-1] * s.Join
	}
	n := min(s.Join, s.Rows-i)
	read := grid.Box{Start: append(slices.Clone(t.Box.Start[:s.Dims-1]), i, 0), Shape: append(ones(s.Dims-1), n, s.First*words)}
	a := t.Scratch[:n*s.First*r.size()]
	if err := t.In[0].Read(ctx, read, a); err != nil {
		return err
	}
	b := t.Scratch[blockwise.Aligned(s.Join*s.First*r.size()):][:len(a)]
	return t.Compute(func() error {
		a = a[:((n-1)*s.First+s.held(i+n-1))*r.size()]
		r.first(a, b[:len(a)], s.First)
		a = a[:min(s.First*r.size(), len(a))]
		if s.Last {
			r.store(t.Dst, 0, 1, a)
		} else {
			fill(t.Dst, a, r.size())
		}
		return nil
	})
}

// Moves reports the axis of the lines.
func (s TopRows) Moves(axis int) bool { return axis == s.Dims-1 }

// KeptAxes are the lines' axes and, of the rows, that of the lines.
func (s TopRows) KeptAxes() []int { return append(grid.UpTo(s.Dims), -1) }

// KeptAxes are the rows' axes but, of a line, the last.
func (s TopConcat) KeptAxes() []int {
	if s.Last {
		return grid.UpTo(s.Dims)
	}
	return grid.UpTo(s.Dims + 1)
}
