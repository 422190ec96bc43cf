package corpus

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/expr"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/plan/compile"
	stores "github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/testcases"
)

const plansFile = "testdata/plans"

// TestPlans compares the logical plan of each expression with the one that is kept: its stages,
// their grids, and a digest of all of it.
func TestPlans(t *testing.T) {
	found := map[string]string{}
	for _, e := range expressions(t) {
		if p := planOf(t, e); p != "" {
			found[e] = p
		}
	}
	if *update {
		var b strings.Builder
		for _, e := range slices.Sorted(maps.Keys(found)) {
			fmt.Fprintf(&b, "%s\t%s\n", e, found[e])
		}
		testcases.WriteFile(t, plansFile, []byte(b.String()), 0o644)
		return
	}
	b := testcases.ReadFile(t, plansFile)
	for l := range strings.Lines(string(b)) {
		e, want, _ := strings.Cut(strings.TrimSuffix(l, "\n"), "\t")
		if got := found[e]; got != want {
			t.Errorf("the plan of %s is %s, not %s: go generate ./oocore/internal/corpus notes it", e, got, want)
		}
		delete(found, e)
	}
	for e := range found {
		t.Errorf("%s has no plan: go generate ./oocore/internal/corpus adds it", e)
	}
}

// planOf writes a plan in one line: of arrays that are too large for memory, of which nothing
// is read, and of the arrays' own lengths where the expression has lengths in it. Expressions
// that run something while they are built have none.
func planOf(t *testing.T, e string) string {
	for _, times := range []int{64, 1} {
		for _, d := range []dtype.Type{dtype.Float32, dtype.Int64, dtype.Complex64} {
			n, err := expr.Parse(e, inventedArrays(t, d, times), nil)
			if err != nil {
				continue
			}
			p, err := compile.New(n, compile.Target{})
			if err != nil {
				continue
			}
			line := d.String()
			for i := range p.Stages {
				s := &p.Stages[i]
				s.Site = "" // a line of this file
				line += fmt.Sprintf("\t%s %s: %d of %s", s.Kind, s.Name, s.Tasks(), grid.Format(s.Grid.Chunks))
			}
			text, err := p.Encode()
			if err != nil {
				t.Fatal(err)
			}
			return line + "\t" + short(text, 4)
		}
	}
	return ""
}

// inventedArrays are the arrays, each axis so many times as long, in files that there are not.
func inventedArrays(t *testing.T, d dtype.Type, times int) map[string]*graph.Node {
	nodes := map[string]*graph.Node{}
	for name, a := range arrays {
		info := stores.Info{Path: name + ".npy", Format: "npy", DType: a.dtype}
		if a.dtype == 0 {
			info.DType = d
		}
		for _, n := range a.shape {
			info.Shape = append(info.Shape, n*times)
		}
		if name == "z" {
			info.Path, info.Format, info.Chunks = "z.zarr", "zarr", []int{64 * times, 50 * times}
		}
		n, err := graph.Open(graph.Site{}, info, name)
		if err != nil {
			t.Fatal(err)
		}
		nodes[name] = n
	}
	return nodes
}
