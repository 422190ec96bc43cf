// Package exectest is the suite that every executor passes: a plan of each kind of
// stage, whose result has the bytes that this process's slots give, and the values that
// plain arithmetic gives.
package exectest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/exec"
	"github.com/gonbext/gonbext/oocore/internal/exec/checkpoint"
	_ "github.com/gonbext/gonbext/oocore/internal/format/zarr" // arrays of chunks
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op"
	"github.com/gonbext/gonbext/oocore/internal/op/linalg"
	"github.com/gonbext/gonbext/oocore/internal/op/order"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/compile"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/store"
)

// Run runs a plan with an executor, in about the least memory that it takes.
type Run func(p *plan.Plan, env exec.Env) (record.End, error)

// Slots runs a plan in this process.
func Slots(p *plan.Plan, env exec.Env) (record.End, error) {
	s, err := size.New(p, size.Options{Budget: 256 << 20, Overhead: 16 << 20, Workers: 2})
	if err != nil {
		return record.End{}, err
	}
	return exec.Run(context.Background(), s, env)
}

// Case is a plan of some kinds of stages.
type Case struct {
	Name string
	// Plan makes the plan, whose output is a file at path; "" collects it.
	Plan func(path string) (*plan.Plan, error)
	Path string           // the output's name
	Want func() []float64 // the result
	// Tolerance is how much elements may differ from Want's; those of most cases may not.
	Tolerance float64
	Sums      func() []float64 // of the side reductions
}

// rows × cols float64 are three chunks of 4 MiB. All values are small whole numbers, so
// that sums and products of them are exact in any order.
const rows, cols = 1500, 1000

// tallRows × tallCols have several blocks of a QR.
const tallRows, tallCols = 90_000, 12

func value(i int) float64 { return float64(i * 7919 % 1009) }

func values(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = value(i)
	}
	return v
}

// orthonormal is the Q of a matrix of value(0), value(1) …, by the modified process of Gram
// and Schmidt.
func orthonormal(rows, cols int) []float64 {
	v := values(rows * cols)
	dot := func(a, b int) (sum float64) {
		for r := range rows {
			sum += v[r*cols+a] * v[r*cols+b]
		}
		return sum
	}
	for c := range cols {
		length := math.Sqrt(dot(c, c))
		for r := range rows {
			v[r*cols+c] /= length
		}
		for d := c + 1; d < cols; d++ {
			part := dot(c, d)
			for r := range rows {
				v[r*cols+d] -= part * v[r*cols+c]
			}
		}
	}
	return v
}

// near reports elements that differ by no more than a tolerance.
func near(a, b []float64, tolerance float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Abs(x-y) <= tolerance })
}

type builder struct{ err error }

// node is what f makes, or nothing after an error.
func (b *builder) node(n *graph.Node, err error) *graph.Node {
	if b.err == nil {
		b.err = err
	}
	return n
}

