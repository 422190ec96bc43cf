package stats

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

func init() { blockwise.Register("bin_edges", EvenEdges{}) }

// Bins are those of one coordinate: a number of equal ones, or their edges.
type Bins struct {
	Count int
	// Range is the first edge and the last; none are those of the elements.
	Range []float64
	Edges *graph.Node
}

// check rejects what are no bins.
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
// wide says that those of a range are float64 whatever the elements are. extreme is the
// least of them, or the largest.
func (b Bins) edges(m *graph.Maker, n *graph.Node, extreme func(kernel.Reduction) *graph.Node, wide bool) *graph.Node {
	if b.Edges != nil {
		return b.Edges
	}
	t := n.DType
	if t.Kind() != dtype.KindFloat || wide && len(b.Range) > 0 {
		t = dtype.Float64
	}
	e := EvenEdges{Bins: b.Count, Type: t, Range: b.Range}
	var in []*graph.Node
	switch {
	case len(b.Range) > 0:
	case grid.Size(n.Shape) == 0:
		e.Range = []float64{0, 1}
	default:
		in = []*graph.Node{m.Cast(extreme(kernel.Min), t), m.Cast(extreme(kernel.Max), t)}
	}
	args := []string{strconv.Itoa(b.Count)}
	for _, v := range b.Range {
		args = append(args, strconv.FormatFloat(v, 'g', -1, 64))
	}
	return m.Blockwise("bin_edges", e, []int{b.Count + 1}, t, in, args...)
}

// EvenEdges are edges at equal distances. Its inputs are the first and the last, where
// there is no range.
type EvenEdges struct {
	Bins  int
	Type  dtype.Type
	Range []float64
}

// Requirements is the first edge and the last.
func (s EvenEdges) Requirements([]int) blockwise.Requirements {
	if s.Range != nil {
		return blockwise.Requirements{}
	}
	return blockwise.Requirements{Reads: [][]int{{}, {}}, Scratch: 8}
}

// Fill computes the edges of the box.
func (s EvenEdges) Fill(ctx context.Context, t *blockwise.Task) error {
	// NumPy computes edges of a range in float64, others in the elements' type.
	ends, computed := s.Range, dtype.Float64
	if ends == nil {
		computed = s.Type
		for _, in := range t.In {
			b := t.Scratch[:s.Type.Size()]
			if err := in.Read(ctx, grid.Box{}, b); err != nil {
				return err
			}
			ends = append(ends, floatOf(s.Type, b))
		}
	}
	return t.Compute(func() error {
		line, err := newLine(ends[0], ends[1], s.Bins, computed)
		if err != nil {
			return err
		}
		first := t.Box.Start[0]
		before := math.Inf(-1)
		if first > 0 {
			before = dtype.FromFloat(s.Type, line.at(first-1)).Float()
		}
		for i := range t.Box.Shape[0] {
			v := dtype.FromFloat(s.Type, line.at(first+i))
			if e := v.Float(); before < e {
				before = e
			} else {
				return fmt.Errorf("%d bins are too many: from %g to %g %s has not as many numbers", s.Bins, line.low, line.high, s.Type)
			}
			v.Put(t.Dst[i*s.Type.Size():])
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

// line is numbers at equal distances, as NumPy's linspace computes them: with the
// rounding of a type at each step.
type line struct {
	t                         dtype.Type
	low, high, distance, step float64
	bins                      int
}

// newLine is from one finite number to another, or around one.
func newLine(low, high float64, bins int, t dtype.Type) (line, error) {
	if math.IsNaN(low-low) || math.IsNaN(high-high) {
		return line{}, fmt.Errorf("the elements range from %g to %g, which is not finite: give a range", low, high)
	}
	l := line{t: t, low: low, high: high, bins: bins}
	if low == high {
		l.low, l.high = l.round(low-0.5), l.round(high+0.5)
	}
	l.distance = l.round(l.high - l.low)
	l.step = l.round(l.distance / float64(bins))
	return l, nil
}

func (l line) round(x float64) float64 { return dtype.FromFloat(l.t, x).Float() }

func (l line) at(i int) float64 {
	switch {
	case i == l.bins:
		return l.high
	case l.step == 0: // the distance is that of few denormal numbers
		return l.round(l.round(l.round(float64(i)/float64(l.bins))*l.distance) + l.low)
	}
	return l.round(l.round(float64(i)*l.step) + l.low)
}
