package order

import (
	"context"
	"errors"
	"math"
	"math/bits"
	"slices"
	"sort"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

// Quantiles of elements with weights are NumPy's by its only method for that, inverted_cdf:
// of the elements in their order the first up to which the weights reach the quantile's
// share of all.

func init() {
	blockwise.Register("weighted_quantiles", WeightedQuantiles{})
	blockwise.Register("weighted_quantile_histogram", WeightedHistogram{})
	blockwise.Register("weighted_quantile_select_bucket", WeightedBucket{})
	blockwise.Register("weighted_quantile_element", WeightedElement{})
}

var (
	errNegativeWeight = errors.New("a weight is below zero")
	errNoWeight       = errors.New("weights sum to zero, or to what is not finite")
)

// reaches reports that a sum of weights is the share q of the whole, or more, as NumPy
// compares them. Elements that weigh nothing reach no share.
func (s Quantiles) reaches(sum, whole, q float64) bool {
	share := dtype.FromFloat(s.Shares, sum/whole).Float()
	return share != 0 && !(share < dtype.FromFloat(s.Shares, q).Float())
}

// checkWhole returns an error for a sum of weights that has no shares.
func checkWhole(whole float64) error {
	if !(whole > 0) || math.IsInf(whole, 1) {
		return errNoWeight
	}
	return nil
}

// WeightedQuantiles sorts what is reduced in memory, with its weights, the second input.
type WeightedQuantiles struct{ Quantiles }

// Requirements is a box of the elements and of their weights, and a line of both twice.
func (s WeightedQuantiles) Requirements(box []int) blockwise.Requirements {
	read := s.read(grid.Entire(box)).Shape
	var p blockwise.ScratchLayout
	s.scratch(&p, read)
	return blockwise.Requirements{Reads: [][]int{read, read}, Scratch: p.Size()}
}

func (s WeightedQuantiles) scratch(p *blockwise.ScratchLayout, read []int) (in, weights, line, other []byte) {
	n := grid.Size(read)
	return p.Take(n * s.Type.Size()), p.Take(n * 8), p.Take(s.count() * s.item()), p.Take(s.count() * s.item())
}

// Fill sorts the lines of the box.
func (s WeightedQuantiles) Fill(ctx context.Context, t *blockwise.Task) error {
	read := s.read(t.Box)
	in, weights, line, other := s.scratch(t.ScratchLayout(), read.Shape)
	for i, b := range [][]byte{in, weights} {
		if err := t.In[i].Read(ctx, read, b); err != nil {
			return err
		}
	}
	return t.Compute(func() error {
		strides := grid.Strides(read.Shape)
		along, steps := make([]int, len(s.Axes)), make([]int, len(s.Axes))
		for i, a := range s.Axes {
			along[i], steps[i] = s.Shape[a], strides[a]
		}
		n := s.count()
		dense := grid.Strides(along)
		elements, weighs := other[:n*s.Type.Size()], other[n*8:][:n*8]
		r, lines := 0, grid.Size(t.Box.Shape[1:])
		for at := range s.starts(t.Box.Shape[1:], strides) {
			kernel.Copy(s.Type.Size(), along, elements, 0, dense, in, at, steps)
			kernel.Copy(8, along, weighs, 0, dense, weights, at, steps)
			records := view[pair](line)[:n]
			fillPositions(s.Type, classOf(s.Type))(records, elements, 0, 1, 0)
			for i, w := range dtype.Slice[float64](weighs) {
				if w < 0 {
					return errNegativeWeight
				}
				records[i].with = math.Float64bits(w)
			}
			if err := s.line(t.Dst, sortPairs(records, view[pair](other)), r, lines); err != nil {
				return err
			}
			r++
		}
		return nil
	})
}

// starts are where the lines of a box of results begin in what is read for it.
func (s Quantiles) starts(box, strides []int) func(yield func(at int) bool) {
	kept := s.kept()
	return func(yield func(int) bool) {
		for one := range grid.Entire(box).Split(ones(len(box))) {
			at := 0
			for i, d := range kept {
				at += one.Start[i] * strides[d]
			}
			if !yield(at) {
				return
			}
		}
	}
}

// line takes the quantiles of one sorted line, the r-th of those of the box.
func (s WeightedQuantiles) line(dst []byte, sorted []pair, r, lines int) error {
	c := classOf(s.Type)
	put := func(k int, v dtype.Value) { v.Put(dst[(k*lines+r)*s.Out.Size():]) }
	valid := len(sorted)
	if c.kind == dtype.KindFloat { // NaN is the largest key
		nan := uint64(math.MaxUint64) >> (64 - 8*s.Type.Size())
		valid = sort.Search(len(sorted), func(i int) bool { return sorted[i].key >= nan })
	}
	unknown := valid < len(sorted) && !s.SkipNaN
	if s.SkipNaN {
		sorted = sorted[:valid]
	}
	whole := 0.0
	for i := range sorted {
		whole += math.Float64frombits(sorted[i].with)
		sorted[i].with = math.Float64bits(whole)
	}
	if err := checkWhole(whole); err != nil && len(sorted) > 0 {
		return err
	}
	for k, q := range s.Q {
		if unknown || len(sorted) == 0 {
			put(k, dtype.FromFloat(s.Out, math.NaN()))
			continue
		}
		i := sort.Search(len(sorted)-1, func(i int) bool { return s.reaches(math.Float64frombits(sorted[i].with), whole, q) })
		put(k, valueOf(c, s.Type, sorted[i].key))
	}
	return nil
}

// WeightedHistogram adds up what the elements with each digit weigh. Its inputs are the
// elements, their weights and, but for the first digit, the state of the search. Its result
// is that of RadixHistogram; for NaN it has their number.
type WeightedHistogram struct{ RadixHistogram }

// Requirements is a tile of the elements and of their weights, and the state of the box's
// results.
func (s WeightedHistogram) Requirements(box []int) blockwise.Requirements {
	tile := s.tile(s.part(grid.Entire(box)).Shape)
	n := blockwise.Requirements{Reads: [][]int{tile, tile}}
	results := box[1 : len(box)-2]
	if s.Level > 0 {
		n.Reads = append(n.Reads, append(slices.Clone(results), s.ranks(), stateWords))
	}
	var p blockwise.ScratchLayout
	s.scratch(&p, tile, results)
	n.Scratch = p.Size()
	return n
}

// tile is what is read at once of a box of elements.
func (s WeightedHistogram) tile(box []int) []int { return grid.Auto(box, 8, 1<<20) }

func (s WeightedHistogram) scratch(p *blockwise.ScratchLayout, tile, results []int) (in, weights, state, known []byte) {
	n := grid.Size(tile)
	in, weights = p.Take(n*s.Type.Size()), p.Take(n*8)
	if s.Level > 0 {
		ranks := grid.Size(results) * s.ranks()
		state, known = p.Take(ranks*stateWords*8), p.Take(ranks*2*8)
	}
	return in, weights, state, known
}

// Fill adds up tile by tile.
func (s WeightedHistogram) Fill(ctx context.Context, t *blockwise.Task) error {
	part := s.part(t.Box)
	tile := s.tile(part.Shape)
	results := t.Box.Shape[1 : len(t.Box.Shape)-2]
	in, weights, state, known := s.scratch(t.ScratchLayout(), tile, results)
	sums := dtype.Slice[float64](t.Dst)
	clear(sums)
	c := newCounting(s.RadixHistogram, t.Box)
	if s.Level > 0 {
		if err := c.resume(ctx, t.In[2], state, known); err != nil {
			return err
		}
	}
	for box := range part.Split(tile) {
		in, weights := in[:box.Size()*s.Type.Size()], weights[:box.Size()*8]
		if err := t.In[0].Read(ctx, box, in); err != nil {
			return err
		}
		if err := t.ComputeFrom(ctx, 1, box, weights, func() error {
			box, w := grid.Within(box, part), dtype.Slice[float64](weights)
			return kernel.BySize(s.Type.Size(), weigh[uint8], weigh[uint16], weigh[uint32], weigh[uint64])(c, box, in, w, sums)
		}); err != nil {
			return err
		}
	}
	return nil
}

// weigh adds up the weights of a box of elements, whose start is that in the part.
func weigh[W word](c *counting, box grid.Box, in []byte, weights, sums []float64) error {
	runs := newRuns(c, box, view[W](in))
	float := c.class.kind == dtype.KindFloat // of which the largest key is NaN's
	for run := runs.next(); len(run.keys) > 0; run = runs.next() {
		w := weights[run.at:][:len(run.keys)]
		for i, key := range run.keys {
			r := run.result + i*runs.step
			row := r * c.rows()
			nan := float && key == ^W(0)
			switch {
			case c.Level == 0:
				if w[i] < 0 {
					return errNegativeWeight
				}
				if nan {
					sums[row*c.row+c.row-1]++
					if c.SkipNaN {
						continue
					}
				}
			case nan:
				continue
			default:
				prefixes := c.prefixes[r*c.lengths:][:c.lengths]
				found, ok := slices.BinarySearch(prefixes, uint64(key)>>c.above)
				if !ok {
					continue
				}
				row += int(c.places[r*c.lengths+found])
			}
			sums[row*c.row+int(uint64(key)>>c.shift&c.mask)] += w[i]
		}
	}
	return nil
}

// WeightedBucket finds the next digit, as SelectBucket does. The state of a rank is the key as
// far as it is known, what the elements before weigh, and what all do, which is NaN where
// the result is.
type WeightedBucket struct{ SelectBucket }

// Fill finds the digits of the box's ranks.
func (s WeightedBucket) Fill(ctx context.Context, t *blockwise.Task) error {
	return selectDigits(ctx, t, s.SelectBucket, s.begin, func(k int, one []uint64, sums []float64) { s.pick(one, sums, s.Q[k]) })
}

// begin sets what all elements weigh, from the sums of the first digit.
func (s WeightedBucket) begin(ranks []uint64, sums []float64) error {
	nan := int(sums[len(sums)-1])
	whole := 0.0
	for _, w := range sums[:len(sums)-1] {
		whole += w
	}
	none := s.SkipNaN && nan == s.count()
	if err := checkWhole(whole); err != nil && !none {
		return err
	}
	if none || nan > 0 && !s.SkipNaN {
		whole = math.NaN()
	}
	clear(ranks)
	for k := range s.Q {
		ranks[k*stateWords+2] = math.Float64bits(whole)
	}
	return nil
}

// pick adds the digit of one rank. Where rounding lets no digit reach the share, which one
// did before, the last that weighs something is taken.
func (s WeightedBucket) pick(one []uint64, sums []float64, q float64) {
	sum, whole := math.Float64frombits(one[1]), math.Float64frombits(one[2])
	digit, below := 0, sum
	if whole == whole {
		for d, w := range sums {
			if w == 0 {
				continue
			}
			digit, below = d, sum
			if sum += w; s.reaches(sum, whole, q) {
				break
			}
		}
	}
	one[0] = one[0]<<bits.Len(uint(len(sums)-1)) | uint64(digit)
	one[1] = math.Float64bits(below)
}

// WeightedElement is the quantiles, from the state in which all digits are known.
type WeightedElement struct{ Interpolate }

// Fill takes the quantiles of the box.
func (s WeightedElement) Fill(ctx context.Context, t *blockwise.Task) error {
	c := classOf(s.Type)
	return s.each(ctx, t, func(_ int, rank []uint64, dst []byte) {
		v := valueOf(c, s.Type, rank[0])
		if whole := math.Float64frombits(rank[2]); whole != whole {
			v = dtype.FromFloat(s.Out, math.NaN())
		}
		v.Put(dst)
	})
}
