// Package graphtest builds the expressions that tests of plans are about.
package graphtest

import (
	"slices"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op"
	"github.com/gonbext/gonbext/oocore/internal/op/cf"
	"github.com/gonbext/gonbext/oocore/internal/op/filter"
	"github.com/gonbext/gonbext/oocore/internal/op/label"
	"github.com/gonbext/gonbext/oocore/internal/op/shape"
	"github.com/gonbext/gonbext/oocore/store"
)

// Mebi is a MiB.
const Mebi = 1 << 20

// File is a stored array that does not exist: planning reads nothing.
func File(t *testing.T, name string, d dtype.Type, shape ...int) *graph.Node {
	t.Helper()
	n, err := graph.Open(graph.Site{}, store.Info{Path: name, Format: "npy", Shape: shape, DType: d}, name)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Node fails the test where a node could not be made.
func Node(t *testing.T) func(n *graph.Node, err error) *graph.Node {
	return func(n *graph.Node, err error) *graph.Node {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
}

// Apply is an operation of each element.
func Apply(t *testing.T, op kernel.Op, in ...*graph.Node) *graph.Node {
	return Node(t)(graph.Apply(graph.Site{}, op, in...))
}

// Fold is a reduction along axes, or along all.
func Fold(t *testing.T, kind kernel.Reduction, in *graph.Node, axes ...int) *graph.Node {
	return Node(t)(graph.Aggregate(graph.Site{}, kind, in, graph.ReduceOptions{Axes: axes}))
}

// Slice is a part of an array, by NumPy's notation.
func Slice(t *testing.T, n *graph.Node, spec string) *graph.Node {
	return Node(t)(graph.Slice(graph.Site{}, n, spec))
}

// Transpose has the axes in the opposite order.
func Transpose(t *testing.T, n *graph.Node) *graph.Node {
	return Node(t)(graph.Transpose(graph.Site{}, n))
}

// Roll moves elements by one along the first axis.
func Roll(t *testing.T, n *graph.Node) *graph.Node {
	return Node(t)(shape.Roll(graph.Site{}, n, []int{1}, []int{0}))
}

// Coded is a stored array by chunks that does not exist.
func Coded(t *testing.T, name string, chunks []int, shape ...int) *graph.Node {
	t.Helper()
	bytes := int64(grid.Size(chunks)) * 4
	n, err := graph.Open(graph.Site{}, store.Info{Path: name, Format: "zarr", Shape: shape, DType: dtype.Float32, Chunks: chunks,
		Work: store.Work{Whole: 2 * bytes, Stream: 1 << 20, Heap: 100 << 10}}, name)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Levels are an array and what follows from it, each the means of 2 × 2 elements of the one before.
func Levels(t *testing.T, x *graph.Node, n int) []*graph.Node {
	all := []*graph.Node{x}
	for len(all) < n {
		x = Node(t)(graph.AsType(graph.Site{}, Node(t)(filter.Downsample(graph.Site{}, op.Lengths{X: x, Lengths: []int{2}})), x.DType))
		all = append(all, x)
	}
	return all
}

// OfLabels reports a function of labels or dates, which come from files: package interchange compares these with xarray, and
// what tries each function leaves them to it.
func OfLabels(name string) bool {
	return name == "resample" || slices.Contains(cf.AllFields, cf.Field(name)) || slices.ContainsFunc(label.Rows, func(r op.Row) bool { return r.Name == name })
}
