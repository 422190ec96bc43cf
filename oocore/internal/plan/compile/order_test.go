package compile

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/internal/testkit/graphtest"
)

// What only one of many outputs needs is computed right before it, so that it is in memory while that of all
// outputs would not fit. What they share comes with the first of them.
func TestWhatOneOutputNeedsIsComputedRightBeforeIt(t *testing.T) {
	const many, side = 20, 1 << 10 // 4 MiB each
	shared := graphtest.Fold(t, kernel.Mean, graphtest.File(t, "shared.npy", dtype.Float32, side, side), 0)
	var outputs []Output
	for i := range many {
		a, b, w := graphtest.File(t, fmt.Sprintf("a%d.npy", i), dtype.Float32, 64, side), graphtest.File(t, fmt.Sprintf("b%d.npy", i), dtype.Float32, side, 64), graphtest.File(t, fmt.Sprintf("w%d.npy", i), dtype.Float32, side, side)
		root := graphtest.Apply(t, kernel.Add, w, graphtest.Node(t)(graph.Product(graph.Site{}, b, a)))
		if i >= many/2 {
			root = graphtest.Apply(t, kernel.Add, root, shared)
		}
		outputs = append(outputs, Output{root, Target{Path: fmt.Sprintf("o%d.npy", i)}})
	}
	p, err := NewAll(outputs...)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []plan.StageKind
	var filled []int
	for i, s := range p.Stages {
		kinds = append(kinds, s.Kind)
		filled = append(filled, s.Outputs...)
		for l := range s.Arrays() {
			if p.Arrays[l.Array].Place == plan.InTemp && !slices.Contains(filled, l.Array) {
				t.Errorf("stage %d reads what no stage before it makes", i)
			}
		}
	}
	var want []plan.StageKind
	for i := range many {
		if want = append(want, plan.MatMulStage, plan.MapStage); i == many/2 {
			want = slices.Insert(want, len(want)-1, plan.ReduceStage)
		}
	}
	if !slices.Equal(kinds, want) {
		t.Errorf("the stages are %v, want %v", kinds, want)
	}
	s, err := size.New(p, options(64*graphtest.Mebi))
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.Arrays {
		if s.Place(i) == size.InSpill {
			t.Errorf("%s is spilled", p.Arrays[i].Name)
		}
	}
}
