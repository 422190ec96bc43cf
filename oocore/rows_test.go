package oocore_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// contents are the bytes of an array as a file in C order.
func contents(t *testing.T, a *oocore.Array) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "contents.npy")
	saved(t, a, path)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Reductions of rows that fit into a tile are computed in the stage that uses them, which reads once. Where their
// results are saved too, they have stages of their own, and the result has the same bits.
func TestRowsAreReadOnceWithTheBitsOfSeparateStages(t *testing.T) {
	const (
		softmax  = `softmax(x, -1); max(x, -1); sum(exp(x - max(x, -1, "keepdims")), -1)`
		standard = `(x - mean(x, -1, "keepdims")) / std(x, -1, "keepdims"); mean(x, -1); std(x, -1)`
		others   = `x * prod(x, -1, "keepdims") + argmin(x, -1, "keepdims"); prod(x, -1); argmin(x, -1)`
		columns  = `sum(x / sum(x, -1, "keepdims"), 0); sum(x, -1)`
		twoAxes  = `x - mean(x, -2, -1, "keepdims"); mean(x, -2, -1)`
	)
	for i, c := range []struct {
		of          oocore.DType
		shape       []int
		chunks      []int // nil is a file in C order
		expressions []string
	}{
		{oocore.Float32, []int{700, 517}, nil, []string{softmax, standard, others, columns}},
		{oocore.Float64, []int{700, 517}, nil, []string{softmax, standard, others, columns}},
		{oocore.Float16, []int{700, 517}, nil, []string{softmax, standard, columns}},
		{oocore.Int16, []int{700, 517}, nil, []string{softmax, standard, others}},
		{oocore.Uint8, []int{700, 517}, nil, []string{standard, others, columns}},
		{oocore.Complex64, []int{200, 517}, nil, []string{columns, `x - mean(x, 1, "keepdims"); mean(x, 1)`}},
		{oocore.Float32, []int{9, 11, 13, 33}, nil, []string{softmax, standard, twoAxes}},
		{oocore.Float32, []int{6, 40_001}, nil, []string{softmax, standard}}, // rows of several blocks
		{oocore.Float32, []int{300, 700}, []int{64, 100}, []string{softmax, standard}},
		{oocore.Int16, []int{300, 700}, []int{64, 700}, []string{softmax, standard}},
		{oocore.Float64, []int{8, 10, 12, 30}, []int{4, 5, 6, 10}, []string{softmax, twoAxes}},
	} {
		path, opts := filepath.Join(t.TempDir(), "x.npy"), []oocore.Option(nil)
		if c.chunks != nil {
			path, opts = filepath.Join(t.TempDir(), "x.zarr"), []oocore.Option{oocore.Chunks(c.chunks...), oocore.Codec("none")}
		}
		random := oocore.Random(oocore.Float64, uint64(i), c.shape...).Sub(0.4).Mul(50)
		if !c.of.Integer() {
			random = oocore.Eval("where(r > 29.9, log(0 - r), r)", oocore.Names{"r": random}) // some rows have a NaN
		}
		x := saved(t, random.AsType(c.of), path, opts...)
		if !testcases.Full() { // one of them
			c.expressions = c.expressions[i%len(c.expressions):][:1]
		}
		for _, expressions := range c.expressions {
			var apart []oocore.Output
			for k, one := range strings.Split(expressions, "; ") {
				apart = append(apart, oocore.Output{Array: oocore.Eval(one, oocore.Names{"x": x}), Path: filepath.Join(t.TempDir(), fmt.Sprint(k, ".npy"))})
			}
			t.Run(fmt.Sprint(c.of, c.shape, c.chunks, apart[0].Array), func(t *testing.T) {
				var r oocore.RunReport
				all, err := oocore.SaveAll(t.Context(), apart, oocore.Report(&r))
				if err != nil {
					t.Fatal(err)
				}
				if r.Passes < 2 {
					t.Fatalf("with reductions that are saved there is one pass")
				}
				want := contents(t, all[0])
				var short *oocore.MemoryError
				if _, err := apart[0].Array.Save(t.Context(), filepath.Join(t.TempDir(), "o.npy"), oocore.Memory("1MiB")); !errors.As(err, &short) {
					t.Fatal(err)
				}
				for out, budget := range map[string]int64{"o.npy": short.Need + 8<<20, "o.zarr": 256 << 20} { // this process grows
					got := saved(t, apart[0].Array, filepath.Join(t.TempDir(), out), oocore.MemoryBytes(budget), oocore.Report(&r))
					if r.Passes != 1 || r.MeasuredPeak > r.PredictedPeak || r.Read != x.Bytes() {
						t.Errorf("in %d bytes to %s: %d passes read %d bytes of %d, with a peak of %d of %d", budget, out, r.Passes, r.Read, x.Bytes(), r.MeasuredPeak, r.PredictedPeak)
					}
					if !bytes.Equal(contents(t, got), want) {
						t.Errorf("in %d bytes to %s: other bits", budget, out)
					}
				}
			})
		}
	}
}
