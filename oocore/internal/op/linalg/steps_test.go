package linalg_test

import (
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/op"
	"github.com/gonbext/gonbext/oocore/internal/op/linalg"
	"github.com/gonbext/gonbext/oocore/internal/plan/compile"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/internal/testkit/blockwisetest"
	"github.com/gonbext/gonbext/oocore/testcases"
	"github.com/gonbext/gonbext/oocore/units"
)

// definite is a positive definite matrix.
func definite(b dense) dense {
	a := b.times(b.t())
	for i := range a.m {
		a.a[i*a.n+i] += float64(a.n)
	}
	return a
}

// rankOf is a matrix with the last columns zero.
func rankOf(a dense, rank int) dense {
	for i := range a.a {
		if i%a.n >= rank {
			a.a[i] = 0
		}
	}
	return a
}

// Every function of one matrix gives the same bits when it is cut off after any step and
// resumes there.
func TestBatchedResumesAfterAnyStepWithTheSameBits(t *testing.T) {
	rng := testcases.Rand(t)
	const n, m, small = 150, 170, 24
	for name, c := range map[string]struct {
		in    []dense
		out   []int
		least int // steps
	}{
		"cholesky":         {[]dense{definite(random(rng, n, n))}, []int{n, n}, 4},
		"det":              {[]dense{random(rng, n, n)}, nil, 3},
		"slogdet":          {[]dense{random(rng, n, n)}, []int{2}, 3},
		"inv":              {[]dense{random(rng, n, n)}, []int{n, n}, 13},
		"solve":            {[]dense{random(rng, n, n), random(rng, n, 7)}, []int{n, 7}, 13},
		"lu":               {[]dense{random(rng, m, n)}, []int{m, n + 1}, 3},
		"svd":              {[]dense{rankOf(random(rng, m, small), small-5)}, []int{m + 1 + small, small}, 3 * small},
		"svd_full":         {[]dense{random(rng, n, small)}, []int{n + 1 + small, n}, 3*small + n},
		"svdvals":          {[]dense{random(rng, m, small)}, []int{small}, 3 * small},
		"eigh":             {[]dense{random(rng, small, small)}, []int{small + 1, small}, 3 * small},
		"qr_q":             {[]dense{random(rng, m, n)}, []int{m, n}, 9},
		"qr_r":             {[]dense{random(rng, n, m)}, []int{n, m}, 6},
		"lstsq":            {[]dense{random(rng, small+3, small+3)}, []int{small, 3}, 3 * small},
		"pinv":             {[]dense{rankOf(random(rng, small, small), 20)}, []int{small, small}, 3 * small},
		"det_complex":      {[]dense{random(rng, small, 2*small)}, []int{2}, small},
		"slogdet_complex":  {[]dense{random(rng, small, 2*small)}, []int{3}, small},
		"lu_complex":       {[]dense{random(rng, small+9, 2*small)}, []int{small + 9, 2*small + 1}, small},
		"svd_complex":      {[]dense{rankOf(random(rng, 30, 2*small), 40)}, []int{30 + 1 + small, 2 * small}, 3 * small},
		"svd_complex_full": {[]dense{random(rng, 30, 2*small)}, []int{30 + 1 + small, 60}, 3*small + 6},
		"eigh_complex":     {[]dense{random(rng, small, 2*small)}, []int{small + 1, 2 * small}, 3 * small},
		"eig_complex":      {[]dense{random(rng, small, 2*small)}, []int{small + 1, 2 * small}, 4 * small},
	} {
		t.Run(name, func(t *testing.T) {
			e := linalg.Batched{Function: name, Stack: []int{}, Out: c.out, Limit: 1e-12, Type: dtype.Float64}
			var in []blockwisetest.Array
			for _, a := range c.in {
				e.In = append(e.In, [2]int{a.m, a.n})
				in = append(in, a.array())
			}
			if e.Out == nil {
				e.Out = []int{}
			}
			if steps := blockwisetest.Interrupted(t, rng, e, e.Out, dtype.Float64, in...); steps < c.least {
				t.Errorf("it has %d steps, fewer than %d", steps, c.least)
			}
		})
	}
}

