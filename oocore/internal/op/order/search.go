package order

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
)

func init() {
	blockwise.Register("searchsorted", Searched{})
	blockwise.Register("searchsorted_long", SearchedLong{})
}

const (
	// shortList is the bytes of a list that each box of values may read as a whole.
	shortList = 64 << 10
	// listTile are the elements of a longer one that are read at once.
	listTile = 64 << 10
)

// SearchSorted is NumPy's: for each value the number of elements of a sorted list that
// are smaller, or with right those that are smaller or equal. A list of up to 64 KiB is fused
// with the values' stage; of a longer one each task, of 256 Ki values, reads the ranges that
// its values lie in, each once.
func SearchSorted(site graph.Site, list, values *graph.Node, right bool) (*graph.Node, error) {
	return searched(site, "searchsorted", list, values, right, false)
}

// Digitize is NumPy's: for each value the number of the bin between rising or falling
// edges that it is in. Edges that neither rise nor fall are an error where that is seen,
// when it is computed.
func Digitize(site graph.Site, a SideArgs) (*graph.Node, error) {
	values, edges := a.A, a.B
	if values.DType.Kind() == dtype.KindComplex || edges.DType.Kind() == dtype.KindComplex {
		return nil, graph.Reject(site, "digitize", errors.New("takes real numbers"), values, edges)
	}
	return searched(site, "digitize", edges, values, a.Side == "left", true)
}

func searched(site graph.Site, name string, list, values *graph.Node, right, edges bool) (*graph.Node, error) {
	if len(list.Shape) != 1 {
		return nil, graph.Reject(site, name, fmt.Errorf("takes a sorted list of one dimension, not of shape %s", grid.Format(list.Shape)), list, values)
	}
	t := dtype.Promote(list.DType, values.DType)
	in := []*graph.Node{list, values}
	for i := range in {
		var err error
		if in[i], err = graph.AsType(site, in[i], t); err != nil {
			return nil, err
		}
	}
	shape := values.Shape
	if grid.Size(shape) == 0 || list.Shape[0] == 0 {
		return graph.Full(site, dtype.ValueOf(int64(0)), shape...)
	}
	args := []string{}
	if right != edges {
		args = append(args, `"right"`)
	}
	s := Searched{Type: t, N: list.Shape[0], Right: right, Edges: edges}
	op := blockwise.Op(s)
	if s.N*t.Size() > shortList {
		op = SearchedLong{s, shape}
	}
	out, err := graph.NewBlockwise(site, name, op, shape, dtype.Int64, in, args...)
	if err != nil {
		return nil, err
	}
	return graph.NameAxes(out, graph.AllAxes(values)...), nil
}

// Searched is a search in a short list, its first input, of values, its second.
type Searched struct {
	Type  dtype.Type
	N     int  // of the list
	Right bool // equal elements count
	Edges bool // the list may fall
}

// words are those of a key.
func (s Searched) words() int {
	if s.Type == dtype.Complex128 {
		return 2
	}
	return 1
}

// Requirements is the list and its keys, and the box's values.
func (s Searched) Requirements(box []int) blockwise.Requirements {
	return blockwise.Requirements{Reads: [][]int{{s.N}, box},
		Scratch: blockwise.Aligned(s.N*s.Type.Size()) + blockwise.Aligned(s.N*s.words()*8) + int64(grid.Size(box)*s.Type.Size())}
}

// Fill searches for the box's values.
func (s Searched) Fill(ctx context.Context, t *blockwise.Task) error {
	scratch := t.ScratchLayout()
	list, keys := scratch.Take(s.N*s.Type.Size()), dtype.Slice[uint64](scratch.Take(s.N*s.words()*8))
	in := scratch.Take(t.Box.Size() * s.Type.Size())
	if err := t.In[0].Read(ctx, grid.Entire([]int{s.N}), list); err != nil {
		return err
	}
	return t.ComputeFrom(ctx, 1, t.Box, in, func() error {
		s.keys(keys, list, 0, s.N)
		b := bounds{list: keys, words: s.words(), right: s.Right}
		if s.Edges {
			if err := b.direct(); err != nil {
				return err
			}
		}
		out := dtype.Slice[int64](t.Dst)
		var some [2 * 256]uint64
		for at := 0; at < len(out); at += 256 {
			n := min(256, len(out)-at)
			s.keys(some[:], in, at, n)
			b.findAll(out[at:at+n], some[:])
		}
		return nil
	})
}

