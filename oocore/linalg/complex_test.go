package linalg_test

import (
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/linalg"
)

// A tall complex matrix is factorized by blocks of its rows, within a budget: its factors are
// orthonormal and triangular, and their products the matrix.
func TestTallComplexMatricesHaveFactors(t *testing.T) {
	const rows, cols = 120_000, 6
	part := func(seed uint64) *oocore.Array { return oocore.Random(oocore.Float64, seed, rows, cols).Sub(0.5) }
	z := part(1).Add(part(2).Mul(complex(0, 1)))
	far := func(name string, a, b *oocore.Array) {
		t.Helper()
		if got, err := oocore.Collect[float64](t.Context(), a.Sub(b).Abs().Max(), oocore.Memory("128MiB")); err != nil || !(got[0] < 1e-10) {
			t.Errorf("%s is off by %v; %v", name, got, err)
		}
	}
	turned := func(a *oocore.Array) *oocore.Array { return a.Transpose().Conj() }
	one := oocore.Eye(cols, cols, 0)
	q, r := linalg.QR(z)
	far("q's product with itself", turned(q).MatMul(q), one)
	far("the product of q and r", q.MatMul(r), z)
	far("what is below r's diagonal", r.Sub(r.Triu(0)), oocore.Full(0.0))
	u, s, vt := linalg.SVD(z)
	far("u's product with itself", turned(u).MatMul(u), one)
	far("the product of u, s and vt", u.Mul(s).MatMul(vt), z)
	far("the singular values", linalg.SVDVals(z), s)
	x := oocore.FromSlice([]complex128{1, 2i, 3, 4 - 1i, 5, -6i}, cols, 1)
	far("the solution of least squares", linalg.Lstsq(z, z.MatMul(x), -1).X, x)
}

// Empty complex matrices have NumPy's full factors: unit matrices, and no singular values.
func TestFullFactorsOfEmptyComplexMatrices(t *testing.T) {
	u, s, vt := linalg.FullSVD(oocore.Zeros(oocore.Complex64, 0, 3))
	if got, err := oocore.Collect[complex64](t.Context(), vt); err != nil || len(got) != 9 || got[0] != 1 || got[1] != 0 {
		t.Errorf("vt is %v; %v", got, err)
	}
	if u.DType() != oocore.Complex64 || u.Size() != 0 || s.DType() != oocore.Float32 || s.Size() != 0 {
		t.Errorf("u is %v, s %v", u, s)
	}
}
