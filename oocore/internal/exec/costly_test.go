package exec_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/exec"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/plan/compile"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/types"
)

// weighed is around with a cost, which counts the elements that it computes.
type weighed struct {
	around
	Nanos int64 // an element
}

var computed atomic.Int64

func init() { blockwise.Register("test_weighed", weighed{}) }

func (w weighed) Requirements(box []int) blockwise.Requirements {
	need := w.around.Requirements(box)
	need.Work = w.Nanos * int64(grid.Size(box))
	return need
}

func (w weighed) Fill(ctx context.Context, t *blockwise.Task) error {
	computed.Add(int64(t.Box.Size()))
	return w.around.Fill(ctx, t)
}

// What several passes read is computed once where that takes long, else for each of them;
// the plan says so, and predicts its memory. Of two operations, one of the other, only
// the last is kept.
func TestCostlyOperationsAreComputedOnce(t *testing.T) {
	const rows, cols = 1500, 700 // 8 MiB, more than what is always held
	x := make([]int64, rows*cols)
	for i := range x {
		x[i] = int64(i) * 977 % 1009
	}
	do := func(n *graph.Node, err error) *graph.Node {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	source := do(graph.FromBytes(site, dtype.Bytes(x), dtype.Int64, rows, cols))
	weigh := func(n *graph.Node, nanos int64) *graph.Node {
		return do(graph.NewBlockwise(site, "weighed", weighed{around{Shape: n.Shape}, nanos}, n.Shape, n.DType, []*graph.Node{n}))
	}
	apply := func(op kernel.Op, a, b *graph.Node) *graph.Node { return do(graph.Apply(site, op, a, b)) }
	fold := func(kind kernel.Reduction, n *graph.Node) *graph.Node {
		return do(graph.Aggregate(site, kind, n, graph.ReduceOptions{Axes: []int{0}, KeepDims: true}))
	}
	// As a softmax: the largest, then a sum, then the result.
	three := func(y *graph.Node) *graph.Node {
		y = apply(kernel.Subtract, y, fold(kernel.Max, y))
		return apply(kernel.Add, y, fold(kernel.Sum, y))
	}
	// As a layer norm: two reductions in one pass, then the result.
	two := func(y *graph.Node) *graph.Node {
		return apply(kernel.Add, apply(kernel.Subtract, y, fold(kernel.Max, y)), fold(kernel.Min, y))
	}
	once := summed(x, rows, cols)
	twice := summed(once, rows, cols)
	columns := func(y []int64, of func(v, most, least, sum int64) int64) []int64 {
		out := make([]int64, len(y))
		for j := range cols {
			most, least, sum := y[j], y[j], int64(0)
			for i := j; i < len(y); i += cols {
				most, least, sum = max(most, y[i]), min(least, y[i]), sum+y[i]
			}
			for i := j; i < len(y); i += cols {
				out[i] = of(y[i], most, least, sum)
			}
		}
		return out
	}
	asThree := func(y []int64) []int64 {
		return columns(y, func(v, most, _, sum int64) int64 { return v - most + sum - rows*most })
	}
	asTwo := func(y []int64) []int64 {
		return columns(y, func(v, most, least, _ int64) int64 { return v - most + least })
	}
	for name, c := range map[string]struct {
		root  *graph.Node
		want  []int64
		times int64 // that each element is computed
		kept  int
	}{
		"cheap":        {three(weigh(source, 0)), asThree(once), 3, 0},
		"cheap enough": {three(weigh(source, 10)), asThree(once), 3, 0},
		"costly":       {three(weigh(source, 1000)), asThree(once), 1, 1},
		"read twice":   {two(weigh(source, 20)), asTwo(once), 2, 0},
		"costly twice": {two(weigh(source, 1000)), asTwo(once), 1, 1},
		"read once":    {weigh(source, 1000), once, 1, 0},
		"last":         {three(weigh(weigh(source, 1000), 0)), asThree(twice), 2, 1},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := sized(c.root, compile.Target{}, size.Options{Budget: 1, Workers: 2})
			short := new(types.MemoryError)
			if !errors.As(err, &short) {
				t.Fatal(err)
			}
			for _, budget := range []int64{short.Need, 256 << 20} {
				p, err := sized(c.root, compile.Target{}, size.Options{Budget: budget, Workers: 2})
				if err != nil {
					t.Fatal(err)
				}
				kept := 0
				for _, s := range p.Stages {
					if strings.Contains(s.Note, "kept") {
						kept++
					}
				}
				computed.Store(0)
				got := make([]byte, 8*rows*cols)
				end, err := exec.Run(t.Context(), p, exec.Env{Into: got})
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got, dtype.Bytes(c.want)) {
					t.Errorf("wrong values in %d bytes", budget)
				}
				// Where boxes have a border, that of the operation below is computed again.
				if n := computed.Load() / (rows * cols); n != c.times || kept != c.kept {
					t.Errorf("each element is computed %d times and %d results are kept, not %d and %d", n, kept, c.times, c.kept)
				}
				if end.Peak != p.Peak.Host() {
					t.Errorf("reserved %d bytes, predicted %d", end.Peak, p.Peak.Host())
				}
			}
		})
	}
}
