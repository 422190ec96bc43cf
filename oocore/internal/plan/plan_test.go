package plan

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/store"
)

const mebi = 1 << 20

// file is a stored array that does not exist: planning reads nothing.
func file(t *testing.T, name string, d dtype.Type, shape ...int) *graph.Node {
	t.Helper()
	n, err := graph.Open(graph.Site{}, store.Info{Path: name, Format: "npy", Shape: shape, DType: d}, name)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func node(t *testing.T) func(n *graph.Node, err error) *graph.Node {
	return func(n *graph.Node, err error) *graph.Node {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
}

func options(budget int64) Options { return Options{Budget: budget, Overhead: 20 * mebi, Workers: 2} }

// apply and fold shorten what the tests build.
func apply(t *testing.T, op kernel.Op, in ...*graph.Node) *graph.Node {
	return node(t)(graph.Apply(graph.Site{}, op, in...))
}

func fold(t *testing.T, kind kernel.Reduction, in *graph.Node, axes ...int) *graph.Node {
	return node(t)(graph.Aggregate(graph.Site{}, kind, in, graph.ReduceOptions{Axes: axes}))
}

func TestChainsFuseIntoOnePass(t *testing.T) {
	b := file(t, "b.npy", dtype.Float32, 3_075_200, 512)
	root := apply(t, kernel.Tanh, apply(t, kernel.Add, apply(t, kernel.Multiply, apply(t, kernel.Sqrt, b), node(t)(graph.Scalar(graph.Site{}, 2))),
		apply(t, kernel.Exp, apply(t, kernel.Negative, b))))
	p, err := sized(root, Target{Path: "out.npy"}, options(64*mebi))
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Stages) != 1 || p.Stages[0].Read != 6_298_009_600 || p.Stages[0].Written != 6_298_009_600 {
		t.Fatalf("%d stages, the first reads %d and writes %d bytes; want one that moves the array once each way", len(p.Stages), p.Stages[0].Read, p.Stages[0].Written)
	}
	if peak := p.Peak.Host(); peak > 44*mebi {
		t.Errorf("the plan takes %d bytes of %d", peak, 44*mebi)
	}
}

func TestSharedPartsAreComputedOnce(t *testing.T) {
	x := file(t, "x.npy", dtype.Float32, 1000, 100)
	again := file(t, "x.npy", dtype.Float32, 1000, 100)
	sum := apply(t, kernel.Add, apply(t, kernel.Exp, x), apply(t, kernel.Exp, again))
	p, err := sized(sum, Target{Path: "o.npy"}, options(64*mebi))
	if err != nil {
		t.Fatal(err)
	}
	prog := p.Stages[0].Programs[0]
	if len(prog.Loads) != 1 || len(prog.Code) != 2 {
		t.Errorf("%d loads and %d instructions, want 1 and 2", len(prog.Loads), len(prog.Code))
	}
}

func TestReductionsOfOneArrayShareAPass(t *testing.T) {
	x := file(t, "x.npy", dtype.Float32, 100_000, 512)
	z := apply(t, kernel.Divide, apply(t, kernel.Subtract, x, fold(t, kernel.Mean, x, 0)), fold(t, kernel.Std, x, 0))
	p, err := sized(z, Target{Path: "o.npy"}, options(64*mebi))
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Stages) != 2 || len(p.Stages[0].Folds) != 2 {
		t.Fatalf("%d stages, the first with %d folds; want one pass for mean and std, one for the rest", len(p.Stages), len(p.Stages[0].Folds))
	}
}

// Reductions that share no input would only share memory.
func TestReductionsOfDifferentArraysAreApart(t *testing.T) {
	x, y := file(t, "x.npy", dtype.Float32, 100_000, 512), file(t, "y.npy", dtype.Float32, 100_000, 512)
	p, err := sized(apply(t, kernel.Add, fold(t, kernel.Mean, x, 0), fold(t, kernel.Mean, y, 0)), Target{Path: "o.npy"}, options(64*mebi))
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Stages) != 3 || len(p.Stages[0].Folds) != 1 {
		t.Fatalf("%d stages, the first with %d folds; want a pass for each mean, and their sum", len(p.Stages), len(p.Stages[0].Folds))
	}
}

