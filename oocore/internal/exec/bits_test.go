package exec_test

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/exec"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/plan/compile"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/testcases"
	"github.com/gonbext/gonbext/oocore/types"
)

// Reductions of arrays that are stored by chunks, however awkward, come out with the
// same bits in any budget, by any number of workers, decoded whole or as streams.
func TestBitsOfChunkedInputs(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	shape := []int{300, 61, 97}
	kinds := []kernel.Reduction{kernel.Std, kernel.Mean}
	if testing.Short() || !testcases.Full() { // the race detector needs minutes for more
		shape[1], kinds = 16, kinds[:1]
	}
	noise := must[*graph.Node](t)(graph.Uniform(site, dtype.Float32, 5, shape...))
	for name, chunks := range map[string][]int{"planes": {7, shape[1], 97}, "columns": {300, shape[1], 5}, "cubes": {100, 13, 64}, "one": shape} {
		path := filepath.Join(dir, name+".zarr")
		p := must[*size.Plan](t)(sized(noise, compile.Target{Path: path, Chunks: chunks, Codec: "gzip:1"}, size.Options{Budget: 1 << 30, Workers: 2}))
		if _, err := exec.Run(ctx, p, exec.Env{}); err != nil {
			t.Fatal(err)
		}
		x := open(t, path)
		turned := must[*graph.Node](t)(graph.Transpose(site, must[*graph.Node](t)(graph.Slice(site, x, "::-1, 1:, ::3")), 1, 2, 0))
		for _, in := range []*graph.Node{x, turned} {
			for _, kind := range kinds {
				for _, axes := range [][]int{{0}, {0, 2}} {
					n := must[*graph.Node](t)(graph.Aggregate(site, kind, in, graph.ReduceOptions{Axes: axes}))
					_, err := sized(n, compile.Target{}, size.Options{Budget: 1, Workers: 1})
					short := new(types.MemoryError)
					if !errors.As(err, &short) {
						t.Fatal(err)
					}
					var want []byte
					var modes []bool
					for _, o := range []size.Options{
						{Budget: 1 << 30, Workers: 4}, {Budget: short.Need, Workers: 1},
						{Budget: short.Need + 3<<20, Workers: 2}, {Budget: 3 * short.Need, Workers: 5},
					} {
						p := must[*size.Plan](t)(sized(n, compile.Target{}, o))
						modes = append(modes, p.Stages[0].DecodeWholeChunks)
						got := make([]byte, grid.Size(n.Shape)*n.DType.Size())
						if _, err := exec.Run(ctx, p, exec.Env{Into: got}); err != nil {
							t.Fatal(err)
						}
						if want == nil {
							want = got
						}
						if !bytes.Equal(got, want) {
							t.Errorf("%s of %s by %s along %v: another result with %+v", kind, in, name, axes, o)
						}
					}
					if name == "one" && in == x && !slices.Contains(modes, false) {
						t.Errorf("%s: no chunk was decoded as a stream", name)
					}
				}
			}
		}
	}
}
