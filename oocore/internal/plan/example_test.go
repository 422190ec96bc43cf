package plan_test

import (
	"fmt"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/expr"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/plan/compile"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/store"
)

// The worked example of the package comment.
func ExamplePlan() {
	x, err := graph.Open(graph.Site{}, store.Info{Path: "acts.npy", Format: "npy", Shape: []int{100_000, 512}, DType: dtype.Float32}, "x")
	if err != nil {
		panic(err)
	}
	root, err := expr.Parse("(x - mean(x, 0)) / std(x, 0)", map[string]*graph.Node{"x": x}, nil)
	if err != nil {
		panic(err)
	}

	// Compile.
	p, err := compile.New(root, compile.Target{Path: "centred.npy"})
	if err != nil {
		panic(err)
	}
	fmt.Println(p)
	for i := range p.Stages {
		s := &p.Stages[i]
		fmt.Printf("stage %d: %d loads, %d instructions, %d folds by %v\n", i, len(s.Programs[0].Loads), len(s.Programs[0].Code), len(s.Folds), s.FoldBlock)
	}

	// Size.
	sized, err := size.New(p, size.Options{Budget: 64 << 20, Overhead: 24 << 20, Workers: 2})
	if err != nil {
		panic(err)
	}
	for i := range sized.Stages {
		s := &sized.Stages[i]
		fmt.Printf("stage %d: %d slots, tiles of %v, blocks of %v, %d bytes\n", i, s.Slots, s.Tile, s.Block, s.Predicted.Host())
	}
	fmt.Printf("peak %d, least budget %d MiB\n", sized.Peak.Host(), sized.Need>>20)

	// Cost.
	for i, s := range sized.Header().Stages {
		for _, w := range s.Work {
			if ms := w.Nanos / 1e6; ms > 1 {
				fmt.Printf("stage %d: %s, %s: %.1f ms\n", i, w.Of, w.Kind, ms)
			}
		}
	}

	// Tasks.
	last := p.Stages[1].Tasks() - 1
	fmt.Println("task 0 makes", p.Stages[1].Grid.Box(0), "and task", last, p.Stages[1].Grid.Box(last))
	// Output:
	// (x - mean(x, 0))/std(x, 0)
	// 0: reduce mean(x, 0), std(x, 0), 49 tasks of (2048, 512)
	// 1: map (x - mean(x, 0))/std(x, 0), 49 tasks of (2048, 512)
	// stage 0: 1 loads, 0 instructions, 2 folds by [32 512]
	// stage 1: 3 loads, 2 instructions, 0 folds by []
	// stage 0: 6 slots, tiles of [128 512], blocks of [32 512], 1695744 bytes
	// stage 1: 6 slots, tiles of [128 512], blocks of [32 512], 27967488 bytes
	// peak 27975680, least budget 25 MiB
	// stage 0: organising tasks, stage: 3.0 ms
	// stage 0: reading, file: 30.7 ms
	// stage 0: computing, mean float32 along rows: 4.1 ms
	// stage 0: computing, std float32 along rows: 15.9 ms
	// stage 1: organising tasks, stage: 3.0 ms
	// stage 1: organising tasks, buffers: 14.0 ms
	// stage 1: reading, file: 30.7 ms
	// stage 1: computing, broadcast: 8.2 ms
	// stage 1: computing, subtract float32: 2.6 ms
	// stage 1: computing, divide float32: 6.1 ms
	// stage 1: writing, file, past the page cache: 16.4 ms
	// task 0 makes [0:2048, 0:512] and task 48 [98304:100000, 0:512]
}
