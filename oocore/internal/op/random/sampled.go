package random

import (
	"context"
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
)

func init() { blockwise.Register("sampled", Sampled{}) }

// Sampled are numbers of a distribution whose parameters are arrays of float64, of the
// result's shape. An element is drawn again until one is accepted, each time of the blocks
// of Philox that have its position and the number of the attempt.
type Sampled struct {
	Distribution Distribution
	Seed         uint64
	Shape        []int
}

// Requirements is the box of each parameter: the first one lies where the result will.
func (o Sampled) Requirements(box []int) blockwise.Requirements {
	n := len(samplers[o.Distribution].parameters)
	need := blockwise.Requirements{Reads: make([][]int, n), Scratch: int64(8 * (n - 1) * grid.Size(box))}
	for i := range need.Reads {
		need.Reads[i] = slices.Clone(box)
	}
	return need
}

// Fill draws element by element.
func (o Sampled) Fill(ctx context.Context, t *blockwise.Task) error {
	size := 8 * t.Box.Size()
	columns := [][]float64{dtype.Slice[float64](t.Dst)}
	if err := t.In[0].Read(ctx, t.Box, t.Dst); err != nil {
		return err
	}
	for i, in := range t.In[1:] {
		raw := t.Scratch[i*size : (i+1)*size]
		if err := in.Read(ctx, t.Box, raw); err != nil {
			return err
		}
		columns = append(columns, dtype.Slice[float64](raw))
	}
	return t.Compute(func() error {
		by, whole, p := samplers[o.Distribution], dtype.Slice[int64](t.Dst), make([]float64, len(columns))
		s := stream{draws: Draws{Distribution: o.Distribution, Seed: o.Seed}}
		strides, index := grid.Strides(o.Shape), make([]int, len(o.Shape))
		for i := range columns[0] {
			at := 0
			for d, rest := len(index)-1, i; d >= 0; d-- {
				at += (t.Box.Start[d] + rest%t.Box.Shape[d]) * strides[d]
				rest /= t.Box.Shape[d]
			}
			for k, c := range columns {
				p[k] = c[i]
			}
			if !by.valid(p) {
				return fmt.Errorf("the %s of element %d must be %s, not %s", list(by.parameters), at, by.wants, list(p))
			}
			s.at, s.attempt = uint64(at), 0
			if v := by.draw(&s, p); by.float {
				columns[0][i] = v
			} else {
				whole[i] = int64(v)
			}
		}
		return nil
	})
}

// Sample are numbers of a distribution, float64 of Gamma and int64 of others, in a shape that
// its parameters broadcast to; without lengths in the one that these broadcast to. A
// parameter that the distribution does not take is an error when it is computed.
func Sample(site graph.Site, a SampledArgs) (_ *graph.Node, err error) {
	name, d, seed, shape := a.Name, a.Of, a.Seed, a.Lengths
	parameters := slices.DeleteFunc([]*graph.Node{a.A, a.B, a.C}, func(n *graph.Node) bool { return n == nil })
	defer graph.Named(&err, site, name, parameters...)
	m := &graph.Maker{Site: site}
	by := samplers[d]
	shapes := make([][]int, len(parameters))
	for i, p := range parameters {
		if p.DType.Kind() == dtype.KindComplex {
			return nil, fmt.Errorf("the %s is a real number, not %s", by.parameters[i], p.DType)
		}
		shapes[i] = p.Shape
	}
	common, err := grid.Broadcast(shapes...)
	if err != nil {
		return nil, err
	}
	if len(shape) == 0 {
		shape = common
	}
	if err := grid.Check(shape, 8); err != nil {
		return nil, err
	}
	if _, err := grid.BroadcastTo(common, shape); err != nil {
		return nil, fmt.Errorf("parameters of shape %s do not broadcast to shape %s", grid.Format(common), grid.Format(shape))
	}
	t := dtype.Int64
	if by.float {
		t = dtype.Float64
	}
	if grid.Size(shape) == 0 {
		return m.Full(dtype.FromInt(t, 0), shape...), m.Err
	}
	long := shape
	if len(shape) == 0 {
		long = []int{1}
	}
	in := make([]*graph.Node, len(parameters))
	for i, p := range parameters {
		in[i] = m.BroadcastTo(m.Cast(p, dtype.Float64), long...)
	}
	o := Sampled{Distribution: d, Seed: seed, Shape: slices.Clone(long)}
	out := m.Blockwise(name, o, long, t, in, fmt.Sprint(seed))
	return m.Reshape(out, shape...), m.Err
}
