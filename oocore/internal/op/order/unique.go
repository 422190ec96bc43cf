package order

import (
	"cmp"
	"context"
	"errors"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op"
	"github.com/gonbext/gonbext/oocore/internal/op/index"
	"github.com/gonbext/gonbext/oocore/internal/op/shape"
)

// The distinct elements of an array are counted when the function is called, as their
// number is a shape. Few make tables, which are joined to one: then the result is there.
// Of many only the number is counted, of the sorted array, and the result is selected
// from that when it is computed.

func init() {
	blockwise.Register("unique_table", Table{})
	blockwise.Register("unique_joined", TableJoined{})
}

const (
	// tableMost is how many distinct elements a table holds.
	tableMost = 16 << 10
	// tableTile are the bytes of what is sorted at once, tableGroup of what has a table.
	tableTile  = 4 << 20
	tableGroup = 64 << 20
)

// Distinct is what Unique finds: the elements in their order, how often each is there,
// and where it is first in the array as if flattened. Those that were not asked for are
// nil.
type Distinct struct{ Values, Counts, First *graph.Node }

// Union is the elements of two arrays, as if flattened, after each other: Unique of them is
// NumPy's union1d.
func Union(site graph.Site, a, b *graph.Node) (*graph.Node, error) {
	m := &graph.Maker{Site: site}
	a, b = m.Reshape(a, -1), m.Reshape(b, -1)
	return m.Make(func() (*graph.Node, error) { return shape.Concatenate(site, 0, a, b) }), m.Err
}

// Unique is NumPy's unique of the array as if flattened; all NaN are one. run computes
// what the length of the result depends on.
//
// Up to 16384 distinct elements take one pass, in run. More take the passes of Sort in
// run, and again where the result is computed; first indices take those of Argsort as well.
func Unique(site graph.Site, n *graph.Node, counts, first bool, run op.Run) (d Distinct, err error) {
	if run == nil {
		return d, graph.Reject(site, "unique", errors.New("the number of distinct elements has to be counted, which cannot be done here"), n)
	}
	if n, err = graph.AsType(site, n, n.DType); err != nil {
		return d, graph.Reject(site, "unique", err, n)
	}
	if len(n.Shape) == 0 {
		if n, err = graph.Reshape(site, n, 1); err != nil {
			return d, err
		}
	}
	t := Table{Shape: n.Shape, Type: n.DType, First: first}
	var table []int64
	if grid.Size(n.Shape) > 0 {
		if table, err = t.count(site, n, run); err != nil {
			return d, err
		}
		if table[0] < 0 {
			return unique(site, n, counts, first, run)
		}
	}
	return t.distinct(site, table, counts, first)
}

// count is the table of the whole array.
func (s Table) count(site graph.Site, n *graph.Node, run op.Run) ([]int64, error) {
	rows := []int{s.grid().Len(), s.width()}
	m := &graph.Maker{Site: site}
	tables := m.Blockwise("unique tables", s, rows, dtype.Int64, []*graph.Node{n})
	joined := m.Blockwise("unique table", TableJoined{Table: s, Rows: rows[0]}, rows[1:], dtype.Int64, []*graph.Node{tables})
	if m.Err != nil {
		return nil, m.Err
	}
	return run(joined)
}

// distinct makes arrays of a table.
func (s Table) distinct(site graph.Site, table []int64, counts, first bool) (d Distinct, err error) {
	l := s.layout()
	var n int
	if len(table) > 0 {
		n = int(table[0])
		n = s.joinNaN(table[1:1+n*l.entry()], n)
	}
	var values []byte
	numbers := map[int][]int64{}
	c := classOf(s.Type)
	for i := range n {
		e := table[1+i*l.entry():][:l.entry()]
		value := dtype.Value{Type: s.Type}
		switch l.words {
		case 1:
			value = valueOf(c, s.Type, uint64(e[0]))
		case 2:
			value.Lo = uint64(e[1])
		case 4:
			value.Lo, value.Hi = uint64(e[2]), uint64(e[3])
		}
		values = append(values, make([]byte, s.Type.Size())...)
		value.Put(values[i*s.Type.Size():])
		for _, k := range []int{0, 1} {
			numbers[k] = append(numbers[k], e[l.words+k])
		}
	}
	m := &graph.Maker{Site: site}
	d.Values = m.Bytes(values, s.Type, n)
	if counts {
		d.Counts = m.Bytes(dtype.Bytes(numbers[0]), dtype.Int64, n)
	}
	if first {
		d.First = m.Bytes(dtype.Bytes(numbers[1]), dtype.Int64, n)
	}
	return d, m.Err
}

