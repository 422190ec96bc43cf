package shape

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

func init() {
	blockwise.Register("index_map", IndexMap{}, blockwise.Exact, blockwise.OnlyMoves, blockwise.KeepsAxes)
}

// Kind says which element of the input an index of the result stands for, with j the
// index less the axis's Shift, and n the input's length.
type Kind string

// The kinds of axes.
const (
	KindSame      Kind = ""          // j
	KindWrap      Kind = "wrap"      // j modulo n
	KindReflect   Kind = "reflect"   // j, there and back between the first and the last
	KindSymmetric Kind = "symmetric" // the same, with those two twice
	KindEdge      Kind = "edge"      // j, or the nearest that there is
	KindConstant  Kind = "constant"  // j, or a value
	KindRepeat    Kind = "repeat"    // j divided by Times
)

// Axis is an axis of a Mapped.
type Axis struct {
	Kind  Kind `json:",omitempty"`
	Len   int  // of the input
	Shift int  `json:",omitempty"`
	Times int  `json:",omitempty"`
}

// IndexMap has at each index the element of its input whose index along each axis
// follows from that of the result along the same axis.
type IndexMap struct {
	Axes []Axis
	// Values are what stands before and after the input along each axis of kind
	// KindConstant; where several axes say so, the last of them.
	Values [][2]dtype.Value `json:",omitempty"`
	Item   int              // bytes of an element
}

// Moves reports an axis whose elements are not where they were.
func (o IndexMap) Moves(axis int) bool { return o.Axes[axis] != Axis{Len: o.Axes[axis].Len} }

// run is indices of the result whose elements follow each other in the input, Step
// apart; also several such runs, one after the other.
type run struct {
	src, step, n   int
	times, srcStep int // of the runs, and from one's first element to the next one's
}

// run is the longest that begins at an index of the result, among so many.
func (a Axis) run(i, most int) run {
	r := run{step: 1, times: 1}
	j := i - a.Shift
	switch a.Kind {
	case KindSame, KindConstant:
		r.src, r.n = j, most
	case KindWrap:
		r.src = mod(j, a.Len)
		r.n = a.Len - r.src
		if r.src == 0 && most >= 2*a.Len {
			r.times = most / a.Len
		}
	case KindReflect:
		period := 2 * (a.Len - 1)
		if r.src = mod(j, period); r.src < a.Len-1 {
			r.n = a.Len - 1 - r.src
		} else {
			r.src, r.step, r.n = period-r.src, -1, period-r.src
		}
	case KindSymmetric:
		period := 2 * a.Len
		if r.src = mod(j, period); r.src < a.Len {
			r.n = a.Len - r.src
		} else {
			r.src, r.step, r.n = period-1-r.src, -1, period-r.src
		}
	case KindEdge:
		switch {
		case j < 0:
			r.step, r.n = 0, -j
		case j < a.Len:
			r.src, r.n = j, a.Len-j
		default:
			r.src, r.step, r.n = a.Len-1, 0, most
		}
	case KindRepeat:
		r.src, r.step, r.n = j/a.Times, 0, a.Times-j%a.Times
		if r.n == a.Times && most >= 2*a.Times {
			r.times, r.srcStep = most/a.Times, 1
		}
	}
	r.n = min(r.n, most)
	return r
}

func mod(a, n int) int {
	if a %= n; a < 0 {
		a += n
	}
	return a
}

// part is indices of the result's box along an axis that come of one interval of the
// input's, or of none.
type part struct {
	at, n      int // in the box
	src, count int
	plain      bool // one after the other as they are
	side       int  // of a constant: 1 before the input, 2 after it; 0: the input's own
}

