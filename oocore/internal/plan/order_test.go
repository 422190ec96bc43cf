package plan

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

// What only one of many outputs needs is computed right before it, so that it is in memory while that of all
// outputs would not fit. What they share comes with the first of them.
func TestWhatOneOutputNeedsIsComputedRightBeforeIt(t *testing.T) {
	const many, side = 20, 1 << 10 // 4 MiB each
	shared := fold(t, kernel.Mean, file(t, "shared.npy", dtype.Float32, side, side), 0)
	var outputs []Output
	for i := range many {
		a, b, w := file(t, fmt.Sprintf("a%d.npy", i), dtype.Float32, 64, side), file(t, fmt.Sprintf("b%d.npy", i), dtype.Float32, side, 64), file(t, fmt.Sprintf("w%d.npy", i), dtype.Float32, side, side)
		root := apply(t, kernel.Add, w, node(t)(graph.Product(graph.Site{}, b, a)))
		if i >= many/2 {
			root = apply(t, kernel.Add, root, shared)
		}
		outputs = append(outputs, Output{root, Target{Path: fmt.Sprintf("o%d.npy", i)}})
	}
	p, err := NewAll(outputs...)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []StageKind
	var filled []int
	for i, s := range p.Stages {
		kinds = append(kinds, s.Kind)
		filled = append(filled, s.Outputs...)
		for l := range s.Arrays() {
			if p.Arrays[l.Array].Place == InTemp && !slices.Contains(filled, l.Array) {
				t.Errorf("stage %d reads what no stage before it makes", i)
			}
		}
	}
	var want []StageKind
	for i := range many {
		if want = append(want, MatMulStage, MapStage); i == many/2 {
			want = slices.Insert(want, len(want)-1, ReduceStage)
		}
	}
	if !slices.Equal(kinds, want) {
		t.Errorf("the stages are %v, want %v", kinds, want)
	}
	s, err := p.Size(options(64 * mebi))
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.Arrays {
		if s.Place(i) == InSpill {
			t.Errorf("%s is spilled", p.Arrays[i].Name)
		}
	}
}
