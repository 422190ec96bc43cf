package exec_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/exec"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op/order"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/compile"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/testcases"
	"github.com/gonbext/gonbext/oocore/types"
)

// Reductions and first elements of a product, and of functions of its elements, take its tiles as they are made: no
// array of its size exists. They have the same bits in any budget and by any number of workers, are those by
// arithmetic of int64, and take and read what was predicted.
func TestReductionsTakeProductsByTiles(t *testing.T) {
	dir := t.TempDir()
	rng := testcases.Rand(t)
	shapes := [][3]int{{2100, 2055, 3}}
	if !testing.Short() && testcases.Full() {
		shapes = append(shapes, [3]int{70, 61_001, 5}, [3]int{60_001, 71, 4}, [3]int{3001, 1500, 1100})
	}
	for _, s := range shapes {
		m, n, k := s[0], s[1], s[2]
		matrix := func(name string, rows, cols int) ([]int64, *graph.Node) {
			v := make([]int64, rows*cols)
			for i := range v {
				v[i] = int64(rng.IntN(16)) - 8
			}
			path := filepath.Join(dir, fmt.Sprint(name, m, ".npy"))
			file := must[*os.File](t)(os.Create(path))
			if err := errors.Join(writeNPY(file, []int{rows, cols}, dtype.Float32, elements(dtype.Float32, v)), file.Close()); err != nil {
				t.Fatal(err)
			}
			return v, open(t, path)
		}
		x, a := matrix("a", m, k)
		y, b := matrix("b", n, k)
		z, row := matrix("row", 1, n)
		want := make([]int64, m*n) // z - 2·x·y
		for i := range m {
			for j := range n {
				sum := int64(0)
				for p := range k {
					sum += x[i*k+p] * y[j*k+p]
				}
				want[i*n+j] = z[j] - 2*sum
			}
		}
		made := &graph.Maker{Site: site}
		product := must[*graph.Node](t)(graph.Product(site, a, must[*graph.Node](t)(graph.Transpose(site, b, 1, 0))))
		two := must[*graph.Node](t)(graph.Full(site, dtype.FromFloat(dtype.Float32, -2), 1, 1))
		node := made.Apply(kernel.Add, row, made.Apply(kernel.Multiply, two, product))
		if made.Err != nil {
			t.Fatal(made.Err)
		}
		line := func(axis, i int) (v []int64) {
			for j := range []int{m, n}[axis] {
				v = append(v, want[[]int{j*n + i, i*n + j}[axis]])
			}
			return v
		}
		for _, axis := range []int{0, 1} {
			lines := []int{m, n}[1-axis]
			results := func(each func(v []int64) []int64) (all []int64) {
				for i := range lines {
					all = append(all, each(line(axis, i))...)
				}
				return all
			}
			reduce := func(r kernel.Reduction) *graph.Node {
				return must[*graph.Node](t)(graph.Aggregate(site, r, node, graph.ReduceOptions{Axes: []int{axis}}))
			}
			first := func(k int, positions bool) func(v []int64) []int64 {
				return func(v []int64) []int64 {
					var at []int64 // the first so far, in order
					for i, x := range v {
						place := len(at)
						for place > 0 && (k > 0 && v[at[place-1]] < x || k < 0 && v[at[place-1]] > x) {
							place--
						}
						if most := max(k, -k); place < most {
							at = slices.Insert(at, place, int64(i))
							at = at[:min(len(at), most)]
						}
					}
					if !positions {
						for i, p := range at {
							at[i] = v[p]
						}
					}
					return at
				}
			}
			top := func(build func(graph.Site, order.TopArgs) (*graph.Node, error), k int) *graph.Node {
				return must[*graph.Node](t)(build(site, order.TopArgs{X: node, K: k, Axis: axis}))
			}
			for _, c := range []struct {
				name string
				node *graph.Node
				want []int64
			}{
				{"sum", reduce(kernel.Sum), results(func(v []int64) []int64 {
					sum := int64(0)
					for _, x := range v {
						sum += x
					}
					return []int64{sum}
				})},
				{"argmin", reduce(kernel.ArgMin), results(first(-1, true))},
				{"argtopk", top(order.ArgTop, 7), results(first(7, true))},
				{"topk", top(order.Top, -9), results(first(-9, false))},
			} {
				out := filepath.Join(dir, "out.npy")
				_, err := sized(c.node, compile.Target{Path: out}, size.Options{Budget: 1, Workers: 2})
				short := new(types.MemoryError)
				if !errors.As(err, &short) {
					t.Fatal(err)
				}
				var before []byte
				for _, o := range []size.Options{{Budget: 1 << 30, Workers: 2}, {Budget: short.Need, Workers: 2}, {Budget: short.Need + 16<<20, Workers: 5}} {
					p := must[*size.Plan](t)(sized(c.node, compile.Target{Path: out}, o))
					for i := range p.Arrays {
						if p.Arrays[i].Place != plan.InFile && 4*p.Arrays[i].Bytes() > int64(4*m*n) {
							t.Errorf("%s along %d of %v: the plan has an array of %v", c.name, axis, s, p.Arrays[i].Shape)
						}
					}
					end, err := exec.Run(context.Background(), p, exec.Env{})
					if err != nil {
						t.Fatal(err)
					}
					if end.Peak != p.Peak.Host() {
						t.Errorf("%s along %d of %v: the peak is %d bytes, predicted %d", c.name, axis, s, end.Peak, p.Peak.Host())
					}
					got := must[[]byte](t)(os.ReadFile(out))
					got = got[len(got)-int(p.Arrays[p.Output].Bytes()):]
					if before == nil {
						before = got
						values := widened(p.Arrays[p.Output].DType, got)
						if axis == 0 && len(values) > lines { // results lie across
							values = turned(values, lines)
						}
						if !slices.Equal(values, c.want) {
							t.Errorf("%s along %d of %v: another result than by its definition", c.name, axis, s)
						}
					}
					if !bytes.Equal(got, before) {
						t.Errorf("%s along %d of %v: another result with %+v", c.name, axis, s, o)
					}
				}
			}
		}
	}
}

