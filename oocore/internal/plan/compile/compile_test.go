package compile

import (
	"math"
	"slices"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/internal/testkit/graphtest"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/testcases"
	"pgregory.net/rapid"
)

func options(budget int64) size.Options {
	return size.Options{Budget: budget, Overhead: 20 * graphtest.Mebi, Workers: 2}
}

// sized plans, and sizes for the given resources.
func sized(root *graph.Node, t Target, o size.Options) (*size.Plan, error) {
	p, err := New(root, t)
	if err != nil {
		return nil, err
	}
	return size.New(p, o)
}

func TestChainsFuseIntoOnePass(t *testing.T) {
	b := graphtest.File(t, "b.npy", dtype.Float32, 3_075_200, 512)
	root := graphtest.Apply(t, kernel.Tanh, graphtest.Apply(t, kernel.Add, graphtest.Apply(t, kernel.Multiply, graphtest.Apply(t, kernel.Sqrt, b), graphtest.Node(t)(graph.Scalar(graph.Site{}, 2))),
		graphtest.Apply(t, kernel.Exp, graphtest.Apply(t, kernel.Negative, b))))
	p, err := sized(root, Target{Path: "out.npy"}, options(64*graphtest.Mebi))
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Stages) != 1 || p.Stages[0].Read != 6_298_009_600 || p.Stages[0].Written != 6_298_009_600 {
		t.Fatalf("%d stages, the first reads %d and writes %d bytes; want one that moves the array once each way", len(p.Stages), p.Stages[0].Read, p.Stages[0].Written)
	}
	if peak := p.Peak.Host(); peak > 44*graphtest.Mebi {
		t.Errorf("the plan takes %d bytes of %d", peak, 44*graphtest.Mebi)
	}
}

func TestSharedPartsAreComputedOnce(t *testing.T) {
	x := graphtest.File(t, "x.npy", dtype.Float32, 1000, 100)
	again := graphtest.File(t, "x.npy", dtype.Float32, 1000, 100)
	sum := graphtest.Apply(t, kernel.Add, graphtest.Apply(t, kernel.Exp, x), graphtest.Apply(t, kernel.Exp, again))
	p, err := sized(sum, Target{Path: "o.npy"}, options(64*graphtest.Mebi))
	if err != nil {
		t.Fatal(err)
	}
	prog := p.Stages[0].Programs[0]
	if len(prog.Loads) != 1 || len(prog.Code) != 2 {
		t.Errorf("%d loads and %d instructions, want 1 and 2", len(prog.Loads), len(prog.Code))
	}
}

func TestReductionsOfOneArrayShareAPass(t *testing.T) {
	x := graphtest.File(t, "x.npy", dtype.Float32, 100_000, 512)
	z := graphtest.Apply(t, kernel.Divide, graphtest.Apply(t, kernel.Subtract, x, graphtest.Fold(t, kernel.Mean, x, 0)), graphtest.Fold(t, kernel.Std, x, 0))
	p, err := sized(z, Target{Path: "o.npy"}, options(64*graphtest.Mebi))
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Stages) != 2 || len(p.Stages[0].Folds) != 2 {
		t.Fatalf("%d stages, the first with %d folds; want one pass for mean and std, one for the rest", len(p.Stages), len(p.Stages[0].Folds))
	}
}

// Reductions that share no input would only share memory.
func TestReductionsOfDifferentArraysAreApart(t *testing.T) {
	x, y := graphtest.File(t, "x.npy", dtype.Float32, 100_000, 512), graphtest.File(t, "y.npy", dtype.Float32, 100_000, 512)
	p, err := sized(graphtest.Apply(t, kernel.Add, graphtest.Fold(t, kernel.Mean, x, 0), graphtest.Fold(t, kernel.Mean, y, 0)), Target{Path: "o.npy"}, options(64*graphtest.Mebi))
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Stages) != 3 || len(p.Stages[0].Folds) != 1 {
		t.Fatalf("%d stages, the first with %d folds; want a pass for each mean, and their sum", len(p.Stages), len(p.Stages[0].Folds))
	}
}

