package compile

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op/random"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/internal/testkit/graphtest"
	"github.com/gonbext/gonbext/oocore/store"
)

// compiled runs the passes up to and with one.
func compiled(t *testing.T, root *graph.Node, last string) *compiler {
	t.Helper()
	c, err := newCompiler([]Output{{root, Target{Path: "o.npy"}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, pass := range passes {
		if err := pass.run(c); err != nil {
			t.Fatal(err)
		}
		if pass.name == last {
			return c
		}
	}
	t.Fatalf("there is no pass %q", last)
	return nil
}

// text writes the nodes of an expression line by line, inputs first.
func (c *compiler) text() string {
	var b strings.Builder
	number := map[*graph.Node]int{}
	for i, n := range c.nodes() {
		number[n] = i
		what := ""
		switch n.Kind {
		case graph.Source:
			what = n.Name
		case graph.Constant:
			what = n.Value.String()
		case graph.Elementwise:
			what = n.Op.String()
		case graph.Cast:
			what = "astype " + n.DType.String()
		case graph.View:
			what = fmt.Sprintf("view %v+%v*%v", n.View.Axis, n.View.Start, n.View.Step)
		case graph.Reduce:
			what = fmt.Sprintf("%s %v", n.Fold.Kind, n.Fold.Axes)
		case graph.MatMul:
			what = "matmul"
		case graph.Blockwise:
			what = n.Blocks.Name
		}
		fmt.Fprintf(&b, "%d %s", i, what)
		for _, in := range n.In {
			fmt.Fprintf(&b, " %%%d", number[in])
		}
		fmt.Fprintf(&b, " %v", n.Shape)
		if why := c.why[n]; why != "" {
			b.WriteString(" kept: " + why)
		}
		if c.again[n] {
			b.WriteString(" again")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func expect(t *testing.T, got, want string) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(want), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	if want = strings.Join(lines, "\n") + "\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestCanonicaliseMakesEqualNodesOne(t *testing.T) {
	x, again := graphtest.File(t, "x.npy", dtype.Float32, 100, 100), graphtest.File(t, "x.npy", dtype.Float32, 100, 100)
	root := graphtest.Apply(t, kernel.Add, graphtest.Apply(t, kernel.Exp, x), graphtest.Apply(t, kernel.Exp, graphtest.Transpose(t, graphtest.Transpose(t, again))))
	expect(t, compiled(t, root, "canonicalise").text(), `
		0 x.npy [100 100]
		1 exp %0 [100 100]
		2 add %1 %1 [100 100]`)
}

func TestCanonicaliseKeepsDifferentViewsApart(t *testing.T) {
	x := graphtest.Apply(t, kernel.Exp, graphtest.File(t, "x.npy", dtype.Float32, 100))
	root := graphtest.Apply(t, kernel.Add, graphtest.Slice(t, graphtest.Slice(t, x, "10:60"), "10:20"), graphtest.Slice(t, x, "21:31"))
	expect(t, compiled(t, root, "canonicalise").text(), `
		0 x.npy [100]
		1 exp %0 [100]
		2 view [0]+[20]*[1] %1 [10]
		3 view [0]+[21]*[1] %1 [10]
		4 add %2 %3 [10]`)
}

func TestMaterialiseKeepsWhatCostsMoreThanStoring(t *testing.T) {
	y := graphtest.File(t, "x.npy", dtype.Float64, 2000, 1000)
	for range 3 {
		y = graphtest.Apply(t, kernel.Add, y, graphtest.Roll(t, y))
	}
	expect(t, compiled(t, graphtest.Apply(t, kernel.Add, y, graphtest.Roll(t, y)), "materialise").text(), `
		0 x.npy [2000 1000]
		1 roll %0 [2000 1000]
		2 add %0 %1 [2000 1000]
		3 roll %2 [2000 1000]
		4 add %2 %3 [2000 1000]
		5 roll %4 [2000 1000]
		6 add %4 %5 [2000 1000] kept: it is used twice, and computing it again costs more
		7 roll %6 [2000 1000]
		8 add %6 %7 [2000 1000]`)
}

// A row of draws is made from its beginning, whatever part of it a chunk has.
func TestMaterialiseKeepsRowsThatChunksCut(t *testing.T) {
	draws := func() *graph.Node {
		number, err := graph.FromBytes(graph.Site{}, dtype.Bytes([]float64{20}), dtype.Float64)
		if err != nil {
			t.Fatal(err)
		}
		chances, err := graph.FromBytes(graph.Site{}, dtype.Bytes(slices.Repeat([]float64{0.01}, 100)), dtype.Float64, 100)
		if err != nil {
			t.Fatal(err)
		}
		n, err := random.Categorical(graph.Site{}, "multinomial", random.Multinomial, 7, number, chances, 40_000)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for _, of := range []struct {
		chunks []int
		kept   string
	}{
		{[]int{400, 100}, ""},
		{[]int{400, 5}, "chunks of (400, 5) compute it 20 times over, and that costs more"},
	} {
		n := draws()
		single, err := graph.AsType(graph.Site{}, n, dtype.Float32)
		if err != nil {
			t.Fatal(err)
		}
		for _, root := range []*graph.Node{n, single} {
			p, err := New(root, Target{Path: "o.zarr", Chunks: of.chunks})
			if err != nil {
				t.Fatal(err)
			}
			if stages, want := len(p.Stages), 1+min(len(of.kept), 1); stages != want {
				t.Fatalf("%s in chunks of %v: %d stages, want %d", root, of.chunks, stages, want)
			}
			if note := p.Stages[0].Note; of.kept != "" && note != "kept: "+of.kept {
				t.Errorf("%s in chunks of %v: %q", root, of.chunks, note)
			}
		}
	}
}

func TestMaterialiseRecomputesWhatIsCheap(t *testing.T) {
	x := graphtest.Apply(t, kernel.Exp, graphtest.File(t, "x.npy", dtype.Float32, 2000, 1000))
	expect(t, compiled(t, graphtest.Apply(t, kernel.Subtract, x, graphtest.Fold(t, kernel.Mean, x, 0)), "materialise").text(), `
		0 x.npy [2000 1000]
		1 exp %0 [2000 1000] again
		2 mean [0] %1 [1000]
		3 view [1]+[0]*[1] %2 [2000 1000]
		4 subtract %1 %3 [2000 1000]`)
}

// Slices that do not overlap add up to the whole: each is computed once.
func TestMaterialiseLeavesDisjointSlices(t *testing.T) {
	x := graphtest.File(t, "x.npy", dtype.Float64, 2000, 1000)
	for range 50 {
		x = graphtest.Apply(t, kernel.Tanh, x)
	}
	c := compiled(t, graphtest.Apply(t, kernel.Add, graphtest.Slice(t, x, "0:1000"), graphtest.Slice(t, x, "1000:")), "materialise")
	if len(c.why) != 0 {
		t.Errorf("kept: %v", c.why)
	}
	overlapping := compiled(t, graphtest.Apply(t, kernel.Add, graphtest.Slice(t, x, "0:1999"), graphtest.Slice(t, x, "1:")), "materialise")
	if len(overlapping.why) != 1 {
		t.Errorf("of slices that overlap, %d are kept", len(overlapping.why))
	}
}

func TestPushViewsDown(t *testing.T) {
	x, y := graphtest.File(t, "x.npy", dtype.Float32, 100, 40), graphtest.File(t, "y.npy", dtype.Float32, 40, 50)
	root := graphtest.Slice(t, graphtest.Node(t)(graph.Product(graph.Site{}, graphtest.Apply(t, kernel.Exp, x), y)), "3:7, 5:9")
	expect(t, compiled(t, root, "push views down").text(), `
		0 x.npy [100 40]
		1 view [0 1]+[3 0]*[1 1] %0 [4 40]
		2 exp %1 [4 40]
		3 y.npy [40 50]
		4 view [0 1]+[0 5]*[1 1] %3 [40 4]
		5 matmul %2 %4 [4 4]`)
}

// What all of is computed is not computed in parts beside.
func TestPushStopsAtWhatIsNeededWhole(t *testing.T) {
	x := graphtest.File(t, "x.npy", dtype.Float32, 100, 40)
	mean := graphtest.Fold(t, kernel.Mean, x, 0)
	root := graphtest.Apply(t, kernel.Add, mean, graphtest.Slice(t, mean, "::-1"))
	c := compiled(t, root, "push views down")
	reductions := 0
	for _, n := range c.nodes() {
		if n.Kind == graph.Reduce {
			reductions++
		}
	}
	if reductions != 1 {
		t.Errorf("%d reductions:\n%s", reductions, c.text())
	}
}

// A long chain that is cut into many slices is materialised rather than copied for each.
func TestPushIsLinear(t *testing.T) {
	x := graphtest.File(t, "x.npy", dtype.Float64, 500, 1000)
	for range 300 {
		x = graphtest.Apply(t, kernel.Add, x, graphtest.Node(t)(graph.Scalar(graph.Site{}, 1.5)))
	}
	var parts *graph.Node
	for i := range 500 {
		part := graphtest.Slice(t, x, fmt.Sprint(i))
		if parts == nil {
			parts = part
		} else {
			parts = graphtest.Apply(t, kernel.Maximum, parts, part)
		}
	}
	c := compiled(t, parts, "push views down")
	if n := len(c.nodes()); n > 20_000 {
		t.Errorf("%d nodes", n)
	}
}

// Graphs may be as deep as a program makes them.
func TestDeepGraphsArePlanned(t *testing.T) {
	x := graphtest.File(t, "x.npy", dtype.Float32, 100)
	for i := range 10_000 {
		if x = graphtest.Apply(t, kernel.Sqrt, x); i%100 == 0 {
			x = graphtest.Slice(t, graphtest.Roll(t, x), "::-1")
		}
	}
	p, err := New(x, Target{Path: "o.npy"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := size.New(p, options(64*graphtest.Mebi)); err != nil {
		t.Fatal(err)
	}
}

// A mask of an encoded array is kept where only the mask needs the array to be decoded again,
// and computed again where the passes decode it anyway.
func TestMaterialiseCountsDecodingWhereNothingElseReadsTheArray(t *testing.T) {
	x, err := graph.Open(graph.Site{}, store.Info{Path: "x.zarr", Format: "zarr", Shape: []int{2000, 1000}, DType: dtype.Float32, Chunks: []int{500, 500}, Codec: "gzip:5"}, "x")
	if err != nil {
		t.Fatal(err)
	}
	mask := graphtest.Apply(t, kernel.IsNaN, x)
	total := graphtest.Fold(t, kernel.Sum, mask, 0)
	if c := compiled(t, graphtest.Apply(t, kernel.Add, mask, total), "materialise"); len(c.why) != 1 {
		t.Errorf("of a mask that two passes read, %d are kept", len(c.why))
	}
	chosen := graphtest.Apply(t, kernel.Where, mask, x, graphtest.Apply(t, kernel.Square, x))
	if c := compiled(t, graphtest.Apply(t, kernel.Add, chosen, graphtest.Fold(t, kernel.Sum, chosen, 0)), "materialise"); len(c.why) != 0 && c.why[mask] != "" {
		t.Errorf("kept: %v", c.why)
	}
}
