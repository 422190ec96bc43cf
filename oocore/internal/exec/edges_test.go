package exec_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/exec"
	"github.com/gonbext/gonbext/oocore/internal/exec/slots"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/memstore"
	"github.com/gonbext/gonbext/oocore/internal/op/udf"
	"github.com/gonbext/gonbext/oocore/internal/plan/compile"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/store"
)

// The results of folding nothing may be many: they take the memory of a chunk.
func TestEmptyAxisOfALargeResult(t *testing.T) {
	const n = 5_000_000
	x := must[*graph.Node](t)(graph.Full(site, dtype.ValueOf(1.0), 0, n))
	sum := must[*graph.Node](t)(graph.Aggregate(site, kernel.Sum, x, graph.ReduceOptions{Axes: []int{0}}))
	mean := must[*graph.Node](t)(graph.Aggregate(site, kernel.Mean, x, graph.ReduceOptions{Axes: []int{0}}))
	both := must[*graph.Node](t)(graph.Apply(site, kernel.Hypot, sum, mean))
	for i, v := range collect[float64](t, both, size.Options{Budget: n*8 + 8*mebi, Workers: 2}) {
		if !math.IsNaN(v) {
			t.Fatalf("element %d is %v, want NaN: 0/0 spreads", i, v)
		}
	}
	for i, v := range collect[float64](t, sum, size.Options{Budget: n*8 + 8*mebi, Workers: 2}) {
		if v != 0 {
			t.Fatalf("element %d is %v, want 0", i, v)
		}
	}
}

// A Go function that ends its goroutine must not leave a hole in the result.
func TestFunctionThatEndsItsGoroutine(t *testing.T) {
	f := func(_ []byte, _ [][]byte, at grid.Box) error {
		if at.Start[0] == 50 {
			runtime.Goexit()
		}
		return nil
	}
	n := must[*graph.Node](t)(udf.Map(site, f, dtype.Float64, udf.MapOptions{Chunks: []int{10}}, ramp(t, 100)))
	for _, workers := range []int{1, 3} {
		p := must[*size.Plan](t)(sized(n, compile.Target{}, size.Options{Budget: 64 * mebi, Workers: workers}))
		_, err := exec.Run(context.Background(), p, exec.Env{Into: make([]byte, 800)})
		if err == nil || !strings.Contains(err.Error(), "Goexit") {
			t.Errorf("got %v, want that the function called runtime.Goexit", err)
		}
	}
}

// unclosable is an input whose Close fails.
type unclosable struct{ store.Array }

func (u unclosable) Close() error { return errors.Join(errDisk, u.Array.Close()) }

// What fails after the last chunk leaves no output either.
func TestFailingCloseLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	src := filepath.Join(dir, "x.npy")
	run(t, ramp(t, 300, 30), src)
	for name, n := range jobs(t, open(t, src)) {
		p := must[*size.Plan](t)(sized(n, compile.Target{Path: filepath.Join(dir, "o.npy")}, size.Options{Budget: 64 * mebi, Workers: 2}))
		_, err := exec.Run(context.Background(), p, exec.Env{Open: func(path string) (store.Array, error) {
			a, err := store.Open(path)
			return unclosable{a}, err
		}})
		if !errors.Is(err, errDisk) {
			t.Errorf("%s: got %v, want the error of Close", name, err)
		}
		if left := must[[]os.DirEntry](t)(os.ReadDir(dir)); len(left) != 1 {
			t.Errorf("%s: left behind: %v", name, left)
		}
	}
}

// The chunk that an error names is the one that failed, not one that waited for it.
func TestErrorNamesItsChunk(t *testing.T) {
	const rows, cols = 40_000, 256 // 20 chunks fold into one result
	f := &memory{}
	f.put("x", memstore.New([]int{rows, cols}, dtype.Float64, make([]byte, rows*cols*8)))
	a := must[store.Array](t)(f.open("x"))
	x := must[*graph.Node](t)(graph.Open(site, a.Info(), "x"))
	sum := must[*graph.Node](t)(graph.Aggregate(site, kernel.Sum, x, graph.ReduceOptions{Axes: []int{0}}))
	for range 50 {
		p := must[*size.Plan](t)(sized(sum, compile.Target{}, size.Options{Budget: 256 * mebi, Workers: 4}))
		_, err := exec.Run(context.Background(), p, exec.Env{Into: make([]byte, cols*8), Open: func(path string) (store.Array, error) {
			a, err := f.open(path)
			return failsAt{a, p.Stages[0].Grid.Chunks[0] * 3}, err
		}})
		var task *slots.TaskError
		if !errors.As(err, &task) || task.Chunk.Start[0] != p.Stages[0].Grid.Chunks[0]*3 {
			t.Fatalf("got %v, want an error of the fourth chunk", err)
		}
	}
}

