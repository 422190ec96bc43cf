package plan_test

import (
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/compile"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/internal/testkit/graphtest"
	"github.com/gonbext/gonbext/oocore/store"
)

func options(budget int64) size.Options {
	return size.Options{Budget: budget, Overhead: 20 * graphtest.Mebi, Workers: 2}
}

// sized plans, and sizes for the given resources.
func sized(root *graph.Node, t compile.Target, o size.Options) (*size.Plan, error) {
	p, err := compile.New(root, t)
	if err != nil {
		return nil, err
	}
	return size.New(p, o)
}

func TestEncodedPlanIsTheSame(t *testing.T) {
	x := graphtest.File(t, "x.npy", dtype.Float32, 5000, 512)
	nan := graphtest.Node(t)(graph.Full(graph.Site{}, dtype.ValueOf(float32(0)), 5000, 512))
	root := graphtest.Apply(t, kernel.Subtract, graphtest.Apply(t, kernel.Add, x, nan), graphtest.Fold(t, kernel.Mean, x, 0))
	p, err := sized(root, compile.Target{Path: "o.npy"}, options(64*graphtest.Mebi))
	if err != nil {
		t.Fatal(err)
	}
	b, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	q, err := plan.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	again, err := size.New(q, options(64*graphtest.Mebi))
	if err != nil {
		t.Fatal(err)
	}
	if p.Fingerprint("", nil) != q.Fingerprint("", nil) || p.Peak != again.Peak {
		t.Error("the decoded plan differs")
	}
	c, err := q.Encode()
	if err != nil || string(b) != string(c) {
		t.Errorf("encoding what was decoded gives other bytes (%v)", err)
	}
}

func BenchmarkPlanAMillionChunks(b *testing.B) {
	info := store.Info{Path: "x.npy", Shape: []int{1_000_000, 1 << 20}, DType: dtype.Float32}
	x, err := graph.Open(graph.Site{}, info, "x")
	if err != nil {
		b.Fatal(err)
	}
	root, err := graph.Apply(graph.Site{}, kernel.Sqrt, x)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := sized(root, compile.Target{Path: "o.npy"}, options(64*graphtest.Mebi)); err != nil {
			b.Fatal(err)
		}
	}
}

// A plan that was edited is rejected, whichever of its numbers is not as it was.
func TestForeignPlansAreRejected(t *testing.T) {
	x := graphtest.File(t, "x.npy", dtype.Float32, 1000, 500)
	p, err := sized(graphtest.Apply(t, kernel.Subtract, x, graphtest.Fold(t, kernel.Mean, x, 0)), compile.Target{Path: "o.npy"}, options(64*graphtest.Mebi))
	if err != nil {
		t.Fatal(err)
	}
	for name, edit := range map[string]func(p *plan.Plan){
		"output":  func(p *plan.Plan) { p.Output = 9 },
		"array":   func(p *plan.Plan) { p.Stages[0].Programs[0].Loads[0].Array = -1 },
		"result":  func(p *plan.Plan) { p.Stages[0].Outputs[0] = 77 },
		"no fold": func(p *plan.Plan) { p.Stages[0].Folds = nil },
		"chunks":  func(p *plan.Plan) { p.Stages[1].Grid.Chunks[0] = 0 },
		"tile":    func(p *plan.Plan) { p.Stages[0].FoldTile = nil },
		"block":   func(p *plan.Plan) { p.Stages[0].FoldBlock[0] = 0 },
		"unit":    func(p *plan.Plan) { p.Stages[1].StoreChunk = []int{5} },
		"value":   func(p *plan.Plan) { p.Stages[1].Programs[0].Out[0] = 40 },
		"args":    func(p *plan.Plan) { p.Stages[1].Programs[0].Code[0].Args[0] = 40 },
		"axis":    func(p *plan.Plan) { p.Stages[1].Programs[0].Loads[0].View.Axis[1] = 2 },
		"kind":    func(p *plan.Plan) { p.Stages[1].Kind = "other" },
		"shape":   func(p *plan.Plan) { p.Arrays[0].Shape[0] = -1 },
		"product": func(p *plan.Plan) { p.Stages[1].Kind = plan.MatMulStage },
	} {
		b, err := p.Encode()
		if err != nil {
			t.Fatal(err)
		}
		q, err := plan.Decode(b)
		if err != nil {
			t.Fatal(err)
		}
		edit(q)
		if b, err = q.Encode(); err != nil {
			t.Fatal(err)
		}
		if _, err := plan.Decode(b); err == nil {
			t.Errorf("%s: the plan is accepted", name)
		}
	}
}
