package shape_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/op"
	"github.com/gonbext/gonbext/oocore/internal/op/shape"
	"github.com/gonbext/gonbext/oocore/internal/testkit/blockwisetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

var types = []dtype.Type{dtype.Uint8, dtype.Int16, dtype.Float32, dtype.Int64, dtype.Complex128}

// picked is the array of the elements that from chooses for each index: their index in
// one of the inputs, or none.
func picked(lengths []int, t dtype.Type, from func(at []int) (blockwisetest.Array, []int)) []byte {
	out := make([]byte, 0, grid.Size(lengths)*t.Size())
	ones := slices.Repeat([]int{1}, len(lengths))
	for _, b := range (grid.Grid{Shape: lengths, Chunks: ones}).All() {
		in, at := from(b.Start)
		n := 0
		for d, i := range at {
			n = n*in.Shape[d] + i
		}
		out = append(out, in.Data[n*t.Size():(n+1)*t.Size()]...)
	}
	return out
}

func lengths(r *rapid.T, name string, dims, low, high int) []int {
	return rapid.SliceOfN(rapid.IntRange(low, high), dims, dims).Draw(r, name)
}

func TestJoined(t *testing.T) {
	rapid.Check(testcases.Seeded(t), func(r *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 1))
		dt := rapid.SampledFrom(types).Draw(r, "type")
		result := lengths(r, "shape", rapid.IntRange(1, 3).Draw(r, "dims"), 1, 6)
		op := shape.Concat{Axis: rapid.IntRange(0, len(result)-1).Draw(r, "axis"), Item: dt.Size()}
		result[op.Axis] = 0
		var in []blockwisetest.Array
		for range rapid.IntRange(1, 4).Draw(r, "parts") {
			part := slices.Clone(result)
			part[op.Axis] = rapid.IntRange(1, 5).Draw(r, "length")
			op.Parts, in = append(op.Parts, part), append(in, blockwisetest.Random(rng, part, dt))
		}
		for _, part := range op.Parts {
			result[op.Axis] += part[op.Axis]
		}
		want := picked(result, dt, func(at []int) (blockwisetest.Array, []int) {
			at = slices.Clone(at)
			for i, part := range op.Parts {
				if at[op.Axis] < part[op.Axis] {
					return in[i], at
				}
				at[op.Axis] -= part[op.Axis]
			}
			panic("beyond the parts")
		})
		if got := blockwisetest.Same(t, op, result, dt, in...); !bytes.Equal(got, want) {
			r.Fatalf("%+v is not its parts after each other", op)
		}
	})
}

// source is what an axis says of one index, by the definition of its kind; -1 and -2
// are the values before and after.
func source(a shape.Axis, i int) int {
	j, n := i-a.Shift, a.Len
	switch a.Kind {
	case shape.KindWrap:
		return ((j % n) + n) % n
	case shape.KindReflect:
		for j < 0 || j >= n {
			if j < 0 {
				j = -j
			} else {
				j = 2*(n-1) - j
			}
		}
	case shape.KindSymmetric:
		for j < 0 || j >= n {
			if j < 0 {
				j = -j - 1
			} else {
				j = 2*n - 1 - j
			}
		}
	case shape.KindEdge:
		return min(max(j, 0), n-1)
	case shape.KindConstant:
		if j < 0 {
			return -1
		} else if j >= n {
			return -2
		}
	case shape.KindRepeat:
		return j / a.Times
	}
	return j
}

