package size

import (
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/plan/compile"
	"github.com/gonbext/gonbext/oocore/internal/testkit/graphtest"
)

// Super-tiles are whole rows of the result, or long parts of them, wherever there is
// room: short runs are what a cgroup cannot take back.
func TestProductsWriteLongRuns(t *testing.T) {
	for _, c := range []struct {
		side   int
		budget int64
		read   int64 // at most
		across int   // super-tiles
	}{
		{10_000, 256 * graphtest.Mebi, 2_000_000_000, 1},
		{20_000, 256 * graphtest.Mebi, 16_000_000_000, 2},
		{10_000, 1024 * graphtest.Mebi, 800_000_000, 1},
	} {
		a := graphtest.File(t, "a.npy", dtype.Float32, c.side, c.side)
		p, err := sized(graphtest.Node(t)(graph.Product(graph.Site{}, a, a)), compile.Target{Path: "out.npy"}, Options{Budget: c.budget, Overhead: 36 * graphtest.Mebi, Workers: 2})
		if err != nil {
			t.Fatal(err)
		}
		s := p.Stages[0]
		if _, across := s.Super.supers(); across > int64(c.across) || s.Read > c.read || s.Super.Depth != 2 {
			t.Errorf("%d² in %d MiB: %d super-tiles side by side, %d bytes read, %d panels; want at most %d, %d and 2",
				c.side, c.budget>>20, across, s.Read, s.Super.Depth, c.across, c.read)
		}
		if _, across := s.Super.supers(); across > 1 && s.Super.narrowest()*4 < disk.ShortRun {
			t.Errorf("%d² in %d MiB: runs of %d bytes", c.side, c.budget>>20, s.Super.narrowest()*4)
		}
	}
}

// Operands that are generated are not read.
func TestProductsReadWhatIsInFiles(t *testing.T) {
	const n = 2000
	x := graphtest.File(t, "x.npy", dtype.Float64, n, n)
	drawn := graphtest.Node(t)(graph.Uniform(graph.Site{}, dtype.Float64, 1, n, n))
	for _, c := range []struct {
		a, b *graph.Node
		read int64
	}{{x, x, 2 * 8 * n * n}, {x, drawn, 8 * n * n}, {drawn, x, 8 * n * n}, {drawn, drawn, 0}} {
		p, err := sized(graphtest.Node(t)(graph.Product(graph.Site{}, c.a, c.b)), compile.Target{Path: "out.npy"}, Options{Budget: 1024 * graphtest.Mebi, Workers: 2})
		if err != nil {
			t.Fatal(err)
		}
		if s := p.Stages[0]; s.Read != c.read {
			t.Errorf("%s reads %d bytes, not %d", s.Name, s.Read, c.read)
		}
	}
}

// Operands that a product can widen as it multiplies are read as they are, however the
// wider type was asked for; those that it cannot are converted.
func TestProductsReadNarrowOperands(t *testing.T) {
	cast := func(n *graph.Node, to dtype.Type) *graph.Node {
		return graphtest.Node(t)(graph.AsType(graph.Site{}, n, to))
	}
	of := func(a, b, as dtype.Type) []*graph.Node {
		x, y := graphtest.File(t, "a.npy", a, 300, 200), graphtest.File(t, "b.npy", b, 200, 100)
		return []*graph.Node{
			graphtest.Node(t)(graph.ProductAs(graph.Site{}, x, y, as)),
			graphtest.Node(t)(graph.Product(graph.Site{}, cast(x, as), cast(y, as))),
		}
	}
	for _, c := range []struct{ a, b, as, read dtype.Type }{
		{dtype.Int8, dtype.Int8, dtype.Int32, dtype.Int8}, {dtype.Uint8, dtype.Uint8, dtype.Int32, dtype.Uint8},
		{dtype.Int8, dtype.Uint8, dtype.Int32, dtype.Int16}, {dtype.Float16, dtype.Float16, dtype.Float32, dtype.Float16},
		{dtype.BFloat16, dtype.BFloat16, dtype.Float32, dtype.BFloat16},
		{dtype.Int8, dtype.Int8, dtype.Int64, dtype.Int64}, {dtype.Int32, dtype.Int8, dtype.Int32, dtype.Int32},
		{dtype.Int16, dtype.BFloat16, dtype.Float32, dtype.Float32}, // bfloat16 does not hold int16
	} {
		for _, n := range of(c.a, c.b, c.as) {
			p, err := sized(n, compile.Target{Path: "out.npy"}, Options{Budget: 64 * graphtest.Mebi, Workers: 2})
			if err != nil {
				t.Fatal(err)
			}
			s := p.Stages[len(p.Stages)-1]
			for i := range s.Programs {
				if got := s.Programs[i].Type(s.Programs[i].Out[0]); got != c.read {
					t.Errorf("%s × %s as %s: operand %d is multiplied as %s, not %s", c.a, c.b, c.as, i, got, c.read)
				}
			}
			if s.MatMul.Type != c.as {
				t.Errorf("%s × %s as %s adds up in %s", c.a, c.b, c.as, s.MatMul.Type)
			}
		}
	}
	// Converting what is no wider is not undone: its low bits are gone.
	x := graphtest.File(t, "x.npy", dtype.Int32, 300, 300)
	n := graphtest.Node(t)(graph.ProductAs(graph.Site{}, cast(x, dtype.Int8), x, dtype.Int32))
	if n.In[0].Kind != graph.Cast || n.In[0].In[0].DType != dtype.Int8 {
		t.Error("a conversion to int8 is left out")
	}
}
