package order

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
)

// A line that is too long for a task is sorted externally.
//
// Runs cuts it into rows of as many records as fit, and sorts each. A row also holds
// its samples: the last of each few hundred records. Windows finds from the samples
// alone, for each row of the result, which tile of each run holds all records of that
// row, and at most two samples' distance more. Merge reads those tiles, cuts them to
// the row's own records and sorts them. Nothing is read twice but what lies between
// two samples: with one merge a sort is two passes reading and two writing.
//
// More runs than one merge takes are made of longer rows, or else merged to longer runs
// first.

func init() {
	blockwise.Register("sort_runs", Runs{})
	blockwise.Register("sort_windows", Windows{})
	blockwise.Register("sort_merge", Merge{})
}

const (
	// rowBytes are those of the records of a row, and of what a merge makes at once.
	rowBytes = 16 << 20
	// rowBytesMost are those of a row of the longest lines that one merge takes.
	rowBytesMost = 64 << 20
	// sampled is how many records there are to a sample in a row.
	sampled = 256
	// fanMost is how many runs one merge takes: of a row each reads 32 KiB then.
	fanMost = 512
	// sampleBytes is the most of all samples of a merge that is held at once.
	sampleBytes = 12 << 20
)

// Line is how a line of elements is cut into rows of records.
type Line struct {
	Sorting
	N    int // elements
	Row  int // records in a row
	Part int // records that a merge makes at once: those of a row, or fewer
}

func newLine(n int, s Sorting) Line {
	row := rowBytes / s.records(n).size()
	return Line{Sorting: s, N: n, Row: row, Part: row}
}

// widened is the line in longer rows, where it has too many rows for one merge and is of
// records that can be sorted in place.
func (l Line) widened() Line {
	if !l.inPlace() {
		return l
	}
	long := l
	for long.rows() > fanMost && long.Row*l.records().size() < rowBytesMost {
		long.Row *= 2
	}
	if long.rows() > fanMost {
		return l
	}
	return long
}

// inPlace reports records that are as large as the elements and have nothing with them:
// a row of them is sorted in place, with a buffer for a part of it.
func (l Line) inPlace() bool {
	return !l.Positions && l.With == dtype.Invalid && l.Type.Kind() != dtype.KindComplex
}

func (l Line) records() records { return l.Sorting.records(l.N) }

// rows is the number of rows; the last may be short.
func (l Line) rows() int { return (l.N + l.Row - 1) / l.Row }

// samples is their number in a row.
func (l Line) samples() int { return l.Row / sampled }

// stored is the type that records are stored in, and how many of it make one.
func (l Line) stored() (t dtype.Type, words int) {
	switch size := l.records().size(); size {
	case 1:
		return dtype.Uint8, 1
	case 2:
		return dtype.Uint16, 1
	case 4:
		return dtype.Uint32, 1
	default:
		return dtype.Uint64, size / 8
	}
}

// width is the stored length of a row with its samples.
func (l Line) width() int {
	_, words := l.stored()
	return (l.Row + l.samples()) * words
}

// Runs sorts rows of lines. Its input has lines along the last axis, and a second one the
// elements that are brought into their order; its result has rows for them, and their
// records and samples along one more axis.
type Runs struct {
	Line
	Dims int // of the input
}

// Chunks are single rows.
func (s Runs) Chunks() []int { return append(ones(s.Dims), s.width()) }

func ones(n int) []int { return slices.Repeat([]int{1}, n) }

// Requirements is a row of elements, and one of records or, where that is less, of those that are
// sorted out of place.
func (s Runs) Requirements([]int) blockwise.Requirements {
	read := ones(s.Dims)
	read[s.Dims-1] = min(s.Row, s.N)
	reads := [][]int{read}
	if s.With != dtype.Invalid {
		reads = append(reads, read)
	}
	return blockwise.Requirements{Reads: reads, Scratch: int64(s.Part * s.records().size())}
}

// Fill sorts the row of the box.
func (s Runs) Fill(ctx context.Context, t *blockwise.Task) error {
	r := s.records()
	read := grid.Box{Start: slices.Clone(t.Box.Start[:s.Dims]), Shape: ones(s.Dims)}
	first := t.Box.Start[s.Dims-1] * s.Row
	n := min(s.Row, s.N-first)
	read.Start[s.Dims-1], read.Shape[s.Dims-1] = first, n
	in := t.Scratch
	if s.inPlace() {
		in = t.Dst
	}
	in = in[:n*s.Type.Size()]
	if err := t.In[0].Read(ctx, read, in); err != nil {
		return err
	}
	row := t.Dst[:n*r.size()]
	if s.With != dtype.Invalid {
		if err := t.Compute(func() error { r.load(row, in, 0, 1, n, 0); return nil }); err != nil {
			return err
		}
		in = t.Scratch[:n*s.With.Size()]
		if err := t.In[1].Read(ctx, read, in); err != nil {
			return err
		}
	}
	return t.Compute(func() error {
		if s.With != dtype.Invalid {
			carry(row, in, s.With.Size())
		} else {
			r.load(row, in, 0, 1, n, int64(first))
		}
		finishRow(r, t.Dst, r.sort(row, t.Scratch[:min(len(row), len(t.Scratch))]), s.Row)
		return nil
	})
}