func TestMapped(t *testing.T) {
	kinds := []shape.Kind{shape.KindSame, shape.KindWrap, shape.KindReflect, shape.KindSymmetric, shape.KindEdge, shape.KindConstant, shape.KindRepeat}
	rapid.Check(testcases.Seeded(t), func(r *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 1))
		dt := rapid.SampledFrom(types).Draw(r, "type")
		dims := rapid.IntRange(1, 3).Draw(r, "dims")
		op := shape.IndexMap{Item: dt.Size(), Values: make([][2]dtype.Value, dims)}
		var from, to []int
		for d := range dims {
			n := rapid.IntRange(2, 7).Draw(r, "length")
			a := shape.Axis{Kind: rapid.SampledFrom(kinds).Draw(r, "kind"), Len: n}
			length := n
			switch a.Kind {
			case shape.KindSame:
			case shape.KindRepeat:
				a.Times = rapid.IntRange(1, 4).Draw(r, "times")
				length *= a.Times
			default:
				a.Shift = rapid.IntRange(0, 9).Draw(r, "shift")
				length = rapid.IntRange(1, 24).Draw(r, "result")
			}
			op.Axes, from, to = append(op.Axes, a), append(from, n), append(to, length)
			for side := range 2 {
				op.Values[d][side] = dtype.FromInt(dt, rng.Int64N(100))
			}
		}
		in := blockwisetest.Random(rng, from, dt)
		var fill [16]byte
		want := picked(to, dt, func(at []int) (blockwisetest.Array, []int) {
			index, value := make([]int, dims), (*dtype.Value)(nil)
			for d, a := range op.Axes {
				if index[d] = source(a, at[d]); index[d] < 0 {
					value = &op.Values[d][-1-index[d]]
				}
			}
			if value != nil {
				value.Put(fill[:])
				return blockwisetest.Array{Data: fill[:]}, nil
			}
			return in, index
		})
		if got := blockwisetest.Same(t, op, to, dt, in); !bytes.Equal(got, want) {
			r.Fatalf("%+v of %v to %v is wrong", op, from, to)
		}
	})
}

func TestDiagonals(t *testing.T) {
	rapid.Check(testcases.Seeded(t), func(r *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 1))
		dt := rapid.SampledFrom(types).Draw(r, "type")
		from := lengths(r, "shape", rapid.IntRange(2, 4).Draw(r, "dims"), 1, 9)
		dims := len(from)
		op := shape.Diagonals{Item: dt.Size(), Cell: rapid.IntRange(1, 4).Draw(r, "cell"), Outer: lengths(r, "outer", dims-2, 1, 3)}
		op.Row = rapid.IntRange(0, from[dims-2]-1).Draw(r, "row")
		op.Column = rapid.IntRange(0, from[dims-1]-1).Draw(r, "column")
		to := append(slices.Clone(from[:dims-2]), min(from[dims-2]-op.Row, from[dims-1]-op.Column))
		in := blockwisetest.Random(rng, from, dt)
		want := picked(to, dt, func(at []int) (blockwisetest.Array, []int) {
			i := at[dims-2]
			return in, append(slices.Clone(at[:dims-2]), op.Row+i, op.Column+i)
		})
		if got := blockwisetest.Same(t, op, to, dt, in); !bytes.Equal(got, want) {
			r.Fatalf("%+v of %v is wrong", op, from)
		}
	})
}

func TestTriangle(t *testing.T) {
	rapid.Check(testcases.Seeded(t), func(r *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 1))
		dt := rapid.SampledFrom(types).Draw(r, "type")
		from := lengths(r, "shape", rapid.IntRange(2, 4).Draw(r, "dims"), 1, 9)
		op := shape.Triangle{Diagonal: rapid.IntRange(-9, 9).Draw(r, "diagonal"), Upper: rapid.Bool().Draw(r, "upper"), Item: dt.Size()}
		in := blockwisetest.Random(rng, from, dt)
		zero := blockwisetest.Array{Data: make([]byte, 16)}
		want := picked(from, dt, func(at []int) (blockwisetest.Array, []int) {
			above := at[len(at)-1] - at[len(at)-2] - op.Diagonal
			if op.Upper && above < 0 || !op.Upper && above > 0 {
				return zero, nil
			}
			return in, at
		})
		if got := blockwisetest.Same(t, op, from, dt, in); !bytes.Equal(got, want) {
			r.Fatalf("%+v of %v is wrong", op, from)
		}
	})
}