// failsAt is an array of which one row cannot be read.
type failsAt struct {
	store.Array
	row int
}

func (f failsAt) Read(ctx context.Context, dst []byte, r grid.Region) error {
	if r.Start[0] == f.row {
		return errDisk
	}
	return f.Array.Read(ctx, dst, r)
}

// A run that is cancelled for a reason of the caller's own has been cancelled.
func TestCancelledForAReason(t *testing.T) {
	reason := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(reason)
	for name, n := range jobs(t, ramp(t, 100, 100)) {
		p := must[*size.Plan](t)(sized(n, compile.Target{}, size.Options{Budget: 64 * mebi, Workers: 2}))
		end, err := exec.Run(ctx, p, exec.Env{Into: make([]byte, p.Arrays[p.Output].Bytes())})
		if !errors.Is(err, reason) || end.Status != "cancelled" || err.Error() != reason.Error() {
			t.Errorf("%s: the run is %s: %v", name, end.Status, err)
		}
	}
}

// A temporary array of a type that npy lacks goes to disk where memory is short.
func TestBFloat16IsSpilled(t *testing.T) {
	const rows, cols = 2_000_000, 3
	v := make([]dtype.BFloat16Bits, rows*cols)
	for i := range v {
		v[i] = dtype.ToBFloat16(float32(i * i % 97))
	}
	x := must[*graph.Node](t)(graph.FromBytes(site, dtype.Bytes(v), dtype.BFloat16, rows, cols))
	top := must[*graph.Node](t)(graph.Aggregate(site, kernel.Max, x, graph.ReduceOptions{Axes: []int{1}, KeepDims: true}))
	top = must[*graph.Node](t)(graph.Slice(site, top, "::-1")) // of another row, which is not in the same tile
	got := collect[dtype.BFloat16Bits](t, must[*graph.Node](t)(graph.Apply(site, kernel.Subtract, x, top)), small())
	for i, g := range got {
		row := v[(rows-1-i/cols)*cols:][:cols]
		most := max(row[0].Float32(), row[1].Float32(), row[2].Float32())
		if want := v[i].Float32() - most; g.Float32() != want { // whole numbers below 2⁸ are exact
			t.Fatalf("element %d is %v, want %v", i, g.Float32(), want)
		}
	}
}

// Tiles of chunked data are as wide as some of its chunks. Each block of them gets into its place
// in rows that are wider, at the edges as well.
func TestTilesThatAreNarrowerThanTheRowsThatAreWritten(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.zarr")
	stored := must[*size.Plan](t)(sized(ramp(t, 900, 1500), compile.Target{Path: path, Chunks: []int{700, 200}, Codec: "none"}, size.Options{Budget: 1 << 30, Workers: 1}))
	if _, err := exec.Run(context.Background(), stored, exec.Env{}); err != nil {
		t.Fatal(err)
	}
	root := must[*graph.Node](t)(graph.Apply(site, kernel.Sqrt, open(t, path)))
	out := filepath.Join(dir, "o.npy")
	p := must[*size.Plan](t)(sized(root, compile.Target{Path: out, Chunks: root.Shape}, size.Options{Budget: 1 << 30, Workers: 2}))
	if s := &p.Stages[0]; s.Tile[1] >= s.WriteTile[1] || s.Tile[0] == 1 || s.WriteTile[1] != 1500 {
		t.Fatalf("tiles are %v of %v", s.Tile, s.WriteTile)
	}
	if _, err := exec.Run(context.Background(), p, exec.Env{}); err != nil {
		t.Fatal(err)
	}
	want := collect[float64](t, must[*graph.Node](t)(graph.Apply(site, kernel.Sqrt, ramp(t, 900, 1500))), size.Options{Budget: 64 * mebi, Workers: 1})
	for i, v := range collect[float64](t, open(t, out), size.Options{Budget: 64 * mebi, Workers: 1}) {
		if v != want[i] {
			t.Fatalf("element %d is %v, want %v", i, v, want[i])
		}
	}
}
