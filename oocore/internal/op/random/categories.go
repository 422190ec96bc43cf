package random

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

func init() { blockwise.Register("categories", Categories{}) }

// Categories are how many of a row's draws fall into each of the categories, which are the last
// axis. The first input has the number of draws along that axis, the second what the
// distribution has for each category, all as float64. A row is drawn of the blocks of Philox
// that have its position: a box of some categories draws those before them too.
type Categories struct {
	Distribution Distribution // Multinomial or MultivariateHypergeometric
	Seed         uint64
	Shape        []int
}

// drawNanos is about what a number of one category takes.
const drawNanos = 60

// Requirements is the number of draws of each row, and all of its categories.
func (o Categories) Requirements(box []int) blockwise.Requirements {
	last := len(box) - 1
	draws, categories := slices.Clone(box), slices.Clone(box)
	draws[last], categories[last] = 1, o.Shape[last]
	return blockwise.Requirements{Reads: [][]int{draws, categories}, Scratch: int64(8 * (grid.Size(draws) + grid.Size(categories))),
		Work: int64(drawNanos * grid.Size(categories))}
}

// Fill draws row by row.
func (o Categories) Fill(ctx context.Context, t *blockwise.Task) error {
	last := len(o.Shape) - 1
	k := o.Shape[last]
	draws := grid.Box{Start: slices.Clone(t.Box.Start), Shape: slices.Clone(t.Box.Shape)}
	draws.Start[last], draws.Shape[last] = 0, 1
	categories := grid.Box{Start: draws.Start, Shape: slices.Clone(draws.Shape)}
	categories.Shape[last] = k
	rows := draws.Size()
	number, each := t.Scratch[:8*rows], t.Scratch[8*rows:8*rows*(1+k)]
	if err := t.In[0].Read(ctx, draws, number); err != nil {
		return err
	}
	return t.ComputeFrom(ctx, 1, categories, each, func() error {
		numbers, weights, dst := dtype.Slice[float64](number), dtype.Slice[float64](each), dtype.Slice[int64](t.Dst)
		s := stream{draws: Draws{Distribution: o.Distribution, Seed: o.Seed}}
		draw := s.multinomial
		if o.Distribution == MultivariateHypergeometric {
			draw = s.multivariateHypergeometric
		}
		strides := grid.Strides(o.Shape)
		for row := range rows {
			at := 0
			for d, rest := last-1, row; d >= 0; d-- {
				at += (t.Box.Start[d] + rest%t.Box.Shape[d]) * (strides[d] / k)
				rest /= t.Box.Shape[d]
			}
			s.at, s.attempt = uint64(at), 0
			counts := weights[row*k : (row+1)*k]
			if err := draw(numbers[row], counts); err != nil {
				return fmt.Errorf("row %d: %w", at, err)
			}
			shown := counts[t.Box.Start[last]:][:t.Box.Shape[last]]
			for i, v := range shown {
				dst[row*len(shown)+i] = int64(v)
			}
		}
		return nil
	})
}

// multinomial replaces the chances of categories by how many of n trials fall into each: a
// binomial number of those that are left.
func (s *stream) multinomial(n float64, p []float64) error {
	if !count(n, most) {
		return fmt.Errorf("the number of trials must be a whole number from 0 to 2**62, not %v", n)
	}
	sum := 0.0
	for i, v := range p {
		if !(v >= 0 && v <= 1) {
			return fmt.Errorf("the chance of category %d must be from 0 to 1, not %v", i, v)
		}
		if i < len(p)-1 {
			sum += v
		}
	}
	if sum > 1+1e-12 {
		return fmt.Errorf("the chances of all categories but the last must sum to at most 1, not %v", sum)
	}
	rest := 1.0
	for i, v := range p[:len(p)-1] {
		if p[i] = 0; n > 0 && v > 0 {
			p[i] = s.binomial(n, min(v/max(rest, v), 1))
		}
		n -= p[i]
		rest -= v
	}
	p[len(p)-1] = n
	return nil
}

// multivariateHypergeometric replaces the sizes of categories by how many of n that are drawn at once are
// of each: a hypergeometric number of those that are left.
func (s *stream) multivariateHypergeometric(n float64, sizes []float64) error {
	others := 0.0
	for i, v := range sizes {
		if others += v; !count(v, mostDrawn) || others > mostDrawn {
			return fmt.Errorf("the sizes of categories must be whole numbers from 0, of at most 10**9 together; that of category %d is %v", i, v)
		}
	}
	if !count(n, others) {
		return fmt.Errorf("the number drawn must be a whole number from 0 to the %v that there are, not %v", others, n)
	}
	for i, v := range sizes {
		others -= v
		sizes[i] = s.hypergeometric(v, others, n)
		n -= sizes[i]
	}
	return nil
}

// Categorical draws numbers of elements of categories, which are the last axis of their parameter and
// of the result, int64. The lengths of the result are those of its other axes; without any they are
// those that the numbers of draws and the other axes of the parameter broadcast to.
func Categorical(site graph.Site, name string, d Distribution, seed uint64, draws, categories *graph.Node, shape ...int) (_ *graph.Node, err error) {
	defer graph.Named(&err, site, name, draws, categories)
	m := &graph.Maker{Site: site}
	if draws.DType.Kind() == dtype.KindComplex || categories.DType.Kind() == dtype.KindComplex {
		return nil, errors.New("takes real numbers, not complex ones")
	}
	last := len(categories.Shape) - 1
	if last < 0 || categories.Shape[last] == 0 {
		return nil, errors.New("takes an array of at least one category along its last axis")
	}
	common, err := grid.Broadcast(draws.Shape, categories.Shape[:last])
	if err != nil {
		return nil, err
	}
	if len(shape) == 0 {
		shape = common
	}
	shape = append(slices.Clone(shape), categories.Shape[last])
	if err := grid.Check(shape, 8); err != nil {
		return nil, err
	}
	if _, err := grid.BroadcastTo(append(slices.Clone(common), 1), shape); err != nil {
		return nil, fmt.Errorf("parameters of shape %s do not broadcast to shape %s", grid.Format(common), grid.Format(shape[:len(shape)-1]))
	}
	if grid.Size(shape) == 0 {
		return m.Full(dtype.FromInt(dtype.Int64, 0), shape...), m.Err
	}
	in := []*graph.Node{
		m.BroadcastTo(m.ExpandDims(m.Cast(draws, dtype.Float64), len(draws.Shape)), shape...),
		m.BroadcastTo(m.Cast(categories, dtype.Float64), shape...),
	}
	o := Categories{Distribution: d, Seed: seed, Shape: shape}
	return m.Blockwise(name, o, shape, dtype.Int64, in, fmt.Sprint(seed)), m.Err
}
