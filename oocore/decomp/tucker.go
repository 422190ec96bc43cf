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
	"github.com/gonbext/gonbext/oocore/internal/plan"
)

// TuckerOptions say how Tucker and HOSVD work.
type TuckerOptions struct {
	Modes      []int   // to be shortened; nil is all
	Iterations int     // of HOOI, at the most; 0 is 100
	Tolerance  float64 // it stops when the relative error changes by less; 0 is 1e-8, less than 0 never
	Seed       uint64  // of the random matrices with which it begins
}

// TuckerResult is a core times a matrix with orthonormal columns along each mode.
type TuckerResult struct {
	Core    *oocore.Array   // shorter along Modes
	Factors []*oocore.Array // one for each of Modes: its length × rank, float64
	Modes   []int
	Errors  []float64 // relative to the tensor's norm: of HOSVD, then after each iteration
	Fit     float64   // 1 - the last error
}

// Tucker decomposes by higher-order orthogonal iteration (De Lathauwer, De Moor and
// Vandewalle 2000), from a randomized HOSVD that is nearly exact. ranks has one for each
// mode to be shortened. It reads x twice an iteration and four times before. Factors lie in memory: so do a
// mode's length times the product of the other ranks. The record has the error after
// each iteration.
func Tucker(ctx context.Context, x *oocore.Array, ranks []int, o TuckerOptions, opts ...oocore.Option) (*TuckerResult, error) {
	if o.Iterations == 0 {
		o.Iterations = 100
	}
	return decompose(ctx, "tucker", x, ranks, o, opts)
}

// HOSVD returns the truncated higher-order singular value decomposition: of each mode by
// itself, with no iterations that would fit them to each other. Modes up to 2048, whose
// Gram matrices the budget holds six times over, are exact: by the eigenvectors of those,
// with a pass each and for modes between others a copy of the tensor. Longer ones are
// randomized.
func HOSVD(ctx context.Context, x *oocore.Array, ranks []int, o TuckerOptions, opts ...oocore.Option) (*TuckerResult, error) {
	o.Iterations = 0
	return decompose(ctx, "hosvd", x, ranks, o, opts)
}