// joinNaN makes one entry of those at the end of a table that are not numbers, and of
// -0 and 0.
func (s Table) joinNaN(entries []int64, n int) int {
	l := s.layout()
	equal := func(a, b []int64) bool { return false }
	c := classOf(s.Type)
	switch s.Type.Kind() {
	case dtype.KindFloat:
		equal = func(a, b []int64) bool {
			return valueOf(c, s.Type, uint64(a[0])).Float() == valueOf(c, s.Type, uint64(b[0])).Float()
		}
	case dtype.KindComplex:
		number := func(e []int64) complex128 {
			if l.words == 2 {
				return dtype.Value{Type: s.Type, Lo: uint64(e[1])}.Complex()
			}
			return dtype.Value{Type: s.Type, Lo: uint64(e[2]), Hi: uint64(e[3])}.Complex()
		}
		equal = func(a, b []int64) bool {
			x, y := number(a), number(b)
			return x != x && y != y
		}
	}
	kept := 0
	for i := range n {
		e := entries[i*l.entry():][:l.entry()]
		if kept > 0 {
			last := entries[(kept-1)*l.entry():][:l.entry()]
			if equal(last, e) {
				last[l.words] += e[l.words]
				last[l.words+1] = min(last[l.words+1], e[l.words+1])
				continue
			}
		}
		copy(entries[kept*l.entry():], e)
		kept++
	}
	return kept
}

// unique is Unique of many distinct elements.
func unique(site graph.Site, n *graph.Node, counts, first bool, run op.Run) (d Distinct, err error) {
	m := &graph.Maker{Site: site}
	flat := m.Reshape(n, -1)
	sorted := graph.Call(m, Sort, SortArgs{X: flat, Axis: 0})
	changes := changes(m, sorted)
	if m.Err != nil {
		return d, m.Err
	}
	mask, ends, err := index.Count(site, changes, n.DType.Size(), run)
	if err != nil {
		return d, err
	}
	d.Values = m.Make(func() (*graph.Node, error) { return mask.Select(site, sorted, ends) })
	if counts {
		begins, end := m.Make(func() (*graph.Node, error) { return mask.Places(site, ends) }), m.Full(dtype.ValueOf(int64(flat.Shape[0])), 1)
		places := m.Make(func() (*graph.Node, error) { return shape.Concatenate(site, 0, begins, end) })
		d.Counts = m.Apply(kernel.Subtract, m.Slice(places, "1:"), m.Slice(places, ":-1"))
	}
	if first {
		from := graph.Call(m, Argsort, SortArgs{X: flat, Axis: 0})
		d.First = m.Make(func() (*graph.Node, error) { return mask.Select(site, from, ends) })
	}
	return d, m.Err
}

// changes is whether each element of a sorted list is another than the one before.
func changes(m *graph.Maker, sorted *graph.Node) *graph.Node {
	if m.Err != nil {
		return nil
	}
	before := m.Slice(sorted, ":-1")
	other := m.Apply(kernel.NotEqual, m.Slice(sorted, "1:"), before)
	if sorted.DType.Kind() >= dtype.KindFloat { // NaN comes last: after the first all are
		other = m.Apply(kernel.LogicalAnd, other, m.Apply(kernel.LogicalNot, m.Apply(kernel.IsNaN, before)))
	}
	one := m.Full(dtype.ValueOf(true), 1)
	return m.Make(func() (*graph.Node, error) { return shape.Concatenate(m.Site, 0, one, other) })
}

// Table counts the distinct elements of each group of an array. Its result has a row for
// each group: their number, -1 where there are too many, and for each its record, how
// often it is there, and where it is first.
type Table struct {
	Shape []int
	Type  dtype.Type
	First bool // places are wanted
}