// The same of factors in blocks, and of sums over them.
func TestBlocksResumeAfterAnyStepWithTheSameBits(t *testing.T) {
	rng := testcases.Rand(t)
	const m, n, rows, n2 = 1000, 70, 160, 40
	a := random(rng, m, n)
	blocks := linalg.Blocks{M: m, N: []int{n}, Rows: rows}
	l, b := random(rng, n2, n2), random(rng, n2, 5)
	for i := range n2 {
		l.a[i*n2+i] += n2
	}
	panels := linalg.Panels{N: 3 * n2, Tile: n2}
	whole := definite(random(rng, panels.N, panels.N))
	below := []blockwisetest.Array{random(rng, 2*n2, n2).array(), random(rng, n2, n2).array()}
	for name, c := range map[string]struct {
		op    blockwise.Op
		shape []int
		in    []blockwisetest.Array
		least int
	}{
		"a block":          {linalg.TSQRR{Blocks: blocks, Run: 1, Type: dtype.Float64}, []int{7 * n, n}, []blockwisetest.Array{a.t().array()}, 4},
		"a run of blocks":  {linalg.TSQRR{Blocks: blocks, Run: 3, Type: dtype.Float64}, []int{3 * n, n}, []blockwisetest.Array{a.t().array()}, 4},
		"q of a block":     {linalg.TSQRQ{Blocks: blocks, K: n, Type: dtype.Float64}, []int{m, n}, []blockwisetest.Array{a.t().array()}, 6},
		"q and a factor":   {linalg.TSQRQ{Blocks: blocks, K: 9, With: true, Type: dtype.Float64}, []int{m, 9}, []blockwisetest.Array{a.t().array(), random(rng, 9, 7*n).array()}, 6},
		"upper triangle":   {linalg.Substitute{Upper: true, N: n2, K: 5, Type: dtype.Float64}, []int{n2, 5}, []blockwisetest.Array{l.array(), b.array()}, 2},
		"lower triangle":   {linalg.Substitute{N: n2, K: 5, Type: dtype.Float64}, []int{n2, 5}, []blockwisetest.Array{l.array(), b.array()}, 2},
		"square of panel":  {linalg.Panel{Panels: panels, K: 0, Square: true}, []int{n2, n2}, []blockwisetest.Array{whole.array()}, 2},
		"below a panel":    {linalg.Panel{Panels: panels, K: 1}, []int{n2, n2}, []blockwisetest.Array{whole.array(), below[0], definite(l).array()}, 2},
		"sums of products": {linalg.Normal{M: m, N: n, L: 4, Rows: 90, Run: 5}, []int{3, 4, n}, []blockwisetest.Array{a.array(), random(rng, n, 4).array()}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			if steps := blockwisetest.Interrupted(t, rng, c.op, c.shape, dtype.Float64, c.in...); steps < c.least {
				t.Errorf("it has %d steps, fewer than %d", steps, c.least)
			}
		})
	}
}

// The plan says what a long run saves on disk of the matrices that it is working on, where
// that is much: of an inverse the factors, the result and the pivots, twice while a snapshot is
// being written.
func TestPlanSaysWhatIsSavedOfMatrices(t *testing.T) {
	for n, noted := range map[int]bool{3000: true, 100: false} {
		a, err := graph.Uniform(graph.Site{}, dtype.Float64, 1, n, n)
		if err != nil {
			t.Fatal(err)
		}
		inv, err := linalg.Inv(graph.Site{}, op.Unary{X: a})
		if err != nil {
			t.Fatal(err)
		}
		p, err := compile.New(inv, compile.Target{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := size.New(p, size.Options{Budget: 1 << 30, Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		want := "up to " + units.Bytes(2*int64(2*n*n+n+1)*8) + " on disk"
		if text := s.String(); strings.Contains(text, want) != noted {
			t.Errorf("the plan of %d rows says %q: %t, want %t\n%s", n, want, !noted, noted, text)
		}
	}
}