// finishRow brings sorted records to the beginning of a stored row, and their samples
// behind them.
func finishRow(r records, dst, sorted []byte, row int) {
	size := r.size()
	if len(sorted) > 0 && &sorted[0] != &dst[0] {
		copy(dst, sorted)
	}
	clear(dst[len(sorted):])
	n := len(sorted) / size
	r.samples(dst[row*size:][:n/sampled*size], dst[:len(sorted)], sampled)
}

// Level is one merge: of runs of so many rows each, so many at once.
type Level struct {
	Line
	Dims  int // of the rows: those of the lines and one
	Rows  int // of a run
	Fan   int // runs that become one
	Every int // records to a sample, of those that are looked at
}

// levels are the merges that a line takes.
func levels(l Line, dims int) ([]Level, error) {
	var all []Level
	size := l.records().size()
	held := sampleBytes
	if l.Row > l.Part { // what has a budget for such rows has one for as many samples
		held = l.Row * size / 4 * 3
	}
	for rows := 1; rows < l.rows(); {
		runs := (l.rows() + rows - 1) / rows
		v := Level{Line: l, Dims: dims, Rows: rows}
		for v.Fan = min(runs, fanMost); ; v.Fan-- {
			most := min(v.Fan*rows, l.rows()) * l.Row // records that are merged at once
			v.Every = max((most*size/held+sampled)/sampled, 1) * sampled
			// What is read twice stays a fraction of what is read.
			if 2*v.Fan*v.Every <= l.Part/4 {
				break
			}
		}
		if v.Fan < 2 {
			return nil, fmt.Errorf("an axis of %d elements of %s is too long: up to %d can be sorted", l.N, l.Type, rows*l.Row)
		}
		all = append(all, v)
		rows *= v.Fan
	}
	return all, nil
}

// group is the first record of the group of runs that a part of a merge's result is made
// of, and its number of records.
func (v Level) group(part int) (first, records int) {
	most := v.Fan * v.Rows * v.Row
	first = part * v.Part / most * most
	return first, min(most, v.N-first)
}

// parts is the number of parts of a merge's result.
func (v Level) parts() int { return (v.N + v.Part - 1) / v.Part }

// length is the number of records of the i-th run of a group.
func (v Level) length(records, i int) int {
	return min(max(records-i*v.Rows*v.Row, 0), v.Rows*v.Row)
}

// spare is how many records more than a row's own its windows may have.
func (v Level) spare() int { return 2 * v.Fan * v.Every }

// Windows finds for each part of a merge's result the tiles of the runs that it is made
// of. Its input is the rows' samples; its result has, for each part, where the tile of
// each run begins and ends.
type Windows struct{ Level }

// Chunks are the parts of a group.
func (w Windows) Chunks() []int {
	return append(ones(w.Dims-2), w.Fan*w.Rows*(w.Row/w.Part), 2, w.Fan)
}

// batch is the number of rows whose samples are read at once.
func (w Windows) batch() int {
	return max(min((1<<20)/(w.samples()*w.records().size()), w.rows()), 1)
}

// Requirements is a few rows' samples, and those of all rows of a group that are looked at.
func (w Windows) Requirements([]int) blockwise.Requirements {
	size := w.records().size()
	_, words := w.stored()
	read := append(ones(w.Dims-2), w.batch(), w.samples()*words)
	_, records := w.group(0)
	return blockwise.Requirements{Reads: [][]int{read},
		Scratch: blockwise.Aligned(w.batch()*w.samples()*size) + blockwise.Aligned(records/w.Every*size) + int64(3*w.Fan*8)}
}

