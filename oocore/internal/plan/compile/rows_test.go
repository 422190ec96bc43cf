package compile

import (
	"errors"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op"
	"github.com/gonbext/gonbext/oocore/internal/op/nn"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/testkit/graphtest"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/types"
)

// ofRows is a reduction that is broadcast to the rows again.
func ofRows(t *testing.T, kind kernel.Reduction, x *graph.Node, axes ...int) *graph.Node {
	return graphtest.Node(t)(graph.Aggregate(graph.Site{}, kind, x, graph.ReduceOptions{Axes: axes, KeepDims: true}))
}

// without compiles as before there was a pass.
func without(t *testing.T, pass string, root *graph.Node, to Target) *plan.Plan {
	t.Helper()
	c, err := newCompiler([]Output{{root, to}})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range passes {
		if p.name == pass {
			continue
		}
		if err := p.run(c); err != nil {
			t.Fatal(err)
		}
	}
	return c.plan
}

func TestReductionsOfShortRowsAreOneStage(t *testing.T) {
	x, y := graphtest.File(t, "x.npy", dtype.Float32, 100_000, 512), graphtest.File(t, "y.npy", dtype.Float32, 100_000, 512)
	images := graphtest.File(t, "i.npy", dtype.Float32, 1000, 32, 64, 64)
	scale := graphtest.File(t, "w.npy", dtype.Float32, 512)
	mean, std := ofRows(t, kernel.Mean, x, 1), ofRows(t, kernel.Std, x, 1)
	standard := graphtest.Apply(t, kernel.Divide, graphtest.Apply(t, kernel.Subtract, x, mean), std)
	softmax := graphtest.Node(t)(nn.Softmax(graph.Site{}, op.Numbered{X: x, N: 1}))
	for name, c := range map[string]struct {
		root *graph.Node
		read int64
	}{
		"softmax":            {softmax, 100_000 * 512 * 4},
		"mean and deviation": {standard, 100_000 * 512 * 4},
		"last two axes":      {graphtest.Apply(t, kernel.Subtract, images, ofRows(t, kernel.Max, images, 2, 3)), 1000 * 32 * 64 * 64 * 4},
		"last three axes":    {graphtest.Apply(t, kernel.Subtract, images, ofRows(t, kernel.Max, images, 1, 2, 3)), 1000 * 32 * 64 * 64 * 4},
		"summed by columns":  {graphtest.Fold(t, kernel.Sum, softmax, 0), 100_000 * 512 * 4},
		"summed by rows":     {graphtest.Fold(t, kernel.Sum, softmax, 1), 100_000 * 512 * 4},
		"of two files":       {graphtest.Apply(t, kernel.Subtract, graphtest.Apply(t, kernel.Add, x, y), ofRows(t, kernel.Sum, graphtest.Apply(t, kernel.Multiply, x, y), 1)), 2 * 100_000 * 512 * 4},
		"longest":            {graphtest.Apply(t, kernel.Subtract, graphtest.File(t, "l.npy", dtype.Float32, 50, 1<<19), ofRows(t, kernel.Max, graphtest.File(t, "l.npy", dtype.Float32, 50, 1<<19), 1)), 50 << 21},
	} {
		for _, budget := range []int64{1 << 30, 64 * graphtest.Mebi, 0} {
			p, err := sized(c.root, Target{Path: "o.npy"}, options(budget))
			if short := new(types.MemoryError); errors.As(err, &short) && budget == 0 {
				p, err = sized(c.root, Target{Path: "o.npy"}, options(short.Need))
			}
			if err != nil {
				t.Fatalf("%s in %d bytes: %v", name, budget, err)
			}
			if len(p.Stages) != 1 || p.Stages[0].Read != c.read || !strings.Contains(p.Stages[0].Note, "are read once") {
				t.Errorf("%s in %d bytes: %d stages, of which the first reads %d bytes, not %d\n%s", name, budget, len(p.Stages), p.Stages[0].Read, c.read, p)
			}
		}
	}
	// What is broadcast is read again for each tile, and rows are not.
	scaled, err := sized(graphtest.Apply(t, kernel.Multiply, softmax, scale), Target{Path: "o.npy"}, options(64*graphtest.Mebi))
	if err != nil || len(scaled.Stages) != 1 {
		t.Errorf("scaled: %v\n%s", err, scaled)
	}
}

