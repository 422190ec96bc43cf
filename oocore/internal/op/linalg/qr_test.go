package linalg_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/op/linalg"
	"github.com/gonbext/gonbext/oocore/internal/testkit/blockwisetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// dense is a matrix in memory, row after row.
type dense struct {
	a    []float64
	m, n int
}

func random(rng *rand.Rand, m, n int) dense {
	d := dense{make([]float64, m*n), m, n}
	for i := range d.a {
		d.a[i] = rng.NormFloat64()
	}
	return d
}

func (d dense) t() dense {
	out := dense{make([]float64, len(d.a)), d.n, d.m}
	for i := range d.m {
		for j := range d.n {
			out.a[j*d.m+i] = d.a[i*d.n+j]
		}
	}
	return out
}

func (d dense) times(b dense) dense {
	out := dense{make([]float64, d.m*b.n), d.m, b.n}
	for i := range d.m {
		for k := range d.n {
			f := d.a[i*d.n+k]
			for j := range b.n {
				out.a[i*b.n+j] += f * b.a[k*b.n+j]
			}
		}
	}
	return out
}

// off is the largest difference.
func (d dense) off(b dense) float64 {
	worst := 0.0
	for i := range d.a {
		if e := math.Abs(d.a[i] - b.a[i]); e > worst || e != e {
			worst = e
		}
	}
	return worst
}

func eye(n int) dense {
	d := dense{make([]float64, n*n), n, n}
	for i := range n {
		d.a[i*n+i] = 1
	}
	return d
}

func (d dense) array() blockwisetest.Array {
	return blockwisetest.Array{Shape: []int{d.m, d.n}, DType: dtype.Float64, Data: dtype.Bytes(d.a)}
}

// factors runs the tree of a matrix in blocks of so many rows.
func factors(t *testing.T, a dense, rows int) (q, r dense) {
	t.Helper()
	b := linalg.Blocks{M: a.m, N: []int{a.n}, Rows: min(rows, a.m)}
	count := (a.m + b.Rows - 1) / b.Rows
	last := count == 1
	tri := linalg.TSQRR{Blocks: b, Run: 1, Final: last, Type: dtype.Float64}
	stack := dense{nil, count * a.n, a.n}
	stack.a = dtype.Slice[float64](blockwisetest.Same(t, tri, []int{stack.m, stack.n}, dtype.Float64, a.t().array()))
	orth := linalg.TSQRQ{Blocks: b, K: a.n, Final: last, With: !last, Type: dtype.Float64}
	q = dense{nil, a.m, a.n}
	if last {
		q.a = dtype.Slice[float64](blockwisetest.Same(t, orth, []int{a.m, a.n}, dtype.Float64, a.t().array()))
		return q, stack
	}
	upper, r := factors(t, stack, rows)
	q.a = dtype.Slice[float64](blockwisetest.Same(t, orth, []int{a.m, a.n}, dtype.Float64, a.t().array(), upper.t().array()))
	return q, r
}

func TestFactorsMultiplyToTheMatrix(t *testing.T) {
	rng := testcases.Rand(t)
	for _, c := range []struct{ m, n, rows int }{
		{1, 1, 1}, {5, 1, 2}, {3, 3, 3}, {4, 3, 4}, {40, 7, 14}, {41, 7, 20}, {100, 9, 100}, {300, 17, 40}, {300, 64, 300},
		{301, 65, 301}, {300, 130, 270}, {500, 200, 500}, {1000, 70, 150}, {64, 64, 64}, {129, 129, 129},
	} {
		a := random(rng, c.m, c.n)
		switch rng.IntN(3) {
		case 0: // dependent columns
			for i := range a.m {
				a.a[i*a.n+a.n-1] = a.a[i*a.n]
			}
		case 1: // of very different lengths
			for i := range a.m {
				for j := range a.n {
					a.a[i*a.n+j] *= math.Pow(10, float64(-j%13))
				}
			}
		}
		size := []float64{1, 1e-200, 1e200}[rng.IntN(3)] // whose squares are no numbers
		for i := range a.a {
			a.a[i] *= size
		}
		q, r := factors(t, a, c.rows)
		if e := q.times(r).off(a); e > 1e-13*size {
			t.Errorf("%v: Q·R is off by %g of %g", c, e, size)
		}
		if e := q.t().times(q).off(eye(c.n)); e > 1e-13 {
			t.Errorf("%v: QᵀQ is off by %g", c, e)
		}
		for i := range c.n {
			for j := range i {
				if r.a[i*c.n+j] != 0 {
					t.Fatalf("%v: R has %g below its diagonal", c, r.a[i*c.n+j])
				}
			}
			if r.a[i*c.n+i] < 0 {
				t.Errorf("%v: R has %g on its diagonal", c, r.a[i*c.n+i])
			}
		}
	}
}

// Runs of blocks give the one R with a positive diagonal, however they are cut, and
// matrices beside each other are one.
func TestRunsGiveTheSameR(t *testing.T) {
	rng := testcases.Rand(t)
	a, b := random(rng, 203, 11), random(rng, 203, 4)
	whole := dense{nil, 203, 15}
	for i := range 203 {
		whole.a = append(append(whole.a, a.a[i*11:i*11+11]...), b.a[i*4:i*4+4]...)
	}
	_, want := factors(t, whole, 203)
	for _, c := range []struct{ rows, run int }{{30, 7}, {40, 10}, {203, 2}, {7, 30}} {
		tri := linalg.TSQRR{Blocks: linalg.Blocks{M: 203, N: []int{11, 4}, Rows: c.rows}, Run: c.run, Final: true, Type: dtype.Float64}
		got := dense{dtype.Slice[float64](blockwisetest.Same(t, tri, []int{15, 15}, dtype.Float64, a.t().array(), b.t().array())), 15, 15}
		if e := got.off(want); e > 1e-12 {
			t.Errorf("%v: R is off by %g", c, e)
		}
	}
	tri := linalg.TSQRR{Blocks: linalg.Blocks{M: 203, N: []int{11, 4}, Rows: 20}, Run: 3, Type: dtype.Float64}
	stack := dense{dtype.Slice[float64](blockwisetest.Same(t, tri, []int{60, 15}, dtype.Float64, a.t().array(), b.t().array())), 60, 15}
	if _, got := factors(t, stack, 60); got.off(want) > 1e-12 {
		t.Errorf("R of four runs is off by %g", got.off(want))
	}
}

func BenchmarkTriangle(b *testing.B) {
	rng := testcases.Rand(b)
	for _, c := range []struct{ m, n int }{{4096, 512}, {65536, 30}, {2048, 1024}} {
		b.Run(fmt.Sprint(c), func(b *testing.B) {
			a := random(rng, c.m, c.n).t()
			tri := linalg.TSQRR{Blocks: linalg.Blocks{M: c.m, N: []int{c.n}, Rows: c.m}, Run: 1, Final: true, Type: dtype.Float64}
			task := &blockwise.Task{Box: grid.Entire([]int{c.n, c.n}), Dst: make([]byte, 8*c.n*c.n), Scratch: make([]byte, tri.Requirements(nil).Scratch), In: []blockwise.Input{memory(dtype.Bytes(a.a))}, Do: func(f func() error) error { return f() }}
			for b.Loop() {
				if err := tri.Fill(b.Context(), task); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(2*float64(c.m)*float64(c.n)*float64(c.n)/b.Elapsed().Seconds()*float64(b.N)/1e9, "GFLOPS")
		})
	}
}

// memory is an input that is read whole.
type memory []byte

func (m memory) Read(_ context.Context, _ grid.Box, dst []byte) error {
	copy(dst, m)
	return nil
}