// widened are whole numbers of a type.
func widened(t dtype.Type, data []byte) (all []int64) {
	if t == dtype.Int64 {
		return dtype.Slice[int64](data)
	}
	for _, x := range dtype.Slice[float32](data) {
		all = append(all, int64(x))
	}
	return all
}

// turned has lines of a matrix of so many columns, one after the other.
func turned(v []int64, columns int) (all []int64) {
	for i := range columns {
		for j := i; j < len(v); j += columns {
			all = append(all, v[j])
		}
	}
	return all
}

// A product that something else reads too is written once, as is one that is itself a result.
func TestProductsThatAreNeededStay(t *testing.T) {
	dir := t.TempDir()
	x := must[*graph.Node](t)(graph.FromBytes(site, make([]byte, 4*2100*2), dtype.Float32, 2100, 2))
	product := must[*graph.Node](t)(graph.Product(site, x, must[*graph.Node](t)(graph.Transpose(site, x, 1, 0))))
	most := must[*graph.Node](t)(graph.Aggregate(site, kernel.Max, product, graph.ReduceOptions{Axes: []int{1}, KeepDims: true}))
	least := must[*graph.Node](t)(graph.Aggregate(site, kernel.Min, product, graph.ReduceOptions{Axes: []int{1}, KeepDims: true}))
	across := must[*graph.Node](t)(graph.Aggregate(site, kernel.Min, product, graph.ReduceOptions{Axes: []int{0}, KeepDims: true}))
	apply := func(op kernel.Op, a, b *graph.Node) *graph.Node {
		return must[*graph.Node](t)(graph.Apply(site, op, a, b))
	}
	for _, c := range []struct {
		name string
		node *graph.Node
		kept bool
	}{
		{"scaled", apply(kernel.Subtract, product, most), true},
		{"both axes", apply(kernel.Subtract, across, most), true},
		{"one pass", apply(kernel.Subtract, most, least), false},
	} {
		p, err := compile.New(c.node, compile.Target{Path: filepath.Join(dir, "out.npy")})
		if err != nil {
			t.Fatal(err)
		}
		products := 0
		for i := range p.Stages {
			if p.Stages[i].Kind == plan.MatMulStage {
				products++
			}
			for _, l := range p.Stages[i].Programs[0].Loads {
				if !c.kept && l.Kind == plan.LoadBlocks {
					products += 10
				}
			}
		}
		if want := map[bool]int{true: 1, false: 10}[c.kept]; products != want {
			t.Errorf("%s: %d, not %d", c.name, products, want)
		}
	}
}