// Cases are plans that read arrays which it makes in a folder.
func Cases(dir string) ([]Case, error) {
	x, err := stored(filepath.Join(dir, "x.npy"), rows, cols, store.Meta{})
	if err != nil {
		return nil, err
	}
	y, err := stored(filepath.Join(dir, "y.zarr"), rows, cols, store.Meta{Chunks: []int{100, cols}})
	if err != nil {
		return nil, err
	}
	cubed := func(n *graph.Node, t compile.Target) func(string) (*plan.Plan, error) {
		return func(path string) (*plan.Plan, error) {
			t.Path = path
			return compile.New(n, t)
		}
	}
	z, err := stored(filepath.Join(dir, "z.npy"), tallRows, tallCols, store.Meta{})
	if err != nil {
		return nil, err
	}
	var b builder
	var site graph.Site
	apply := func(op kernel.Op, in ...*graph.Node) *graph.Node { return b.node(graph.Apply(site, op, in...)) }
	fold := func(kind kernel.Reduction, n *graph.Node, axes ...int) *graph.Node {
		return b.node(graph.Aggregate(site, kind, n, graph.ReduceOptions{Axes: axes}))
	}
	v := values(rows * cols)
	roots := func() (w []float64) {
		for _, a := range v {
			w = append(w, math.Sqrt(a))
		}
		return w
	}
	column := func(f func(c int) float64) func() []float64 {
		return func() (w []float64) {
			for c := range cols {
				w = append(w, f(c))
			}
			return w
		}
	}
	sumOf := func(c int) (sum float64) {
		for r := range rows {
			sum += v[r*cols+c]
		}
		return sum
	}
	inner := 300
	if testing.Short() {
		inner = 30
	}
	left := b.node(graph.Slice(site, x, fmt.Sprintf("0:700, 0:%d", inner)))
	right := b.node(graph.Slice(site, x, fmt.Sprintf("0:%d, 0:900", inner)))
	product := b.node(graph.Product(site, left, right))
	q, _, err := linalg.QR(site, op.Unary{X: z})
	if err != nil {
		return nil, err
	}
	sorted := b.node(order.Sort(site, order.SortArgs{X: b.node(graph.Transpose(site, y)), Axis: 1}))
	transposed := func(f func(column []float64)) func() []float64 {
		return func() (w []float64) {
			for c := range cols {
				column := make([]float64, rows)
				for r := range rows {
					column[r] = v[r*cols+c]
				}
				f(column)
				w = append(w, column...)
			}
			return w
		}
	}
	multiply := func() []float64 {
		w := make([]float64, 700*900)
		for i := range 700 {
			for k := range inner {
				a := v[i*cols+k]
				for j := range 900 {
					w[i*900+j] += a * v[k*cols+j]
				}
			}
		}
		return w
	}
	side := []*graph.Node{fold(kernel.Sum, x, 0, 1), fold(kernel.Max, x, 0, 1)}
	region := &grid.Box{Start: []int{200, 0}, Shape: []int{rows, cols}}
	regional := func(path string) (*plan.Plan, error) {
		if err := zeros(path, rows+300, cols); err != nil {
			return nil, err
		}
		return compile.New(apply(kernel.Sqrt, x), compile.Target{Path: path, Region: region, Whole: []int{rows + 300, cols}})
	}
	within := func() []float64 {
		w := make([]float64, (rows+300)*cols)
		copy(w[200*cols:], roots())
		return w
	}
	cases := []Case{
		{Name: "map", Path: "o.npy", Plan: cubed(apply(kernel.Sqrt, x), compile.Target{Chunks: []int{100, cols}}), Want: roots},
		{Name: "map of encoded chunks", Path: "o.zarr", Plan: cubed(apply(kernel.Sqrt, y), compile.Target{Chunks: []int{70, 500}, Codec: "zstd:1"}), Want: roots},
		{Name: "map of shards", Path: "o.zarr", Plan: cubed(apply(kernel.Sqrt, y), compile.Target{Chunks: []int{50, cols}, Shards: []int{200, cols}}), Want: roots},
		{Name: "map of open chunks", Path: "o.zarr", Plan: cubed(apply(kernel.Sqrt, y), compile.Target{Chunks: []int{50, cols}, Codec: "none"}), Want: roots},
		{Name: "map with side reductions", Path: "o.npy", Plan: cubed(apply(kernel.Sqrt, x), compile.Target{Chunks: []int{100, cols}, SideReductions: side}), Want: roots,
			Sums: func() []float64 {
				sum := 0.0
				for _, a := range v {
					sum += a
				}
				return []float64{sum, slices.Max(v)}
			}},
		{Name: "collected", Plan: cubed(apply(kernel.Sqrt, x), compile.Target{Chunks: []int{100, cols}}), Want: roots},
		{Name: "region", Path: "o.npy", Plan: regional, Want: within},
		{Name: "region of chunks", Path: "o.zarr", Plan: regional, Want: within},
		{Name: "reduction with partials", Path: "o.npy", Plan: cubed(fold(kernel.Sum, x, 0), compile.Target{}), Want: column(sumOf)},
		{Name: "reduction of encoded chunks", Path: "o.npy", Plan: cubed(fold(kernel.Sum, y, 0), compile.Target{}), Want: column(sumOf)},
		{Name: "reduction without partials", Path: "o.npy", Plan: cubed(fold(kernel.Max, x, 1), compile.Target{}),
			Want: func() (w []float64) {
				for r := range rows {
					w = append(w, slices.Max(v[r*cols:(r+1)*cols]))
				}
				return w
			}},
		{Name: "reduction to a number", Plan: cubed(fold(kernel.Sum, x, 0, 1), compile.Target{}),
			Want: func() []float64 {
				sum := 0.0
				for _, a := range v {
					sum += a
				}
				return []float64{sum}
			}},
		{Name: "product", Path: "o.npy", Plan: cubed(product, compile.Target{}), Want: multiply},
		{Name: "product to encoded chunks", Path: "o.zarr", Plan: cubed(product, compile.Target{Chunks: []int{100, 900}}), Want: multiply},
		{Name: "rechunk", Path: "o.zarr", Plan: cubed(y, compile.Target{Chunks: []int{rows, 40}}), Want: func() []float64 { return v }},
		{Name: "transpose", Path: "o.npy", Plan: cubed(b.node(graph.Transpose(site, y)), compile.Target{}), Want: transposed(func([]float64) {})},
		{Name: "sort", Path: "o.npy", Plan: cubed(sorted, compile.Target{}), Want: transposed(slices.Sort)},
		{Name: "temporary arrays", Path: "o.npy", Plan: cubed(apply(kernel.Subtract, apply(kernel.Multiply, x, x), fold(kernel.Max, b.node(order.Sort(site, order.SortArgs{X: y, Axis: 0})), 0)), compile.Target{Chunks: []int{100, cols}}),
			Want: func() (w []float64) {
				most := make([]float64, cols)
				for i, a := range v {
					most[i%cols] = max(most[i%cols], a)
				}
				for i, a := range v {
					w = append(w, a*a-most[i%cols])
				}
				return w
			}},
		{Name: "qr", Path: "o.npy", Plan: cubed(q, compile.Target{}), Want: func() []float64 { return orthonormal(tallRows, tallCols) }, Tolerance: 1e-9},
		{Name: "nothing", Path: "o.npy", Plan: cubed(b.node(graph.Slice(site, x, "0:0")), compile.Target{}), Want: func() []float64 { return nil }},
		{Name: "sums of nothing", Path: "o.npy", Plan: cubed(fold(kernel.Sum, b.node(graph.Slice(site, x, "0:0")), 0), compile.Target{}), Want: func() []float64 { return make([]float64, cols) }},
	}
	return cases, b.err
}

