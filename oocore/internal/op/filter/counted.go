package filter

import (
	"math/bits"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/op/window"
)

// counter selects an element of given rank from large windows. The elements of a tile
// are numbered in their order, so that a set of bits is what a window holds; one that
// moves by an element changes by a column (Huang, Yang and Tang, A fast two-dimensional
// median filtering algorithm, 1979, whose histogram has values where this has numbers).
type counter struct {
	order  []int32 // elements by number
	number []int32 // numbers by element
	held   []uint64
	groups []int32 // how many of 256 numbers are held

	nans    int // elements that are NaN, the last numbers
	heldNaN int
	group   int // in which the wanted element was last
	before  int // numbers held in groups before it
}

// newCounter takes what it needs of memory for tiles of n elements.
func newCounter(m *blockwise.ScratchLayout, n int) *counter {
	return &counter{
		order:  dtype.Slice[int32](m.Take(n * 4)),
		number: dtype.Slice[int32](m.Take(n * 4)),
		held:   dtype.Slice[uint64](m.Take((n/256 + 1) * 32)),
		groups: dtype.Slice[int32](m.Take((n/256 + 1) * 4)),
	}
}

// begin numbers the elements of a tile. Equal ones keep their order, which is that of
// the array for whatever tile it is.
func begin[T ordinal](c *counter, x []T) {
	n := len(x)
	clear(c.held)
	clear(c.groups)
	order := c.order[:n]
	c.nans = 0
	at := 0
	for i, v := range x {
		if v == v {
			order[at] = int32(i)
			at++
		}
	}
	c.nans = n - at
	slices.SortFunc(order[:at], func(a, b int32) int {
		switch {
		case x[a] < x[b]:
			return -1
		case x[a] > x[b]:
			return 1
		}
		return int(a - b)
	})
	for i, v := range x {
		if v != v {
			order[at] = int32(i)
			at++
		}
	}
	for k, i := range order {
		c.number[i] = int32(k)
	}
}

type ordinal interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64
}

// change adds an element (by 1) or takes it away (by -1).
func (c *counter) change(element, by int, last int32) {
	k := c.number[element]
	c.held[k>>6] ^= 1 << (k & 63)
	g := int(k >> 8)
	c.groups[g] += int32(by)
	if g < c.group {
		c.before += by
	}
	if k >= last {
		c.heldNaN += by
	}
}

// selected is the element of a rank among those held.
func (c *counter) selected(rank int) int {
	for c.before > rank {
		c.group--
		c.before -= int(c.groups[c.group])
	}
	for c.before+int(c.groups[c.group]) <= rank {
		c.before += int(c.groups[c.group])
		c.group++
	}
	left := rank - c.before
	for i := 4 * c.group; ; i++ {
		word := c.held[i]
		if n := bits.OnesCount64(word); n <= left {
			left -= n
			continue
		}
		for ; left > 0; left-- {
			word &= word - 1
		}
		return int(c.order[i<<6|bits.TrailingZeros64(word)])
	}
}

// count sets the rows of a tile to the elements of a rank of their windows.
func count[T ordinal](c *counter, w *window.Window, tile []int, out, in []byte, rows []int, columns, rank int) {
	with, _ := elements(w, tile)
	x, y := dtype.Slice[T](in)[:with], dtype.Slice[T](out)
	begin(c, x)
	last := int32(with - c.nans)
	r := rowsOf(w, tile)
	column := func(at, by int) {
		for _, off := range rows {
			c.change(at+off, by, last)
		}
	}
	for from, to := range r.all() {
		for lane := range r.inner {
			c.group, c.before, c.heldNaN = 0, 0, 0
			at := from + lane
			for k := range columns - 1 {
				column(at+k*r.inner, 1)
			}
			steps := r.n / r.inner
			for i := range steps {
				column(at+(i+columns-1)*r.inner, 1)
				k := c.selected(rank)
				if c.heldNaN > 0 {
					k = int(c.order[with-1])
				}
				y[to+lane+i*r.inner] = x[k]
				column(at+i*r.inner, -1)
			}
			for k := range columns - 1 {
				column(at+(steps+k)*r.inner, -1)
			}
		}
	}
}

// counts are the loops of count by the type that is compared.
var counts = map[dtype.Type]func(c *counter, w *window.Window, tile []int, out, in []byte, rows []int, columns, rank int){
	dtype.Int8: count[int8], dtype.Int16: count[int16], dtype.Int32: count[int32], dtype.Int64: count[int64],
	dtype.Uint8: count[uint8], dtype.Uint16: count[uint16], dtype.Uint32: count[uint32], dtype.Uint64: count[uint64],
	dtype.Float32: count[float32], dtype.Float64: count[float64],
}
