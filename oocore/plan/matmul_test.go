package plan

import (
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/graph"
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
		p, err := New(node(t)(graph.Product(graph.Site{}, a, a)), Target{Path: "out.npy"}, Options{Budget: c.budget, Overhead: 36 * mebi, Workers: 2})
		if err != nil {
			t.Fatal(err)
		}
		s := p.Stages[0]
		if _, across := s.MatMul.supers(); across > int64(c.across) || s.Read > c.read || s.MatMul.Depth != 2 {
			t.Errorf("%d² in %d MiB: %d super-tiles side by side, %d bytes read, %d panels; want at most %d, %d and 2",
				c.side, c.budget>>20, across, s.Read, s.MatMul.Depth, c.across, c.read)
		}
		if _, across := s.MatMul.supers(); across > 1 && s.MatMul.narrowest()*4 < shortWrite {
			t.Errorf("%d² in %d MiB: runs of %d bytes", c.side, c.budget>>20, s.MatMul.narrowest()*4)
		}
	}
}
