package exec_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/exec"
	"github.com/gonbext/gonbext/oocore/internal/exec/slots"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op/udf"
	"github.com/gonbext/gonbext/oocore/internal/plan/compile"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/testcases"
	"github.com/gonbext/gonbext/oocore/types"
)

const mebi = 1 << 20

var site graph.Site

// must ends the test on an error.
func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// ramp is an array of 0, 1, 2 … in memory.
func ramp(t testing.TB, shape ...int) *graph.Node {
	v := make([]float64, grid.Size(shape))
	for i := range v {
		v[i] = float64(i)
	}
	return must[*graph.Node](t)(graph.FromBytes(site, dtype.Bytes(v), dtype.Float64, shape...))
}

// collect computes a node within a budget, and checks that the arena kept to the
// prediction.
func collect[T dtype.Element](t testing.TB, n *graph.Node, o size.Options) []T {
	t.Helper()
	p, err := sized(n, compile.Target{}, o)
	if short := (&types.MemoryError{}); errors.As(err, &short) {
		o.Budget = short.Need
		p, err = sized(n, compile.Target{}, o)
	}
	if err != nil {
		t.Fatal(err)
	}
	out := make([]T, grid.Size(n.Shape))
	end, err := exec.Run(context.Background(), p, exec.Env{Into: dtype.Bytes(out)})
	if err != nil {
		t.Fatal(err)
	}
	if end.Peak > p.Peak.Host() {
		t.Errorf("%s: the arena's peak is %d bytes, predicted %d", n, end.Peak, p.Peak.Host())
	}
	return out
}

func small() size.Options { return size.Options{Budget: 1, Overhead: 0, Workers: 2} }

func TestMapAcrossPieces(t *testing.T) {
	x := ramp(t, 301, 1003)
	root := must[*graph.Node](t)(graph.Apply(site, kernel.Sqrt, x))
	got := collect[float64](t, root, small())
	for i, g := range got {
		if g != math.Sqrt(float64(i)) {
			t.Fatalf("element %d is %v, want %v", i, g, math.Sqrt(float64(i)))
		}
	}
}

// Views of views of a ramp against index arithmetic.
func TestViews(t *testing.T) {
	rapid.Check(testcases.Seeded(t), func(r *rapid.T) {
		shape := rapid.SliceOfN(rapid.IntRange(1, 40), 1, 4).Draw(r, "shape")
		n := ramp(t, shape...)
		// index maps a position of the present view to the ramp's value.
		now := slices.Clone(shape)
		index := func(i []int) int {
			at := 0
			for d, s := range grid.Strides(shape) {
				at += s * i[d]
			}
			return at
		}
		for range rapid.IntRange(0, 3).Draw(r, "views") {
			inner := index
			if rapid.Bool().Draw(r, "transpose") {
				axes := rapid.Permutation(seq(len(now))).Draw(r, "axes")
				n = must[*graph.Node](t)(graph.Transpose(site, n, axes...))
				index = func(i []int) int {
					j := make([]int, len(i))
					for k, a := range axes {
						j[a] = i[k]
					}
					return inner(j)
				}
			} else {
				d := rapid.IntRange(0, len(now)-1).Draw(r, "axis")
				start := rapid.IntRange(0, now[d]-1).Draw(r, "start")
				step := rapid.SampledFrom([]int{1, 2, 3, -1, -2}).Draw(r, "step")
				spec := ""
				for range d {
					spec += ":,"
				}
				spec += fmt.Sprintf("%d::%d", start, step)
				n = must[*graph.Node](t)(graph.Slice(site, n, spec))
				index = func(i []int) int {
					j := slices.Clone(i)
					j[d] = start + step*i[d]
					return inner(j)
				}
			}
			now = n.Shape
		}
		got := collect[float64](t, n, small())
		for at, b := range (grid.Grid{Shape: now, Chunks: ones(len(now))}).All() {
			if want := float64(index(b.Start)); got[at] != want {
				t.Fatalf("element %v is %v, want %v", b.Start, got[at], want)
			}
		}
	})
}

