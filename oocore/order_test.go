package oocore_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// sparse is a float32 array whose elements take no room on the disk.
func sparse(t *testing.T, shape ...int) *oocore.Array {
	t.Helper()
	dims, size := "", int64(4)
	for _, n := range shape {
		dims += fmt.Sprintf("%d, ", n)
		size *= int64(n)
	}
	text := fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': (%s), }", dims)
	for (10+len(text)+1)%64 != 0 {
		text += " "
	}
	text += "\n"
	header := binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(text)))
	path := filepath.Join(t.TempDir(), "sparse.npy")
	header = append(header, text...)
	testcases.WriteFile(t, path, header, 0o666)
	if err := os.Truncate(path, int64(len(header))+size); err != nil {
		t.Skip("the file system has no sparse files: ", err)
	}
	return oocore.Open(path)
}

// What OPERATIONS.md says of passes holds for the plan.
func TestPassesOverLongAxes(t *testing.T) {
	wide := sparse(t, 3_075_200, 512)
	long, some := sparse(t, 6_400_000_000), sparse(t, 200_000_000)
	for _, c := range []struct {
		name          string
		x             *oocore.Array
		of            *oocore.Array
		read, written float64 // times the input
	}{
		{"median(x, 0)", wide.Median(0), wide, 3, 0},
		{"topk(x, 5, 0)", wide.TopK(5, 0), wide, 1, 0},
		{"argtopk(x, 5, 0)", wide.ArgTopK(5, 0), wide, 1, 0},
		{"sort(x) of 25.6 GB", long.Sort(0), long, 2, 2},
		{"permuted(x, 1) of 0.8 GB", some.Permuted(1, 0), some, 5, 5}, // by records of 16 bytes
		{"quantile(x, 0.5) with weights", long.Quantiles([]float64{0.5}, oocore.QuantileOptions{Method: "inverted_cdf", Weights: long}), long, 4, 0}, // two of both
	} {
		p, err := c.x.Plan(filepath.Join(t.TempDir(), "o.npy"), oocore.Memory("256MiB"))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var read, written int64
		for i := range p.Stages {
			read += p.Stages[i].Read
			written += p.Stages[i].Written
		}
		bytes := float64(c.of.Size()) * 4
		if r, w := float64(read)/bytes, float64(written)/bytes; r > c.read+0.2 || w > c.written+0.1 {
			t.Errorf("%s reads its input %.2f times and writes %.2f times as much, want %g and %g", c.name, r, w, c.read, c.written)
		}
	}
}

// Lines that lie across an array, each all numbers below a prime in another order, and a
// NaN in the last: what is found of them without putting them in order.
func TestOrderOfLongLinesAcrossAnArray(t *testing.T) {
	const n, columns = 1_200_007, 8
	at := func(i, j int) int { return (i*7919 + j*104729) % n }
	x := make([]float32, n*columns)
	for i := range n {
		for j := range columns {
			x[i*columns+j] = float32(at(i, j))
		}
	}
	nan := float32(math.NaN())
	x[5*columns+columns-1] = nan
	a := oocore.FromSlice(x, n, columns)
	small := oocore.Memory("128MiB")
	median, top, bottom := collect[float32](t, a.Median(0), small), collect[float32](t, a.TopK(3, 0), small), collect[float32](t, a.TopK(-3, 0), small)
	where := collect[int64](t, a.ArgTopK(3, 0), small)
	for j := range columns - 1 {
		if median[j] != (n-1)/2 {
			t.Errorf("the median of column %d is %g, want %d", j, median[j], (n-1)/2)
		}
		for k := range 3 {
			if top[k*columns+j] != float32(n-1-k) || bottom[k*columns+j] != float32(k) || at(int(where[k*columns+j]), j) != n-1-k {
				t.Errorf("column %d has %g at %d and %g as number %d from above and from below", j, top[k*columns+j], where[k*columns+j], bottom[k*columns+j], k)
			}
		}
	}
	if last := columns - 1; median[last] == median[last] || top[last] == top[last] || where[last] != 5 {
		t.Errorf("of a column with NaN the median is %g and the largest %g at %d", median[last], top[last], where[last])
	}
}

