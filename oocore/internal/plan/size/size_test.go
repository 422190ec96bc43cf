package size

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	_ "github.com/gonbext/gonbext/oocore/internal/format/zarr"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op/fft"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/compile"
	"github.com/gonbext/gonbext/oocore/internal/plan/shapes"
	"github.com/gonbext/gonbext/oocore/internal/testkit/graphtest"
	"github.com/gonbext/gonbext/oocore/types"
)

func options(budget int64) Options {
	return Options{Budget: budget, Overhead: 20 * graphtest.Mebi, Workers: 2}
}

// sized plans, and sizes for the given resources.
func sized(root *graph.Node, t compile.Target, o Options) (*Plan, error) {
	p, err := compile.New(root, t)
	if err != nil {
		return nil, err
	}
	return New(p, o)
}

// Grids and tiles are part of what results depend on; the budget is not.
func TestBudgetDoesNotChangeResults(t *testing.T) {
	x := graphtest.File(t, "x.npy", dtype.Float64, 20_000, 3000)
	y := graphtest.File(t, "y.npy", dtype.Float64, 3000, 4000)
	for _, root := range []*graph.Node{graphtest.Apply(t, kernel.Sqrt, x), graphtest.Fold(t, kernel.Sum, x), graphtest.Fold(t, kernel.Sum, x, 1), graphtest.Node(t)(graph.Product(graph.Site{}, x, y)),
		graphtest.Node(t)(graph.Transpose(graph.Site{}, x))} {
		var prints []plan.Fingerprint
		for _, budget := range []int64{100 * graphtest.Mebi, 300 * graphtest.Mebi, 4 << 30} {
			for _, workers := range []int{1, 2, 16} {
				o := options(budget)
				o.Workers = workers
				p, err := sized(root, compile.Target{Path: "o.npy"}, o)
				if short := (&types.MemoryError{}); errors.As(err, &short) {
					o.Budget = short.Need
					p, err = sized(root, compile.Target{Path: "o.npy"}, o)
				}
				if err != nil {
					t.Fatal(err)
				}
				prints = append(prints, p.Fingerprint("", nil))
			}
		}
		for _, f := range prints {
			if f != prints[0] || f == (plan.Fingerprint{}) {
				t.Errorf("%s: fingerprints differ between budgets: %v", root, prints)
				break
			}
		}
	}
}

func TestTooSmallABudgetSaysWhatWouldDo(t *testing.T) {
	x := graphtest.File(t, "x.npy", dtype.Float32, 1<<16, 1<<12)
	y := graphtest.File(t, "y.npy", dtype.Float32, 1<<12, 1<<13)
	for _, root := range []*graph.Node{graphtest.Apply(t, kernel.Exp, x), graphtest.Fold(t, kernel.Var, x, 0), graphtest.Node(t)(graph.Product(graph.Site{}, x, y)),
		graphtest.Node(t)(graph.Transpose(graph.Site{}, x))} {
		_, err := sized(root, compile.Target{Path: "o.npy"}, options(1024))
		var short *types.MemoryError
		if !errors.As(err, &short) || short.Limit != 1024 {
			t.Fatalf("%s: got %v, want a *types.MemoryError", root, err)
		}
		if _, err := sized(root, compile.Target{Path: "o.npy"}, options(short.Need)); err != nil {
			t.Errorf("%s: the budget that was said to do does not: %v", root, err)
		}
		if _, err := sized(root, compile.Target{Path: "o.npy"}, options(short.Need-graphtest.Mebi)); err == nil {
			t.Errorf("%s: a MiB less than the smallest budget works too", root)
		}
	}
}

// Every budget from the smallest on works, whatever is kept in it between stages.
func TestMoreMemoryNeverFails(t *testing.T) {
	var root *graph.Node
	for i := range 24 {
		mean := graphtest.Fold(t, kernel.Mean, graphtest.File(t, fmt.Sprintf("x%d.npy", i), dtype.Float64, 1000+i, 500_000), 0)
		if root == nil {
			root = mean
		} else {
			root = graphtest.Apply(t, kernel.Add, root, mean)
		}
	}
	_, err := sized(root, compile.Target{Path: "o.npy"}, options(1))
	var short *types.MemoryError
	if !errors.As(err, &short) {
		t.Fatal(err)
	}
	for budget := short.Need; budget < 400*graphtest.Mebi; budget += 3 * graphtest.Mebi {
		p, err := sized(root, compile.Target{Path: "o.npy"}, options(budget))
		if err != nil {
			t.Fatalf("%d bytes do not do, the smallest budget being %d: %v", budget, short.Need, err)
		}
		if p.Peak.Host() > p.Arena || p.Need != short.Need {
			t.Fatalf("the peak is %d of %d bytes, the smallest budget %d", p.Peak.Host(), p.Arena, p.Need)
		}
	}
}