// stored writes an array of value(0), value(1) … and opens it.
func stored(path string, rows, cols int, m store.Meta) (*graph.Node, error) {
	if err := write(path, values(rows*cols), rows, cols, m); err != nil {
		return nil, err
	}
	a, err := store.Open(path)
	if err != nil {
		return nil, err
	}
	if err := a.Close(); err != nil {
		return nil, err
	}
	return graph.Open(graph.Site{}, a.Info(), "")
}

func zeros(path string, rows, cols int) error {
	return write(path, make([]float64, rows*cols), rows, cols, store.Meta{})
}

func write(path string, v []float64, rows, cols int, m store.Meta) error {
	m.Shape, m.DType = []int{rows, cols}, dtype.Float64
	w, err := store.Create(path, m)
	if err != nil {
		return err
	}
	if err := w.Write(context.Background(), dtype.Bytes(v), grid.Entire(m.Shape)); err != nil {
		return err
	}
	return w.Commit(context.Background())
}

// Test runs every case with an executor.
func Test(t *testing.T, run Run) {
	cases, err := Cases(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			want, sums, _ := Do(t, c, Slots)
			if v := dtype.Slice[float64](want); !near(v, c.Want(), c.Tolerance) {
				t.Fatal("the slots of this process give other values than arithmetic")
			}
			got, gotSums, end := Do(t, c, run)
			if !bytes.Equal(got, want) {
				t.Errorf("the result has other bytes than in this process")
			}
			if !slices.Equal(gotSums, sums) || c.Sums != nil && !slices.Equal(sums, c.Sums()) {
				t.Errorf("side reductions are %v, in this process %v", gotSums, sums)
			}
			if end.Skipped != 0 {
				t.Errorf("%d tasks were skipped", end.Skipped)
			}
		})
	}
}

