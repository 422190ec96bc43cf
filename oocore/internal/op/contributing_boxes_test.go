package op_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/op"
	"github.com/gonbext/gonbext/oocore/internal/testkit/blockwisetest"
)

// The example of CONTRIBUTING.md, from here to its end:

var midpoints = op.Row{Name: "midpoints", NumPy: "(x[..., 1:] + x[..., :-1]) / 2", Holds: op.Shown, Build: op.Build(Midpoints),
	Examples: "midpoints(x)", Go: "(a *Array) Midpoints()", Doc: `Midpoints returns the means of neighbours along the last axis, in float64.`}

func Midpoints(site graph.Site, a op.Unary) (*graph.Node, error) {
	shape := slices.Clone(a.X.Shape)
	last := len(shape) - 1
	if last < 0 || shape[last] < 2 {
		return nil, graph.Reject(site, "midpoints", errors.New("takes two elements or more along an axis"), a.X)
	}
	shape[last]--
	x, err := graph.AsType(site, a.X, dtype.Float64)
	if err != nil {
		return nil, err
	}
	return graph.NewBlockwise(site, "midpoints", Means{}, shape, dtype.Float64, []*graph.Node{x})
}

func init() { blockwise.Register("midpoints", Means{}) }

// Means are those of neighbours: a box is filled from one that is longer by an element.
type Means struct{}

func (Means) Requirements(box []int) blockwise.Requirements {
	return blockwise.Requirements{Reads: [][]int{longer(box)}, Scratch: int64(8 * grid.Size(longer(box)))}
}

func (Means) Fill(ctx context.Context, t *blockwise.Task) error {
	box := grid.Box{Start: t.Box.Start, Shape: longer(t.Box.Shape)}
	in := t.Scratch[:8*box.Size()]
	if err := t.In[0].Read(ctx, box, in); err != nil {
		return err
	}
	return t.Compute(func() error {
		x, means := dtype.Slice[float64](in), dtype.Slice[float64](t.Dst)
		for n := box.Shape[len(box.Shape)-1]; len(x) > 0; x, means = x[n:], means[n-1:] {
			for i := range n - 1 {
				means[i] = (x[i] + x[i+1]) / 2
			}
		}
		return nil
	})
}

func longer(box []int) []int {
	box = slices.Clone(box)
	box[len(box)-1]++
	return box
}

// end

func TestMidpointsFillsBoxesOfAnyForm(t *testing.T) {
	x := node(t, []float64{1, 2, 5, 4, 0, -8}, 2, 3)
	out := example(t, "contributing_boxes_test.go", "midpoints(x)", midpoints, op.Value{Node: x})
	if out.Blocks == nil || !slices.Equal(out.Shape, []int{2, 2}) {
		t.Fatalf("the operation is %s of shape %v", out, out.Shape)
	}
	got := blockwisetest.Same(t, out.Blocks.Op, out.Shape, out.DType, blockwisetest.Array{Shape: x.Shape, DType: x.DType, Data: dtype.Bytes([]float64{1, 2, 5, 4, 0, -8})})
	if want := []float64{1.5, 3.5, 2, -4}; !slices.Equal(dtype.Slice[float64](got), want) {
		t.Errorf("the means are %v, want %v", dtype.Slice[float64](got), want)
	}
}
