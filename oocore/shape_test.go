package oocore_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// small is a budget that forces many chunks.
const small = "256MiB" // room for the race detector too

// numbered is an array of its own positions, of a random shape.
func numbered(r *rapid.T, dims int) *oocore.Array {
	shape := rapid.SliceOfN(rapid.IntRange(1, 9), dims, dims).Draw(r, "shape")
	return oocore.Arange(0, grid.Size(shape), 1).Reshape(shape...)
}

// Operations that undo each other, or say the same in two ways, give the same elements.
func TestShapesUndone(t *testing.T) {
	rapid.Check(testcases.Seeded(t), func(r *rapid.T) {
		x := numbered(r, rapid.IntRange(2, 4).Draw(r, "dims"))
		shape := x.Shape()
		axis := rapid.IntRange(0, len(shape)-1).Draw(r, "axis")
		other := (axis + 1) % len(shape)
		n := rapid.IntRange(-20, 20).Draw(r, "n")
		cut := rapid.IntRange(0, shape[axis]).Draw(r, "cut")
		parts := x.SplitAt(axis, cut)
		width := [][2]int{{1, 2}}
		inner := strings.Repeat("1:-2, ", len(shape))
		first := oocore.FromSlice([]int64{0}, 1)
		for name, same := range map[string]*oocore.Array{
			"roll and back":         x.Roll(n, axis).Roll(-n, axis),
			"split and concatenate": oocore.Concatenate(axis, parts...),
			"unstack and stack":     oocore.Stack(axis, x.Unstack(axis)...),
			"flip twice":            x.Flip(axis).Flip(axis),
			"turned four times":     x.Rot90(1, axis, other).Rot90(3, axis, other),
			"axes there and back":   x.MoveAxis(axis, other).MoveAxis(other, axis),
			"padded and cut":        x.Pad(width, oocore.PadOptions{Mode: "wrap"}).Slice(inner),
			"reshaped in turn":      x.T().Ravel().Reshape(x.T().Shape()...).T(),
			"tiled, then one":       oocore.Concatenate(0, x.Tile(append([]int{2}, slices.Repeat([]int{1}, len(shape)-1)...)...).Split(2, 0)[1]),
			"all taken":             x.Take(oocore.Arange(0, shape[axis], 1), axis),
			"triangles":             x.Tril(n).Add(x.Triu(n + 1)),
			"set to itself":         x.Set("0", x.Slice("0")),
			"repeated, then one":    oocore.Concatenate(axis, x.Repeat(2, axis)).Take(oocore.Arange(0, 2*shape[axis], 2), axis),
			"first":                 oocore.Concatenate(0, x.Ravel().Take(first, 0), x.Ravel().Slice("1:")).Reshape(shape...),
		} {
			if err := same.Err(); err != nil {
				r.Fatalf("%s: %v", name, err)
			}
			if !slices.Equal(same.Shape(), shape) || !slices.Equal(collect[int64](t, same), collect[int64](t, x)) {
				r.Fatalf("%s gives another array of %v", name, shape)
			}
		}
	})
}

// A mask and its opposite have all elements between them, and argwhere finds those that
// a mask selects.
func TestMasksPartition(t *testing.T) {
	ctx := t.Context()
	x := oocore.Random(oocore.Float64, 7, 700, 1001)
	limits := []float64{0.5, 2}
	if testcases.Full() {
		limits = append(limits, -1, 0.0001)
	}
	for _, limit := range limits {
		yes, no := x.Less(limit), x.Less(limit).LogicalNot()
		a, b := x.Mask(ctx, yes, oocore.Memory(small)), x.Mask(ctx, no, oocore.Memory(small))
		both, err := oocore.Collect[float64](ctx, oocore.Concatenate(0, a, b), oocore.Memory(small))
		if err != nil {
			t.Fatal(err)
		}
		all, err := oocore.Collect[float64](ctx, x.Ravel(), oocore.Memory(small))
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(both)
		slices.Sort(all)
		if !slices.Equal(both, all) {
			t.Errorf("below %v and above are %d elements of %d", limit, len(both), len(all))
		}
		where := yes.ArgWhere(ctx, oocore.Memory(small))
		found := x.At(where.Slice(":, 0"), where.Slice(":, 1"))
		equal, err := oocore.Collect[bool](ctx, found.Equal(a).All(), oocore.Memory(small))
		if err != nil || !equal[0] {
			t.Errorf("below %v: argwhere finds others (%v)", limit, err)
		}
	}
}