// Grids and tiles are part of what results depend on; the budget is not.
func TestBudgetDoesNotChangeResults(t *testing.T) {
	x := file(t, "x.npy", dtype.Float64, 20_000, 3000)
	y := file(t, "y.npy", dtype.Float64, 3000, 4000)
	for _, root := range []*graph.Node{apply(t, kernel.Sqrt, x), fold(t, kernel.Sum, x), fold(t, kernel.Sum, x, 1), node(t)(graph.Product(graph.Site{}, x, y)),
		node(t)(graph.Transpose(graph.Site{}, x))} {
		var prints []Fingerprint
		for _, budget := range []int64{100 * mebi, 300 * mebi, 4 << 30} {
			for _, workers := range []int{1, 2, 16} {
				o := options(budget)
				o.Workers = workers
				p, err := sized(root, Target{Path: "o.npy"}, o)
				if short := (&MemoryError{}); errors.As(err, &short) {
					o.Budget = short.Need
					p, err = sized(root, Target{Path: "o.npy"}, o)
				}
				if err != nil {
					t.Fatal(err)
				}
				prints = append(prints, p.Fingerprint("", nil))
			}
		}
		for _, f := range prints {
			if f != prints[0] || f == (Fingerprint{}) {
				t.Errorf("%s: fingerprints differ between budgets: %v", root, prints)
				break
			}
		}
	}
}

func TestTooSmallABudgetSaysWhatWouldDo(t *testing.T) {
	x := file(t, "x.npy", dtype.Float32, 1<<16, 1<<12)
	y := file(t, "y.npy", dtype.Float32, 1<<12, 1<<13)
	for _, root := range []*graph.Node{apply(t, kernel.Exp, x), fold(t, kernel.Var, x, 0), node(t)(graph.Product(graph.Site{}, x, y)),
		node(t)(graph.Transpose(graph.Site{}, x))} {
		_, err := sized(root, Target{Path: "o.npy"}, options(1024))
		var short *MemoryError
		if !errors.As(err, &short) || short.Limit != 1024 {
			t.Fatalf("%s: got %v, want a *MemoryError", root, err)
		}
		if _, err := sized(root, Target{Path: "o.npy"}, options(short.Need)); err != nil {
			t.Errorf("%s: the budget that was said to do does not: %v", root, err)
		}
		if _, err := sized(root, Target{Path: "o.npy"}, options(short.Need-mebi)); err == nil {
			t.Errorf("%s: a MiB less than the smallest budget works too", root)
		}
	}
}