func seq(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}

func ones(n int) []int { return slices.Repeat([]int{1}, n) }

func TestBroadcast(t *testing.T) {
	row, col := ramp(t, 1500), ramp(t, 40, 1)
	root := must[*graph.Node](t)(graph.Apply(site, kernel.Add, must[*graph.Node](t)(graph.Apply(site, kernel.Multiply, col, must[*graph.Node](t)(graph.Scalar(site, 10_000)))), row))
	for i, g := range collect[float64](t, root, small()) {
		if want := float64(i/1500*10_000 + i%1500); g != want {
			t.Fatalf("element %d is %v, want %v", i, g, want)
		}
	}
}

// Sums and positions of maxima over any axes against plain loops.
func TestReductions(t *testing.T) {
	rapid.Check(testcases.Seeded(t), func(r *rapid.T) {
		shape := rapid.SliceOfN(rapid.IntRange(1, 30), 1, 4).Draw(r, "shape")
		if rapid.Bool().Draw(r, "long") {
			shape[rapid.IntRange(0, len(shape)-1).Draw(r, "longest")] = rapid.IntRange(1, 3000).Draw(r, "length")
		}
		axes := []int{}
		for d := range shape {
			if rapid.Bool().Draw(r, "reduced") {
				axes = append(axes, d)
			}
		}
		if len(axes) == 0 {
			axes = seq(len(shape))
		}
		x := ramp(t, shape...)
		sum := must[*graph.Node](t)(graph.Aggregate(site, kernel.Sum, x, graph.ReduceOptions{Axes: axes}))
		want := make([]float64, grid.Size(sum.Shape))
		for at, b := range (grid.Grid{Shape: shape, Chunks: ones(len(shape))}).All() {
			k := 0
			for d := range shape {
				if !slices.Contains(axes, d) {
					k = k*shape[d] + b.Start[d]
				}
			}
			want[k] += float64(at)
		}
		got := collect[float64](t, sum, small())
		for i := range want {
			if got[i] != want[i] { // sums of integers below 2⁵³ are exact
				t.Fatalf("sum of %v over %v: element %d is %v, want %v", shape, axes, i, got[i], want[i])
			}
		}
	})
}

func TestArgMaxAcrossChunks(t *testing.T) {
	const rows, cols = 3000, 700
	v := make([]float32, rows*cols)
	v[1234*cols+77], v[2999*cols+699] = 5, 5
	x := must[*graph.Node](t)(graph.FromBytes(site, dtype.Bytes(v), dtype.Float32, rows, cols))
	all := must[*graph.Node](t)(graph.Aggregate(site, kernel.ArgMax, x, graph.ReduceOptions{}))
	if got := collect[int64](t, all, small()); got[0] != 1234*cols+77 {
		t.Errorf("argmax is %d, want the first of two, %d", got[0], 1234*cols+77)
	}
	down := must[*graph.Node](t)(graph.Aggregate(site, kernel.ArgMax, x, graph.ReduceOptions{Axes: []int{0}}))
	got := collect[int64](t, down, small())
	if got[77] != 1234 || got[699] != 2999 || got[0] != 0 {
		t.Errorf("argmax by column is %d, %d, %d; want 1234, 2999, 0", got[77], got[699], got[0])
	}
}

// Results of sums that round must not change with workers or budget.
func TestBitsDoNotDependOnBudgetOrWorkers(t *testing.T) {
	x := must[*graph.Node](t)(graph.Uniform(site, dtype.Float32, 7, 5000, 333))
	y := must[*graph.Node](t)(graph.Uniform(site, dtype.Float32, 8, 333, 600))
	for _, root := range []*graph.Node{
		must[*graph.Node](t)(graph.Aggregate(site, kernel.Std, x, graph.ReduceOptions{Axes: []int{0}})),
		must[*graph.Node](t)(graph.Aggregate(site, kernel.Sum, x, graph.ReduceOptions{})),
		must[*graph.Node](t)(graph.Product(site, x, y)),
	} {
		var first []float32
		for _, o := range []size.Options{small(), {Budget: 1 << 30, Workers: 1}, {Budget: 1 << 30, Workers: 7}} {
			got := collect[float32](t, root, o)
			if first == nil {
				first = got
			}
			if !slices.Equal(first, got) {
				t.Errorf("%s: results differ with %+v", root, o)
			}
		}
	}
}

