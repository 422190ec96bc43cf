package gonum_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/adapters/gonum"
)

func Example() {
	ctx := context.Background()
	m := mat.NewDense(2, 2, []float64{1, 2, 3, 4})
	d, err := gonum.Dense(ctx, gonum.From(m).Sub(1), oocore.Memory("64MiB"))
	if err != nil {
		panic(err)
	}
	fmt.Println(mat.Formatted(d))
	// Output:
	// ⎡0  1⎤
	// ⎣2  3⎦
}

// Every kind of matrix has the elements that its own At tells.
func TestFromHasElementsOfAt(t *testing.T) {
	d := mat.NewDense(4, 5, nil)
	for i := range 4 {
		for j := range 5 {
			d.Set(i, j, float64(10*i+j))
		}
	}
	square := d.Slice(0, 4, 0, 4)
	for name, m := range map[string]mat.Matrix{
		"dense": d, "rows of one": d.Slice(1, 3, 0, 5), "columns of one": d.Slice(0, 4, 1, 3), "transpose": d.T(),
		"transpose of a transpose": mat.Transpose{Matrix: d.T()}, "transpose of a view": d.Slice(1, 3, 2, 4).T(),
		"vector": mat.NewVecDense(3, []float64{1, 2, 3}), "column view": d.ColView(2), "row view": d.RowView(1), "row": d.RowView(1).T(),
		"symmetric": mat.NewSymDense(2, []float64{1, 2, 9, 4}), "triangular": mat.NewTriDense(2, mat.Upper, []float64{1, 2, 9, 4}),
		"triangular transpose": mat.NewTriDense(2, mat.Upper, []float64{1, 2, 9, 4}).T(),
		"diagonal":             mat.NewDiagDense(3, []float64{1, 2, 3}), "band": mat.NewBandDense(3, 3, 0, 1, []float64{1, 2, 3, 4, 5, 0}),
		"one": mat.NewDense(1, 1, []float64{7}), "square view": square, "empty": &mat.Dense{},
	} {
		rows, columns := m.Dims()
		var want []float64
		for i := range rows {
			for j := range columns {
				want = append(want, m.At(i, j))
			}
		}
		a := gonum.From(m)
		got, err := oocore.Collect[float64](t.Context(), a)
		if err != nil || !slices.Equal(got, want) || !slices.Equal(a.Shape(), []int{rows, columns}) {
			t.Errorf("%s: %v of shape %v, %v; want %v", name, got, a.Shape(), err, want)
		}
	}
}

// The array of a matrix without gaps is the matrix's memory: a change that comes before the run shows.
func TestFromDoesNotCopy(t *testing.T) {
	d := mat.NewDense(2, 2, []float64{1, 2, 3, 4})
	for name, a := range map[string]*oocore.Array{"dense": gonum.From(d), "transpose": gonum.From(d.T())} {
		d.Set(0, 0, 5)
		got, err := oocore.Collect[float64](t.Context(), a)
		if err != nil || got[0] != 5 {
			t.Errorf("%s: %v, %v: the elements were copied", name, got, err)
		}
		d.Set(0, 0, 1)
	}
}

func TestDenseOfTypesAndShapes(t *testing.T) {
	for name, c := range map[string]struct {
		a             *oocore.Array
		rows, columns int
	}{
		"float64": {oocore.FromSlice([]float64{1, 2, 3, 4, 5, 6}, 2, 3), 2, 3},
		"float32": {oocore.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 3, 2), 3, 2},
		"int8":    {oocore.FromSlice([]int8{1, 2, 3, 4, 5, 6}, 1, 6), 1, 6},
		"column":  {oocore.FromSlice([]uint16{1, 2, 3, 4, 5, 6}), 6, 1},
	} {
		d, err := gonum.Dense(t.Context(), c.a)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if want := mat.NewDense(c.rows, c.columns, []float64{1, 2, 3, 4, 5, 6}); !mat.Equal(d, want) {
			t.Errorf("%s: %v", name, d)
		}
	}
}

func TestDenseRejectsWhatNoMatrixIs(t *testing.T) {
	for words, a := range map[string]*oocore.Array{
		"2 dimensions, not 3": oocore.Zeros(oocore.Float64, 2, 2, 2),
		"2 dimensions, not 0": oocore.Zeros(oocore.Float64),
		"no complex elements": oocore.Zeros(oocore.Complex64, 2, 2),
		"one element or more": oocore.Zeros(oocore.Float64, 0, 3),
		"is nil":              gonum.From(nil),
		"budget":              nil,
	} {
		var opts []oocore.Option
		if a == nil {
			a, opts = oocore.Zeros(oocore.Float64, 1<<12, 1<<12), []oocore.Option{oocore.Memory("1MiB")}
		}
		d, err := gonum.Dense(t.Context(), a, opts...)
		if err == nil || d != nil || !strings.Contains(err.Error(), words) || !strings.Contains(err.Error(), "gonum_test.go") {
			t.Errorf("%v: %v, want %q", d, err, words)
		}
	}
}