// parts are those of a box: up to three.
func (a Axis) parts(lo, n int) []part {
	j := lo - a.Shift
	switch {
	case a.Kind == KindSame:
		return []part{{n: n, src: j, count: n, plain: true}}
	case a.Kind == KindConstant:
		var all []part
		first, last := min(max(-j, 0), n), min(max(a.Len-j, 0), n)
		if first > 0 {
			all = append(all, part{n: first, side: 1})
		}
		if last > first {
			all = append(all, part{at: first, n: last - first, src: j + first, count: last - first, plain: true})
		}
		if last < n {
			all = append(all, part{at: last, n: n - last, side: 2})
		}
		return all
	case a.Kind == KindWrap && n <= a.Len:
		src := mod(j, a.Len)
		first := min(a.Len-src, n)
		all := []part{{n: first, src: src, count: first, plain: true}}
		if first < n {
			all = append(all, part{at: first, n: n - first, count: n - first, plain: true})
		}
		return all
	}
	low, high := math.MaxInt, -1
	runs := 0
	for i := lo; i < lo+n && high-low+1 < a.Len; runs++ {
		r := a.run(i, lo+n-i)
		end := r.src + r.step*(r.n-1) + r.srcStep*(r.times-1)
		low, high = min(low, r.src, end), max(high, r.src, end)
		i += r.n * r.times
	}
	r := a.run(lo, n)
	return []part{{n: n, src: low, count: high - low + 1, plain: n == 1 || r.step == 1 && r.n == n}}
}

// most is the longest interval of the input that a box needs at once.
func (a Axis) most(n int) int {
	if a.Kind == KindRepeat {
		n = min(n, (n+a.Times-2)/a.Times+1)
	}
	return max(min(n, a.Len), 1)
}

// pieces reports an axis whose parts of at most n indices are plain.
func (a Axis) pieces(n int) bool {
	return n == 1 || a.Kind == KindSame || a.Kind == KindConstant || a.Kind == KindWrap && n <= a.Len
}

// Requirements is what the box shows of the input.
func (o IndexMap) Requirements(box []int) blockwise.Requirements {
	reads := make([]int, len(box))
	direct, outer := true, 1
	for d, a := range o.Axes {
		reads[d] = a.most(box[d])
		direct = direct && a.pieces(box[d]) && (outer == 1 || a.Kind == KindSame)
		outer *= box[d]
	}
	need := blockwise.Requirements{Reads: [][]int{reads}, DisjointReads: true}
	if !direct {
		need.Scratch = int64(grid.Size(reads) * o.Item)
	}
	return need
}

// Fill goes through the combinations of the axes' parts.
func (o IndexMap) Fill(ctx context.Context, t *blockwise.Task) error {
	dims := len(o.Axes)
	if dims == 0 {
		return t.In[0].Read(ctx, t.Box, t.Dst)
	}
	parts := make([][]part, dims)
	counts := make([]int, dims)
	for d, a := range o.Axes {
		parts[d] = a.parts(t.Box.Start[d], t.Box.Shape[d])
		counts[d] = len(parts[d])
	}
	ones := slices.Repeat([]int{1}, dims)
	chosen := make([]part, dims)
	for _, combination := range (grid.Grid{Shape: counts, Chunks: ones}).All() {
		for d, i := range combination.Start {
			chosen[d] = parts[d][i]
		}
		if err := o.combination(ctx, t, chosen); err != nil {
			return err
		}
	}
	return nil
}

func (o IndexMap) combination(ctx context.Context, t *blockwise.Task, chosen []part) error {
	dims := len(chosen)
	ints := make([]int, 3*dims)
	at, shape := ints[:dims], ints[dims:2*dims]
	from := grid.Box{Start: ints[2*dims:], Shape: make([]int, dims)}
	var value *dtype.Value
	plain := true
	for d, p := range chosen {
		at[d], shape[d] = p.at, p.n
		from.Start[d], from.Shape[d] = p.src, p.count
		plain = plain && p.plain
		if p.side > 0 {
			value = &o.Values[d][p.side-1]
		}
	}
	switch {
	case value != nil:
		return t.Compute(func() error {
			var one [16]byte
			value.Put(one[:])
			kernel.Copy(o.Item, shape, t.Dst, grid.Offset(at, grid.Entire(t.Box.Shape)), grid.Strides(t.Box.Shape), one[:], 0, make([]int, dims))
			return nil
		})
	case plain:
		return t.Place(ctx, 0, from, at, o.Item)
	}
	in := t.Scratch[:from.Size()*o.Item]
	return t.ComputeFrom(ctx, 0, from, in, func() error {
		g := gathering{IndexMap: o, t: t, in: in, chosen: chosen, strides: grid.Strides(t.Box.Shape), source: grid.Strides(from.Shape)}
		g.axis(0, 0, 0)
		return nil
	})
}