func TestMatMulAgainstLoops(t *testing.T) {
	const batch, m, k, n = 3, 37, 1100, 53
	a, b := ramp(t, batch, m, k), ramp(t, k, n)
	got := collect[float64](t, must[*graph.Node](t)(graph.Product(site, a, b)), small())
	for x := range batch {
		for i := range m {
			for j := range n {
				var want float64
				for l := range k {
					want += float64(x*m*k+i*k+l) * float64(l*n+j)
				}
				if g := got[(x*m+i)*n+j]; math.Abs(g-want) > 1e-12*want {
					t.Fatalf("[%d, %d, %d] is %v, want %v", x, i, j, g, want)
				}
			}
		}
	}
}

// A sum of products is that of their elements, whole and in parts, and zero of nothing.
func TestSumOfProductsAgainstLoops(t *testing.T) {
	const batch, p, q, m, k, n = 3, 4, 2, 37, 130, 53
	for _, part := range []string{"", "1:, 2::3, 50:7:-2"} {
		a, b := ramp(t, batch, p, q, m, k), ramp(t, p, q, k, n)
		c := must[*graph.Node](t)(graph.SumOfProducts(site, a, b, a.DType, 2))
		rows, cols, batches := span{0, 1, m}, span{0, 1, n}, span{0, 1, batch}
		if part != "" {
			c = must[*graph.Node](t)(graph.Slice(site, c, part))
			rows, cols, batches = span{2, 3, (m - 2 + 2) / 3}, span{50, -2, 22}, span{1, 1, batch - 1}
		}
		got := collect[float64](t, c, small())
		for x := range batches.n {
			for i := range rows.n {
				for j := range cols.n {
					var want float64
					for y := range p * q {
						for l := range k {
							want += float64(((batches.at(x)*p*q+y)*m+rows.at(i))*k+l) * float64((y*k+l)*n+cols.at(j))
						}
					}
					if g := got[(x*rows.n+i)*cols.n+j]; math.Abs(g-want) > 1e-12*want {
						t.Fatalf("[%d, %d, %d] of [%s] is %v, want %v", x, i, j, part, g, want)
					}
				}
			}
		}
	}
	none := must[*graph.Node](t)(graph.SumOfProducts(site, ramp(t, 0, 5, 6), ramp(t, 0, 6, 7), dtype.Float64, 1))
	if got := collect[float64](t, none, small()); !slices.Equal(got, make([]float64, 35)) {
		t.Errorf("the sum of no products is %v", got)
	}
}

// span are n places from a first one on.
type span struct{ first, step, n int }

func (s span) at(i int) int { return s.first + i*s.step }

func TestIntermediatesAndFiles(t *testing.T) {
	dir := t.TempDir()
	src := filepath.Join(dir, "x.npy")
	x := ramp(t, 4000, 300)
	run(t, x, src)
	f := open(t, src)
	// x − mean(x, 0) has mean 0 in every column: ramps have the mean of their ends.
	centred := must[*graph.Node](t)(graph.Apply(site, kernel.Subtract, f, must[*graph.Node](t)(graph.Aggregate(site, kernel.Mean, f, graph.ReduceOptions{Axes: []int{0}}))))
	run(t, centred, filepath.Join(dir, "c.npy"))
	got := collect[float64](t, open(t, filepath.Join(dir, "c.npy")), small())
	for i, g := range got {
		if want := float64(i/300*300) - 3999*300/2.0; g != want {
			t.Fatalf("element %d is %v, want %v", i, g, want)
		}
	}
	left := must[[]os.DirEntry](t)(os.ReadDir(dir))
	if len(left) != 2 {
		t.Errorf("%d entries are left, want the two arrays: %v", len(left), left)
	}
}

