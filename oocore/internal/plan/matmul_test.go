package plan

import (
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/graph"
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
		{10_000, 256 * mebi, 2_000_000_000, 1},
		{20_000, 256 * mebi, 16_000_000_000, 2},
		{10_000, 1024 * mebi, 800_000_000, 1},
	} {
		a := file(t, "a.npy", dtype.Float32, c.side, c.side)
		p, err := sized(node(t)(graph.Product(graph.Site{}, a, a)), Target{Path: "out.npy"}, Options{Budget: c.budget, Overhead: 36 * mebi, Workers: 2})
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

// Small matrices are multiplied many at once, so that all workers have tiles, as far as there
// is room.
func TestProductsOfSmallMatricesAreManyAtOnce(t *testing.T) {
	for _, c := range []struct{ batch, side, workers, beside int }{
		{1, 256, 4, 1}, {3, 256, 4, 3}, {2000, 256, 4, 8}, {2000, 512, 4, 2}, {2000, 512, 8, 4}, {2000, 256, 1, 2}, {2000, 1000, 4, 1}, {2000, 2000, 4, 1},
	} {
		a := file(t, "a.npy", dtype.Float32, c.batch, c.side, c.side)
		n := node(t)(graph.Product(graph.Site{}, a, a))
		of := func(budget int64) *SizedStage {
			p, err := sized(n, Target{Path: "out.npy"}, Options{Budget: budget, Workers: c.workers})
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

// Operands that are generated are not read.
func TestProductsReadWhatIsInFiles(t *testing.T) {
	const n = 2000
	x := file(t, "x.npy", dtype.Float64, n, n)
	drawn := node(t)(graph.Uniform(graph.Site{}, dtype.Float64, 1, n, n))
	for _, c := range []struct {
		a, b *graph.Node
		read int64
	}{{x, x, 2 * 8 * n * n}, {x, drawn, 8 * n * n}, {drawn, x, 8 * n * n}, {drawn, drawn, 0}} {
		p, err := sized(node(t)(graph.Product(graph.Site{}, c.a, c.b)), Target{Path: "out.npy"}, Options{Budget: 1024 * mebi, Workers: 2})
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
	cast := func(n *graph.Node, to dtype.Type) *graph.Node { return node(t)(graph.AsType(graph.Site{}, n, to)) }
	of := func(a, b, as dtype.Type) []*graph.Node {
		x, y := file(t, "a.npy", a, 300, 200), file(t, "b.npy", b, 200, 100)
		return []*graph.Node{
			node(t)(graph.ProductAs(graph.Site{}, x, y, as)),
			node(t)(graph.Product(graph.Site{}, cast(x, as), cast(y, as))),
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
			p, err := sized(n, Target{Path: "out.npy"}, Options{Budget: 64 * mebi, Workers: 2})
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
	x := file(t, "x.npy", dtype.Int32, 300, 300)
	n := node(t)(graph.ProductAs(graph.Site{}, cast(x, dtype.Int8), x, dtype.Int32))
	if n.In[0].Kind != graph.Cast || n.In[0].In[0].DType != dtype.Int8 {
		t.Error("a conversion to int8 is left out")
	}
}
