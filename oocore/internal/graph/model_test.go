package graph_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// dense is an array in full: the truth that expressions are held to.
type dense struct {
	shape []int
	v     []float64
}

// at is the linear position of indices.
func (d dense) at(index []int) int {
	p := 0
	for i, n := range d.shape {
		p = p*n + index[i]
	}
	return p
}

// fill makes an array element by element.
func fill(shape []int, f func(index []int) float64) dense {
	d := dense{slices.Clone(shape), make([]float64, grid.Size(shape))}
	index := make([]int, len(shape))
	for p := range d.v {
		rest := p
		for i := len(shape) - 1; i >= 0; i-- {
			index[i] = rest % shape[i]
			rest /= shape[i]
		}
		d.v[p] = f(index)
	}
	return d
}

// evaluate computes a node by the definition of its kind, without regard to cost.
func evaluate(n *graph.Node) dense {
	in := make([]dense, len(n.In))
	for i, x := range n.In {
		in[i] = evaluate(x)
	}
	switch n.Kind {
	case graph.Source: // holds its elements' positions in the file
		return fill(n.Stored.Shape, func(index []int) float64 { return float64(dense{shape: n.Stored.Shape}.at(index)) })
	case graph.Constant:
		return fill(n.Shape, func([]int) float64 { return n.Value.Float() })
	case graph.Inline:
		return dense{n.Shape, dtype.Slice[float64](n.Data)}
	case graph.Iota:
		return fill(n.Shape, func(index []int) float64 {
			return n.First.Float() + n.Delta.Float()*float64(dense{shape: n.Shape}.at(index))
		})
	case graph.Elementwise:
		f := map[kernel.Op]func(a, b float64) float64{
			kernel.Add:      func(a, b float64) float64 { return a + b },
			kernel.Maximum:  math.Max,
			kernel.Negative: func(a, _ float64) float64 { return -a },
		}[n.Op]
		return fill(n.Shape, func(index []int) float64 {
			return f(in[0].v[in[0].at(index)], in[len(in)-1].v[in[len(in)-1].at(index)])
		})
	case graph.Cast:
		return in[0]
	case graph.View:
		return fill(n.Shape, func(index []int) float64 {
			inner := make([]int, len(in[0].shape))
			for d := range inner {
				inner[d] = n.View.Start[d]
				if a := n.View.Axis[d]; a >= 0 {
					inner[d] += n.View.Step[d] * index[a]
				}
			}
			return in[0].v[in[0].at(inner)]
		})
	case graph.Blockwise: // reshapes are the only ones here
		return dense{n.Shape, in[0].v}
	case graph.Reduce:
		return sum(in[0], n.Fold.Axes)
	case graph.MatMul:
		return multiply(in[0], in[1])
	}
	panic(fmt.Sprintf("no model of kind %d", n.Kind))
}

func sum(x dense, axes []int) dense {
	var shape []int
	for d, n := range x.shape {
		if !slices.Contains(axes, d) {
			shape = append(shape, n)
		}
	}
	out := fill(shape, func([]int) float64 { return 0 })
	fill(x.shape, func(index []int) float64 {
		var kept []int
		for d, i := range index {
			if !slices.Contains(axes, d) {
				kept = append(kept, i)
			}
		}
		out.v[out.at(kept)] += x.v[x.at(index)]
		return 0
	})
	return out
}

// multiply takes matrices without a stack, or one stack on the left.
func multiply(a, b dense) dense {
	last := len(a.shape) - 1
	shape := append(slices.Clone(a.shape[:last]), b.shape[1])
	return fill(shape, func(index []int) float64 {
		s := 0.0
		for k := range b.shape[0] {
			s += a.v[a.at(append(slices.Clone(index[:last]), k))] * b.v[b.at([]int{k, index[last]})]
		}
		return s
	})
}