func TestAMillionChunksPlanLikeAHundred(t *testing.T) {
	used := func(rows int) uint64 {
		root := graphtest.Apply(t, kernel.Sqrt, graphtest.File(t, "x.npy", dtype.Float32, rows, 1<<20))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		p, err := sized(root, compile.Target{Path: "o.npy"}, options(64*graphtest.Mebi))
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Fatal(err)
		}
		if p.Stages[0].Tasks() != rows {
			t.Fatalf("%d tasks, want %d", p.Stages[0].Tasks(), rows)
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	if small, large := used(100), used(1_000_000); large > small+small/10 {
		t.Errorf("planning takes %d bytes for 100 chunks and %d for a million", small, large)
	}
}

func TestMemoryErrorTellsWhatTheProgramHolds(t *testing.T) {
	e := &types.MemoryError{Op: "sum", Need: 904 << 20, Limit: 64 << 20, Held: 868 << 20}
	if got := e.Error(); !strings.Contains(got, "needs a budget of 904MiB (947,912,704 bytes), 868MiB of it for what the program itself holds, and has 64MiB") {
		t.Error(got)
	}
	if e.Held = 0; !strings.Contains(e.Error(), "(947,912,704 bytes), and has 64MiB") {
		t.Error(e)
	}
}

// The result of an operation across the rows of a file is put in order by long runs of its blocks and of the file,
// and the buffers for overlaps are predicted where the blocks lie in a file.
func TestBlocksAreReadByLongRuns(t *testing.T) {
	x := graphtest.File(t, "x.npy", dtype.Float32, 8192, 16384)
	cube := graphtest.File(t, "x.npy", dtype.Float32, 1408, 1280, 1152)
	along := func(x *graph.Node, axis int) *graph.Node {
		return graphtest.Node(t)(fft.Along(graph.Site{}, fft.RealForward, x, 0, axis, ""))
	}
	for name, c := range map[string]struct {
		root *graph.Node
		heap int64 // of a slot
	}{
		"first axis":       {along(x, 0), 1 << 20},
		"first of three":   {along(cube, 0), 1 << 20},
		"transposed twice": {graphtest.Transpose(t, along(graphtest.Transpose(t, x), 1)), 0}, // whose blocks are as wide as the boxes
	} {
		inRoom := func(budget int64) *Plan {
			p, err := sized(c.root, compile.Target{Path: "o.npy"}, options(budget))
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		p := inRoom(512 * graphtest.Mebi)
		s := &p.Stages[len(p.Stages)-1]
		l := &s.Programs[0].Loads[0]
		from, to := &p.Arrays[l.Array], &p.Arrays[s.Outputs[0]]
		if from.Place != plan.InTemp || from.Blocks == nil {
			t.Errorf("%s: the last stage reads no blocks", name)
			continue
		}
		block := grid.Clip(from.Blocks, from.Shape)
		read := grid.Run(grid.Clip(shapes.Span(from, l, s.Grid.Chunks), block), block, from.DType.Size())
		written := grid.Run(s.Grid.Chunks, s.Grid.Shape, to.DType.Size())
		if bytes := grid.Size(s.Grid.Chunks) * to.DType.Size(); read < 64<<10 || written < 128<<10 || bytes > shapes.PassBytes {
			t.Errorf("%s: chunks of %v are read by %d and written by %d bytes", name, s.Grid.Chunks, read, written)
		}
		if s.Buffers.slot.heap != c.heap {
			t.Errorf("%s: a slot of the last stage takes %d bytes of Go's heap, want %d", name, s.Buffers.slot.heap, c.heap)
		}
		if heap := inRoom(64 << 30).Heap(); heap != 0 {
			t.Errorf("%s: with all in memory %d bytes of Go's heap are predicted", name, heap)
		}
	}
}

// Tiles of copies into shards are whole chunks side by side, no wider than the shard or the room,
// and none where a shard's first chunk is cut.
func TestCopiesIntoShardsReadChunksSideBySide(t *testing.T) {
	copies := &plan.Program{Loads: []plan.Load{{Kind: plan.LoadArray}}, Out: []int{0}}
	if !copies.Plain() {
		t.Fatal("the program is no copy")
	}
	for _, c := range []struct {
		shard, chunk, offset []int
		room                 int
		want                 []int // nil for a chunk
	}{
		{[]int{4, 1024, 1024}, []int{1, 256, 256}, nil, 1 << 20, []int{1, 256, 1024}},
		{[]int{4, 1024, 1024}, []int{1, 256, 256}, nil, 200_000, []int{1, 256, 768}},
		{[]int{4, 1024, 1024}, []int{1, 256, 256}, nil, 100_000, nil},
		{[]int{4, 1024, 1024}, []int{1, 256, 1024}, nil, 1 << 20, nil},
		{[]int{4, 1024, 1024}, []int{1, 256, 256}, []int{0, 3, 0}, 1 << 20, nil},
	} {
		s := &Stage{Stage: &plan.Stage{Grid: grid.Grid{Shape: c.shard, Chunks: c.shard, Offset: c.offset}, StoreChunk: c.chunk}, WriteTile: c.chunk}
		if ok := s.sideBySide(copies, c.room); ok != (c.want != nil) || ok && !slices.Equal(s.Tile, c.want) {
			t.Errorf("chunks of %v in %v from %v, room for %d: tile %v, want %v", c.chunk, c.shard, c.offset, c.room, s.Tile, c.want)
		}
	}
}