// layout is how a record lies in an entry.
type layout struct{ words, keys int }

func (s Table) layout() layout {
	switch s.Type {
	case dtype.Complex64:
		return layout{2, 1}
	case dtype.Complex128:
		return layout{4, 2}
	}
	return layout{1, 1}
}

// entry is the length of an entry: the record, its number, its first place.
func (l layout) entry() int { return l.words + 2 }

func (s Table) width() int { return 1 + tableMost*s.layout().entry() }

// grid is the groups, each of elements that follow each other in C order.
func (s Table) grid() grid.Grid {
	return grid.Grid{Shape: s.Shape, Chunks: grid.Auto(s.Shape, s.Type.Size(), tableGroup)}
}

// tile is what is sorted at once, also in C order.
func (s Table) tile() []int { return grid.Auto(s.grid().Chunks, s.Type.Size(), tableTile) }

// Chunks are single rows.
func (s Table) Chunks() []int { return []int{1, s.width()} }

// Requirements is a tile and its records, twice, and two tables.
func (s Table) Requirements([]int) blockwise.Requirements {
	n := grid.Size(s.tile())
	size := Sorting{Type: s.Type}.records(n).size()
	return blockwise.Requirements{Reads: [][]int{s.tile()}, Scratch: blockwise.Aligned(n*s.Type.Size()) + 2*blockwise.Aligned(n*size) + 2*int64(s.width()*8)}
}

// Fill makes the table of a group.
func (s Table) Fill(ctx context.Context, t *blockwise.Task) error {
	n := grid.Size(s.tile())
	r := Sorting{Type: s.Type}.records(n)
	scratch := t.ScratchLayout()
	in, a, b := scratch.Take(n*s.Type.Size()), scratch.Take(n*r.size()), scratch.Take(n*r.size())
	tables := dtype.Slice[int64](scratch.Take(2 * s.width() * 8))
	own, room := tables[:s.width()], tables[s.width():]
	out := dtype.Slice[int64](t.Dst)
	clear(out)
	strides := grid.Strides(s.Shape)
	for box := range s.grid().Box(t.Box.Start[0]).Split(s.tile()) {
		m := box.Size()
		if err := t.ComputeFrom(ctx, 0, box, in[:m*s.Type.Size()], func() error {
			at := 0
			for d, i := range box.Start {
				at += i * strides[d]
			}
			r.load(a, in, 0, 1, m, 0)
			sorted := r.sort(a[:m*r.size()], b[:m*r.size()])
			s.list(own, sorted, r.size())
			if own[0] >= 0 && s.First {
				other := a
				if &sorted[0] == &a[0] {
					other = b
				}
				r.load(other, in, 0, 1, m, 0)
				s.places(own, other[:m*r.size()], r.size(), int64(at))
			}
			s.join(out, own, room)
			return nil
		}); err != nil {
			return err
		}
		if out[0] < 0 {
			return nil
		}
	}
	return nil
}

// record writes the i-th record to words.
func record(dst []int64, all []byte, size, i int) {
	switch size {
	case 1:
		dst[0] = int64(all[i])
	case 2:
		dst[0] = int64(view[uint16](all)[i])
	case 4:
		dst[0] = int64(view[uint32](all)[i])
	default:
		copy(dst, dtype.Slice[int64](all)[i*size/8:(i+1)*size/8])
	}
}

// compare orders entries and records by their keys.
func (l layout) compare(a, b []int64) int {
	if c := cmp.Compare(uint64(a[0]), uint64(b[0])); c != 0 || l.keys == 1 {
		return c
	}
	return cmp.Compare(uint64(a[1]), uint64(b[1]))
}

// list makes a table of sorted records.
func (s Table) list(table []int64, sorted []byte, size int) {
	l := s.layout()
	n := 0
	var one [4]int64
	var last []int64
	for i := range len(sorted) / size {
		record(one[:], sorted, size, i)
		if last != nil && l.compare(last, one[:]) == 0 {
			last[l.words]++
			continue
		}
		if n == tableMost {
			table[0] = -1
			return
		}
		last = table[1+n*l.entry():][:l.entry()]
		copy(last, one[:l.words])
		last[l.words], last[l.words+1] = 1, -1
		n++
	}
	table[0] = int64(n)
}

