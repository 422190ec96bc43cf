package exec_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/exec"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/compile"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/testcases"
	"github.com/gonbext/gonbext/oocore/types"
)

// around sums each element of a matrix with those above and below it. With Lines it is
// computed in chunks of so many rows.
type around struct {
	Shape []int
	Lines int
}

func init() { blockwise.Register("test_around", around{}) }

func (a around) Chunks() []int {
	if a.Lines == 0 {
		return nil
	}
	return []int{a.Lines, a.Shape[1]}
}

func (a around) Requirements(box []int) blockwise.Requirements {
	rows := min(box[0]+2, a.Shape[0])
	return blockwise.Requirements{Reads: [][]int{{rows, box[1]}}, Scratch: int64(rows * box[1] * 8)}
}

func (a around) Fill(ctx context.Context, t *blockwise.Task) error {
	first, last := max(t.Box.Start[0]-1, 0), min(t.Box.Start[0]+t.Box.Shape[0]+1, a.Shape[0])
	cols := t.Box.Shape[1]
	in := t.Scratch[:(last-first)*cols*8]
	if err := t.In[0].Read(ctx, grid.Box{Start: []int{first, t.Box.Start[1]}, Shape: []int{last - first, cols}}, in); err != nil {
		return err
	}
	return t.Compute(func() error {
		x, y := dtype.Slice[int64](in), dtype.Slice[int64](t.Dst)
		for r := range t.Box.Shape[0] {
			for c := range cols {
				y[r*cols+c] = 0
				for at := max(t.Box.Start[0]+r-1, 0); at <= min(t.Box.Start[0]+r+1, a.Shape[0]-1); at++ {
					y[r*cols+c] += x[(at-first)*cols+c]
				}
			}
		}
		return nil
	})
}

func summed(x []int64, rows, cols int) []int64 {
	y := make([]int64, len(x))
	for r := range rows {
		for c := range cols {
			for at := max(r-1, 0); at <= min(r+1, rows-1); at++ {
				y[r*cols+c] += x[at*cols+c]
			}
		}
	}
	return y
}