// Fill finds the windows of the parts of a group.
func (w Windows) Fill(ctx context.Context, t *blockwise.Task) error {
	r := w.records()
	size := r.size()
	first, records := w.group(t.Box.Start[w.Dims-2])
	scratch := t.ScratchLayout()
	batch, all := scratch.Take(w.batch()*w.samples()*size), scratch.Take(records/w.Every*size)
	ints := dtype.Slice[int64](scratch.Take(3 * w.Fan * 8))
	from, to, counts := ints[:w.Fan], ints[w.Fan:2*w.Fan], ints[2*w.Fan:3*w.Fan]
	_, words := w.stored()
	read := grid.Box{Start: append(slices.Clone(t.Box.Start[:w.Dims-1]), 0), Shape: append(ones(w.Dims-1), w.samples()*words)}
	// Sample k of a run is its record (k+1)·Every - 1, and so the sample
	// (k+1)·Every/sampled - 1 of its rows.
	var total int64
	next := 0 // row that is read next
	for i := range w.Fan {
		n := w.length(records, i) / w.Every
		from[i], to[i] = total, total+int64(n)
		for k := range n {
			at := (k+1)*w.Every/sampled - 1
			row := i*w.Rows + at/w.samples()
			if row >= next {
				next = min(row+w.batch(), (records+w.Row-1)/w.Row)
				read.Start[w.Dims-2], read.Shape[w.Dims-2] = first/w.Row+row, next-row
				if err := t.In[0].Read(ctx, read, batch[:read.Size()*size/words]); err != nil {
					return err
				}
			}
			place := (first/w.Row+row-read.Start[w.Dims-2])*w.samples() + at%w.samples()
			copy(all[int(total)*size:][:size], batch[place*size:])
			total++
		}
	}
	return t.Compute(func() error {
		out := dtype.Slice[int64](t.Dst)
		for b := range t.Box.Shape[w.Dims-2] {
			begin, end := out[b*2*w.Fan:][:w.Fan], out[b*2*w.Fan+w.Fan:][:w.Fan]
			low := (t.Box.Start[w.Dims-2]+b)*w.Part - first
			high := min(low+w.Part, records)
			// Of the records up to the k-th smallest sample there are k·Every at least, and
			// fewer than Every more in each run but the sample's.
			k := max((low-(w.Fan-1)*(w.Every-1))/w.Every, 0)
			r.split(all, from, to, int64(k), counts)
			for i, c := range counts {
				begin[i] = c * int64(w.Every)
			}
			r.split(all, from, to, int64(high/w.Every), counts)
			for i, c := range counts {
				end[i] = min(c*int64(w.Every)+int64(w.Every)-1, int64(w.length(records, i)))
			}
		}
		return nil
	})
}

// Merge makes rows of merged runs. Its inputs are the rows and the windows. Its result
// is the rows again, or, as the last merge of a line, the line.
type Merge struct {
	Level
	Last bool
}

// Chunks are single parts, which are rows where they are merged again.
func (m Merge) Chunks() []int {
	if m.Last {
		return append(ones(m.Dims-2), m.Part)
	}
	return append(ones(m.Dims-1), m.width())
}

// Requirements is a row and what its windows may have more, and a row of records where those
// are larger than what the result has of them.
func (m Merge) Requirements([]int) blockwise.Requirements {
	_, words := m.stored()
	row := append(ones(m.Dims-1), m.Part*words)
	return blockwise.Requirements{Reads: [][]int{row, append(ones(m.Dims-1), 2, m.Fan)}, Scratch: m.gathered() + m.second() + mergeRoom + int64(5*m.Fan*8)}
}

func (m Merge) gathered() int64 {
	return blockwise.Aligned((m.Part + m.spare()) * m.records().size())
}

// second is the bytes of a second buffer; the result's place is one where it is as large.
func (m Merge) second() int64 {
	if size := m.records().size(); m.Last && size > m.result().Size() {
		return blockwise.Aligned(m.Part * size)
	}
	return 0
}

// tile is what a window has in a row.
type tile struct{ row, col, n int }

// tilesAhead is how many tiles the disk is asked for before they are read: hundreds of
// some tens of KiB each make a part. Measured with tiles of 48 KiB and four readers in a
// container of 150 MB: 320 MB/s without, 820 with, as much as of one long read.
const tilesAhead = 8

