package order

import (
	"context"
	"math"
	"math/bits"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

// Quantiles of more elements than a task holds are found by a radix search, digit by digit of
// their keys. RadixHistogram counts, for each rank r that is looked for, the next digit of
// all keys that begin with the digits that are known of that rank. SelectBucket selects the
// digit in which the r-th of them lies, and subtracts from r the keys with lower digits. When
// all digits are known, Interpolate computes the quantile.

func init() {
	blockwise.Register("quantile_histogram", RadixHistogram{})
	blockwise.Register("quantile_select_bucket", SelectBucket{})
	blockwise.Register("quantile_interpolate", Interpolate{})
}

// Search is the state of the search for quantiles before its Level-th digit.
type Search struct {
	Quantiles
	Digit int // bits of a digit
	Level int
}

const (
	// histogramBytes bounds the counts of a task.
	histogramBytes = 17 << 20
	// selectBytes is about how many bytes of counts a task selects digits from.
	selectBytes = 4 << 20
	// maxResults bounds the results whose counts one task has.
	maxResults = 1024
	// taskBytes bounds the elements that a task counts: about a second's work.
	taskBytes = 512 << 20
	// stateWords are those of a rank that is looked for: the key as far as it is known, how
	// many of the keys that begin so come before it, and how many elements count.
	stateWords = 3
)

func newSearch(s Quantiles) Search {
	t := Search{Quantiles: s}
	// As few digits as have counts that fit, of about the same length.
	for levels := 1; ; levels++ {
		t.Digit = (t.width() + levels - 1) / levels
		if t.Digit <= 8 || t.Digit <= 16 && t.counter().Size()*t.resultsOfTask()*t.ranks()<<t.Digit <= histogramBytes {
			return t
		}
	}
}

// resultsOfTask is how many results one task counts for: those that lie together in the input.
func (s Search) resultsOfTask() int {
	n := 1
	for d := len(s.Shape) - 1; d >= 0 && !slices.Contains(s.Axes, d) && n < maxResults; d-- {
		n = min(n*s.Shape[d], maxResults)
	}
	return n
}

// overhead is the bytes that counting writes, by those of the input.
func (s Search) overhead() float64 {
	counts := float64(s.groups()*s.levels()) * float64(s.ranks()) * float64(s.counter().Size()<<s.Digit)
	return counts / (float64(s.count()) * float64(s.item()))
}

// width is the bits of a key.
func (s Search) width() int { return 8 * s.Type.Size() }

// shift is the number of bits that follow the digit.
func (s Search) shift() int { return max(s.width()-(s.Level+1)*s.Digit, 0) }

// levels is the number of digits.
func (s Search) levels() int { return (s.width() + s.Digit - 1) / s.Digit }

// digits is the number of values of the digit, and one for NaN.
func (s Search) digits() int {
	return 1<<(min(s.width()-s.Level*s.Digit, s.Digit)) + 1
}

// ranks is how many elements are looked for: two for each quantile, or one where elements
// have weights.
func (s Quantiles) ranks() int {
	if s.weighted() {
		return len(s.Q)
	}
	return 2 * len(s.Q)
}

// counter is the type of what is counted of a digit: elements, or what they weigh.
func (s Search) counter() dtype.Type {
	if s.weighted() {
		return dtype.Float64
	}
	return dtype.Uint32
}

// rows is how many counts of digits there are for a result: before any digit is known
// those of all ranks are the same.
func (s Search) rows() int {
	if s.Level == 0 {
		return 1
	}
	return s.ranks()
}

// cut is the reduced axis along which several tasks count, and how much of it each.
func (s Search) cut() (axis, length int) {
	axis = s.Axes[0]
	for _, a := range s.Axes {
		if s.Shape[a] > s.Shape[axis] {
			axis = a
		}
	}
	const least = 8 // tasks
	results := grid.Size(s.keptShape())
	panels := (results + s.resultsOfTask() - 1) / s.resultsOfTask()
	groups := max((least+panels-1)/panels, (s.count()*min(results, s.resultsOfTask())*s.Type.Size()+taskBytes-1)/taskBytes)
	return axis, (s.Shape[axis] + groups - 1) / groups
}

// groups is the number of tasks along the reduced axes.
func (s Search) groups() int {
	axis, length := s.cut()
	return (s.Shape[axis] + length - 1) / length
}

// nodes are the quantiles by counting, of the elements and their weights if any.
func (t Search) nodes(site graph.Site, name string, in []*graph.Node, args []string) (*graph.Node, error) {
	var state *graph.Node
	shape := append(t.keptShape(), t.ranks(), stateWords)
	for ; t.Level < t.levels(); t.Level++ {
		histogram, bucket := blockwise.Op(RadixHistogram{t}), blockwise.Op(SelectBucket{t})
		if t.weighted() {
			histogram, bucket = WeightedHistogram{RadixHistogram{t}}, WeightedBucket{SelectBucket{t}}
		}
		of := slices.Clone(in)
		if state != nil {
			of = append(of, state)
		}
		counts, err := graph.NewBlockwise(site, name+" tally", histogram, append(append([]int{t.groups()}, t.keptShape()...), t.rows(), t.digits()), t.counter(), of)
		if err != nil {
			return nil, err
		}
		if counts, err = graph.Aggregate(site, kernel.Sum, counts, graph.ReduceOptions{Axes: []int{0}}); err != nil {
			return nil, err
		}
		of = append([]*graph.Node{counts}, of[len(in):]...)
		if state, err = graph.NewBlockwise(site, name+" digits", bucket, shape, dtype.Uint64, of); err != nil {
			return nil, err
		}
	}
	result := blockwise.Op(Interpolate{t.Quantiles})
	if t.weighted() {
		result = WeightedElement{Interpolate{t.Quantiles}}
	}
	return graph.NewBlockwise(site, name, result, t.Quantiles.shape(), t.Out, []*graph.Node{state}, args...)
}

// RadixHistogram counts digits. Its inputs are the elements and, but for the first digit, the
// state of the search. Its result has groups of the elements, the results, the rows of
// counts, and the digits with one for NaN.
type RadixHistogram struct{ Search }

// Chunks are the counts of one group of as many neighbours as fit.
func (s RadixHistogram) Chunks() []int {
	box := grid.Auto(s.keptShape(), s.counter().Size()*s.rows()*s.digits(), histogramBytes)
	return append(append([]int{1}, box...), s.rows(), s.digits())
}

// tile is what is read at once of a box of elements.
func (s RadixHistogram) tile(box []int) []int { return grid.Auto(box, s.Type.Size(), 1<<20) }

// part is the box of the elements that a group of a box of the result counts.
func (s RadixHistogram) part(box grid.Box) grid.Box {
	b := grid.Box{Start: make([]int, len(s.Shape)), Shape: slices.Clone(s.Shape)}
	for i, d := range s.kept() {
		b.Start[d], b.Shape[d] = box.Start[i+1], box.Shape[i+1]
	}
	axis, length := s.cut()
	b.Start[axis] = box.Start[0] * length
	b.Shape[axis] = min(length, s.Shape[axis]-b.Start[axis])
	return b
}

// Requirements is a tile of the elements, and the state of the box's results.
func (s RadixHistogram) Requirements(box []int) blockwise.Requirements {
	first := grid.Entire(box)
	tile := s.tile(s.part(first).Shape)
	n := blockwise.Requirements{Reads: [][]int{tile}, Scratch: blockwise.Aligned(grid.Size(tile) * s.Type.Size())}
	if s.Level > 0 {
		state := append(slices.Clone(box[1:len(box)-2]), s.ranks(), stateWords)
		n.Reads = append(n.Reads, state)
		n.Scratch += 2 * int64(grid.Size(state)*8)
	}
	return n
}

// Fill counts tile by tile.
func (s RadixHistogram) Fill(ctx context.Context, t *blockwise.Task) error {
	part := s.part(t.Box)
	tile := s.tile(part.Shape)
	counts := dtype.Slice[uint32](t.Dst)
	clear(counts)
	c := newCounting(s, t.Box)
	if s.Level > 0 {
		bytes := c.results.Size() * s.ranks() * stateWords * 8
		rest := t.Scratch[blockwise.Aligned(grid.Size(tile)*s.Type.Size()):]
		if err := c.resume(ctx, t.In[1], rest[:bytes], rest[bytes:]); err != nil {
			return err
		}
	}
	for box := range part.Split(tile) {
		in := t.Scratch[:box.Size()*s.Type.Size()]
		if err := t.ComputeFrom(ctx, 0, box, in, func() error {
			box := grid.Within(box, part)
			kernel.BySize(s.Type.Size(), count[uint8], count[uint16], count[uint32], count[uint64])(c, box, in, counts)
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// counting is what one task counts the digits of.
type counting struct {
	RadixHistogram
	class    class
	results  grid.Box // without the axes of groups and counts
	strides  []int    // from one result to the next, along each axis of the input
	prefixes []uint64 // of each result those that are looked for, each once, rising
	places   []uint64 // and the row of the counts of each
	lengths  int      // prefixes of a result; repeated ones stand at the end

	shift, above int    // bits of a key behind its digit, and from it on
	mask         uint64 // of the digit
	row          int    // counts of digits in a row
}

// newCounting is the counting for a box of the histogram.
func newCounting(s RadixHistogram, box grid.Box) *counting {
	last := len(box.Shape) - 2
	c := &counting{RadixHistogram: s, class: classOf(s.Type), results: grid.Box{Start: box.Start[1:last], Shape: box.Shape[1:last]},
		strides: make([]int, len(s.Shape)), shift: s.shift(), mask: uint64(s.digits() - 2), row: s.digits()}
	c.above = c.shift + bits.Len64(c.mask)
	kept := s.kept()
	for i, stride := range grid.Strides(c.results.Shape) {
		c.strides[kept[i]] = stride
	}
	return c
}

// resume reads the state of the search into a buffer. room is for what known takes.
func (c *counting) resume(ctx context.Context, in blockwise.Input, state, room []byte) error {
	if err := in.Read(ctx, withAxes(c.results, c.ranks(), stateWords), state); err != nil {
		return err
	}
	c.known(dtype.Slice[uint64](state), dtype.Slice[uint64](room), c.results.Size())
	return nil
}

// withAxes is a box with more axes behind its own, of which it has all.
func withAxes(box grid.Box, lengths ...int) grid.Box {
	return grid.Box{Start: append(slices.Clone(box.Start), make([]int, len(lengths))...), Shape: append(slices.Clone(box.Shape), lengths...)}
}

// known sorts out which beginnings of keys each result looks for. Equal ones are
// counted once, in the row of the first rank that has them.
func (c *counting) known(state, room []uint64, results int) {
	ranks := c.ranks()
	c.prefixes, c.places = room[:results*ranks], room[results*ranks:2*results*ranks]
	for r := range results {
		prefixes, places := c.prefixes[r*ranks:][:ranks], c.places[r*ranks:][:ranks]
		n := 0
		for k := range ranks {
			p := state[(r*ranks+k)*stateWords]
			at, found := slices.BinarySearch(prefixes[:n], p)
			if found {
				continue
			}
			copy(prefixes[at+1:n+1], prefixes[at:n])
			copy(places[at+1:n+1], places[at:n])
			prefixes[at], places[at] = p, uint64(k)
			n++
		}
		for k := n; k < ranks; k++ {
			prefixes[k], places[k] = math.MaxUint64, 0
		}
	}
	c.lengths = ranks
}

// A run is elements that follow each other along the last axis.
type run[W word] struct {
	keys   []W
	at     int // of the first in the box
	result int // of the first; that of the next is a step on
}

// runs walks over the elements of a box, whose start is that in the part.
type runs[W word] struct {
	c     *counting
	box   grid.Box
	in    []W
	index []int
	n     int // elements along the last axis
	step  int // from one's result to the next
	at    int // of the row in the box
	from  int // in the row
	first int // result of the row
	keys  [512]W
}

func newRuns[W word](c *counting, box grid.Box, in []W) *runs[W] {
	w := &runs[W]{c: c, box: box, in: in, index: slices.Clone(box.Start), n: 1}
	if last := len(box.Shape) - 1; last >= 0 {
		w.n, w.step = box.Shape[last], c.strides[last]
	}
	w.row()
	return w
}

// row finds the result of the row's first element.
func (w *runs[W]) row() {
	w.first = 0
	for d, i := range w.index {
		w.first += i * w.c.strides[d]
	}
}

// next returns the next run, whose keys the one after it overwrites; it has none at the end.
func (w *runs[W]) next() (r run[W]) {
	if w.from >= w.n {
		w.from, w.at = 0, w.at+w.n
		for d := len(w.index) - 2; d >= 0; d-- {
			if w.index[d]++; w.index[d] < w.box.Start[d]+w.box.Shape[d] {
				break
			}
			w.index[d] = w.box.Start[d]
		}
		w.row()
	}
	if w.at >= len(w.in) {
		return r
	}
	r = run[W]{w.keys[:min(len(w.keys), w.n-w.from)], w.at + w.from, w.first + w.from*w.step}
	encode(w.c.class, r.keys, w.in, r.at, 1, len(r.keys))
	w.from += len(r.keys)
	return r
}

// count counts the elements of a box, whose start is that in the part.
func count[W word](c *counting, box grid.Box, in []byte, all []uint32) {
	w := newRuns(c, box, view[W](in))
	step, shift, above, mask, row := w.step, c.shift, c.above, c.mask, c.row
	float := c.class.kind == dtype.KindFloat // of which the largest key is NaN's
	for run := w.next(); len(run.keys) > 0; run = w.next() {
		keys, r := run.keys, run.result
		switch {
		case c.Level == 0 && step == 0:
			counts := all[r*row:][:row]
			for _, key := range keys {
				if float && key == ^W(0) {
					counts[row-1]++
					continue
				}
				counts[uint64(key)>>shift]++
			}
		case c.Level == 0:
			for i, key := range keys {
				counts := all[(r+i*step)*row:][:row]
				if float && key == ^W(0) {
					counts[row-1]++
					continue
				}
				counts[uint64(key)>>shift]++
			}
		case c.lengths == 2 && step == 1:
			known := c.prefixes[2*r:][:2*len(keys)]
			for i, key := range keys {
				prefix := uint64(key) >> (above & 63)
				slot := 0
				if prefix != known[2*i] {
					if prefix != known[2*i+1] {
						continue
					}
					slot = 1
				}
				if float && key == ^W(0) {
					continue
				}
				to := 2*(r+i) + int(c.places[2*(r+i)+slot])
				all[to*row+int(uint64(key)>>(shift&63)&mask)]++
			}
		default:
			for i, key := range keys {
				if float && key == ^W(0) {
					continue
				}
				at := r + i*step
				prefix := uint64(key) >> above
				places := c.prefixes[at*c.lengths:][:c.lengths]
				var found int
				if c.lengths <= 4 {
					for found = 0; found < len(places) && places[found] < prefix; found++ {
					}
				} else {
					found, _ = slices.BinarySearch(places, prefix)
				}
				if found == len(places) || places[found] != prefix {
					continue
				}
				to := int(c.places[at*c.lengths+found])
				all[(at*c.lengths+to)*row+int(uint64(key)>>shift&mask)]++
			}
		}
	}
}

// SelectBucket finds the next digit. Its inputs are the counts and, but for the first digit, the
// state of the search before; its result is the state after.
type SelectBucket struct{ Search }

// Chunks are all ranks of as many results as have some megabytes of counts.
func (s SelectBucket) Chunks() []int {
	return append(grid.Auto(s.keptShape(), 8*s.rows()*s.digits(), selectBytes), s.ranks(), stateWords)
}

// Requirements is the results' counts.
func (s SelectBucket) Requirements(box []int) blockwise.Requirements {
	counts := append(slices.Clone(box[:len(box)-2]), s.rows(), s.digits())
	n := blockwise.Requirements{Reads: [][]int{counts}, Scratch: int64(grid.Size(counts) * 8)}
	if s.Level > 0 {
		n.Reads = append(n.Reads, box)
	}
	return n
}

// Fill finds the digits of the box's ranks.
func (s SelectBucket) Fill(ctx context.Context, t *blockwise.Task) error {
	return selectDigits(ctx, t, s, s.begin, func(_ int, one, counts []uint64) { s.pick(one, counts) })
}

// selectDigits finds the digits of the box's ranks, in counts of elements or of weights.
// begin sets the state of the ranks of a result by the counts of the first digit; pick adds
// the digit of the k-th of them to its state.
func selectDigits[C uint64 | float64](ctx context.Context, t *blockwise.Task, s SelectBucket, begin func(ranks []uint64, counts []C) error, pick func(k int, one []uint64, counts []C)) error {
	dims := len(t.Box.Shape) - 2
	results := grid.Box{Start: t.Box.Start[:dims], Shape: t.Box.Shape[:dims]}
	at := withAxes(results, s.rows(), s.digits())
	bytes := t.Scratch[:at.Size()*8]
	if err := t.In[0].Read(ctx, at, bytes); err != nil {
		return err
	}
	if s.Level > 0 {
		if err := t.In[1].Read(ctx, t.Box, t.Dst); err != nil {
			return err
		}
	}
	return t.Compute(func() error {
		all, state := dtype.Slice[C](bytes), dtype.Slice[uint64](t.Dst)
		digits := s.digits()
		rows := make([]int, s.ranks())
		for r := range results.Size() {
			ranks := state[r*s.ranks()*stateWords:][:s.ranks()*stateWords]
			if s.Level == 0 {
				if err := begin(ranks, all[r*digits:][:digits]); err != nil {
					return err
				}
			}
			for k := range rows {
				rows[k] = 0
				for s.Level > 0 && ranks[rows[k]*stateWords] != ranks[k*stateWords] {
					rows[k]++ // equal beginnings are counted in the row of the first of them
				}
			}
			for k, row := range rows {
				pick(k, ranks[k*stateWords:][:stateWords], all[(r*s.rows()+row)*digits:][:digits-1])
			}
		}
		return nil
	})
}

// begin says which ranks are looked for, from the counts of the first digit.
func (s SelectBucket) begin(ranks, counts []uint64) error {
	nan := int64(counts[len(counts)-1])
	valid := int64(s.count()) - nan
	if nan > 0 && !s.SkipNaN {
		valid = 0 // the result is NaN
	}
	clear(ranks)
	for i, q := range s.Q {
		if valid == 0 {
			break
		}
		low, high, _ := s.Method.at(valid, q)
		for k, rank := range []int64{low, high} {
			one := ranks[(2*i+k)*stateWords:]
			one[1], one[2] = uint64(rank), uint64(valid)
		}
	}
	return nil
}

// pick adds the digit of one rank.
func (s SelectBucket) pick(one, counts []uint64) {
	digit := 0
	for digit < len(counts)-1 && one[1] >= counts[digit] && one[2] > 0 {
		one[1] -= counts[digit]
		digit++
	}
	one[0] = one[0]<<bits.Len(uint(len(counts)-1)) | uint64(digit)
}

// Interpolate is the quantiles, from the state in which all digits are known.
type Interpolate struct{ Quantiles }

// Chunks are those of the quantiles.
func (s Interpolate) Chunks() []int {
	return append([]int{len(s.Q)}, grid.Auto(s.shape()[1:], len(s.Q)*stateWords*16, lineBytes)...)
}

// Requirements is the state of the box's results.
func (s Interpolate) Requirements(box []int) blockwise.Requirements {
	state := append(slices.Clone(box[1:]), s.ranks(), stateWords)
	return blockwise.Requirements{Reads: [][]int{state}, Scratch: int64(grid.Size(state) * 8)}
}

// Fill takes the quantiles of the box.
func (s Interpolate) Fill(ctx context.Context, t *blockwise.Task) error {
	c := classOf(s.Type)
	return s.each(ctx, t, func(i int, pair []uint64, dst []byte) {
		if pair[2] == 0 {
			dtype.FromFloat(s.Out, math.NaN()).Put(dst)
			return
		}
		_, _, part := s.Method.at(int64(pair[2]), s.Q[i])
		s.put(c, dst, pair[0], pair[stateWords], part)
	})
}

// each gives put the state of each quantile's ranks in each result of the box, and where the quantile goes.
func (s Interpolate) each(ctx context.Context, t *blockwise.Task, put func(i int, ranks []uint64, dst []byte)) error {
	at := withAxes(grid.Box{Start: t.Box.Start[1:], Shape: t.Box.Shape[1:]}, s.ranks(), stateWords)
	bytes := t.Scratch[:at.Size()*8]
	return t.ComputeFrom(ctx, 0, at, bytes, func() error {
		state, results, first := dtype.Slice[uint64](bytes), grid.Size(t.Box.Shape[1:]), 0
		for r := range results {
			for i := range s.Q {
				put(i, state[first:], t.Dst[(i*results+r)*s.Out.Size():])
				first += stateWords
				if !s.weighted() {
					first += stateWords
				}
			}
		}
		return nil
	})
}

// KeptAxes are those of the results, between the groups and the counts.
func (s RadixHistogram) KeptAxes() []int { return append(s.Quantiles.KeptAxes(), -1, -1) }

// KeptAxes are those of the results, before the ranks and their words.
func (s SelectBucket) KeptAxes() []int { return append(grid.UpTo(len(s.kept())), -1, -1) }

// KeptAxes are those of the results, behind one for the quantiles.
func (s Interpolate) KeptAxes() []int { return append([]int{-1}, grid.UpTo(len(s.kept()))...) }