func TestReductionsThatDoNotFitTilesAreStagesOfTheirOwn(t *testing.T) {
	x, y := graphtest.File(t, "x.npy", dtype.Float32, 100_000, 512), graphtest.File(t, "y.npy", dtype.Float32, 100_000, 512)
	long := graphtest.File(t, "l.npy", dtype.Float32, 50, 1<<19+1)
	mean, number := ofRows(t, kernel.Mean, x, 1), graphtest.File(t, "n.npy", dtype.Float32)
	for name, c := range map[string]struct {
		roots  []*graph.Node
		stages int
	}{
		"long rows":                {[]*graph.Node{graphtest.Apply(t, kernel.Subtract, long, ofRows(t, kernel.Max, long, 1))}, 2},
		"columns":                  {[]*graph.Node{graphtest.Apply(t, kernel.Subtract, x, ofRows(t, kernel.Mean, x, 0))}, 2},
		"all":                      {[]*graph.Node{graphtest.Apply(t, kernel.Subtract, x, ofRows(t, kernel.Mean, x))}, 2},
		"number":                   {[]*graph.Node{graphtest.Apply(t, kernel.Subtract, number, ofRows(t, kernel.Mean, number))}, 2},
		"rows of another":          {[]*graph.Node{graphtest.Apply(t, kernel.Subtract, x, ofRows(t, kernel.Mean, y, 1))}, 2},
		"rows of another order":    {[]*graph.Node{graphtest.Apply(t, kernel.Subtract, graphtest.Slice(t, x, "::-1"), mean)}, 2},
		"reduction that is saved":  {[]*graph.Node{graphtest.Apply(t, kernel.Subtract, x, mean), mean}, 3},
		"transposed, large enough": {[]*graph.Node{graphtest.Apply(t, kernel.Subtract, graphtest.Transpose(t, x), ofRows(t, kernel.Mean, graphtest.Transpose(t, x), 1))}, 2},
	} {
		var outputs []Output
		for _, root := range c.roots {
			outputs = append(outputs, Output{root, Target{Path: root.String() + ".npy"}})
		}
		p, err := NewAll(outputs...)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(p.Stages) != c.stages {
			t.Errorf("%s: %d stages, not %d\n%s", name, len(p.Stages), c.stages, p)
		}
	}
}

// chunkedFile is a stored array in compressed chunks.
func chunkedFile(t *testing.T, d dtype.Type, chunks []int, shape ...int) *graph.Node {
	t.Helper()
	n, err := graph.Open(graph.Site{}, store.Info{Path: "x.zarr", Format: "zarr", Shape: shape, DType: d, Chunks: chunks, Codec: "zstd:3", Work: store.Work{Whole: graphtest.Mebi, Stream: graphtest.Mebi}}, "x")
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Where chunks cut rows, one task reads all chunks of its rows, up to a limit of their bytes.
func TestRowsOfSeveralChunksAreOneStage(t *testing.T) {
	for name, c := range map[string]struct {
		chunks []int
		to     Target
		stages int
	}{
		"whole rows":                 {[]int{512, 2000}, Target{Path: "o.npy"}, 1},
		"parts of rows":              {[]int{256, 500}, Target{Path: "o.npy"}, 1},
		"parts of rows, to chunks":   {[]int{256, 500}, Target{Path: "o.zarr"}, 1},
		"parts of rows, to others":   {[]int{256, 500}, Target{Path: "o.zarr", Chunks: []int{100, 300}}, 1},
		"too many rows":              {[]int{8192, 100}, Target{Path: "o.npy"}, 3},
		"too many rows of an output": {[]int{256, 2000}, Target{Path: "o.zarr", Chunks: []int{8192, 100}}, 4},
	} {
		p, err := New(graphtest.Node(t)(nn.Softmax(graph.Site{}, op.Numbered{X: chunkedFile(t, dtype.Float32, c.chunks, 5000, 2000), N: 1})), c.to)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(p.Stages) != c.stages {
			t.Errorf("%s: %d stages, not %d\n%s", name, len(p.Stages), c.stages, p)
		}
	}
}

// The arrays of a plan are those that its stages use, and it travels.
func TestPlanOfRowsHasNoArraysOfReductions(t *testing.T) {
	x := graphtest.File(t, "x.npy", dtype.Float32, 1000, 512)
	p, err := New(graphtest.Node(t)(nn.Softmax(graph.Site{}, op.Numbered{X: x, N: 1})), Target{Path: "o.npy"})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Arrays) != 2 {
		t.Errorf("it has %d arrays", len(p.Arrays))
	}
	b, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	again, err := plan.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := p.Fingerprint("", nil), again.Fingerprint("", nil); a != b || a.Arithmetic == "" {
		t.Errorf("fingerprints are %+v and %+v", a, b)
	}
	if before := without(t, "fuse rows", graphtest.Node(t)(nn.Softmax(graph.Site{}, op.Numbered{X: x, N: 1})), Target{Path: "o.npy"}); before.Fingerprint("", nil).Arithmetic != p.Fingerprint("", nil).Arithmetic || before.CurrentRevisions() != p.CurrentRevisions() {
		t.Errorf("arithmetic %q and revisions %q are not those of separate stages, %q and %q", p.Fingerprint("", nil).Arithmetic, p.CurrentRevisions(), before.Fingerprint("", nil).Arithmetic, before.CurrentRevisions())
	}
	text := string(b)
	for _, edit := range [][2]string{
		{`"first":1`, `"first":0`}, {`"first":1`, `"first":7`}, {`"place":"temp"`, `"place":"file"`}, {`"axes":[1]`, `"axes":[0]`}, {`"fold_block":[32,512]`, `"fold_block":[32,1]`},
	} {
		changed := strings.Replace(text, edit[0], edit[1], 1)
		if changed == text {
			t.Errorf("the plan has no %s: %s", edit[0], text)
		}
		if _, err := plan.Decode([]byte(changed)); err == nil {
			t.Errorf("%s is taken", edit[1])
		}
	}
}