func open(t *testing.T, path string) *graph.Node {
	a := must[store.Array](t)(store.Open(path))
	defer a.Close()
	return must[*graph.Node](t)(graph.Open(site, a.Info(), filepath.Base(path)))
}

func run(t *testing.T, n *graph.Node, path string) {
	t.Helper()
	p, err := sized(n, compile.Target{Path: path}, size.Options{Budget: 64 * mebi, Overhead: 20 * mebi, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := exec.Run(context.Background(), p, exec.Env{}); err != nil {
		t.Fatal(err)
	}
}

func TestFunctionsOfChunks(t *testing.T) {
	double := func(dst []byte, src [][]byte, at grid.Box) error {
		out, in := dtype.Slice[float64](dst), dtype.Slice[float64](src[0])
		for i := range out {
			out[i] = 2 * in[i]
		}
		return nil
	}
	n := must[*graph.Node](t)(udf.Map(site, double, dtype.Float64, udf.MapOptions{Chunks: []int{7, 11}}, ramp(t, 100, 100)))
	for i, g := range collect[float64](t, n, small()) {
		if g != 2*float64(i) {
			t.Fatalf("element %d is %v", i, g)
		}
	}
	bad := func([]byte, [][]byte, grid.Box) error { panic("boom") }
	n = must[*graph.Node](t)(udf.Map(site, bad, dtype.Float64, udf.MapOptions{}, ramp(t, 100, 100)))
	p := must[*size.Plan](t)(sized(n, compile.Target{}, size.Options{Budget: 64 * mebi, Workers: 2}))
	_, err := exec.Run(context.Background(), p, exec.Env{Into: make([]byte, 80_000)})
	var task *slots.TaskError
	if !errors.As(err, &task) {
		t.Errorf("a function that panics gave %v, want a *TaskError", err)
	}
}

func TestCancelLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	n := must[*graph.Node](t)(graph.Uniform(site, dtype.Float64, 1, 20_000, 2000))
	p := must[*size.Plan](t)(sized(n, compile.Target{Path: filepath.Join(dir, "o.npy")}, size.Options{Budget: 64 * mebi, Workers: 2}))
	ctx, cancel := context.WithCancel(context.Background())
	env := exec.Env{Create: func(path string, m store.Meta) (store.Writer, error) {
		w, err := store.Create(path, m)
		return &cancelling{w, cancel}, err
	}}
	_, err := exec.Run(ctx, p, env)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	if left := must[[]os.DirEntry](t)(os.ReadDir(dir)); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

// cancelling is a writer that cancels its run after the first write.
type cancelling struct {
	store.Writer
	cancel func()
}

func (c *cancelling) Write(ctx context.Context, src []byte, b grid.Box) error {
	err := c.Writer.Write(context.WithoutCancel(ctx), src, b)
	c.cancel()
	return err
}

func BenchmarkTaskOverhead(b *testing.B) {
	const tasks = 1_000_000
	x, err := graph.Full(site, dtype.ValueOf(uint8(1)), tasks, 1)
	if err != nil {
		b.Fatal(err)
	}
	p, err := sized(x, compile.Target{Chunks: []int{1, 1}}, size.Options{Budget: 64 * mebi, Workers: 2})
	if err != nil {
		b.Fatal(err)
	}
	out := make([]byte, tasks)
	for b.Loop() {
		if _, err := exec.Run(context.Background(), p, exec.Env{Into: out}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/tasks, "µs/task")
}

// sized plans, and sizes for the given resources.
func sized(root *graph.Node, t compile.Target, o size.Options) (*size.Plan, error) {
	p, err := compile.New(root, t)
	if err != nil {
		return nil, err
	}
	return size.New(p, o)
}