// The counting pass ends with its context, and keeps to its budget.
func TestCountingPassIsARun(t *testing.T) {
	x := oocore.Random(oocore.Float64, 7, 4000, 1000)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := x.Mask(ctx, x.Less(0.5)).Err(); !errors.Is(err, context.Canceled) || !strings.HasPrefix(err.Error(), "mask: ") {
		t.Errorf("after its end: %v", err)
	}
	var small *oocore.MemoryError
	if err := x.Less(0.5).FlatNonzero(t.Context(), oocore.Memory("1MiB")).Err(); !errors.As(err, &small) {
		t.Errorf("in 1 MiB: %v", err)
	}
}

// An index that is out of range ends the run, and leaves no file.
func TestIndexOutOfRange(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out.npy")
	x := oocore.Arange(0, 12, 1).Reshape(3, 4)
	_, err := x.Take(oocore.FromSlice([]int64{0, 3}, 2), 0).Save(t.Context(), out)
	if err == nil || !strings.Contains(err.Error(), "index 3 is out of bounds for axis 0 with size 3") {
		t.Errorf("%v", err)
	}
	if _, err := filepath.Glob(out + "*"); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(out), "*")); len(left) > 0 {
		t.Errorf("it leaves %v", left)
	}
}

func TestRechunk(t *testing.T) {
	x := oocore.Arange(0, 60, 1).Reshape(6, 10)
	y := x.Rechunk(4, -1)
	if !slices.Equal(y.Chunks(), []int{4, 10}) || x.Chunks() != nil {
		t.Errorf("chunks are %v, and those of the array before %v", y.Chunks(), x.Chunks())
	}
	dir := t.TempDir()
	stored, err := y.Save(t.Context(), filepath.Join(dir, "a.zarr"))
	if err != nil || !slices.Equal(stored.Chunks(), []int{4, 10}) {
		t.Errorf("stored in %v: %v", stored.Chunks(), err)
	}
	if !slices.Equal(collect[int64](t, stored), collect[int64](t, x)) {
		t.Error("other elements are stored")
	}
	stored, err = y.Save(t.Context(), filepath.Join(dir, "b.zarr"), oocore.Chunks(3, 5))
	if err != nil || !slices.Equal(stored.Chunks(), []int{3, 5}) {
		t.Errorf("with an option stored in %v: %v", stored.Chunks(), err)
	}
	for lengths, want := range map[[2]int]string{
		{0, 1}:  "rechunk: a chunk length of 0 along axis 0: give 1 or more, or -1 for the whole axis",
		{1, -2}: "rechunk: a chunk length of -2 along axis 1: give 1 or more, or -1 for the whole axis",
	} {
		if err := x.Rechunk(lengths[0], lengths[1]).Err(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v is not %s", err, want)
		}
	}
	if err := x.Rechunk(3).Err(); err == nil {
		t.Error("one length is taken for two axes")
	}
}

// What several results are asked of fails as each of them: an index finds the error.
func TestSeveralResultsFailAsSeveral(t *testing.T) {
	x := oocore.Arange(0, 12, 1).Reshape(3, 4)
	for what, all := range map[string][]*oocore.Array{
		"split":    x.Split(3, 9),
		"uneven":   x.Split(5, 0),
		"splitat":  x.SplitAt(9, 1, 2),
		"unstack":  x.Unstack(9),
		"nonzero":  x.Reshape(7).Nonzero(t.Context()),
		"meshgrid": oocore.Meshgrid(true, x, x.Reshape(7), x),
	} {
		if len(all) < 3 || all[2].Err() == nil {
			t.Errorf("%s: %v", what, all)
		}
	}
	if all := x.Split(-1<<62, 0); len(all) != 1 || all[0].Err() == nil {
		t.Errorf("less than no parts: %v", all)
	}
	if all := x.Split(1<<62, 0); all[0].Err() == nil {
		t.Error("parts without end are accepted")
	}
}

func TestSaveRejectsAnEmptyPath(t *testing.T) {
	_, err := oocore.Arange(0, 12, 1).Save(t.Context(), "")
	if err == nil || !strings.HasPrefix(err.Error(), "save: the path is empty: name a file such as x.npy, or bring the values to memory with Collect (shape_test.go:") {
		t.Error(err)
	}
}