// keys brings elements to keys of one word, or of two for complex128.
func (s Searched) keys(dst []uint64, src []byte, at, n int) {
	c := classOf(s.Type)
	c.zeros = true
	switch {
	case s.Type == dtype.Complex64:
		for i, z := range dtype.Slice[complex64](src)[at : at+n] {
			dst[i] = keys32(real(z), imag(z))
		}
	case s.Type == dtype.Complex128:
		for i, z := range dtype.Slice[complex128](src)[at : at+n] {
			dst[2*i], dst[2*i+1] = keys64(real(z), imag(z))
		}
	case s.Type.Size() == 1:
		widen(c, dst[:n], view[uint8](src), at)
	case s.Type.Size() == 2:
		widen(c, dst[:n], view[uint16](src), at)
	case s.Type.Size() == 4:
		widen(c, dst[:n], view[uint32](src), at)
	default:
		encode(c, dst, view[uint64](src), at, 1, n)
	}
}

// widen is encode into words of 64 bits.
func widen[W word](c class, dst []uint64, src []W, at int) {
	var keys [256]W
	for i := 0; i < len(dst); i += len(keys) {
		n := min(len(keys), len(dst)-i)
		encode(c, keys[:], src, at+i, 1, n)
		for k, key := range keys[:n] {
			dst[i+k] = uint64(key)
		}
	}
}

// bounds finds where keys stand in a list of them.
type bounds struct {
	list  []uint64
	words int
	right bool
	fall  uint64 // all bits where the list falls: then its complement rises
}

// direct finds out whether the list rises or falls, and rejects one that does neither.
func (b *bounds) direct() error {
	b.turn(b.list, b.list[len(b.list)-b.words:])
	return b.steady()
}

// turn notes that the list falls, where its last key is smaller than its first.
func (b *bounds) turn(first, last []uint64) {
	if b.before(last, first) {
		b.fall, b.right = ^uint64(0), !b.right
	}
}

// steady rejects a list that turns on its way.
func (b *bounds) steady() error {
	for i := range len(b.list)/b.words - 1 {
		x, y := b.list[i*b.words:], b.list[(i+1)*b.words:]
		if b.fall != 0 {
			x, y = y, x
		}
		if b.before(y, x) {
			return errors.New("the edges of bins neither rise nor fall all along")
		}
	}
	return nil
}

// before reports that the key at the beginning of x is the smaller one.
func (b *bounds) before(x, y []uint64) bool {
	return x[0] < y[0] || b.words == 2 && x[0] == y[0] && x[1] < y[1]
}

// precedes reports that an element of the list counts for a key.
func (b *bounds) precedes(element, key []uint64) bool {
	x, y := element[0]^b.fall, key[0]^b.fall
	if b.words == 2 && x == y {
		x, y = element[1]^b.fall, key[1]^b.fall
	}
	return x < y || b.right && x == y
}

// findAll puts the numbers of elements of the list that count for keys. All take a step before
// the next, without branches: a processor guesses half of these wrong, and waits for memory where
// one key follows another.
func (b *bounds) findAll(places []int64, keys []uint64) {
	if b.words == 2 {
		for i := range places {
			places[i] = int64(b.find(keys[2*i:]))
		}
		return
	}
	orEqual := uint64(0)
	if b.right {
		orEqual = 1
	}
	clear(places)
	for left := len(b.list); left > 0; left /= 2 { // elements that a key may still lie among, from its place on
		half := (left + 1) / 2
		list := b.list[half-1:]
		for i, at := range places {
			_, counts := bits.Sub64(list[at]^b.fall, keys[i]^b.fall, orEqual)
			places[i] = at + int64(half)&-int64(counts)
		}
	}
}

// find is the number of elements of the list that count for a key.
func (b *bounds) find(key []uint64) int {
	low, high := 0, len(b.list)/b.words
	for low < high {
		m := int(uint(low+high) / 2)
		if b.precedes(b.list[m*b.words:], key) {
			low = m + 1
		} else {
			high = m
		}
	}
	return low
}

// SearchedLong is a search in a long list: the values are sorted, and the list is gone
// along.
type SearchedLong struct {
	Searched
	Shape []int // of the values
}

// Chunks are some hundred thousand values.
func (s SearchedLong) Chunks() []int { return grid.Auto(s.Shape, 8, 2<<20) }

// Requirements is the values as records, twice, and a tile of the list with its keys.
func (s SearchedLong) Requirements(box []int) blockwise.Requirements {
	n, tile := grid.Size(box), min(s.N, listTile)
	return blockwise.Requirements{Reads: [][]int{{tile}, box},
		Scratch: blockwise.Aligned(n*s.Type.Size()) + 2*blockwise.Aligned(n*s.record()) + blockwise.Aligned(tile*s.Type.Size()) + int64(tile*s.words()*8)}
}