// Every budget from the smallest on works, whatever is kept in it between stages.
func TestMoreMemoryNeverFails(t *testing.T) {
	var root *graph.Node
	for i := range 24 {
		mean := fold(t, kernel.Mean, file(t, fmt.Sprintf("x%d.npy", i), dtype.Float64, 1000+i, 500_000), 0)
		if root == nil {
			root = mean
		} else {
			root = apply(t, kernel.Add, root, mean)
		}
	}
	_, err := sized(root, Target{Path: "o.npy"}, options(1))
	var short *MemoryError
	if !errors.As(err, &short) {
		t.Fatal(err)
	}
	for budget := short.Need; budget < 400*mebi; budget += 3 * mebi {
		p, err := sized(root, Target{Path: "o.npy"}, options(budget))
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
		root := apply(t, kernel.Sqrt, file(t, "x.npy", dtype.Float32, rows, 1<<20))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		p, err := sized(root, Target{Path: "o.npy"}, options(64*mebi))
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

func TestEncodedPlanIsTheSame(t *testing.T) {
	x := file(t, "x.npy", dtype.Float32, 5000, 512)
	nan := node(t)(graph.Full(graph.Site{}, dtype.ValueOf(float32(0)), 5000, 512))
	root := apply(t, kernel.Subtract, apply(t, kernel.Add, x, nan), fold(t, kernel.Mean, x, 0))
	p, err := sized(root, Target{Path: "o.npy"}, options(64*mebi))
	if err != nil {
		t.Fatal(err)
	}
	b, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	q, err := Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	again, err := q.Size(options(64 * mebi))
	if err != nil {
		t.Fatal(err)
	}
	if p.Fingerprint("", nil) != q.Fingerprint("", nil) || p.Peak != again.Peak {
		t.Error("the decoded plan differs")
	}
	c, err := q.Encode()
	if err != nil || string(b) != string(c) {
		t.Errorf("encoding what was decoded gives other bytes (%v)", err)
	}
}

func TestWithinFollowsCOrder(t *testing.T) {
	for _, chunk := range [][]int{{2048, 512}, {7, 5, 3}, {1, 1, 1024, 1021}, {3, 100_000}, {1}, {}} {
		block := grid.Auto(chunk, 1, BlockElems)
		for _, elems := range []int{BlockElems, 3*BlockElems + 17, 1 << 20} {
			box := within(chunk, elems, block)
			// Boxes follow each other in C order when only one axis is cut, those before it
			// have length one and those after it are whole.
			cut := false
			for i := len(chunk) - 1; i >= 0; i-- {
				if cut && box[i] != 1 {
					t.Errorf("within(%v, %d) = %v is not contiguous", chunk, elems, box)
				}
				cut = cut || box[i] < chunk[i]
			}
		}
	}
}

func BenchmarkPlanAMillionChunks(b *testing.B) {
	info := store.Info{Path: "x.npy", Shape: []int{1_000_000, 1 << 20}, DType: dtype.Float32}
	x, err := graph.Open(graph.Site{}, info, "x")
	if err != nil {
		b.Fatal(err)
	}
	root, err := graph.Apply(graph.Site{}, kernel.Sqrt, x)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := sized(root, Target{Path: "o.npy"}, options(64*mebi)); err != nil {
			b.Fatal(err)
		}
	}
}

// A plan that was edited is rejected, whichever of its numbers is not as it was.
func TestForeignPlansAreRejected(t *testing.T) {
	x := file(t, "x.npy", dtype.Float32, 1000, 500)
	p, err := sized(apply(t, kernel.Subtract, x, fold(t, kernel.Mean, x, 0)), Target{Path: "o.npy"}, options(64*mebi))
	if err != nil {
		t.Fatal(err)
	}
	for name, edit := range map[string]func(p *Plan){
		"output":  func(p *Plan) { p.Output = 9 },
		"array":   func(p *Plan) { p.Stages[0].Programs[0].Loads[0].Array = -1 },
		"result":  func(p *Plan) { p.Stages[0].Outputs[0] = 77 },
		"no fold": func(p *Plan) { p.Stages[0].Folds = nil },
		"chunks":  func(p *Plan) { p.Stages[1].Grid.Chunks[0] = 0 },
		"tile":    func(p *Plan) { p.Stages[0].FoldTile = nil },
		"block":   func(p *Plan) { p.Stages[0].FoldBlock[0] = 0 },
		"unit":    func(p *Plan) { p.Stages[1].StoreChunk = []int{5} },
		"value":   func(p *Plan) { p.Stages[1].Programs[0].Out[0] = 40 },
		"args":    func(p *Plan) { p.Stages[1].Programs[0].Code[0].Args[0] = 40 },
		"axis":    func(p *Plan) { p.Stages[1].Programs[0].Loads[0].View.Axis[1] = 2 },
		"kind":    func(p *Plan) { p.Stages[1].Kind = "other" },
		"shape":   func(p *Plan) { p.Arrays[0].Shape[0] = -1 },
		"product": func(p *Plan) { p.Stages[1].Kind = MatMulStage },
	} {
		b, err := p.Encode()
		if err != nil {
			t.Fatal(err)
		}
		q, err := Decode(b)
		if err != nil {
			t.Fatal(err)
		}
		edit(q)
		if b, err = q.Encode(); err != nil {
			t.Fatal(err)
		}
		if _, err := Decode(b); err == nil {
			t.Errorf("%s: the plan is accepted", name)
		}
	}
}

// sized plans, and sizes for the given resources.
func sized(root *graph.Node, t Target, o Options) (*Sized, error) {
	p, err := New(root, t)
	if err != nil {
		return nil, err
	}
	return p.Size(o)
}

func TestMemoryErrorTellsWhatTheProgramHolds(t *testing.T) {
	e := &MemoryError{Op: "sum", Need: 904 << 20, Limit: 64 << 20, Held: 868 << 20}
	if got := e.Error(); !strings.Contains(got, "needs a budget of 904MiB (947,912,704 bytes), 868MiB of it for what the program itself holds, and has 64MiB") {
		t.Error(got)
	}
	if e.Held = 0; !strings.Contains(e.Error(), "(947,912,704 bytes), and has 64MiB") {
		t.Error(e)
	}
}
