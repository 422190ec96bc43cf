package pad_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/op/pad"
	"github.com/gonbext/gonbext/oocore/internal/testkit/blockwisetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

func TestOdd(t *testing.T) {
	rapid.Check(testcases.Seeded(t), func(r *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 1))
		from := rapid.SliceOfN(rapid.IntRange(2, 7), 1, 3).Draw(r, "shape")
		op := pad.OddReflect{Axis: rapid.IntRange(0, len(from)-1).Draw(r, "axis"), Twice: rapid.Bool().Draw(r, "twice"), Type: dtype.Int64}
		op.Len = from[op.Axis]
		most := op.Len - 1
		if op.Twice {
			most++
		}
		op.Before, op.After = rapid.IntRange(0, most).Draw(r, "before"), rapid.IntRange(0, most).Draw(r, "after")
		to := slices.Clone(from)
		to[op.Axis] += op.Before + op.After
		in := blockwisetest.Random(rng, from, dtype.Int64)
		value := func(at []int, j int) int64 {
			n := 0
			for d, i := range at {
				if d == op.Axis {
					i = j
				}
				n = n*from[d] + i
			}
			return dtype.Slice[int64](in.Data)[n]
		}
		gap := 0
		if op.Twice {
			gap = 1
		}
		var want []int64
		for _, b := range (grid.Grid{Shape: to, Chunks: slices.Repeat([]int{1}, len(to))}).All() {
			at, v := b.Start, int64(0)
			switch j := at[op.Axis] - op.Before; {
			case j < 0:
				v = 2*value(at, 0) - value(at, -j-gap)
			case j >= op.Len:
				v = 2*value(at, op.Len-1) - value(at, 2*(op.Len-1)-j+gap)
			default:
				v = value(at, j)
			}
			want = append(want, v)
		}
		if got := blockwisetest.Same(t, op, to, dtype.Int64, in); !slices.Equal(dtype.Slice[int64](got), want) {
			r.Fatalf("%+v of %v is wrong", op, from)
		}
	})
}

func TestKept(t *testing.T) {
	rng := testcases.Rand(t)
	in := blockwisetest.Random(rng, []int{5, 7}, dtype.Int16)
	if got := blockwisetest.Same(t, pad.Materialise{Lengths: []int{2, 7}}, in.Shape, in.DType, in); !bytes.Equal(got, in.Data) {
		t.Error("it is another array")
	}
}

var site = graph.Site{File: "/home/user/notebook.go", Line: 7}

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
	x, u, none := inline(t, dtype.Float32, 3, 4), inline(t, dtype.Uint8, 5), inline(t, dtype.Float32, 0, 4)
	one := func(n *graph.Node, err error) error { return err }
	for _, c := range []struct {
		err  error
		want string
	}{
		{one(pad.Array(site, x, [][2]int{{1, -1}}, pad.Padding{})), "pad: widths 1 and -1 of axis 0 are not both zero or more"},
		{one(pad.Array(site, x, [][2]int{{1, 1}, {0, 0}, {0, 0}}, pad.Padding{})), "pad: 3 pairs of widths are not for 2 axes: give one for all, or one for each"},
		{one(pad.Array(site, x, [][2]int{{1, 1}}, pad.Padding{Mode: "mirror"})),
			`pad: mode "mirror" is unknown: use one of constant, edge, linear_ramp, maximum, mean, median, minimum, reflect, symmetric, wrap, empty`},
		{one(pad.Array(site, none, [][2]int{{1, 1}}, pad.Padding{Mode: "wrap"})), "pad: axis 0 has no elements to pad with: only constant and empty extend it"},
		{one(pad.Array(site, u, [][2]int{{1, 1}}, pad.Padding{Values: [][2]any{{256, 0}}})), "pad: 256 is no uint8"},
		{one(pad.Array(site, u, [][2]int{{1, 1}}, pad.Padding{Values: [][2]any{{0, 2.5}}})), "pad: 2.5 is no uint8"},
		{one(pad.Array(site, u, [][2]int{{1, 1}}, pad.Padding{Mode: "edge", Values: [][2]any{{0, 1}}})), "pad: mode edge takes no values: constant and linear_ramp do"},
		{one(pad.Array(site, u, [][2]int{{1, 1}}, pad.Padding{Mode: "mean", Stat: [][2]int{{0, 1}}})), "pad: the mean of 0 elements is not defined"},
		{one(pad.Array(site, u, [][2]int{{1 << 62, 1 << 62}}, pad.Padding{})), "pad: widths 4611686018427387904 and 4611686018427387904 are more than 63 bits count"},
	} {
		if c.err == nil || c.err.Error() != c.want+" (notebook.go:7)" {
			t.Errorf("%v\nis not %s (notebook.go:7)", c.err, c.want)
		}
	}
}

func TestNothingToPad(t *testing.T) {
	x := inline(t, dtype.Float32, 3, 4)
	for _, mode := range []string{"", "edge", "wrap", "mean", "linear_ramp", "empty"} {
		if n, err := pad.Array(site, x, [][2]int{{0, 0}}, pad.Padding{Mode: mode}); err != nil || n != x {
			t.Errorf("%s: %v, %v", mode, n, err)
		}
	}
}

func TestTitle(t *testing.T) {
	n, err := pad.Array(site, inline(t, dtype.Float32, 3, 4), [][2]int{{1, 2}}, pad.Padding{Mode: "edge"})
	if err != nil || n.String() != "pad(array(3, 4), 1, 2, edge)" {
		t.Errorf("%v, %v", n, err)
	}
}
