package stats

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/gonbext/gonbext/oocore/blockwise"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/kernel"
)

func init() { blockwise.Register("bin_edges", EvenEdges{}) }

// Bins are those of one coordinate: a number of equal ones, or their edges.
type Bins struct {
	Count int
	// Range is the first edge and the last; none are those of the elements.
	Range []float64
	Edges *graph.Node
}

// check refuses what are no bins.
func (b Bins) check() error {
	switch {
	case b.Edges != nil && len(b.Edges.Shape) != 1:
		return fmt.Errorf("edges of shape %s are no list", grid.Format(b.Edges.Shape))
	case b.Edges != nil && b.Edges.Shape[0] == 0:
		return errors.New("bins have at least one edge")
	case b.Edges != nil && len(b.Range) > 0:
		return errors.New("takes a range with a number of bins, not with edges")
	case b.Edges != nil && b.Count != 0:
		return errors.New("takes a number of bins or their edges, not both")
	case b.Edges == nil && b.Count < 1:
		return fmt.Errorf("takes one bin or more, not %d", b.Count)
	case len(b.Range) == 0:
		return nil
	case len(b.Range) != 2:
		return fmt.Errorf("a range is two numbers, not %d", len(b.Range))
	}
	if r := b.Range; !(r[0] <= r[1]) || math.IsInf(r[0], 0) || math.IsInf(r[1], 0) {
		return fmt.Errorf("the range from %g to %g does not rise, or is not finite", r[0], r[1])
	}
	return nil
}

// edges are the bins' edges for elements, in the elements' type, integers' in float64.
// wide says that those of a range are float64 whatever the elements are.
func (b Bins) edges(m *maker, n *graph.Node, wide bool) *graph.Node {
	if b.Edges != nil {
		return b.Edges
	}
	t := n.DType
	if t.Kind() != dtype.KindFloat || wide && len(b.Range) > 0 {
		t = dtype.Float64
	}
	low, high := 0.0, 1.0 // of no elements
	switch {
	case len(b.Range) > 0:
		low, high = b.Range[0], b.Range[1]
	case grid.Size(n.Shape) > 0:
		// NumPy takes the distance of the elements' type, or float64.
		from := m.cast(m.reduce(kernel.Min, n, graph.ReduceOptions{}), t)
		to := m.cast(m.reduce(kernel.Max, n, graph.ReduceOptions{}), t)
		return m.make(func() (*graph.Node, error) {
			return graph.Boxes(m.site, "bin_edges", EvenEdges{Bins: b.Count, Type: t}, []int{b.Count + 1}, t, []*graph.Node{from, to})
		})
	}
	return m.make(func() (*graph.Node, error) {
		v := make([]float64, b.Count+1)
		if err := between(v, low, high, dtype.Float64, t); err != nil {
			return nil, err
		}
		n, err := graph.FromBytes(m.site, dtype.Bytes(v), dtype.Float64, len(v))
		if err != nil {
			return nil, err
		}
		return graph.AsType(m.site, n, t)
	})
}

// EvenEdges are edges at equal distances, from one number to another, its inputs.
type EvenEdges struct {
	Bins int
	Type dtype.Type
}

// Chunks are all.
func (s EvenEdges) Chunks() []int { return []int{s.Bins + 1} }

// Need is the numbers, and the edges in float64.
func (s EvenEdges) Need([]int) blockwise.Need {
	return blockwise.Need{Reads: [][]int{{}, {}}, Scratch: 64 + int64(8*(s.Bins+1))}
}

// Fill computes the edges.
func (s EvenEdges) Fill(ctx context.Context, t *blockwise.Task) error {
	var ends [2]float64
	for i, in := range t.In {
		b := t.Scratch[:s.Type.Size()]
		if err := in.Read(ctx, grid.Box{}, b); err != nil {
			return err
		}
		ends[i] = floatOf(s.Type, b)
	}
	return t.Compute(func() error {
		v := dtype.Slice[float64](t.Scratch[64:])
		if err := between(v, ends[0], ends[1], s.Type, s.Type); err != nil {
			return err
		}
		for i, x := range v {
			dtype.FromFloat(s.Type, x).Put(t.Dst[i*s.Type.Size():])
		}
		return nil
	})
}

// floatOf reads a float.
func floatOf(t dtype.Type, b []byte) float64 {
	v := dtype.Value{Type: t}
	for i := range t.Size() {
		v.Lo |= uint64(b[i]) << (8 * i)
	}
	return v.Float()
}

// between fills in edges from low to high as NumPy's linspace computes them, with the
// rounding of a type at each step, to be kept in another.
func between(edges []float64, low, high float64, computed, kept dtype.Type) error {
	if math.IsNaN(low-low) || math.IsNaN(high-high) {
		return fmt.Errorf("the elements range from %g to %g, which is not finite: give a range", low, high)
	}
	round := func(x float64) float64 { return dtype.FromFloat(computed, x).Float() }
	if low == high {
		low, high = round(low-0.5), round(high+0.5)
	}
	last := len(edges) - 1
	distance := round(high - low)
	step := round(distance / float64(last))
	for i := range edges {
		if step == 0 { // of denormal numbers
			edges[i] = round(round(round(float64(i)/float64(last))*distance) + low)
			continue
		}
		edges[i] = round(round(float64(i)*step) + low)
	}
	edges[last] = high
	for i, e := range edges {
		if i > 0 && !(dtype.FromFloat(kept, edges[i-1]).Float() < dtype.FromFloat(kept, e).Float()) {
			return fmt.Errorf("%d bins are too many: from %g to %g %s has not as many numbers", last, low, high, kept)
		}
	}
	return nil
}
