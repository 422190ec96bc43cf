package decomp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/internal/door"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/machine"
)

// CPOptions say how CP iterates.
type CPOptions struct {
	Iterations  int     // at the most; 0 is 100
	Tolerance   float64 // it stops when the relative error changes by less; 0 is 1e-8, less than 0 never
	SVD         bool    // begin with the leading singular vectors of each mode instead of random factors
	Seed        uint64  // of random factors
	NonNegative bool    // keep all factors from falling below zero
}

// CPResult is a sum of rank-one tensors: Weights[r] times the outer product of the r-th
// columns of all Factors.
type CPResult struct {
	Weights []float64
	Factors []*oocore.Array // one a mode: its length × rank, float64, columns of length one
	Errors  []float64       // relative to the tensor's norm, after each iteration
	Fit     float64         // 1 - the last error
}

// CP returns the canonical polyadic decomposition (PARAFAC) by alternating least squares, or
// with NonNegative by multiplicative updates (Lee and Seung). x has two modes or more;
// integers are taken as floats. It reads x twice an iteration and once before, and no
// more memory than the options' budget. The record has the error after each iteration.
func CP(ctx context.Context, x *oocore.Array, rank int, o CPOptions, opts ...oocore.Option) (*CPResult, error) {
	if err := ranked(x, rank); err != nil {
		return nil, fmt.Errorf("cp: %w", err)
	}
	if o.Iterations < 0 {
		return nil, fmt.Errorf("cp: %d iterations: take one or more, or 0 for 100", o.Iterations)
	}
	if o.Iterations == 0 {
		o.Iterations = 100
	}
	if o.Tolerance == 0 {
		o.Tolerance = 1e-8
	}
	title := fmt.Sprintf("cp of rank %d of %s", rank, x)
	p, err := progressOf(ctx, "cp", x, []any{rank, o}, opts)
	if err != nil {
		return nil, fmt.Errorf("cp: %w", err)
	}
	if p.skipped(title) {
		return cpResult(p.state, x.Shape(), rank), nil
	}
	out, err := runOn(ctx, title, x, func(int) int { return rank }, opts, func(t *tensor, note func(string, float64)) (*CPResult, error) {
		return cp(t, p, rank, o, note)
	})
	if err != nil {
		return nil, fmt.Errorf("cp: %w", err)
	}
	return out, nil
}

// ranked rejects what has no such decomposition.
func ranked(x *oocore.Array, rank int) error {
	if err := checked(x); err != nil {
		return err
	}
	if rank < 1 {
		return fmt.Errorf("a rank of %d is less than one", rank)
	}
	return nil
}

// als is the state of an alternating least squares.
type als struct {
	t       *tensor
	rank    int
	o       CPOptions
	factors []*mat.Dense // columns of length one
	grams   []*mat.Dense
	weights []float64
}

func cp(t *tensor, saved *progress, rank int, o CPOptions, note func(string, float64)) (*CPResult, error) {
	a := &als{t: t, rank: rank, o: o, weights: make([]float64, rank)}
	errors, half := slices.Clone(saved.Errors), saved.Half
	if saved.found {
		a.resume(saved.state)
		for _, e := range errors {
			note(errorSeries, e)
		}
	} else if err := a.begin(); err != nil {
		return nil, err
	}
	p, q := branches(t.shape, grid.UpTo(len(t.shape)), func(int) int { return rank })
	take := func(s *state) {
		s.Matrices = nil // which may be as large as the factors
		s.Matrices, s.Weights, s.Errors, s.Half = elements(a.factors), a.weights, errors, half
	}
	keep := func() {
		defer machine.LimitRuntime(t.heap)()
		saved.keep(take)
	}
	if t.dry {
		defer machine.LimitRuntime(t.heap)()
	}
	for len(errors) < o.Iterations && !converged(errors, o.Tolerance) {
		if !half {
			one, err := t.keep(along(t, t.x, p, a.factors[p]))
			if err != nil {
				return nil, err
			}
			for m := range t.shape {
				if m == p {
					continue
				}
				if _, err := a.update(one, p, m); err != nil {
					return nil, err
				}
			}
			if err := t.drop(); err != nil {
				return nil, err
			}
			if half = true; !t.dry {
				keep()
			}
		}
		two, err := t.keep(along(t, t.x, q, a.factors[q]))
		if err != nil {
			return nil, err
		}
		e, err := a.update(two, q, p)
		if err != nil {
			return nil, err
		}
		if err := t.drop(); err != nil {
			return nil, err
		}
		note(errorSeries, e)
		errors, half = append(errors, e), false
		if t.dry {
			return cpResult(state{Matrices: elements(a.factors), Weights: a.weights, Errors: errors}, t.shape, rank), nil
		}
		keep()
	}
	saved.Done = true
	keep()
	return cpResult(saved.state, t.shape, rank), nil
}