// Elements 0 to n-1 in another order, the larger half of which weigh three times as much:
// quantiles of a line that no task holds, from the sums of weights that are added up here.
func TestWeightedQuantilesOfALongLine(t *testing.T) {
	const n = 2_500_009
	x, w := make([]float32, n), make([]float32, n)
	for i := range n {
		v := i * 7919 % n
		x[i], w[i] = float32(v), 1
		if v >= n/2 {
			w[i] = 3
		}
	}
	of := oocore.QuantileOptions{Method: "inverted_cdf", Weights: oocore.FromSlice(w)}
	q := []float64{0, 0.1, 0.5, 0.99, 1}
	got := collect[float32](t, oocore.FromSlice(x).Quantiles(q, of), oocore.Memory("128MiB"))
	whole := float64(n/2 + 3*(n-n/2))
	for k, q := range q {
		want, sum := 0, 1.0
		for sum/whole < q {
			want++
			if sum++; want >= n/2 {
				sum += 2
			}
		}
		if got[k] != float32(want) {
			t.Errorf("quantile %g is %g, want %d", q, got[k], want)
		}
	}
	for reason, weights := range map[string]*oocore.Array{"below zero": of.Weights.Sub(2), "sum to zero": of.Weights.Mul(0)} {
		of.Weights = weights
		if _, err := oocore.Collect[float32](t.Context(), oocore.FromSlice(x).Quantiles(q, of), oocore.Memory("128MiB")); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("weights that are %s: %v", reason, err)
		}
	}
}

// A line that is longer than a task sorts is in another order afterwards, with all of its
// elements, and in the same one again for the same seed.
func TestPermutedOfALongLine(t *testing.T) {
	const n = 1_100_000
	of := func(seed uint64) []int32 {
		got := collect[int32](t, oocore.Arange(0, n, 1).AsType(oocore.Int32).Permuted(seed, 0), oocore.Memory("192MiB"))
		return got
	}
	first := of(3)
	if again := of(3); !slices.Equal(again, first) {
		t.Error("one seed gives two orders")
	}
	at := collect[int64](t, oocore.RandomPermutation(3, n), oocore.Memory("192MiB"))
	for i, v := range first {
		if int64(v) != at[i] {
			t.Fatalf("element %d is %d, not the one of the permutation with its seed, %d", i, v, at[i])
		}
	}
	slices.Sort(first)
	for i, v := range first {
		if int(v) != i {
			t.Fatalf("the elements in their order have %d at %d", v, i)
		}
	}
}

// As NumPy's, a quantile whose number is written as an integer is an element.
func TestQuantileOfIntegerHasTypeOfElements(t *testing.T) {
	names := oocore.Names{"x": oocore.FromSlice([]int8{3, -1, 2}), "b": oocore.FromSlice([]bool{true, false})}
	for expression, want := range map[string]oocore.DType{
		"quantile(x, 1)": oocore.Int8, `quantile(x, "0, 1")`: oocore.Int8, "nanquantile(x, 0)": oocore.Int8, "quantile(b, 1)": oocore.Bool,
		"quantile(x, 1.0)": oocore.Float64, `quantile(x, "0, 0.5")`: oocore.Float64, `quantile(x, 1, "hazen")`: oocore.Float64, "percentile(x, 100)": oocore.Float64,
	} {
		if a := oocore.Eval(expression, names); a.Err() != nil || a.DType() != want {
			t.Errorf("%s is %v, want %v: %v", expression, a.DType(), want, a.Err())
		}
	}
	if got := floats(t, oocore.Eval(`quantile(x, "0, 1")`, names).AsType(oocore.Float64)); got[0] != -1 || got[1] != 3 {
		t.Errorf("the ends are %v", got)
	}
}