// A task of a reduction reads a KiB together of a transposed file, or all of it. One row of the first
// axis of a file in Fortran order has two bytes in each KiB, so that each task would read the whole file.
func TestReductionsReadRunsOfTransposedFiles(t *testing.T) {
	rapid.Check(testcases.Seeded(t), func(r *rapid.T) {
		shape := rapid.SliceOfN(rapid.SampledFrom([]int{1, 3, 12, 100, 512, 3000}), 2, 5).Draw(r, "shape of the file")
		axes := make([]int, len(shape))
		for i := range axes {
			axes[i] = i
		}
		order := rapid.Permutation(axes).Draw(r, "order")
		reduced := rapid.Permutation(axes).Draw(r, "axes")[:rapid.IntRange(1, len(axes)).Draw(r, "number of axes")]
		x := graphtest.Node(t)(graph.Transpose(graph.Site{}, graphtest.File(t, "x.npy", dtype.Int16, shape...), order...))
		p, err := New(graphtest.Fold(t, kernel.Sum, x, reduced...), Target{Path: "o.npy"})
		if err != nil {
			r.Fatal(err)
		}
		run, chunks := 1, p.Stages[0].Grid.Chunks
		for stored := len(shape) - 1; stored >= 0; stored-- {
			n := chunks[slices.Index(order, stored)]
			if run *= n; n < shape[stored] {
				break
			}
		}
		if run < min(512, grid.Size(shape)) {
			r.Errorf("a task of %v, of a file of %v as %v, reads %d elements together", chunks, shape, order, run)
		}
	})
}

// Small matrices are multiplied many at once, so that all workers have tiles, as far as there
// is room.
func TestProductsOfSmallMatricesAreManyAtOnce(t *testing.T) {
	for _, c := range []struct{ batch, side, workers, beside int }{
		{1, 256, 4, 1}, {3, 256, 4, 3}, {2000, 256, 4, 8}, {2000, 512, 4, 2}, {2000, 512, 8, 4}, {2000, 256, 1, 2}, {2000, 1000, 4, 1}, {2000, 2000, 4, 1},
	} {
		a := graphtest.File(t, "a.npy", dtype.Float32, c.batch, c.side, c.side)
		n := graphtest.Node(t)(graph.Product(graph.Site{}, a, a))
		of := func(budget int64) *size.Stage {
			p, err := sized(n, Target{Path: "out.npy"}, size.Options{Budget: budget, Workers: c.workers})
			if err != nil {
				t.Fatal(err)
			}
			return &p.Stages[0]
		}
		much := of(1 << 30)
		if much.Super.Beside != c.beside {
			t.Errorf("%+v: %d at once", c, much.Super.Beside)
		}
		if much.Super.Depth <= c.workers/(much.Tasks()/c.batch) && c.beside > 1 && c.batch > c.workers {
			t.Errorf("%+v: %d panels", c, much.Super.Depth)
		}
		if c.beside < 4 || c.batch < c.beside { // less is rejected, as budgets are whole MiB
			continue
		}
		host := much.Predicted.Host()
		if less := of(host - 1).Super; less.Beside >= c.beside {
			t.Errorf("%+v: %d at once with a byte less than they need", c, less.Beside)
		}
	}
}

// Compiling and the prediction of seconds count an operation alike.
func TestCompilingAndSecondsCostTheSame(t *testing.T) {
	for _, row := range kernel.Rows() {
		op := row.Op
		for _, of := range []dtype.Type{dtype.Int32, dtype.Float32, dtype.Float64, dtype.Complex64} {
			in := []*graph.Node{graphtest.File(t, "x.npy", of, 1000, 1000), graphtest.File(t, "y.npy", of, 1000, 1000), graphtest.File(t, "z.npy", of, 1000, 1000)}
			if _, ok := kernel.Lookup(op, of); !ok || op == kernel.Where {
				continue
			}
			n := graphtest.Apply(t, op, in[:op.Arity()]...)
			if n.Kind != graph.Elementwise || n.In[0].Kind == graph.Cast {
				continue // computed in another type
			}
			c, err := newCompiler([]Output{{Root: n}})
			if err != nil {
				t.Fatal(err)
			}
			p, err := sized(n, Target{Path: "o.npy"}, options(64*graphtest.Mebi))
			if err != nil {
				t.Fatal(err)
			}
			got := 0.0
			for _, s := range p.Header().Stages {
				for _, w := range s.Work {
					if w.Of == record.Computing && w.Kind == op.String()+" "+of.String() {
						got += w.Nanos
					}
				}
			}
			if want := 1e6 * c.ownNanos(n, grid.Identity(n.Shape)); math.Abs(got-want) > 1e-6*want {
				t.Errorf("%s of %s: %g ns to compile, %g predicted", op, of, want, got)
			}
		}
	}
}