// positions are the indices that Python's slice takes of a length, found by
// trying all. Bounds beyond ±99 stand for a missing one.
func positions(start, stop, step, length int) []int {
	bound := func(x, missing int) int {
		switch {
		case x > 99:
			return missing
		case x < 0:
			return x + length
		}
		return x
	}
	var out []int
	if step > 0 {
		first, end := max(bound(start, 0), 0), bound(stop, length)
		for i := range length {
			if i >= first && i < end && (i-first)%step == 0 {
				out = append(out, i)
			}
		}
		return out
	}
	first, end := min(bound(start, length-1), length-1), bound(stop, -1)
	for i := length - 1; i >= 0; i-- {
		if i <= first && i > end && (first-i)%-step == 0 {
			out = append(out, i)
		}
	}
	return out
}

// drawSlice is a slice of a shape, as text and as the positions along each axis;
// dropped axes have one and are listed.
func drawSlice(t *rapid.T, shape []int) (spec string, taken [][]int, dropped []int) {
	var parts []string
	for d, n := range shape {
		if n > 0 && rapid.IntRange(0, 4).Draw(t, "index") == 0 {
			i := rapid.IntRange(-n, n-1).Draw(t, "i")
			parts = append(parts, fmt.Sprint(i))
			taken = append(taken, []int{(i + n) % n})
			dropped = append(dropped, d)
			continue
		}
		ends := rapid.OneOf(rapid.IntRange(-7, 7), rapid.Just(100))
		start, stop := ends.Draw(t, "start"), ends.Draw(t, "stop")
		step := rapid.SampledFrom([]int{1, 2, 3, -1, -2, -3}).Draw(t, "step")
		text := func(x int) string {
			if x > 99 {
				return ""
			}
			return fmt.Sprint(x)
		}
		parts = append(parts, fmt.Sprintf("%s:%s:%d", text(start), text(stop), step))
		taken = append(taken, positions(start, stop, step, n))
	}
	return strings.Join(parts, ", "), taken, dropped
}

func take(x dense, taken [][]int, dropped []int) dense {
	var shape, axes []int
	for d, at := range taken {
		if !slices.Contains(dropped, d) {
			shape, axes = append(shape, len(at)), append(axes, d)
		}
	}
	return fill(shape, func(index []int) float64 {
		inner := make([]int, len(taken))
		for d, at := range taken {
			if i := slices.Index(axes, d); i >= 0 {
				inner[d] = at[index[i]]
			} else {
				inner[d] = at[0]
			}
		}
		return x.v[x.at(inner)]
	})
}

// leaf draws an array of a shape of each kind that has no inputs.
func leaf(t *rapid.T, shape []int) *graph.Node {
	size := grid.Size(shape)
	var n *graph.Node
	var err error
	switch rapid.IntRange(0, 4).Draw(t, "leaf") {
	case 0:
		n, err = graph.Open(site, store.Info{Path: "x.npy", Shape: shape, DType: dtype.Float64}, "")
	case 1:
		reversed := slices.Clone(shape)
		slices.Reverse(reversed)
		n, err = graph.Open(site, store.Info{Path: "f.npy", Shape: reversed, DType: dtype.Float64, Fortran: true}, "")
	case 2:
		v := make([]float64, size)
		for i := range v {
			v[i] = float64(i*i%17 - 5)
		}
		n, err = graph.FromBytes(site, dtype.Bytes(v), dtype.Float64, shape...)
	case 3:
		n, err = graph.Linspace(site, 1, float64(size), size)
		if err == nil {
			n, err = graph.Reshape(site, n, shape...)
		}
	default:
		n, err = graph.Full(site, dtype.ValueOf(2.5), shape...)
	}
	if err != nil {
		t.Fatal(err)
	}
	return n
}

var lengths = rapid.SampledFrom([]int{1, 1, 2, 2, 3, 3, 4, 4, 6, 6, 0})