func decompose(ctx context.Context, op string, x *oocore.Array, ranks []int, o TuckerOptions, opts []oocore.Option) (*TuckerResult, error) {
	modes, err := shortenable(x, ranks, o.Modes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	if o.Tolerance == 0 {
		o.Tolerance = 1e-8
	}
	o.Modes = modes
	title := fmt.Sprintf("%s of ranks %v of %s", op, ranks, x)
	identity := []any{ranks, o}
	if n := plan.Revision(op); n > 1 { // of the first one it is left out
		identity = append(identity, n)
	}
	p, err := progressOf(ctx, op, x, identity, opts)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	if p.skipped(title) {
		given := floats(x)
		return p.tucker(&tensor{given: given, x: given, shape: x.Shape()}, modes, ranks), nil
	}
	out, err := runOn(ctx, title, x, rankOf(modes, ranks), opts, func(t *tensor, note func(string, float64)) (*TuckerResult, error) {
		return tucker(t, p, modes, ranks, o, note)
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	return out, nil
}

// rankOf gives the rank of a mode, 0 of one that stays.
func rankOf(modes, ranks []int) func(mode int) int {
	return func(mode int) int {
		if i := slices.Index(modes, mode); i >= 0 {
			return ranks[i]
		}
		return 0
	}
}

// shortenable are the modes that ranks are for, where those can be had.
func shortenable(x *oocore.Array, ranks, named []int) ([]int, error) {
	if err := checked(x); err != nil {
		return nil, err
	}
	shape := x.Shape()
	modes := slices.Clone(named)
	if named == nil {
		modes = grid.UpTo(len(shape))
	}
	if len(modes) != len(ranks) || len(modes) == 0 {
		return nil, fmt.Errorf("%d ranks are given for %d modes of shape %v", len(ranks), len(modes), shape)
	}
	for i, m := range modes {
		if m < 0 || m >= len(shape) || slices.Contains(modes[:i], m) {
			return nil, fmt.Errorf("mode %d is none of shape %v, or named twice", m, shape)
		}
		if ranks[i] < 1 || ranks[i] > shape[m] {
			return nil, fmt.Errorf("a rank of %d for mode %d of shape %v: take 1 to %d", ranks[i], m, shape, shape[m])
		}
	}
	return modes, nil
}

func tucker(t *tensor, saved *progress, modes, ranks []int, o TuckerOptions, note func(string, float64)) (*TuckerResult, error) {
	rank := rankOf(modes, ranks)
	u := make([]*mat.Dense, len(t.shape)) // by mode; nil for those that stay
	for m, v := range saved.Matrices {
		if len(v) > 0 {
			u[m] = mat.NewDense(t.shape[m], rank(m), slices.Clone(v))
		}
	}
	numbers, err := saved.random(o.Seed)
	if err != nil {
		return nil, err
	}
	r := rand.New(numbers)
	errors, half := slices.Clone(saved.Errors), saved.Half
	for _, e := range errors {
		note(errorSeries, e)
	}
	var core *oocore.Array // nil is that of the tensor and u
	take := func(s *state) {
		s.Matrices, s.Errors, s.Half, s.Core = elements(u), errors, half, nil
		if core != nil {
			s.Core = dataOf(core)
		}
		s.Rand, _ = numbers.MarshalBinary() // which has no errors
	}
	if len(errors) > 0 {
		// u is all there is to resume from.
		core = saved.core(t, modes, ranks)
	} else if o.Iterations > 0 && len(modes) > 1 {
		if core, err = start(t, u, modes, ranks, r); err != nil {
			return nil, err
		}
	} else {
		for i, m := range modes {
			if u[m] != nil {
				continue
			}
			var err error
			if u[m], err = leading(t, t.x, m, ranks[i], r); err != nil {
				return nil, err
			}
			if !t.dry {
				saved.keep(take)
			}
		}
	}
	if len(errors) == 0 {
		if core == nil {
			p := modes[len(modes)-1]
			if core, err = t.small(shortened(t, along(t, t.x, p, u[p]), u, modes, p, -1)); err != nil {
				return nil, err
			}
		}
		e, err := t.lost(core)
		if err != nil {
			return nil, err
		}
		errors = append(errors, e)
		note(errorSeries, e)
		if !t.dry {
			saved.keep(take)
		}
	}
	var p, q int
	switch n := len(modes); {
	case n == 1: // HOSVD is all
	case grid.Size(t.shape) <= inOrder:
		p, q = modes[n-1], modes[n-2]
	default:
		p, q = branches(t.shape, modes, rank)
	}
	// HOSVD's error and those of the first iterations say little: TensorLy makes three, too.
	for len(errors) <= o.Iterations && len(modes) > 1 && !(len(errors) > 3 && converged(errors, o.Tolerance)) {
		if !half {
			one, err := t.keep(along(t, t.x, p, u[p]))
			if err != nil {
				return nil, err
			}
			for _, m := range modes {
				if m == p {
					continue
				}
				if u[m], err = leading(t, shortened(t, one, u, modes, p, m), m, rank(m), r); err != nil {
					return nil, err
				}
			}
			if err := t.drop(); err != nil {
				return nil, err
			}
			if half = true; !t.dry {
				saved.keep(take)
			}
		}
		two, err := t.keep(along(t, t.x, q, u[q]))
		if err != nil {
			return nil, err
		}
		y, err := t.keep(shortened(t, two, u, modes, q, p))
		if err != nil {
			return nil, err
		}
		if u[p], err = leading(t, y, p, rank(p), r); err != nil {
			return nil, err
		}
		if core, err = t.small(along(t, y, p, u[p])); err != nil {
			return nil, err
		}
		e, err := t.lost(core)
		if err != nil {
			return nil, err
		}
		if err := t.drop(); err != nil {
			return nil, err
		}
		errors, half = append(errors, e), false
		note(errorSeries, e)
		if t.dry {
			break
		}
		saved.keep(take)
	}
	if t.dry {
		dry := &progress{}
		take(&dry.state)
		return dry.tucker(t, modes, ranks), nil
	}
	saved.Done = true
	saved.keep(take)
	return saved.tucker(t, modes, ranks), nil
}

// inOrder is the number of elements up to which the modes of a tensor are updated in their
// order, as TensorLy does: where HOOI converges slowly, it then stops at the same error. In
// larger ones the order saves memory and time.
const inOrder = 1 << 20

// tucker is what a state of a tensor stands for.
func (p *progress) tucker(t *tensor, modes, ranks []int) *TuckerResult {
	out := &TuckerResult{Modes: modes, Errors: p.Errors, Fit: 1 - p.Errors[len(p.Errors)-1]}
	for i, m := range modes {
		out.Factors = append(out.Factors, oocore.FromSlice(p.Matrices[m], t.shape[m], ranks[i]))
	}
	if out.Core = p.core(t, modes, ranks); out.Core == nil { // it is large, and is computed when it is saved
		out.Core = t.given
		for i, m := range modes {
			out.Core = along(t, out.Core, m, mat.NewDense(t.shape[m], ranks[i], p.Matrices[m]))
		}
	}
	return out
}

// core is the state's; nil where that was too large to keep.
func (p *progress) core(t *tensor, modes, ranks []int) *oocore.Array {
	if len(p.Core) == 0 {
		return nil
	}
	shape := slices.Clone(t.shape)
	for i, m := range modes {
		shape[m] = ranks[i]
	}
	return inline(p.Core, t.given.DType(), shape)
}

// small collects an array, where it is small enough, for the result.
func (t *tensor) small(a *oocore.Array) (*oocore.Array, error) {
	if a.Bytes() <= t.inMemory {
		return t.keep(a)
	}
	return a, nil
}

// lost is the relative error of a core: what of the norm it does not have.
func (t *tensor) lost(core *oocore.Array) (float64, error) {
	v, err := t.collect(core.Square().Reduce(oocore.ReduceSum, oocore.ReduceOptions{DType: oocore.Float64}))
	if err != nil {
		return 0, err
	}
	return math.Sqrt(max(t.norm*t.norm-v[0], 0)) / t.norm, nil
}

// shortened is part, the tensor times u[p], times the other matrices but that of mode m.
func shortened(t *tensor, part *oocore.Array, u []*mat.Dense, modes []int, p, m int) *oocore.Array {
	for _, k := range modes {
		if k != p && k != m {
			part = along(t, part, k, u[k])
		}
	}
	return part
}

// start sets u to the truncated HOSVD of the tensor, nearly, and returns its core. The
// HOSVD is that of the tensor in the bases of a sketch that is wider than the ranks, which
// is small: a sketch as wide as the ranks would mix singular vectors whose values lie close
// together. It reads the tensor three times.
func start(t *tensor, u []*mat.Dense, modes, ranks []int, r *rand.Rand) (*oocore.Array, error) {
	wide := slices.Clone(ranks)
	for i, m := range modes {
		wide[i] = min(ranks[i]+oversampling, t.shape[m])
	}
	bases, err := sketch(t, modes, wide, 0, r)
	if err != nil {
		return nil, err
	}
	basis, within := make([]*mat.Dense, len(t.shape)), make([]*mat.Dense, len(t.shape))
	for i, m := range modes {
		basis[m] = bases[i]
	}
	p, _ := branches(t.shape, modes, rankOf(modes, wide))
	small, err := t.keep(shortened(t, along(t, t.x, p, basis[p]), basis, modes, p, -1))
	if err != nil {
		return nil, err
	}
	for i, m := range modes {
		if within[m], err = leading(t, small, m, ranks[i], r); err != nil {
			return nil, err
		}
		u[m] = mat.NewDense(t.shape[m], ranks[i], nil)
		u[m].Mul(basis[m], within[m])
	}
	core, err := t.small(shortened(t, small, within, modes, -1, -1))
	if err != nil {
		return nil, err
	}
	return core, t.drop()
}

// oversampling is how many columns more than the rank random matrices have (Halko,
// Martinsson and Tropp 2011).
const oversampling = 8

// sketch is for each mode an orthonormal basis of what the tensor does to random
// matrices along the others (Che and Wei 2019): nearly its leading singular vectors. The
// matrices have more columns than the bases by so many. It reads the tensor twice.
func sketch(t *tensor, modes, ranks []int, more int, r *rand.Rand) ([]*mat.Dense, error) {
	if len(modes) == 1 {
		u, err := leading(t, t.x, modes[0], ranks[0], r)
		return []*mat.Dense{u}, err
	}
	omega := make([]*mat.Dense, len(t.shape))
	width := func(m int) int {
		i := slices.Index(modes, m)
		return min(ranks[i]+more, t.shape[m])
	}
	for _, m := range modes {
		omega[m] = normal(t, r, t.shape[m], width(m))
	}
	out := make([]*mat.Dense, len(modes))
	p, q := branches(t.shape, modes, width)
	for _, pass := range []struct {
		along int
		of    func(m int) bool
	}{{p, func(m int) bool { return m != p }}, {q, func(m int) bool { return m == p }}} {
		part, err := t.keep(along(t, t.x, pass.along, omega[pass.along]))
		if err != nil {
			return nil, err
		}
		for i, m := range modes {
			if !pass.of(m) {
				continue
			}
			if out[i], err = leading(t, shortened(t, part, omega, modes, pass.along, m), m, ranks[i], r); err != nil {
				return nil, err
			}
		}
		if err := t.drop(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// leading are the first left singular vectors of a tensor unfolded along a mode.
func leading(t *tensor, y *oocore.Array, mode, rank int, r *rand.Rand) (*mat.Dense, error) {
	shape := y.Shape()
	n := shape[mode]
	others := y.Size() / n
	axes := []int{mode}
	var rest []int
	for m := range shape {
		if m != mode {
			axes, rest = append(axes, m), append(rest, m)
		}
	}
	if others <= 4*n && int64(n*others*8) <= t.solve {
		v, err := t.collect(y.Transpose(axes...))
		if err != nil {
			return nil, err
		}
		if t.dry {
			return mat.NewDense(n, rank, nil), nil
		}
		return vectors(mat.NewDense(n, others, v), rank)
	}
	if n <= t.gram {
		v, err := t.collect(y.Tensordot(y, rest, rest))
		if err != nil {
			return nil, err
		}
		if t.dry {
			return mat.NewDense(n, rank, nil), nil
		}
		var eigen mat.EigenSym
		if !eigen.Factorize(mat.NewSymDense(n, v), true) {
			return nil, fmt.Errorf("the eigenvectors of mode %d did not converge", mode)
		}
		var all mat.Dense
		eigen.VectorsTo(&all) // the largest last
		u := mat.NewDense(n, rank, nil)
		for i := range n {
			for j := range rank {
				u.Set(i, j, all.At(i, n-1-j))
			}
		}
		return u, nil
	}
	// Both sides are long: what it does to random matrices along the others.
	wide := rank + 8
	for _, m := range rest {
		if k := int(math.Ceil(math.Pow(float64(wide), 1/float64(len(rest))))) + 1; k < shape[m] {
			y = along(t, y, m, normal(t, r, shape[m], k))
		}
	}
	switch bytes := int64(y.Size() * 8); {
	case y.Size()/n > 4*n || bytes > mostInMemory:
		return nil, fmt.Errorf("mode %d of length %d has no room for its singular vectors in %d MiB: take lower ranks", mode, n, mostInMemory>>20)
	case bytes > t.solve:
		return nil, memoryError(fmt.Sprintf("the singular vectors of mode %d", mode), 16*float64(bytes), 16*t.solve)
	}
	return leading(t, y, mode, rank, r)
}

// vectors are the first left singular vectors of a matrix.
func vectors(m *mat.Dense, rank int) (*mat.Dense, error) {
	rows, cols := m.Dims()
	if rows > cols { // from the right singular vectors of its triangular factor, which is smaller
		var qr mat.QR
		qr.Factorize(m)
		var r mat.Dense
		qr.RTo(&r)
		var svd mat.SVD
		if !svd.Factorize(r.Slice(0, cols, 0, cols), mat.SVDThin) {
			return nil, errors.New("the singular vectors of a mode did not converge")
		}
		var v mat.Dense
		svd.VTo(&v)
		u, k := mat.NewDense(rows, rank, nil), min(rank, cols)
		u.Slice(0, rows, 0, k).(*mat.Dense).Mul(m, v.Slice(0, cols, 0, k))
		orthonormal(u) // with any columns beyond those
		return u, nil
	}
	var svd mat.SVD
	if !svd.Factorize(m, mat.SVDThin) {
		return nil, errors.New("the singular vectors of a mode did not converge")
	}
	var u mat.Dense
	svd.UTo(&u)
	return mat.DenseCopyOf(u.Slice(0, rows, 0, rank)), nil
}

// orthonormal makes columns orthogonal and as long as one, from the first on (modified
// Gram–Schmidt, twice is enough). A column that depends on those before becomes another
// that does not.
func orthonormal(u *mat.Dense) {
	rows, cols := u.Dims()
	for j := range cols {
		column := func(i int) float64 { return u.At(i, j) }
		length := func() (n float64) {
			for i := range rows {
				n = math.Hypot(n, column(i))
			}
			return n
		}
		first := length()
		for next, pass := 0, 0; pass < 2; pass++ {
			for k := range j {
				dot := 0.0
				for i := range rows {
					dot += u.At(i, k) * column(i)
				}
				for i := range rows {
					u.Set(i, j, column(i)-dot*u.At(i, k))
				}
			}
			if n := length(); n <= 1e-10*first || n == 0 {
				for i := range rows {
					u.Set(i, j, 0)
				}
				u.Set(next%rows, j, 1)
				next, pass, first = next+1, -1, 1
			}
		}
		n := length()
		for i := range rows {
			u.Set(i, j, column(i)/n)
		}
	}
}

// Reconstruct returns the tensor that core and factors stand for, computed when it is saved.
func (r *TuckerResult) Reconstruct() *oocore.Array {
	if r == nil || len(r.Factors) < len(r.Modes) {
		return door.Made[oocore.Array](nil, errors.New("reconstruct: the result has no factors: Tucker makes one"))
	}
	y := r.Core
	for i, m := range r.Modes {
		f := r.Factors[i].AsType(y.DType())
		there, back := toLast(y.Dims(), m)
		y = y.Transpose(there...).MatMul(f.Transpose()).Transpose(back...)
	}
	return y
}

// toLast are the orders of axes that bring one to the end, and back.
func toLast(dims, axis int) (there, back []int) {
	for d := range dims {
		if d != axis {
			there = append(there, d)
		}
	}
	there = append(there, axis)
	back = make([]int, dims)
	for at, d := range there {
		back[d] = at
	}
	return there, back
}
