package graph_test

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// numpy is what testdata/make.py found out about NumPy. An empty type is an
// error of NumPy's, a null shape as well.
type numpy struct {
	Unary      map[string]map[string]string
	Binary     map[string]map[string]map[string]string
	Where      map[string]map[string]string
	Reductions map[string]map[string]string
	Matmul     map[string]map[string]string
	Arange     map[string]map[string]string
	Broadcast  []shapes
	Product    []shapes
	Reduce     []struct {
		Shape, Axes, Out []int
		Keep             bool
	}
}

type shapes struct {
	In  [2][]int
	Out *[]int
}

func reference(t *testing.T) (n numpy) {
	t.Helper()
	b := testcases.ReadFile(t, "testdata/numpy.json")
	if err := json.Unmarshal(b, &n); err != nil {
		t.Fatal(err)
	}
	return n
}

var site graph.Site

// array is zeros in memory, of a type and shape.
func array(t testing.TB, typ dtype.Type, shape ...int) *graph.Node {
	t.Helper()
	n, err := graph.FromBytes(site, make([]byte, grid.Size(shape)*typ.Size()), typ, shape...)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// named is an operand by the name that the reference has for its type: an array,
// or for a weak number's the number.
func named(t testing.TB, name string) *graph.Node {
	t.Helper()
	for i, weak := range []any{1, 1.0, 1i} {
		if name == []string{"int", "float", "complex"}[i] {
			n, err := graph.Scalar(site, weak)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	typ, err := dtype.Parse(name)
	if err != nil {
		t.Fatal(err)
	}
	return array(t, typ, 2)
}

func ops() map[string]kernel.Op {
	all := map[string]kernel.Op{}
	for _, row := range kernel.Rows() {
		all[row.Name] = row.Op
	}
	return all
}

func checkType(t *testing.T, what string, n *graph.Node, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err == nil:
		t.Errorf("%s is %s, NumPy rejects it", what, n.DType)
	case want != "" && err != nil:
		t.Errorf("%s is rejected (%v), NumPy has %s", what, err, want)
	case want != "" && n.DType.String() != want:
		t.Errorf("%s is %s, NumPy has %s", what, n.DType, want)
	}
}

func TestResultTypesAsNumPy(t *testing.T) {
	ref, known := reference(t), ops()
	for f, types := range ref.Unary {
		for a, want := range types {
			n, err := graph.Apply(site, known[f], named(t, a))
			checkType(t, f+"("+a+")", n, err, want)
		}
	}
	for f, table := range ref.Binary {
		for a, types := range table {
			for b, want := range types {
				x, y := named(t, a), named(t, b)
				n, err := graph.Apply(site, known[f], x, y)
				checkType(t, f+"("+a+", "+b+")", n, err, want)
			}
		}
	}
	for a, types := range ref.Where {
		for b, want := range types {
			n, err := graph.Apply(site, kernel.Where, array(t, dtype.Bool, 2), named(t, a), named(t, b))
			checkType(t, "where("+a+", "+b+")", n, err, want)
		}
	}
	for _, row := range kernel.Reductions() {
		kind := row.Reduction
		for a, want := range ref.Reductions[kind.String()] {
			n, err := graph.Aggregate(site, kind, named(t, a), graph.ReduceOptions{})
			checkType(t, kind.String()+"("+a+")", n, err, want)
		}
	}
	for a, types := range ref.Matmul {
		for b, want := range types {
			x, y := named(t, a), named(t, b)
			n, err := graph.Product(site, x, y)
			checkType(t, "matmul("+a+", "+b+")", n, err, want)
		}
	}
	for a, types := range ref.Arange {
		for b, want := range types {
			n, err := graph.Arange(site, scalar(t, a, 0), scalar(t, b, 3), scalar(t, "int", 1))
			checkType(t, "arange("+a+", "+b+", 1)", n, err, want)
		}
	}
}

func scalar(t *testing.T, name string, x int) *graph.Node {
	t.Helper()
	var v any
	switch name {
	case "int":
		v = x
	case "float":
		v = float64(x)
	case "int8":
		v = int8(x)
	case "int16":
		v = int16(x)
	case "float32":
		v = float32(x)
	}
	n, err := graph.Scalar(site, v)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func checkShape(t *testing.T, what string, in [2][]int, n *graph.Node, err error, want *[]int) {
	t.Helper()
	switch {
	case want == nil && err == nil:
		t.Errorf("%s of %v is %v, NumPy rejects it", what, in, n.Shape)
	case want != nil && err != nil:
		t.Errorf("%s of %v is rejected (%v), NumPy has %v", what, in, err, *want)
	case want != nil && !slices.Equal(n.Shape, *want):
		t.Errorf("%s of %v is %v, NumPy has %v", what, in, n.Shape, *want)
	}
}

func TestShapesAsNumPy(t *testing.T) {
	ref := reference(t)
	for _, c := range ref.Broadcast {
		n, err := graph.Apply(site, kernel.Add, array(t, dtype.Int8, c.In[0]...), array(t, dtype.Int8, c.In[1]...))
		checkShape(t, "add", c.In, n, err, c.Out)
	}
	for _, c := range ref.Product {
		n, err := graph.Product(site, array(t, dtype.Int8, c.In[0]...), array(t, dtype.Int8, c.In[1]...))
		checkShape(t, "matmul", c.In, n, err, c.Out)
	}
	for _, c := range ref.Reduce {
		n, err := graph.Aggregate(site, kernel.Sum, array(t, dtype.Int8, c.Shape...), graph.ReduceOptions{Axes: c.Axes, KeepDims: c.Keep})
		checkShape(t, "sum", [2][]int{c.Shape, c.Axes}, n, err, &c.Out)
	}
}

func TestShortFloats(t *testing.T) {
	half, brain, i32 := array(t, dtype.Float16, 2), array(t, dtype.BFloat16, 2), array(t, dtype.Int32, 2)
	for _, c := range []struct {
		op   kernel.Op
		in   []*graph.Node
		want dtype.Type
	}{
		{kernel.Sqrt, []*graph.Node{brain}, dtype.BFloat16},
		{kernel.Add, []*graph.Node{brain, i32}, dtype.BFloat16},
		{kernel.Add, []*graph.Node{brain, half}, dtype.Float32},
		{kernel.Hypot, []*graph.Node{brain, i32}, dtype.BFloat16},
		{kernel.Less, []*graph.Node{brain, half}, dtype.Bool},
	} {
		n, err := graph.Apply(site, c.op, c.in...)
		if err != nil || n.DType != c.want {
			t.Errorf("%s of %s: %v, %v; want %s", c.op, c.in[0].DType, n, err, c.want)
		}
	}
}

func TestWeakIntegersOutOfRange(t *testing.T) {
	bytes := array(t, dtype.Uint8, 2)
	number := func(v any) *graph.Node {
		n, err := graph.Scalar(site, v)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if _, err := graph.Apply(site, kernel.Add, bytes, number(300)); err == nil || err.Error() != "add: 300 is out of range for uint8" {
		t.Errorf("uint8 + 300: %v", err)
	}
	// A comparison has an answer all the same, and clip's bound bounds nothing.
	for _, v := range []int{-1, 300, math.MinInt64} {
		if n, err := graph.Apply(site, kernel.Less, bytes, number(v)); err != nil || n.DType != dtype.Bool {
			t.Errorf("uint8 < %d: %v", v, err)
		}
	}
	n, err := graph.Clip(site, bytes, number(-5), number(1000))
	if err != nil || n.DType != dtype.Uint8 || n.String() != "minimum(maximum(array(2,), 0), 255)" {
		t.Errorf("clip(uint8, -5, 1000) is %v, %v", n, err)
	}
}
