package linalg

import (
	"cmp"
	"errors"
	"math"
	"math/cmplx"

	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/op"
)

// Eig is NumPy's eig of square matrices that fit a task: eigenvalues, and eigenvectors as columns, of length one and
// with a largest element that is real and positive. Both are complex, of real matrices too.
func Eig(site graph.Site, a op.Unary) (values, vectors *graph.Node, err error) {
	n := a.X
	m := &graph.Maker{Site: site}
	_, size, err := squareOf(n)
	if err == nil && !isComplex(n) {
		_, err = resultType(n.DType)
	}
	m.Fail(err)
	all, err := m.Result("eig", pairs(m, complexEach(m, "eig_complex", n, size+1, 2*size), complexResult(n)), n)
	return named(m.Slice(all, "..., 0, :"), n, ofNone), named(m.Slice(all, "..., 1:, :"), n, ofRows, ofNone), cmp.Or(err, m.Err)
}

// EigVals is NumPy's eigvals.
func EigVals(site graph.Site, a op.Unary) (*graph.Node, error) {
	values, _, err := Eig(site, a)
	return values, err
}

// schur is the memory of a complex matrix A on its way to its Schur form T, A = Z·T·Zᴴ, with columns of Z as rows. All
// but v and x is the state of its steps.
type schur struct {
	t, z  complexRows
	v, x  []complex128
	scale []float64 // what t was multiplied by, and its norm then
	count []float64 // steps, iterations since a column was deflated, and columns that are left; below zero, vectors that are made
}

// eigenGeneral gives the eigenvalues of a complex matrix, and below them the eigenvectors as columns. Rotations bring it to
// Hessenberg form, the QR algorithm with single shifts to triangular form, some two steps for each value, and each vector
// follows by substitution (G. Golub and C. Van Loan, Matrix Computations, 4th edition, 7.4 to 7.6).
func eigenGeneral(e Batched, p *pool) function {
	n := e.In[0][0]
	t, z, v, x := p.state(2*n*n), p.state(2*n*n), p.floats(2*n), p.floats(2*n)
	f := &schur{complexOf(t, n, n), complexOf(z, n, n), complexOf(v, 1, n).a, complexOf(x, 1, n).a, p.state(2), p.state(3)}
	return function{do: func(s *blockwise.Steps, in []matrix, out []float64) error {
		for i := 0; i == 0 || i < int(f.count[0]) || f.count[2] > float64(-n); i++ {
			if !s.Next() {
				continue
			}
			switch left := f.count[2]; {
			case i == 0:
				f.begin(in[0])
			case i <= n-2:
				for k := i + 1; k < n; k++ {
					f.rotate(i, k, i-1, 0, n-1)
				}
			case left > 0:
				if f.iterate(int(left) - 1); f.count[1] > 100 {
					return errors.New("its eigenvalues did not converge")
				}
			default:
				k, to := int(-left), complexOf(out, n+1, n)
				to.row(0)[k] = f.t.row(k)[k] / complex(f.scale[0], 0)
				f.vector(k)
				for i, z := range f.v {
					to.row(1 + i)[k] = z
				}
				f.count[2]--
			}
			f.count[0] = float64(i + 1)
			if err := s.End(); err != nil {
				return err
			}
		}
		return nil
	}}
}

// begin sets T to the matrix, scaled, and Z to the identity.
func (f *schur) begin(a matrix) {
	n := f.t.rows
	f.scale[0], f.count[1], f.count[2] = scaling(a), 0, float64(n)
	copy(f.t.a, complexOf(a.a, n, n).a)
	turnPhase(f.t.a, complex(f.scale[0], 0))
	f.scale[1] = math.Sqrt(squares(f.t.a))
	f.z.clear()
	for i := range n {
		f.z.row(i)[i] = 1
	}
}

// rotate rotates rows i and k of T, from a column on, so that the second one's element of it is zero; with a shift, as if it
// were subtracted from the first one's. Then it rotates columns i and k, down to a row, and those of Z.
func (f *schur) rotate(i, k, column int, shift complex128, to int) {
	a, b := f.t.row(i)[column:], f.t.row(k)[column:]
	x, y := a[0]-shift, b[0]
	if y == 0 {
		return
	}
	length := complex(math.Hypot(cmplx.Abs(x), cmplx.Abs(y)), 0)
	c, s := x/length, y/length
	cc, sc := cmplx.Conj(c), cmplx.Conj(s)
	for j, p := range a {
		a[j], b[j] = cc*p+sc*b[j], c*b[j]-s*p
	}
	if shift == 0 {
		b[0] = 0
	}
	for r := range to + 1 {
		row := f.t.row(r)
		row[i], row[k] = c*row[i]+s*row[k], cc*row[k]-sc*row[i]
	}
	a, b = f.z.row(i), f.z.row(k)
	for j, p := range a {
		a[j], b[j] = c*p+s*b[j], cc*b[j]-sc*p
	}
}

// iterate deflates the last column that is left, or makes a QR step of the block that ends with it.
func (f *schur) iterate(last int) {
	size := func(z complex128) float64 { return math.Abs(real(z)) + math.Abs(imag(z)) }
	at := func(i, j int) complex128 { return f.t.row(i)[j] }
	first := last
	for ; first > 0; first-- {
		if near := size(at(first-1, first-1)) + size(at(first, first)); size(at(first, first-1)) <= 0x1p-53*cmp.Or(near, 1) {
			f.t.row(first)[first-1] = 0
			break
		}
	}
	if first == last {
		f.count[1], f.count[2] = 0, float64(last)
		return
	}
	f.count[1]++
	// The shift is the eigenvalue of the last 2 × 2 elements that is nearer to the last one; every tenth time another, against cycles.
	half := (at(last-1, last-1) - at(last, last)) / 2
	product := at(last-1, last) * at(last, last-1)
	root := cmplx.Sqrt(half*half + product)
	if real(half)*real(root)+imag(half)*imag(root) < 0 {
		root = -root
	}
	shift := at(last, last)
	if sum := half + root; sum != 0 {
		shift -= product / sum
	}
	if int(f.count[1])%10 == 0 {
		shift += complex(size(at(last, last-1)), 0)
	}
	f.rotate(first, first+1, first, shift, min(first+2, last))
	for k := first + 1; k < last; k++ {
		f.rotate(k, k+1, k-1, 0, min(k+2, last))
	}
}

// vector sets v to the eigenvector that belongs to element k of T's diagonal.
func (f *schur) vector(k int) {
	x, at := f.x[:k+1], f.t.row(k)[k]
	least := max(f.scale[1]*0x1p-53, 0x1p-1000) // as far as values are apart at least, of those that are the same
	x[k] = 1
	for i := k - 1; i >= 0; i-- {
		row := f.t.row(i)
		var sum complex128
		for j := i + 1; j <= k; j++ {
			sum += row[j] * x[j]
		}
		by := at - row[i]
		if cmplx.Abs(by) < least {
			by = complex(least, 0)
		}
		x[i] = sum / by
		if size := cmplx.Abs(x[i]); size > 0x1p200 { // of a matrix with few vectors they would leave the range of numbers
			turnPhase(x[i:], complex(1/size, 0))
		}
	}
	clear(f.v)
	for j, z := range x {
		for i, y := range f.z.row(j) {
			f.v[i] += z * y
		}
	}
	phase := cmplx.Conj(leadingComplex(f.v))
	turnPhase(f.v, phase/complex(cmplx.Abs(phase), 0)) // before the squares, which are in range then
	turnPhase(f.v, complex(1/math.Sqrt(squares(f.v)), 0))
}
