package size

import (
	"math"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/compile"
	"github.com/gonbext/gonbext/oocore/internal/plan/cost"
	"github.com/gonbext/gonbext/oocore/internal/testkit/graphtest"
	"github.com/gonbext/gonbext/oocore/record"
)

// workOf is the work of the stages of a plan by kind.
func workOf(t *testing.T, root *graph.Node, to compile.Target, o Options) map[record.Activity]map[string]record.Work {
	t.Helper()
	p, err := sized(root, to, o)
	if err != nil {
		t.Fatal(err)
	}
	all := map[record.Activity]map[string]record.Work{}
	for _, s := range p.Header().Stages {
		for _, w := range s.Work {
			if all[w.Of] == nil {
				all[w.Of] = map[string]record.Work{}
			}
			sum := all[w.Of][w.Kind]
			sum.Nanos, sum.Bytes = sum.Nanos+w.Nanos, sum.Bytes+w.Bytes
			all[w.Of][w.Kind] = sum
		}
	}
	return all
}

func TestWorkCountsElementsAndBytesWhateverTheBudget(t *testing.T) {
	const rows, columns = 8000, 1000
	x := graphtest.File(t, "x.npy", dtype.Float32, rows, columns)
	centred := graphtest.Apply(t, kernel.Subtract, x, graphtest.Fold(t, kernel.Mean, x, 0))
	for _, o := range []Options{options(64 * graphtest.Mebi), {Budget: 4 << 30, Workers: 8}} {
		w := workOf(t, centred, compile.Target{Path: "o.npy"}, o)
		const bytes = rows * columns * 4
		for _, c := range []struct {
			of    record.Activity
			kind  string
			nanos float64
			bytes int64
		}{
			{record.Reading, "file", 2 * bytes * cost.Copy, 2 * bytes},
			{record.Computing, "subtract float32", rows * columns * kernel.Subtract.Row().Cost(dtype.Float32), 0},
			{record.Computing, "mean float32 along rows", rows * columns * kernel.Mean.Row().Cost(dtype.Float32), 0},
			{record.Writing, "file, past the page cache", bytes * cost.Direct, bytes},
		} {
			if got := w[c.of][c.kind]; math.Abs(got.Nanos-c.nanos) > 1e-6*c.nanos || got.Bytes != c.bytes {
				t.Errorf("%s %s: %.0f ns and %d bytes, want %.0f and %d", c.of, c.kind, got.Nanos, got.Bytes, c.nanos, c.bytes)
			}
		}
	}
}

func TestWorkOfProductIsItsMultiplications(t *testing.T) {
	a, b := graphtest.File(t, "a.npy", dtype.Float64, 3000, 500), graphtest.File(t, "b.npy", dtype.Float64, 500, 700)
	w := workOf(t, graphtest.Node(t)(graph.Product(graph.Site{}, a, b)), compile.Target{Path: "o.npy"}, options(64*graphtest.Mebi))
	if got, want := w[record.Computing]["matmul float64"].Nanos, 2.0*3000*500*700*0.02; math.Abs(got-want) > 1e-6*want {
		t.Errorf("%.0f ns, want %.0f", got, want)
	}
}

func TestChunksAreDecodedForEachTaskThatReadsThem(t *testing.T) {
	a := &plan.Array{Shape: []int{1000, 2048}, Chunks: []int{100, 1024}}
	l := &plan.Load{View: grid.Identity(a.Shape)}
	for _, c := range []struct {
		box  []int
		want float64
	}{
		{[]int{100, 1024}, 1}, {[]int{200, 2048}, 1}, {[]int{1000, 2048}, 1},
		{[]int{100, 512}, 2}, {[]int{50, 512}, 4}, {[]int{150, 1024}, 250.0 / 150},
	} {
		if got := decodings(a, l, c.box); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("boxes of %v: %g times, want %g", c.box, got, c.want)
		}
	}
}

// What stays in the page cache until the run's end is told from what is written back while it
// lasts: rows of more than 32 KiB, or files that are short.
func TestWorkNamesHowFilesReachTheDisk(t *testing.T) {
	for _, c := range []struct {
		to    compile.Target
		rows  int
		kinds []string
	}{
		{compile.Target{Path: "o.npy"}, 8192, []string{"file, past the page cache"}},
		{compile.Target{Path: "o.npy"}, 64, []string{record.PagesWritten}},
		{compile.Target{Path: "o.zarr", Chunks: []int{64, 1024}}, 8192, []string{"file, written behind"}},
		{compile.Target{Path: "o.zarr", Chunks: []int{8, 256}}, 8192, []string{record.PagesWritten, "short runs"}},
	} {
		x := graphtest.File(t, "x.npy", dtype.Float32, c.rows, 4096)
		got := workOf(t, graphtest.Apply(t, kernel.Sqrt, x), c.to, options(256*graphtest.Mebi))[record.Writing]
		if len(got) != len(c.kinds) {
			t.Errorf("%d rows to %s: %v, want %q", c.rows, c.to.Path, got, c.kinds)
		}
		for _, kind := range c.kinds {
			if got[kind].Nanos == 0 {
				t.Errorf("%d rows to %s in chunks of %v: %v, want %q", c.rows, c.to.Path, c.to.Chunks, got, kind)
			}
		}
	}
}

// Values of the plan itself are no array that a report could name.
func TestStageNamesOnlyArraysThatItReads(t *testing.T) {
	v, err := graph.FromBytes(graph.Site{}, make([]byte, 40), dtype.Float32, 10)
	if err != nil {
		t.Fatal(err)
	}
	p, err := sized(graphtest.Apply(t, kernel.Add, graphtest.File(t, "x.npy", dtype.Float32, 100, 10), v), compile.Target{Path: "o.npy"}, options(64*graphtest.Mebi))
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Header().Stages[0].Inputs; len(got) != 1 || got[0] != "x.npy" {
		t.Errorf("it reads %q", got)
	}
}

// What a generator shows along another axis than its rows is filled element by element.
func TestGeneratorsOfSingleElementsCostMore(t *testing.T) {
	rows := graphtest.Node(t)(graph.Arange(graph.Site{}, graphtest.Node(t)(graph.Scalar(graph.Site{}, 0)), graphtest.Node(t)(graph.Scalar(graph.Site{}, 1000)), graphtest.Node(t)(graph.Scalar(graph.Site{}, 1))))
	column := graphtest.Node(t)(graph.ExpandDims(graph.Site{}, rows, 1))
	for _, c := range []struct {
		of   *graph.Node
		want float64
	}{{rows, cost.Iota}, {column, cost.Iota + cost.Single}} {
		w := workOf(t, graphtest.Apply(t, kernel.Add, graphtest.File(t, "x.npy", dtype.Int64, 1000, 1000), c.of), compile.Target{Path: "o.npy"}, options(64*graphtest.Mebi))
		if got := w[record.Computing]["arange"].Nanos; math.Abs(got-1e6*c.want) > 1 {
			t.Errorf("%s: %g ns, want %g", c.of, got, 1e6*c.want)
		}
	}
}