// cpResult is what a state stands for.
func cpResult(s state, shape []int, rank int) *CPResult {
	out := &CPResult{Weights: s.Weights, Errors: s.Errors, Fit: 1 - s.Errors[len(s.Errors)-1]}
	for m, n := range shape {
		out.Factors = append(out.Factors, oocore.FromSlice(s.Matrices[m], n, rank))
	}
	return out
}

// resume resumes from a state.
func (a *als) resume(s state) {
	a.weights = slices.Clone(s.Weights)
	for m, n := range a.t.shape {
		a.factors = append(a.factors, mat.NewDense(n, a.rank, slices.Clone(s.Matrices[m])))
		a.grams = append(a.grams, gram(a.factors[m]))
	}
}

// gram is the products of a matrix's columns.
func gram(f *mat.Dense) *mat.Dense {
	_, n := f.Dims()
	g := mat.NewDense(n, n, nil)
	g.Mul(f.T(), f)
	return g
}

// begin makes the first factors.
func (a *als) begin() error {
	r := rand.New(rand.NewPCG(a.o.Seed, 0))
	a.factors, a.grams = make([]*mat.Dense, len(a.t.shape)), make([]*mat.Dense, len(a.t.shape))
	var leading []*mat.Dense
	if a.o.SVD {
		ranks := make([]int, len(a.t.shape))
		for m, n := range a.t.shape {
			ranks[m] = min(a.rank, n)
		}
		var err error
		if leading, err = sketch(a.t, grid.UpTo(len(a.t.shape)), ranks, oversampling, r); err != nil {
			return err
		}
	}
	for m, n := range a.t.shape {
		if a.t.dry {
			a.factors[m] = mat.NewDense(n, a.rank, nil)
			continue
		}
		a.factors[m] = random(r, n, a.rank)
		if leading != nil {
			_, cols := leading[m].Dims()
			for i := range n {
				for j := range cols {
					v := leading[m].At(i, j)
					if a.o.NonNegative {
						v = math.Abs(v)
					}
					a.factors[m].Set(i, j, v)
				}
			}
		}
		a.normalize(m, a.factors[m])
	}
	for i := range a.weights {
		a.weights[i] = math.Pow(a.t.norm*a.t.norm/float64(a.rank), 0.5)
	}
	return nil
}

// normalize makes a mode's columns as long as one, and their lengths the weights.
func (a *als) normalize(m int, f *mat.Dense) {
	rows, _ := f.Dims()
	for r := range a.rank {
		length := 0.0
		for i := range rows {
			length = math.Hypot(length, f.At(i, r))
		}
		a.weights[r] = length
		if length == 0 {
			continue
		}
		for i := range rows {
			f.Set(i, r, f.At(i, r)/length)
		}
	}
	a.factors[m] = f
	a.grams[m] = gram(f)
}

// update solves for the factor of mode m, from the tensor times the factor of mode p.
// It returns the relative error after that.
func (a *als) update(part *oocore.Array, p, m int) (float64, error) {
	product, err := a.product(part, p, m)
	if err != nil || a.t.dry {
		return 0, err
	}
	defer machine.LimitRuntime(a.t.heap)()
	v := mat.NewDense(a.rank, a.rank, nil)
	for i := range a.rank {
		for j := range a.rank {
			v.Set(i, j, 1)
		}
	}
	for k, g := range a.grams {
		if k != m {
			v.MulElem(v, g)
		}
	}
	var f *mat.Dense
	if a.o.NonNegative {
		f = a.multiplied(product, v, m)
	} else {
		f = solved(product, v)
	}
	// |x - y|² = |x|² - 2 <x, y> + |y|², where y is the decomposition.
	var inner, own float64
	square := mat.NewDense(a.rank, a.rank, nil)
	square.Mul(f.T(), f)
	square.MulElem(square, v)
	own = mat.Sum(square)
	rows, _ := f.Dims()
	for i := range rows {
		for r := range a.rank {
			inner += f.At(i, r) * product.At(i, r)
		}
	}
	a.normalize(m, f)
	if math.IsNaN(own) || math.IsInf(own, 0) {
		return 0, fmt.Errorf("the factors of mode %d overflowed: take a lower rank, or scale the tensor", m)
	}
	return math.Sqrt(max(a.t.norm*a.t.norm-2*inner+own, 0)) / a.t.norm, nil
}

// product is the tensor times all factors but mode m's, column by column (MTTKRP): that
// of mode p has been taken. What is in memory is multiplied there.
func (a *als) product(part *oocore.Array, p, m int) (*mat.Dense, error) {
	var v []float64
	var err error
	if part.Bytes() <= a.t.inMemory {
		if v, err = a.t.collect(part); err != nil {
			return nil, err
		}
		if a.t.dry {
			return nil, nil
		}
		v = a.contracted(v, p, m)
	} else if v, err = a.reduced(part, p, m); err != nil {
		return nil, err
	}
	if a.t.dry {
		return nil, nil
	}
	if m < p {
		return mat.NewDense(a.t.shape[m], a.rank, v), nil
	}
	return mat.DenseCopyOf(mat.NewDense(a.rank, a.t.shape[m], v).T()), nil
}

