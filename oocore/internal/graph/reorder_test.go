package graph_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/testkit/blockwisetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// A reshape keeps the elements in C order, whatever boxes it is computed in.
func TestReorder(t *testing.T) {
	rapid.Check(testcases.Seeded(t), func(r *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 1))
		size := rapid.SampledFrom([]int{1, 2, 6, 8, 12, 24, 30, 36, 60, 64, 72, 120, 360}).Draw(r, "size")
		from, to := factored(r, size), factored(r, size)
		data := make([]byte, 2*size)
		for i := range data {
			data[i] = byte(rng.Uint32())
		}
		op := graph.Reorder{From: from, To: to, Item: 2}
		got := blockwisetest.Same(t, op, to, dtype.Int16, blockwisetest.Array{Shape: from, DType: dtype.Int16, Data: data})
		if !bytes.Equal(got, data) {
			r.Fatalf("from %v to %v the elements are in another order", from, to)
		}
	})
}

// Whole rows of the result are read as boxes straight to their place.
func TestReorderNeedsNoMemoryForWholeRows(t *testing.T) {
	for _, c := range []struct{ from, to, box, reads []int }{
		{[]int{100, 40}, []int{4000}, []int{80}, []int{2, 40}},
		{[]int{4000}, []int{100, 40}, []int{3, 40}, []int{120}},
		{[]int{7, 100, 40}, []int{7, 4000}, []int{1, 80}, []int{1, 2, 40}},
		{[]int{6, 10, 4}, []int{60, 4}, []int{20, 4}, []int{2, 10, 4}},
	} {
		need := graph.Reorder{From: c.from, To: c.to, Item: 4}.Requirements(c.box)
		if need.Scratch != 0 || !slices.Equal(need.Reads[0], c.reads) || grid.Size(need.Reads[0]) > grid.Size(c.box) {
			t.Errorf("%v of %v to %v: reads %v with %d bytes of scratch", c.box, c.from, c.to, need.Reads, need.Scratch)
		}
	}
}

// What a box needs is enough for a smaller one, whose parts may lie apart.
func TestReorderNeedsScratchForSmallerBoxes(t *testing.T) {
	op := graph.Reorder{From: []int{3, 9, 5}, To: []int{3, 45}, Item: 8}
	whole, part := op.Requirements([]int{3, 45}), op.Requirements([]int{3, 32})
	if part.Scratch == 0 || whole.Scratch < part.Scratch {
		t.Errorf("a whole box needs %d bytes of scratch, a smaller one %d", whole.Scratch, part.Scratch)
	}
}

// A reshape of a reshape is one from the first shape.
func TestReshapesJoin(t *testing.T) {
	x := testcases.Must[*graph.Node](t)(graph.Transpose(site, source(t, "x.npy", 6, 4)))
	once := testcases.Must[*graph.Node](t)(graph.Reshape(site, x, 24))
	twice := testcases.Must[*graph.Node](t)(graph.Reshape(site, once, 3, 8))
	if twice.Kind != graph.Blockwise || twice.In[0] != once.In[0] {
		t.Errorf("it is %s", twice)
	}
	if back := testcases.Must[*graph.Node](t)(graph.Reshape(site, once, 4, 6)); back != once.In[0] {
		t.Errorf("back in its own shape it is %s", back)
	}
}
