package compile

import (
	"slices"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op"
	"github.com/gonbext/gonbext/oocore/internal/op/filter"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/internal/testkit/graphtest"
)

// levels are outputs, each of the means of 2 × 2 elements of the one before.
func levels(t *testing.T, x *graph.Node, n int, target Target) (all []Output) {
	for i, level := range graphtest.Levels(t, x, n) {
		to := target
		to.Path = string(rune('a'+i)) + ".zarr"
		all = append(all, Output{level, to})
	}
	return all
}

func TestPyramidIsOnePass(t *testing.T) {
	large := graphtest.File(t, "x.npy", dtype.Uint16, 9000, 7000)
	for name, c := range map[string]struct {
		x      *graph.Node
		n      int
		target Target
		levels int   // of the first pass
		tasks  []int // chunks of its tasks
	}{
		"two":                   {large, 2, Target{Chunks: []int{512, 512}}, 2, []int{1024, 1024}},
		"until tasks are few":   {large, 5, Target{Chunks: []int{512, 512}}, 3, []int{2048, 2048}},
		"two of few tasks":      {large, 3, Target{Chunks: []int{4096, 512}}, 2, []int{8192, 1024}},
		"one short axis":        {graphtest.File(t, "x.npy", dtype.Uint16, 300, 90000), 3, Target{Chunks: []int{512, 512}}, 3, []int{300, 2048}},
		"odd chunks":            {large, 3, Target{Chunks: []int{501, 512}}, 1, nil},
		"shards":                {large, 3, Target{Chunks: []int{512, 512}, Shards: []int{1024, 1024}}, 1, nil},
		"chunks that are large": {large, 3, Target{Chunks: []int{4096, 4096}}, 1, nil},
		"many levels":           {graphtest.File(t, "x.npy", dtype.Float64, 90000, 70000), 5, Target{Chunks: []int{512, 512}}, 5, []int{8192, 8192}},
		"large elements":        {graphtest.File(t, "x.npy", dtype.Float64, 90000, 70000), 5, Target{Chunks: []int{1024, 1024}}, 2, []int{2048, 2048}},
	} {
		outputs := levels(t, c.x, c.n, c.target)
		p, err := NewAll(outputs...)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		s, err := size.New(p, options(64*graphtest.Mebi))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		first := slices.IndexFunc(p.Stages, func(s plan.Stage) bool { return s.Factors != nil })
		if c.levels == 1 {
			if first >= 0 {
				t.Errorf("%s: %s", name, p)
			}
			continue
		}
		if first < 0 || len(p.Stages[first].Programs) != c.levels || !slices.Equal(p.Stages[first].Grid.Chunks, c.tasks) {
			t.Errorf("%s: the first pass is not of %d levels: %s", name, c.levels, p)
			continue
		}
		var read int64
		for i := range s.Stages {
			for l := range p.Stages[i].Arrays() {
				if p.Arrays[l.Array].Place == plan.InFile {
					read += s.Stages[i].Read
				}
			}
		}
		if want := int64(grid.Size(c.x.Shape) * c.x.DType.Size()); read != want {
			t.Errorf("%s: it reads %d bytes of %d", name, read, want)
		}
		b, err := p.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if again, err := plan.Decode(b); err != nil || again.String() != p.String() {
			t.Errorf("%s: decoded it is %s, %v", name, again, err)
		}
	}
}

// A level that others read, or that is computed of more than the level before, is not made in the pass.
func TestPyramidEndsWhereALevelIsReadByOthers(t *testing.T) {
	x := graphtest.File(t, "x.npy", dtype.Float32, 9000, 7000)
	outputs := levels(t, x, 4, Target{Chunks: []int{256, 256}})
	mean := graphtest.Fold(t, kernel.Mean, outputs[1].Root, 0)
	exp := graphtest.Apply(t, kernel.Exp, x)
	twice, err := NewAll(Output{exp, outputs[0].Target}, Output{exp, Target{Path: "again.zarr", Chunks: []int{256, 256}}})
	if err != nil || slices.ContainsFunc(twice.Stages, func(s plan.Stage) bool { return s.Factors != nil }) {
		t.Errorf("an output that is there twice: %s, %v", twice, err)
	}
	for name, change := range map[string]func([]Output) []Output{
		"read": func(all []Output) []Output {
			return append(all, Output{mean, Target{Path: "mean.npy"}})
		},
		"twice": func(all []Output) []Output {
			return append(all, Output{all[1].Root, Target{Path: "again.npy"}})
		},
		"of two": func(all []Output) []Output {
			all[2].Root = graphtest.Apply(t, kernel.Add, all[2].Root, graphtest.Node(t)(filter.Downsample(graph.Site{}, op.Lengths{X: x, Lengths: []int{4}})))
			return all
		},
	} {
		p, err := NewAll(change(slices.Clone(outputs))...)
		if err != nil {
			t.Fatal(err)
		}
		first := slices.IndexFunc(p.Stages, func(s plan.Stage) bool { return s.Factors != nil })
		if first < 0 || len(p.Stages[first].Factors) != 1 {
			t.Errorf("%s: %s", name, p)
		}
		if _, err := size.New(p, options(64*graphtest.Mebi)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