// reduced is the product of a part in a file: one pass over it.
func (a *als) reduced(part *oocore.Array, p, m int) ([]float64, error) {
	var axes []int
	y := part
	for k := range a.t.shape {
		if k == m || k == p {
			continue
		}
		ones := slices.Repeat([]int{1}, len(a.t.shape))
		ones[k], ones[p] = a.t.shape[k], a.rank
		y = y.Mul(a.t.matrix(a.factors[k], k > p, ones...))
		axes = append(axes, k)
	}
	if axes != nil {
		y = y.Reduce(oocore.ReduceSum, oocore.ReduceOptions{Axes: axes, DType: oocore.Float64})
	}
	return a.t.collect(y)
}

// contracted is the product of a part in memory, whose axis p has the columns: one mode
// after the other, the longest first.
func (a *als) contracted(v []float64, p, m int) []float64 {
	shape := slices.Clone(a.t.shape)
	shape[p] = a.rank
	for {
		k := -1
		for d, n := range shape {
			if d != p && d != m && n > 0 && (k < 0 || n > shape[k]) && !(n == 1 && a.t.shape[d] > 1) {
				k = d
			}
		}
		if k < 0 || shape[k] == 0 {
			return v
		}
		v = along1(v, shape, k, p, a.factors[k])
		shape[k] = 0 // is gone
	}
}

// along1 sums along axis k of an array, weighted by the columns of f that axis p counts.
// Axes of length zero are gone already.
func along1(v []float64, shape []int, k, p int, f *mat.Dense) []float64 {
	size := func(axes []int) int {
		n := 1
		for _, l := range axes {
			n *= max(l, 1)
		}
		return n
	}
	before, n, after := size(shape[:k]), shape[k], size(shape[k+1:])
	rank := shape[p]
	out := make([]float64, before*after)
	inner := size(shape[p+1:]) // elements in a row with one column
	if p < k {
		inner /= n // of what is before k
		inner /= after
	}
	for b := range before {
		to := out[b*after : (b+1)*after]
		for i := range n {
			from := v[(b*n+i)*after : (b*n+i+1)*after]
			row := f.RawRowView(i)
			if p < k {
				w := row[b/inner%rank]
				for j, x := range from {
					to[j] += w * x
				}
				continue
			}
			for j := 0; j < after; {
				for r := range rank {
					w := row[r]
					for end := j + inner; j < end; j++ {
						to[j] += w * from[j]
					}
				}
			}
		}
	}
	return out
}

// solved is product times the inverse of v, which is symmetric; its pseudo-inverse where
// columns depend on each other.
func solved(product, v *mat.Dense) *mat.Dense {
	n, _ := v.Dims()
	var eigen mat.EigenSym
	sym := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			sym.SetSym(i, j, v.At(i, j))
		}
	}
	rows, _ := product.Dims()
	f := mat.NewDense(rows, n, nil)
	if !eigen.Factorize(sym, true) {
		f.Scale(math.NaN(), product)
		return f
	}
	values := eigen.Values(nil)
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	f.Mul(product, &vectors)
	for j, value := range values {
		by := 0.0
		if value > 1e-13*values[n-1] {
			by = 1 / value
		}
		for i := range rows {
			f.Set(i, j, f.At(i, j)*by)
		}
	}
	f.Mul(f, vectors.T())
	return f
}

// multiplied is the multiplicative update of a mode's factor, weights included.
func (a *als) multiplied(product, v *mat.Dense, m int) *mat.Dense {
	f := mat.DenseCopyOf(a.factors[m])
	rows, _ := f.Dims()
	for i := range rows {
		for r := range a.rank {
			f.Set(i, r, f.At(i, r)*a.weights[r])
		}
	}
	below := mat.NewDense(rows, a.rank, nil)
	below.Mul(f, v)
	const least = 1e-12
	for i := range rows {
		for r := range a.rank {
			f.Set(i, r, f.At(i, r)*max(product.At(i, r), least)/max(below.At(i, r), least))
		}
	}
	return f
}

// Reconstruct returns the tensor that the factors stand for, computed when it is saved.
func (r *CPResult) Reconstruct() *oocore.Array {
	if r == nil || len(r.Factors) == 0 {
		return door.Made[oocore.Array](nil, errors.New("reconstruct: the result has no factors: CP makes one"))
	}
	n := len(r.Factors)
	y := r.Factors[0].Mul(oocore.FromSlice(r.Weights, len(r.Weights)))
	for _, f := range r.Factors[1 : n-1] {
		y = y.ExpandDims(y.Dims() - 1).Mul(f)
	}
	return y.MatMul(r.Factors[n-1].Transpose())
}