func TestPlaced(t *testing.T) {
	rapid.Check(testcases.Seeded(t), func(r *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 1))
		dt := rapid.SampledFrom(types).Draw(r, "type")
		op := shape.DiagEmbed{Row: rapid.IntRange(0, 5).Draw(r, "row"), Column: rapid.IntRange(0, 5).Draw(r, "column"), Len: rapid.IntRange(1, 9).Draw(r, "length"), Item: dt.Size()}
		in := blockwisetest.Random(rng, []int{op.Len}, dt)
		zero := blockwisetest.Array{Data: make([]byte, 16)}
		to := []int{op.Row + op.Len + rapid.IntRange(0, 3).Draw(r, "more"), op.Column + op.Len}
		want := picked(to, dt, func(at []int) (blockwisetest.Array, []int) {
			if i := at[0] - op.Row; i >= 0 && i < op.Len && at[1]-op.Column == i {
				return in, []int{i}
			}
			return zero, nil
		})
		if got := blockwisetest.Same(t, op, to, dt, in); !bytes.Equal(got, want) {
			r.Fatalf("%+v is wrong", op)
		}
	})
}

var site = graph.Site{File: "/home/user/notebook.go", Line: 7}

// inline is an array of zeros.
func inline(t *testing.T, dt dtype.Type, lengths ...int) *graph.Node {
	t.Helper()
	n, err := graph.FromBytes(site, make([]byte, grid.Size(lengths)*dt.Size()), dt, lengths...)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// What is invalid is rejected in one line that says what, and where.
func TestRejections(t *testing.T) {
	x := inline(t, dtype.Float32, 3, 4)
	u := inline(t, dtype.Uint8, 5)
	flat := inline(t, dtype.Float32)
	one := func(n *graph.Node, err error) error { return err }
	many := func(n []*graph.Node, err error) error { return err }
	for _, c := range []struct {
		err  error
		want string
	}{
		{one(shape.Concatenate(site, 0)), "concatenate: need at least one array"},
		{one(shape.Concatenate(site, 2, x, x)), "concatenate: axis 2 is out of bounds for array of dimension 2"},
		{one(shape.Concatenate(site, 0, x, u)), "concatenate: shapes (3, 4) and (5,) have different numbers of dimensions"},
		{one(shape.Concatenate(site, 0, x, inline(t, dtype.Int8, 3, 5))), "concatenate: shapes (3, 4) and (3, 5) differ along axis 1, and only axis 0 may differ"},
		{one(shape.Concatenate(site, 0, flat)), "concatenate: arrays of no dimensions have no axis to follow each other along: use stack"},
		{one(shape.Stack(site, 0, x, u)), "stack: shapes (3, 4) and (5,) differ, and all must be the same"},
		{one(shape.Stack(site, 3, x, x)), "stack: axis 3 is out of bounds for array of dimension 3"},
		{many(shape.Split(site, shape.SplitArgs{X: x, Sections: 3, Axis: 1})), "split: axis 1 of length 4 does not divide into 3 equal parts: say where to cut"},
		{many(shape.Split(site, shape.SplitArgs{X: shape.Empty(site, dtype.Int8, []int{0}), Sections: 1 << 40, Axis: 0})), "split: 1099511627776 parts are too many, 65536 are possible: slice those that are needed"},
		{many(shape.Unstack(site, op.Numbered{X: shape.Empty(site, dtype.Int8, []int{3_000_000}), N: 0})), "unstack: 3000000 parts are too many, 65536 are possible: slice those that are needed"},
		{many(shape.Split(site, shape.SplitArgs{X: x, Sections: 0, Axis: 1})), "split: 0 sections: give 1 or more"},
		{one(shape.Roll(site, x, []int{1, 2, 3}, []int{0, 1})), "roll: 3 shifts are not for 2 axes: give one, or one for each"},
		{one(shape.Roll(site, x, []int{1}, []int{5})), "roll: axis 5 is out of bounds for array of dimension 2"},
		{one(shape.Tile(site, op.Lengths{X: x, Lengths: []int{-1}})), "tile: -1 times are fewer than none"},
		{one(shape.Tile(site, op.Lengths{X: x, Lengths: []int{1 << 62}})), "tile: 4611686018427387904 times a length of 4 is more than 63 bits count"},
		{one(shape.Repeat(site, x, -2, 0)), "repeat: -2 times are fewer than none"},
		{one(shape.Flip(site, op.Axes{X: x, Axes: []int{0, 0}})), "flip: axis 0 is named twice"},
		{one(shape.Rotate(site, shape.RotateArgs{X: x, Quarters: 1, Axis: 0, Other: -2})), "rot90: axis 0 is named twice"},
		{one(shape.Move(site, shape.MoveArgs{X: x, Axes: []int{0, 1}, Places: []int{0}})), "moveaxis: 2 axes do not go to 1 places"},
		{one(shape.Move(site, shape.MoveArgs{X: x, Axes: []int{0, 0}, Places: []int{0, 1}})), "moveaxis: an axis is named twice"},
		{one(shape.Diagonal(site, shape.DiagonalArgs{X: u, Offset: 0, Axis: 0, Other: 1})), "diagonal: takes two dimensions or more, not 1"},
		{one(shape.Diag(site, op.Shifted{X: flat, Offset: 0})), "diag: takes one dimension or two, not 0"},
		{one(shape.Lower(site, op.Shifted{X: flat, Offset: 0})), "tril: takes one dimension or more"},
	} {
		if c.err == nil || c.err.Error() != c.want+" (notebook.go:7)" {
			t.Errorf("%v\nis not %s (notebook.go:7)", c.err, c.want)
		}
	}
}

// What moves nothing is no operation.
func TestNothingToDo(t *testing.T) {
	x := inline(t, dtype.Float32, 3, 4)
	for name, make := range map[string]func() (*graph.Node, error){
		"roll":        func() (*graph.Node, error) { return shape.Roll(site, x, []int{4, 3}, []int{1, 0}) },
		"tile":        func() (*graph.Node, error) { return shape.Tile(site, op.Lengths{X: x, Lengths: []int{1}}) },
		"repeat":      func() (*graph.Node, error) { return shape.Repeat(site, x, 1, 0) },
		"concatenate": func() (*graph.Node, error) { return shape.Concatenate(site, 0, inline(t, dtype.Float32, 0, 4), x) },
		"swapaxes":    func() (*graph.Node, error) { return shape.Swap(site, shape.SwapArgs{X: x, Axis: 1, Other: -1}) },
		"rot90": func() (*graph.Node, error) {
			return shape.Rotate(site, shape.RotateArgs{X: x, Quarters: 4, Axis: 0, Other: 1})
		},
	} {
		if n, err := make(); err != nil || n != x {
			t.Errorf("%s: %v, %v", name, n, err)
		}
	}
}

// Titles show what was asked for.
func TestTitles(t *testing.T) {
	x := inline(t, dtype.Float32, 3, 4)
	for want, make := range map[string]func() (*graph.Node, error){
		"roll(array(3, 4), (1, 2), (0, 1))":         func() (*graph.Node, error) { return shape.Roll(site, x, []int{1, 2}, []int{0, 1}) },
		"tile(array(3, 4), 2)":                      func() (*graph.Node, error) { return shape.Tile(site, op.Lengths{X: x, Lengths: []int{2}}) },
		"concatenate(array(3, 4), array(3, 4), -1)": func() (*graph.Node, error) { return shape.Concatenate(site, -1, x, x) },
	} {
		n, err := make()
		if err != nil || !strings.HasPrefix(n.String(), want) {
			t.Errorf("%v, %v is not %s", n, err, want)
		}
	}
}