// Fill merges the tiles of the box's row.
func (m Merge) Fill(ctx context.Context, t *blockwise.Task) error {
	r := m.records()
	size := r.size()
	part := t.Box.Start[m.Dims-2]
	if m.Last {
		part /= m.Part
	}
	first, records := m.group(part)
	gathered, scratch := t.Scratch[:m.gathered()], t.Scratch[m.gathered():]
	second, scratch := scratch[:m.second()], scratch[m.second():]
	room, scratch := scratch[:mergeRoom], scratch[mergeRoom:]
	ints := dtype.Slice[int64](scratch)
	windows, from, to, counts := ints[:2*m.Fan], ints[2*m.Fan:3*m.Fan], ints[3*m.Fan:4*m.Fan], ints[4*m.Fan:5*m.Fan]
	outer := t.Box.Start[:m.Dims-2]
	if err := t.In[1].Read(ctx, grid.Box{Start: append(slices.Clone(outer), part, 0, 0), Shape: append(ones(m.Dims-1), 2, m.Fan)}, dtype.Bytes(windows)); err != nil {
		return err
	}
	var total, below int64 // records in the windows, and before them
	var tiles []tile       // that the windows have in one row
	for i := range m.Fan {
		from[i] = total
		for p := windows[i]; p < windows[m.Fan+i]; {
			col := int(p) % m.Row
			n := min(m.Row-col, int(windows[m.Fan+i]-p), m.Part)
			if (int(total)+n)*size > len(gathered) {
				return errors.New("the windows of a merge are wider than they can be: what it reads was changed")
			}
			tiles = append(tiles, tile{first/m.Row + i*m.Rows + int(p)/m.Row, col, n})
			p += int64(n)
			total += int64(n)
		}
		to[i] = total
		below += windows[i]
	}
	_, words := m.stored()
	box := func(p tile) grid.Box {
		return grid.Box{Start: append(slices.Clone(outer), p.row, p.col*words), Shape: append(ones(m.Dims-1), p.n*words)}
	}
	filled := 0
	for k, p := range tiles {
		if k == 0 {
			for _, p := range tiles[1:min(1+tilesAhead, len(tiles))] {
				t.WillRead(0, box(p))
			}
		} else if k+tilesAhead < len(tiles) {
			t.WillRead(0, box(tiles[k+tilesAhead]))
		}
		if err := t.In[0].Read(ctx, box(p), gathered[filled:][:p.n*size]); err != nil {
			return err
		}
		filled += p.n * size
	}
	return t.Compute(func() error {
		low := int64(part)*int64(m.Part) - int64(first)
		n := min(int64(m.Part), int64(records)-low)
		r.split(gathered, from, to, low-below, counts)
		copy(windows, counts) // now from where on the records are the row's own
		r.split(gathered, from, to, low-below+n, counts)
		for i, c := range counts {
			to[i] = from[i] + c
			from[i] += windows[i]
		}
		if len(second) == 0 {
			second = t.Dst
		}
		sorted := r.merge(gathered, second[:int(n)*size], room, from, to)
		if m.Last {
			r.store(t.Dst, 0, 1, sorted)
		} else {
			finishRow(r, t.Dst, sorted, m.Row)
		}
		return nil
	})
}

// external sorts long lines along the last axis, of the one input or of keys and elements.
func external(site graph.Site, name string, in []*graph.Node, sorting Sorting, args ...string) (*graph.Node, error) {
	n := in[0]
	dims := len(n.Shape)
	l := newLine(n.Shape[dims-1], sorting).widened()
	merges, err := levels(l, dims+1)
	if err != nil {
		return nil, graph.Reject(site, name, err, n)
	}
	stored, words := l.stored()
	outer := n.Shape[:dims-1]
	shape := append(slices.Clone(outer), l.rows(), l.width())
	rows, err := graph.NewBlockwise(site, name+" runs", Runs{l, dims}, shape, stored, in)
	if err != nil {
		return nil, err
	}
	for i, v := range merges {
		samples, err := graph.Slice(site, rows, fmt.Sprintf("..., %d:", l.Row*words))
		if err != nil {
			return nil, err
		}
		windows, err := graph.NewBlockwise(site, name+" windows", Windows{v}, append(slices.Clone(outer), v.parts(), 2, v.Fan), dtype.Int64, []*graph.Node{samples})
		if err != nil {
			return nil, err
		}
		m := Merge{Level: v, Last: i == len(merges)-1}
		title, t, to := name+" merge", stored, shape
		if m.Last {
			title, t, to = name, l.result(), n.Shape
		}
		if rows, err = graph.NewBlockwise(site, title, m, to, t, []*graph.Node{rows, windows}, args...); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// Moves reports the axis of the lines.
func (s Runs) Moves(axis int) bool { return axis == s.Dims-1 }

// KeptAxes are the lines' axes and, of the rows, that of the lines.
func (s Runs) KeptAxes() []int { return append(grid.UpTo(s.Dims), -1) }

// KeptAxes are the rows' axes but, of a line, the last.
func (m Merge) KeptAxes() []int {
	if m.Last {
		return grid.UpTo(m.Dims - 1)
	}
	return grid.UpTo(m.Dims)
}