// Operations of boxes over files, fused and held, over each other, seen backwards, in
// steps and transposed, within their smallest budget and with plenty: the values are
// right, and what was predicted is what was reserved.
func TestBlockwise(t *testing.T) {
	rng := testcases.Rand(t)
	const rows, cols = 700, 530
	x := make([]int64, rows*cols)
	for i := range x {
		x[i] = rng.Int64N(1 << 20)
	}
	path := t.TempDir() + "/x.npy"
	w, err := store.Create(path, store.Meta{Shape: []int{rows, cols}, DType: dtype.Int64})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Write(t.Context(), dtype.Bytes(x), grid.Entire([]int{rows, cols})), w.Commit(t.Context())); err != nil {
		t.Fatal(err)
	}
	info, err := storage.Describe(path)
	if err != nil {
		t.Fatal(err)
	}
	source, err := graph.Open(graph.Site{}, info, "")
	if err != nil {
		t.Fatal(err)
	}
	boxes := func(n *graph.Node, lines int) *graph.Node {
		t.Helper()
		out, err := graph.NewBlockwise(graph.Site{}, "around", around{n.Shape, lines}, n.Shape, n.DType, []*graph.Node{n})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	must := func(n *graph.Node, err error) *graph.Node {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	once := summed(x, rows, cols)
	twice := summed(once, rows, cols)
	total := make([]int64, cols)
	back := make([]int64, rows*cols)
	turned := make([]int64, rows*cols)
	odd := make([]int64, 0, rows*cols/2)
	for r := range rows {
		for c := range cols {
			total[c] += once[r*cols+c]
			back[r*cols+c] = once[(rows-1-r)*cols+cols-1-c] + 1
			turned[c*rows+r] = once[r*cols+c]
			if c%3 == 0 {
				odd = append(odd, once[r*cols+c])
			}
		}
	}
	one := must(graph.Scalar(graph.Site{}, 1))
	for name, c := range map[string]struct {
		root *graph.Node
		want []int64
	}{
		"fused":      {boxes(source, 0), once},
		"held":       {boxes(source, 100), once},
		"nested":     {boxes(boxes(source, 0), 0), twice},
		"mixed":      {boxes(boxes(source, 128), 0), twice},
		"held twice": {boxes(boxes(source, 0), 77), twice},
		"reduced":    {must(graph.Aggregate(graph.Site{}, kernel.Sum, boxes(source, 0), graph.ReduceOptions{Axes: []int{0}})), total},
		"backwards":  {must(graph.Apply(graph.Site{}, kernel.Add, must(graph.Slice(graph.Site{}, boxes(source, 0), "::-1, ::-1")), one)), back},
		"transposed": {must(graph.Transpose(graph.Site{}, boxes(source, 0))), turned},
		"steps":      {must(graph.Slice(graph.Site{}, boxes(source, 0), ":, ::3")), odd},
	} {
		t.Run(name, func(t *testing.T) {
			var first []byte
			for _, workers := range []int{1, 3} {
				need := int64(1)
				_, err := sized(c.root, compile.Target{}, size.Options{Budget: need, Workers: workers})
				var short *types.MemoryError
				if !errors.As(err, &short) {
					t.Fatal(err)
				}
				for _, budget := range []int64{short.Need, 256 << 20} {
					p, err := sized(c.root, compile.Target{}, size.Options{Budget: budget, Workers: workers})
					if err != nil {
						t.Fatal(err)
					}
					text, err := p.Encode()
					if err != nil {
						t.Fatal(err)
					}
					decoded, err := plan.Decode(text)
					if err != nil {
						t.Fatal(err)
					}
					if p, err = size.New(decoded, size.Options{Budget: budget, Workers: workers}); err != nil {
						t.Fatal(err)
					}
					got := make([]byte, 8*grid.Size(c.root.Shape))
					end, err := exec.Run(t.Context(), p, exec.Env{Into: got})
					if err != nil {
						t.Fatal(err)
					}
					if !bytes.Equal(got, dtype.Bytes(c.want)) {
						t.Errorf("wrong values with %d workers and %d bytes", workers, budget)
					}
					if first == nil {
						first = got
					}
					if end.Peak != p.Peak.Host() {
						t.Errorf("reserved %d bytes, predicted %d (%v, %v)", end.Peak, p.Peak.Host(), record.Bytes(end.PeakBy), p.Peak)
					}
				}
			}
		})
	}
}

// A stage whose chunks are whole units of the output writes them itself; another's are
// copied from a temporary array. Values are the same.
func TestBlockwiseUnits(t *testing.T) {
	const rows, cols = 700, 530
	x := make([]int64, rows*cols)
	for i := range x {
		x[i] = int64(i) * 977 % 1009
	}
	source, err := graph.FromBytes(graph.Site{}, dtype.Bytes(x), dtype.Int64, rows, cols)
	if err != nil {
		t.Fatal(err)
	}
	root, err := graph.NewBlockwise(graph.Site{}, "around", around{source.Shape, 100}, source.Shape, dtype.Int64, []*graph.Node{source})
	if err != nil {
		t.Fatal(err)
	}
	want := dtype.Bytes(summed(x, rows, cols))
	for name, c := range map[string]struct {
		target compile.Target
		stages int
	}{
		"its own chunks": {compile.Target{}, 1},
		"units":          {compile.Target{Chunks: []int{50, 130}}, 1},
		"shards":         {compile.Target{Chunks: []int{25, 100}, Shards: []int{50, 200}, Codec: "zstd"}, 1},
		"across":         {compile.Target{Chunks: []int{64, 64}, Codec: "zstd"}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			c.target.Path = t.TempDir() + "/y.zarr"
			p, err := sized(root, c.target, size.Options{Budget: 256 << 20, Workers: 2})
			if err != nil {
				t.Fatal(err)
			}
			if len(p.Stages) != c.stages {
				t.Errorf("%d stages, want %d", len(p.Stages), c.stages)
			}
			end, err := exec.Run(t.Context(), p, exec.Env{})
			if err != nil {
				t.Fatal(err)
			}
			if end.Peak != p.Peak.Host() {
				t.Errorf("reserved %d bytes, predicted %d", end.Peak, p.Peak.Host())
			}
			a, err := store.Open(c.target.Path)
			if err != nil {
				t.Fatal(err)
			}
			got := make([]byte, len(want))
			if err := errors.Join(a.Read(t.Context(), got, grid.Entire(root.Shape).Region()), a.Close()); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Error("wrong values")
			}
		})
	}
}