// TestOperationsKeepTheirMeaning applies random operations to expressions and,
// by their definitions, to the arrays that they stand for.
func TestOperationsKeepTheirMeaning(t *testing.T) {
	for range 20 { // a hundred draws each: mistakes take several operations to show
		rapid.Check(testcases.Seeded(t), keepsMeaning)
	}
}

func keepsMeaning(t *rapid.T) {
	shape := rapid.SliceOfN(lengths, 0, 4).Draw(t, "shape")
	n := leaf(t, shape)
	x := evaluate(n)
	for range rapid.IntRange(1, 7).Draw(t, "steps") {
		n, x = step(t, n, x)
		checkInvariants(t, n)
		got := evaluate(n)
		pushed := new(graph.Pusher).Whole(n)
		checkInvariants(t, pushed)
		checkPushed(t, pushed)
		if moved := evaluate(pushed); !slices.EqualFunc(moved.v, got.v, func(a, b float64) bool { return a == b || a != a && b != b }) {
			t.Fatalf("%s is another array when its views are moved down: %s", n, pushed)
		}
		if !slices.Equal(n.Shape, x.shape) || !slices.Equal(got.shape, x.shape) && len(x.shape)+len(got.shape) > 0 {
			t.Fatalf("%s has shape %v, and %v when computed; it should be %v", n, n.Shape, got.shape, x.shape)
		}
		if !slices.Equal(got.v, x.v) {
			t.Fatalf("%s is %v, it should be %v", n, got.v, x.v)
		}
	}
}

func step(t *rapid.T, n *graph.Node, x dense) (*graph.Node, dense) {
	var err error
	dims := len(x.shape)
	switch rapid.SampledFrom([]string{"slice", "transpose", "add", "negative", "sum", "matmul", "reshape", "expand", "broadcast", "twice", "cast"}).Draw(t, "operation") {
	case "slice":
		spec, taken, dropped := drawSlice(t, x.shape)
		n, err = graph.Slice(site, n, spec)
		x = take(x, taken, dropped)
	case "transpose":
		axes := rapid.Permutation(grid.UpTo(dims)).Draw(t, "axes")
		n, err = graph.Transpose(site, n, axes...)
		if len(axes) == 0 {
			break
		}
		shape := make([]int, dims)
		for i, a := range axes {
			shape[i] = x.shape[a]
		}
		old := x
		x = fill(shape, func(index []int) float64 {
			inner := make([]int, dims)
			for i, a := range axes {
				inner[a] = index[i]
			}
			return old.v[old.at(inner)]
		})
	case "add":
		other := leaf(t, x.shape)
		if dims > 0 && rapid.Bool().Draw(t, "row") {
			other = leaf(t, x.shape[dims-1:])
		}
		y := evaluate(other)
		n, err = graph.Apply(site, kernel.Add, n, other)
		old := x
		x = fill(x.shape, func(index []int) float64 { return old.v[old.at(index)] + y.v[y.at(index[dims-len(y.shape):])] })
	case "negative":
		n, err = graph.Apply(site, kernel.Negative, n)
		old := x
		x = fill(x.shape, func(index []int) float64 { return -old.v[old.at(index)] })
	case "sum":
		axes := rapid.SliceOfNDistinct(rapid.IntRange(0, max(dims-1, 0)), min(dims, 1), dims, rapid.ID[int]).Draw(t, "axes")
		n, err = graph.Aggregate(site, kernel.Sum, n, graph.ReduceOptions{Axes: axes})
		x = sum(x, axes)
	case "matmul":
		if dims < 2 {
			break
		}
		other := leaf(t, []int{x.shape[dims-1], lengths.Draw(t, "columns")})
		n, err = graph.Product(site, n, other)
		x = multiply(x, evaluate(other))
	case "reshape":
		to := factored(t, grid.Size(x.shape))
		n, err = graph.Reshape(site, n, to...)
		x = dense{to, x.v}
	case "expand":
		at := rapid.IntRange(0, dims).Draw(t, "at")
		n, err = graph.ExpandDims(site, n, at)
		x = dense{slices.Insert(slices.Clone(x.shape), at, 1), x.v}
	case "broadcast":
		if dims > 4 {
			break
		}
		shape := append([]int{2}, x.shape...)
		for i := range shape {
			if shape[i] == 1 {
				shape[i] = 3
			}
		}
		n, err = graph.BroadcastTo(site, n, shape...)
		old := x
		x = fill(shape, func(index []int) float64 {
			inner := slices.Clone(index[1:])
			for d := range inner {
				if old.shape[d] == 1 {
					inner[d] = 0
				}
			}
			return old.v[old.at(inner)]
		})
	case "twice": // one part, used two times
		n, err = graph.Apply(site, kernel.Maximum, n, n)
	case "cast":
		n, err = graph.AsType(site, n, dtype.Complex128)
		if err == nil {
			n, err = graph.Apply(site, kernel.Real, n)
		}
		if err == nil && n.Kind == graph.Elementwise && n.Op == kernel.Real {
			n = n.In[0] // the model's numbers are real
			n, err = graph.Apply(site, kernel.Add, n, n)
			old := x
			x = fill(x.shape, func(index []int) float64 { return 2 * old.v[old.at(index)] })
		}
	}
	if err != nil {
		t.Fatalf("%v of %v: %v", n, x.shape, err)
	}
	return n, x
}