// places notes where the entries of a table are first among records in the order of the
// array.
func (s Table) places(table []int64, all []byte, size int, at int64) {
	l := s.layout()
	left := int(table[0])
	var one [4]int64
	for i := 0; i < len(all)/size && left > 0; i++ {
		record(one[:], all, size, i)
		low, high := 0, int(table[0])
		for low < high {
			m := (low + high) / 2
			if l.compare(table[1+m*l.entry():], one[:]) < 0 {
				low = m + 1
			} else {
				high = m
			}
		}
		e := table[1+low*l.entry():]
		if e[l.words+1] < 0 {
			e[l.words+1] = at + int64(i)
			left--
		}
	}
}

// join adds a table of later elements to another, through room.
func (s Table) join(table, more, room []int64) {
	l := s.layout()
	if table[0] < 0 || more[0] < 0 {
		table[0] = -1
		return
	}
	i, k, n := 0, 0, 0
	for i < int(table[0]) || k < int(more[0]) {
		if n == tableMost {
			table[0] = -1
			return
		}
		var a, b []int64
		if i < int(table[0]) {
			a = table[1+i*l.entry():][:l.entry()]
		}
		if k < int(more[0]) {
			b = more[1+k*l.entry():][:l.entry()]
		}
		to := room[1+n*l.entry():]
		n++
		switch {
		case b == nil || a != nil && l.compare(a, b) < 0:
			copy(to, a)
			i++
		case a == nil || l.compare(a, b) > 0:
			copy(to, b)
			k++
		default:
			copy(to, a)
			to[l.words] += b[l.words]
			i++
			k++
		}
	}
	room[0] = int64(n)
	copy(table, room[:1+n*l.entry()])
}

// TableJoined is one table of those of all groups.
type TableJoined struct {
	Table
	Rows int
}

// Chunks are the table.
func (s TableJoined) Chunks() []int { return []int{s.width()} }

// Requirements is a table, and room for one.
func (s TableJoined) Requirements([]int) blockwise.Requirements {
	return blockwise.Requirements{Reads: [][]int{{1, s.width()}}, Scratch: 2 * int64(s.width()*8), DisjointReads: true}
}

// Foreseen returns a table of as many elements as there can be, and no more than most.
func (s TableJoined) Foreseen(most int) []int64 {
	n := min(grid.Size(s.Shape), most)
	switch {
	case s.Type == dtype.Bool:
		n = min(n, 2)
	case s.Type.Size() == 1:
		n = min(n, 256)
	case n > tableMost:
		return []int64{-1}
	}
	table, entry := make([]int64, s.width()), s.layout().entry()
	table[0] = int64(n)
	for i := range n {
		table[1+i*entry] = int64(i)
	}
	return table
}

// Fill joins the tables in the order of the groups, in which also places rise.
func (s TableJoined) Fill(ctx context.Context, t *blockwise.Task) error {
	out := dtype.Slice[int64](t.Dst)
	clear(out)
	own, room := dtype.Slice[int64](t.Scratch[:s.width()*8]), dtype.Slice[int64](t.Scratch[s.width()*8:])
	for i := range s.Rows {
		row := grid.Box{Start: []int{i, 0}, Shape: []int{1, s.width()}}
		if err := t.ComputeFrom(ctx, 0, row, dtype.Bytes(own), func() error { s.join(out, own, room); return nil }); err != nil {
			return err
		}
	}
	return nil
}

// Inverse is where each element of an array stands among its distinct ones, in the
// array's shape.
func Inverse(site graph.Site, n, values *graph.Node) (*graph.Node, error) {
	at, err := SearchSorted(site, values, n, false)
	if err != nil || values.Shape[0] == 0 {
		return at, err
	}
	// Complex numbers that are NaN in other parts than the one that stands for them come
	// after it.
	m := &graph.Maker{Site: site}
	return m.Apply(kernel.Minimum, at, m.Number(values.Shape[0]-1)), m.Err
}