// Do runs a case, and returns the bytes of its result and the side reductions.
func Do(t testing.TB, c Case, run Run) (result []byte, sums []float64, end record.End) {
	t.Helper()
	path := ""
	if c.Path != "" {
		path = filepath.Join(t.TempDir(), c.Path)
	}
	p, err := c.Plan(path)
	if err != nil {
		t.Fatal(err)
	}
	env, result, err := Environment(p)
	if err != nil {
		t.Fatal(err)
	}
	if c.Sums != nil {
		sums = make([]float64, len(c.Sums()))
		for i := range sums {
			env.SideReductions = append(env.SideReductions, dtype.Bytes(sums[i:i+1]))
		}
	}
	if end, err = run(p, env); err != nil {
		t.Fatal(err)
	}
	if path != "" {
		if result, err = Elements(path); err != nil {
			t.Fatal(err)
		}
		if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); len(left) > 0 {
			t.Errorf("%v is left in the folder of the result", left)
		}
	}
	return result, sums, end
}

// Environment is what a plan's run needs: a checkpoint where it writes a file, else room
// for the result.
func Environment(p *plan.Plan) (env exec.Env, into []byte, err error) {
	out := &p.Arrays[p.Output]
	if out.Place == plan.InResult {
		env.Checkpoint, err = checkpoint.New(p, p.Fingerprint("", nil), false)
		return env, nil, err
	}
	env.Into = make([]byte, out.Bytes())
	return env, env.Into, nil
}

// Elements reads a whole array.
func Elements(path string) (b []byte, err error) {
	a, err := store.Open(path)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	info := a.Info()
	b = make([]byte, grid.Size(info.Shape)*info.DType.Size())
	if c, ok := a.(storage.Coded); ok {
		s, err := c.Session(make([]byte, info.Work.Whole))
		if err != nil {
			return nil, err
		}
		defer s.Close()
		_, err = s.Read(context.Background(), b, grid.Entire(info.Shape).Region())
		return b, err
	}
	if err := a.Read(context.Background(), b, grid.Entire(info.Shape).Region()); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return b, nil
}

// mortal is the standard input of a worker process that is killed.
type mortal struct {
	io.Reader
	requests int
	deaths   string
}

// Mortal returns the standard input of a worker process that is killed at a random moment
// of one of its requests: not the first, so that a run comes to its end. The file deaths,
// which exists, gets a byte for each kill.
func Mortal(in io.Reader, deaths string) io.Reader {
	return &mortal{Reader: in, requests: 2 + rand.IntN(3), deaths: deaths}
}

func (m *mortal) Read(b []byte) (int, error) {
	n, err := m.Reader.Read(b)
	if m.requests -= bytes.Count(b[:n], []byte("\n")); m.requests <= 0 && n > 0 {
		time.AfterFunc(time.Duration(rand.IntN(20_000))*time.Microsecond, func() {
			if f, err := os.OpenFile(m.deaths, os.O_APPEND|os.O_WRONLY, 0); err == nil {
				f.WriteString("x")
			}
			if p, err := os.FindProcess(os.Getpid()); err == nil {
				p.Kill()
			}
		})
	}
	return n, err
}