// factored is a shape of a size.
func factored(t *rapid.T, size int) []int {
	if size == 0 {
		return []int{0, lengths.Draw(t, "length")}
	}
	var shape []int
	for size > 1 {
		var divisors []int
		for d := 2; d <= size; d++ {
			if size%d == 0 {
				divisors = append(divisors, d)
			}
		}
		d := rapid.SampledFrom(append(divisors, 1)).Draw(t, "length")
		shape = append(shape, d)
		size /= d
		if len(shape) > 6 {
			shape = append(shape, size)
			break
		}
	}
	return shape
}

// checkInvariants holds a graph to what its package comment promises.
func checkInvariants(t *rapid.T, root *graph.Node) {
	for n := range graph.Nodes(root) {
		switch n.Kind {
		case graph.Elementwise, graph.Cast:
			for _, in := range n.In {
				if !slices.Equal(in.Shape, n.Shape) {
					t.Fatalf("an input of %s has shape %v, the node %v", n, in.Shape, n.Shape)
				}
			}
		case graph.View:
			in := n.In[0]
			if in.Kind == graph.View || in.Kind == graph.Constant {
				t.Fatalf("%s is a view of kind %d", n, in.Kind)
			}
			if n.View.Plain(in.Shape) || !slices.Equal(n.View.Shape, n.Shape) {
				t.Fatalf("%s has a plain or wrong view %v", n, n.View)
			}
		case graph.MatMul:
			for _, in := range n.In {
				if len(in.Shape) < 2 || in.DType != n.DType {
					t.Fatalf("%s multiplies a %v %s", n, in.Shape, in.DType)
				}
			}
		}
		if n.Weak {
			t.Fatalf("%s has a weak number in it", root)
		}
	}
}

// checkPushed holds a graph to what a Pusher promises of it.
func checkPushed(t *rapid.T, root *graph.Node) {
	for n := range graph.Nodes(root) {
		if n.Kind != graph.View {
			continue
		}
		switch in := n.In[0]; in.Kind {
		case graph.View, graph.Elementwise, graph.Cast, graph.Constant:
			t.Fatalf("%s is a view of kind %d", n, in.Kind)
		case graph.Reduce, graph.MatMul:
			for d, a := range n.View.Axis {
				if a >= 0 && n.Shape[a] != in.Shape[d] || a < 0 && in.Shape[d] != 1 {
					t.Fatalf("%s selects from a %v after it was computed", n, in.Shape)
				}
			}
		}
	}
}