// gathering copies what was read to the places that it has in the box.
type gathering struct {
	IndexMap
	t               *blockwise.Task
	in              []byte
	chosen          []part
	strides, source []int

	// The loops of one copy: two for each axis.
	shape, to, from []int
}

func (g *gathering) axis(d, to, from int) {
	if d == len(g.Axes) {
		if last := len(g.shape) - 1; g.shape[last] > 1 && g.shape[last] < 16 && g.from[last] == 0 && g.from[last-1] == 1 && g.to[last] == 1 {
			g.repeat(to, from)
			return
		}
		kernel.Copy(g.Item, g.shape, g.t.Dst, to, g.to, g.in, from, g.from)
		return
	}
	p := g.chosen[d]
	for i := 0; i < p.n; {
		r := run{src: p.src, step: 1, n: p.n, times: 1}
		if !p.plain {
			r = g.Axes[d].run(g.t.Box.Start[d]+p.at+i, p.n-i)
		}
		g.shape = append(g.shape, r.times, r.n)
		g.to = append(g.to, r.n*g.strides[d], g.strides[d])
		g.from = append(g.from, r.srcStep*g.source[d], r.step*g.source[d])
		g.axis(d+1, to+(p.at+i)*g.strides[d], from+(r.src-p.src)*g.source[d])
		n := len(g.shape) - 2
		g.shape, g.to, g.from = g.shape[:n], g.to[:n], g.from[:n]
		i += r.n * r.times
	}
}

// repeat copies elements of the last axis a few times each, which a copy by strides
// would do in lines of as few.
func (g *gathering) repeat(to, from int) {
	last := len(g.shape) - 1
	outer, n, times := g.shape[:last-1], g.shape[last-1], g.shape[last]
	repeat := kernel.BySize(g.Item, repeat[uint8], repeat[uint16], repeat[uint32], repeat[uint64], repeat[complex128])
	for dst, src := range grid.Places(outer, g.to, g.from) {
		repeat(g.t.Dst[(to+dst)*g.Item:][:n*times*g.Item], g.in[(from+src)*g.Item:][:n*g.Item], times)
	}
}

func repeat[T dtype.Element](to, from []byte, times int) {
	dst := dtype.Slice[T](to)
	for _, v := range dtype.Slice[T](from) {
		for i := range dst[:times] {
			dst[i] = v
		}
		dst = dst[times:]
	}
}

// Map is the result of a Mapped, of the given lengths. Where no axis is other than
// the input's it is the input.
func Map(site graph.Site, name string, n *graph.Node, op IndexMap, shape []int, args ...string) (*graph.Node, error) {
	op.Item = n.DType.Size()
	moved := false
	for d := range op.Axes {
		a := &op.Axes[d]
		a.Len = n.Shape[d]
		switch {
		case a.Kind == KindSame, a.Kind == KindRepeat && a.Times == 1, a.Kind != KindRepeat && shape[d] == a.Len && a.Shift == 0:
			*a = Axis{Len: a.Len}
		case a.Len == 1 && a.Kind != KindConstant && a.Kind != KindRepeat:
			*a, moved = Axis{Kind: KindEdge, Len: 1, Shift: a.Shift}, true
		default:
			moved = true
		}
	}
	if grid.Size(shape) == 0 {
		return Empty(site, n.DType, shape), grid.Check(shape, op.Item)
	}
	if !moved {
		return n, nil
	}
	if grid.Size(n.Shape) == 0 { // constants around nothing, which is not to be read
		n = Empty(site, n.DType, n.Shape)
	}
	return graph.NewBlockwise(site, name, op, shape, n.DType, []*graph.Node{n}, args...)
}
