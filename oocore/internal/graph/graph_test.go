package graph_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/testcases"
)

func source(t testing.TB, name string, shape ...int) *graph.Node {
	t.Helper()
	return testcases.Must[*graph.Node](t)(graph.Open(site, store.Info{Path: "data/" + name, Shape: shape, DType: dtype.Float32}, ""))
}

func TestErrorsSayWhatAndWhere(t *testing.T) {
	at := graph.Site{File: "/home/someone/notebook.go", Line: 12}
	a, b := array(t, dtype.Float32, 3, 4), array(t, dtype.Float32, 5, 6)
	flags, ints, complexes := array(t, dtype.Bool, 3), array(t, dtype.Int32, 3), array(t, dtype.Complex64, 3)
	for _, c := range []struct {
		make func() (*graph.Node, error)
		want string
	}{
		{func() (*graph.Node, error) { return graph.Product(at, a, b) },
			"matmul: shapes (3, 4) and (5, 6) do not align: 4 columns meet 5 rows (notebook.go:12)"},
		{func() (*graph.Node, error) { return graph.Apply(at, kernel.Add, a, b) },
			"add: shapes (3, 4) and (5, 6) do not broadcast together (notebook.go:12)"},
		{func() (*graph.Node, error) { return graph.Apply(at, kernel.Subtract, flags, flags) },
			"subtract: bools have no difference: use LogicalXor, or AsType first (notebook.go:12)"},
		{func() (*graph.Node, error) { return graph.Apply(at, kernel.BitAnd, a, a) },
			"bitwise_and: takes integers or bools, not float32 (notebook.go:12)"},
		{func() (*graph.Node, error) { return graph.Apply(at, kernel.Power, ints, scalar(t, "int", -2)) },
			"power: integers have no negative integer powers: bring either side to float64 with AsType (notebook.go:12)"},
		{func() (*graph.Node, error) { return graph.AsType(at, complexes, dtype.Float32) },
			"astype: complex64 to float32 would drop the imaginary part: take Real, Imag or Abs (notebook.go:12)"},
		{func() (*graph.Node, error) { return graph.AsType(at, a, dtype.Invalid) },
			"astype: 0 is no type of elements: write one by its name, such as oocore.Float64 (notebook.go:12)"},
		{func() (*graph.Node, error) { return graph.AsType(at, complexes, 99) },
			"astype: 99 is no type of elements: write one by its name, such as oocore.Float64 (notebook.go:12)"},
		{func() (*graph.Node, error) {
			return graph.Aggregate(at, kernel.Mean, a, graph.ReduceOptions{DType: 99})
		},
			"mean: 99 is no type of elements: write one by its name, such as oocore.Float64 (notebook.go:12)"},
		{func() (*graph.Node, error) { return graph.Aggregate(at, 101, a, graph.ReduceOptions{}) },
			"Reduction(101): is not a reduction: use one by its name, such as Sum (notebook.go:12)"},
		{func() (*graph.Node, error) { return graph.Uniform(at, 99, 1, 3) },
			"random: 99 stands where the type of the elements does: write oocore.Random(oocore.Float64, 1, 99, 1, 3) (notebook.go:12)"},
		{func() (*graph.Node, error) {
			_, err := graph.AsType(at, complexes, dtype.Float32)
			return nil, graph.Reject(at, "outer", err)
		},
			"outer: astype: complex64 to float32 would drop the imaginary part: take Real, Imag or Abs (notebook.go:12)"},
		{func() (*graph.Node, error) { return graph.Slice(at, a, "9") },
			`slice: slice "9": index 9 is out of bounds for axis 0 with size 3 (notebook.go:12)`},
		{func() (*graph.Node, error) {
			return graph.Aggregate(at, kernel.Min, array(t, dtype.Int8, 0), graph.ReduceOptions{})
		},
			"min: shape (0,) has no elements to take it of (notebook.go:12)"},
		{func() (*graph.Node, error) {
			return graph.Aggregate(at, kernel.ArgMax, a, graph.ReduceOptions{Axes: []int{0, 1}})
		},
			"argmax: takes one axis or none, not 2 (notebook.go:12)"},
		{func() (*graph.Node, error) {
			return graph.Aggregate(at, kernel.ArgMax, a, graph.ReduceOptions{Where: flags})
		},
			"argmax: takes no Where: give the elements that do not count another value before (notebook.go:12)"},
		{func() (*graph.Node, error) { return graph.Reshape(at, a, 5, -1) },
			"reshape: the 12 elements of shape (3, 4) do not fill (5, -1) (notebook.go:12)"},
		{func() (*graph.Node, error) { return graph.Full(at, dtype.ValueOf(1.0), -3) },
			"full: shape (-3,) has a negative length (notebook.go:12)"},
		{func() (*graph.Node, error) { return graph.Full(at, dtype.ValueOf(1.0), 1<<40, 1<<40) },
			"full: shape (1099511627776, 1099511627776) of 8-byte elements has more bytes than 63 bits count (notebook.go:12)"},
		{func() (*graph.Node, error) { return graph.BroadcastTo(at, a, make([]int, 33)...) },
			"broadcast_to: shape has 33 dimensions, at most 32 are possible (notebook.go:12)"},
		{func() (*graph.Node, error) { return graph.Squeeze(at, a, 0) },
			"squeeze: axis 0 of shape (3, 4) has a length other than one (notebook.go:12)"},
	} {
		_, err := c.make()
		var typed *graph.Error
		if err == nil || err.Error() != c.want || !errors.As(err, &typed) || typed.Site != at || errors.Unwrap(err) == nil {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
}

func TestText(t *testing.T) {
	b, x := source(t, "b.npy", 40), source(t, "x.npy", 100, 40)
	check := testcases.Must[*graph.Node](t)
	apply := func(op kernel.Op, in ...*graph.Node) *graph.Node { return check(graph.Apply(site, op, in...)) }
	two := scalar(t, "int", 2)
	for want, n := range map[string]*graph.Node{
		"tanh(sqrt(b.npy)*2 + exp(-b.npy))": apply(kernel.Tanh, apply(kernel.Add,
			apply(kernel.Multiply, apply(kernel.Sqrt, b), two), apply(kernel.Exp, apply(kernel.Negative, b)))),
		"(b.npy - 2)*(b.npy - (b.npy - 2))": apply(kernel.Multiply, apply(kernel.Subtract, b, two), apply(kernel.Subtract, b, apply(kernel.Subtract, b, two))),
		"x.npy - mean(x.npy, 0)":            apply(kernel.Subtract, x, check(graph.Aggregate(site, kernel.Mean, x, graph.ReduceOptions{Axes: []int{0}}))),
		"sum(x.npy)":                        check(graph.Aggregate(site, kernel.Sum, x, graph.ReduceOptions{})),
		`astype(b.npy, "float16")`:          check(graph.AsType(site, b, dtype.Float16)),
		"where(b.npy > 2, b.npy, 0)":        apply(kernel.Where, apply(kernel.Greater, b, two), b, scalar(t, "int", 0)),
		"matmul(x.npy, b.npy)":              check(graph.Product(site, x, b)),
		"x.npy.T":                           check(graph.Transpose(site, x)),
		"sqrt(x.npy)[10:20, 39:36:-2]":      check(graph.Slice(site, apply(kernel.Sqrt, x), "10:20, :-5:-2")),
		"x.npy[3, :]":                       check(graph.Slice(site, x, "3")),
		"x.npy[5::-1, :]":                   check(graph.Slice(site, x, "5::-1")),
		"random(7) + arange(7)":             apply(kernel.Add, check(graph.Uniform(site, dtype.Float64, 1, 7)), check(graph.Arange(site, scalar(t, "int", 0), scalar(t, "int", 7), scalar(t, "int", 1)))),
		"!(b.npy == 2) && b.npy < 2":        apply(kernel.LogicalAnd, apply(kernel.LogicalNot, apply(kernel.Equal, b, two)), apply(kernel.Less, b, two)),
	} {
		if n.String() != want {
			t.Errorf("%s, want %s", n, want)
		}
	}
	// A shared part makes the text, but not the graph, exponentially long.
	n := b
	for range 200 {
		n = apply(kernel.Add, n, n)
	}
	if s := n.String(); len([]rune(s)) != 120 || !strings.HasSuffix(s, "…") {
		t.Errorf("%d runes: %s", len([]rune(s)), s)
	}
	sliced := check(graph.Slice(site, n, "3:5"))
	for m, want := range map[*graph.Node]int{sliced: 202, new(graph.Pusher).Whole(sliced): 202} {
		if got := len(slices.Collect(graph.Nodes(m))); got != want {
			t.Errorf("a slice makes %d nodes of 201, want %d", got, want)
		}
	}
}

// The kept axes of a sum over the middle one are no neighbours in its input: only then
// does a reshape move elements.
func TestReshapeOfReductions(t *testing.T) {
	x := source(t, "x.npy", 2, 3, 4)
	for axis, movement := range []bool{false, true, false} {
		sum := testcases.Must[*graph.Node](t)(graph.Aggregate(site, kernel.Sum, x, graph.ReduceOptions{Axes: []int{axis}}))
		n := testcases.Must[*graph.Node](t)(graph.Reshape(site, sum, -1))
		if (n.Kind == graph.Blockwise) != movement {
			t.Errorf("axis %d: it is %s", axis, n)
		}
		if !slices.Equal(evaluate(n).v, evaluate(sum).v) {
			t.Errorf("axis %d: the reshaped sum is %v", axis, evaluate(n).v)
		}
	}
}

// TestComparisonsAcrossSigns compares what float64 cannot tell apart, by the
// nodes' own definition on int64 and uint64.
func TestComparisonsAcrossSigns(t *testing.T) {
	signed := []int64{math.MinInt64, -1, 0, 1, 1<<53 + 1, math.MaxInt64 - 1, math.MaxInt64}
	unsigned := []uint64{0, 1, 1<<53 + 1, 1 << 53, math.MaxInt64, math.MaxInt64 - 1, math.MaxUint64}
	less := func(s int64, u uint64) bool { return s < 0 || uint64(s) < u }
	for _, s := range signed {
		for _, u := range unsigned {
			a := testcases.Must[*graph.Node](t)(graph.Full(site, dtype.ValueOf(s)))
			b := testcases.Must[*graph.Node](t)(graph.Full(site, dtype.ValueOf(u)))
			equal := s >= 0 && uint64(s) == u
			for op, want := range map[kernel.Op]bool{
				kernel.Equal: equal, kernel.NotEqual: !equal, kernel.Less: less(s, u), kernel.LessEqual: less(s, u) || equal,
				kernel.Greater: !less(s, u) && !equal, kernel.GreaterEqual: !less(s, u),
			} {
				if got := truth(t, testcases.Must[*graph.Node](t)(graph.Apply(site, op, a, b))); got != want {
					t.Errorf("%s(int64 %d, uint64 %d) = %v", op, s, u, got)
				}
			}
			if got := truth(t, testcases.Must[*graph.Node](t)(graph.Apply(site, kernel.Greater, b, a))); got != less(s, u) {
				t.Errorf("greater(uint64 %d, int64 %d) = %v", u, s, got)
			}
		}
	}
}

// truth is the value of an expression over constants, by the kernels.
func truth(t *testing.T, n *graph.Node) bool { return value(t, n)[0] != 0 }

func value(t *testing.T, n *graph.Node) []byte {
	t.Helper()
	out := make([]byte, n.DType.Size())
	var in [3][]byte
	for i, x := range n.In {
		in[i] = value(t, x)
	}
	switch n.Kind {
	case graph.Constant:
		n.Value.Put(out)
	case graph.Cast:
		f, _ := kernel.Cast(n.In[0].DType, n.DType)
		f(1, out, in[0], nil, nil)
	case graph.Elementwise:
		f, _ := kernel.Lookup(n.Op, n.In[len(n.In)-1].DType)
		f(1, out, in[0], in[1], in[2])
	default:
		t.Fatalf("%s is not made of constants", n)
	}
	return out
}

func TestLinspaceEndsWhereItSays(t *testing.T) {
	for count := range 200 {
		n := testcases.Must[*graph.Node](t)(graph.Linspace(site, 0.1, 0.7, count))
		if !slices.Equal(n.Shape, []int{count}) {
			t.Fatalf("%d: shape %v", count, n.Shape)
		}
		if n.Kind == graph.Iota && count > 1 {
			if last := n.First.Float() + float64(n.Delta.Float()*float64(count-1)); last != 0.7 {
				t.Errorf("%d numbers end at %v", count, last)
			}
		} else if count > 1 && (n.Op != kernel.Where || n.In[1].Value.Float() != 0.7) {
			t.Errorf("%d: %s", count, n)
		}
	}
}

func TestArangeLengths(t *testing.T) {
	for _, c := range []struct {
		start, stop, step any
		want              int // -1: rejected
	}{
		{0, 10, 1, 10}, {0, 10, 3, 4}, {10, 0, -3, 4}, {5, 5, 1, 0}, {5, 0, 1, 0}, {0.0, 1.0, 0.1, 10}, {0.0, 1.0, 0.3, 4},
		{math.MinInt64, math.MaxInt64, math.MaxInt64, 3}, {0, 1, 0, -1}, {0.0, math.Inf(1), 1, -1}, {0.0, math.NaN(), 1, -1},
		{uint64(0), uint64(math.MaxUint64), uint64(1 << 62), 4},
	} {
		var in [3]*graph.Node
		for i, v := range []any{c.start, c.stop, c.step} {
			in[i] = testcases.Must[*graph.Node](t)(graph.Scalar(site, v))
		}
		n, err := graph.Arange(site, in[0], in[1], in[2])
		if (err != nil) != (c.want < 0) || err == nil && n.Shape[0] != c.want {
			t.Errorf("arange(%v, %v, %v): %v, %v; want %d", c.start, c.stop, c.step, n, err, c.want)
		}
	}
}