// record is the bytes of a value with its position.
func (s SearchedLong) record() int { return 16 * s.words() }

// Fill goes along the list for the sorted values.
func (s SearchedLong) Fill(ctx context.Context, t *blockwise.Task) error {
	n := t.Box.Size()
	scratch := t.ScratchLayout()
	in, a, b := scratch.Take(n*s.Type.Size()), scratch.Take(n*s.record()), scratch.Take(n*s.record())
	if err := t.ComputeFrom(ctx, 1, t.Box, in, func() error {
		a = s.sort(a, b, in, n)
		return nil
	}); err != nil {
		return err
	}
	tile := min(s.N, listTile)
	w := walk{s: s, in: t.In[0], size: tile, raw: scratch.Take(tile * s.Type.Size()), to: -1, b: bounds{words: s.words(), right: s.Right},
		keys: dtype.Slice[uint64](scratch.Take(tile * s.words() * 8))}
	if err := w.direct(ctx); err != nil {
		return err
	}
	out := dtype.Slice[int64](t.Dst)
	records := dtype.Slice[uint64](a)
	step := s.record() / 8
	for i := range n {
		at := i
		if w.b.fall != 0 { // then the largest come first
			at = n - 1 - i
		}
		key := records[at*step:][:step]
		place, err := w.place(ctx, key)
		if err != nil {
			return err
		}
		out[key[s.words()]] = place
	}
	return nil
}

// sort makes sorted records of values.
func (s SearchedLong) sort(a, b, in []byte, n int) []byte {
	keys := dtype.Slice[uint64](b)
	s.keys(keys, in, 0, n)
	if s.words() == 1 {
		v := view[pair](a)
		for i := range v {
			v[i] = pair{keys[i], uint64(i)}
		}
		return bytesOf(sortPairs(v, view[pair](b)))
	}
	v := view[quad](a)
	for i := range v {
		v[i] = quad{keys[2*i], keys[2*i+1], uint64(i), 0}
	}
	return bytesOf(sortQuads(v, nil))
}

// walk goes along a list, tile by tile.
type walk struct {
	s        SearchedLong
	b        bounds // of the tile that is read
	in       blockwise.Input
	size     int    // of a tile
	raw      []byte // room for one
	keys     []uint64
	from, to int // where the tile that is read is in the list; to is -1 before
}

// read brings a part of the list.
func (w *walk) read(ctx context.Context, from, n int) error {
	raw := w.raw[:n*w.s.Type.Size()]
	if err := w.in.Read(ctx, grid.Box{Start: []int{from}, Shape: []int{n}}, raw); err != nil {
		return err
	}
	w.from, w.to = from, from+n
	w.b.list = w.keys[:n*w.b.words]
	w.s.keys(w.b.list, raw, 0, n)
	return nil
}

// tile reads the i-th tile.
func (w *walk) tile(ctx context.Context, i int) error {
	if err := w.read(ctx, i*w.size, min(w.size, w.s.N-i*w.size)); err != nil || !w.s.Edges {
		return err
	}
	return w.b.steady()
}

// direct finds out whether edges rise or fall.
func (w *walk) direct(ctx context.Context) error {
	if !w.s.Edges {
		return nil
	}
	if err := w.read(ctx, 0, 1); err != nil {
		return err
	}
	first := slices.Clone(w.b.list)
	if err := w.read(ctx, w.s.N-1, 1); err != nil {
		return err
	}
	w.b.turn(first, w.b.list)
	w.to = -1
	return nil
}

// place is the number of elements of the list that count for a key, which comes after
// the one before in the order of the list.
func (w *walk) place(ctx context.Context, key []uint64) (int64, error) {
	if w.to < 0 {
		if err := w.tile(ctx, 0); err != nil {
			return 0, err
		}
	}
	for far := false; w.to < w.s.N && w.b.precedes(w.b.list[len(w.b.list)-w.b.words:], key); far = true {
		next := w.to / w.size
		if far { // look at the ends of tiles
			last := (w.s.N - 1) / w.size
			for next < last {
				m := (next + last) / 2
				if err := w.read(ctx, (m+1)*w.size-1, 1); err != nil {
					return 0, err
				}
				if w.b.precedes(w.b.list, key) {
					next = m + 1
				} else {
					last = m
				}
			}
		}
		if err := w.tile(ctx, next); err != nil {
			return 0, err
		}
	}
	return int64(w.from + w.b.find(key)), nil
}
