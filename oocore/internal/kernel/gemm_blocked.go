package kernel

import (
	"unsafe"

	"github.com/gonbext/gonbext/oocore/dtype"
)

// A product of floats is blocked as Goto and van de Geijn (2008) do it: a block
// of b is copied into panels as wide as the tile of the result that stays in
// registers, a block of a into panels as high, both in the order in which the
// innermost loop reads them and padded with zeros, so that the loop knows no
// edges. A tile at the result's edge goes by way of a buffer.
const (
	blockK    = 256  // steps along k: what a tile reads of b stays in the first-level cache
	blockRows = 240  // rows of a: a multiple of every tile's, and a block stays in the second
	blockCols = 1024 // columns of b: a multiple of every tile's
)

// GemmBlock is how many products of floats GemmAlike adds up before it adds their sum to the
// result.
const GemmBlock = blockK

// product is a product of matrices whose elements become floats of type T: of
// T itself, of 16-bit floats to widen, or of complex numbers, whose m × k
// matrix is an m × 2k one of floats.
type product[T float] struct {
	a, b, c       []byte
	lda, ldb, ldc int  // in T, or in 16-bit floats for a and b
	widen         Func // of 16-bit floats
	complex       bool
}

// workspace is how blocks of a product share the work memory, in elements of T.
type workspace struct{ b, a, edge, spare int }

func workspaceOf[T float](m, n, k int, short bool) (w workspace) {
	rows, cols := tileShape[T]()
	d := min(blockK, k)
	w.b = roundUp(min(blockCols, n), cols) * d
	w.a = roundUp(min(blockRows, m), rows) * d
	w.edge = rows * cols
	if short {
		w.spare = max(rows, cols) * d / 2
	}
	w.b, w.a, w.edge, w.spare = roundUp(w.b, 16), roundUp(w.a, 16), roundUp(w.edge, 16), roundUp(w.spare, 16)
	return w
}

func (w workspace) size() int { return w.b + w.a + w.edge + w.spare }

func roundUp(n, to int) int { return (n + to - 1) / to * to }

// multiply adds the product to c. m, n and k count elements of T.
func (g *product[T]) multiply(m, n, k int, work []byte) {
	rows, cols := tileShape[T]()
	s := workspaceOf[T](m, n, k, g.widen != nil)
	room := view[T](work, s.size())
	b, a := room[:s.b], room[s.b:][:s.a]
	edge, spare := room[s.b+s.a:][:rows*cols], room[s.b+s.a+s.edge:]
	c := view[T](g.c, (m-1)*g.ldc+n)
	for j := 0; j < n; j += blockCols {
		w := min(blockCols, n-j)
		for q := 0; q < k; q += blockK {
			d := min(blockK, k-q)
			for l := 0; l < w; l += cols {
				g.packB(b[l*d:][:cols*d], q, d, j+l, min(cols, w-l), cols, spare)
			}
			for i := 0; i < m; i += blockRows {
				h := min(blockRows, m-i)
				for l := 0; l < h; l += rows {
					g.packA(a[l*d:][:rows*d], i+l, min(rows, h-l), q, d, rows, spare)
				}
				multiplyBlock(h, w, d, a, b, c[i*g.ldc+j:], g.ldc, edge)
			}
		}
	}
}

// multiplyBlock adds the product of packed blocks to h × w elements of c.
func multiplyBlock[T float](h, w, d int, a, b, c []T, ldc int, edge []T) {
	rows, cols := tileShape[T]()
	for j := 0; j < w; j += cols {
		for i := 0; i < h; i += rows {
			if i+rows <= h && j+cols <= w {
				multiplyTile(d, &a[i*d], &b[j*d], &c[i*ldc+j], ldc)
				continue
			}
			clear(edge)
			multiplyTile(d, &a[i*d], &b[j*d], &edge[0], cols)
			for r := range min(rows, h-i) {
				out := c[(i+r)*ldc+j:][:min(cols, w-j)]
				for x, v := range edge[r*cols:][:len(out)] {
					out[x] += v
				}
			}
		}
	}
}

// packA copies h rows, from row i, of steps q to q+d into a panel.
func (g *product[T]) packA(dst []T, i, h, q, d, height int, spare []T) {
	if g.widen == nil {
		packRows(dst, view[T](g.a, (i+h-1)*g.lda+q+d)[i*g.lda+q:], g.lda, h, d, height)
		return
	}
	short := shorts(spare, len(dst))
	packRows(short, view[uint16](g.a, (i+h-1)*g.lda+q+d)[i*g.lda+q:], g.lda, h, d, height)
	g.widen(len(dst), bytesOf(dst), bytesOf(short), nil, nil)
}

// packB copies steps q to q+d of w columns, from column j, into a panel.
func (g *product[T]) packB(dst []T, q, d, j, w, width int, spare []T) {
	switch {
	case g.complex:
		packPairs(dst, view[T](g.b, ((q+d)/2-1)*g.ldb+j+w)[q/2*g.ldb+j:], g.ldb, d, w, width)
	case g.widen != nil:
		short := shorts(spare, len(dst))
		packCols(short, view[uint16](g.b, (q+d-1)*g.ldb+j+w)[q*g.ldb+j:], g.ldb, d, w, width)
		g.widen(len(dst), bytesOf(dst), bytesOf(short), nil, nil)
	default:
		packCols(dst, view[T](g.b, (q+d-1)*g.ldb+j+w)[q*g.ldb+j:], g.ldb, d, w, width)
	}
}

func shorts[T float](spare []T, n int) []uint16 { return view[uint16](bytesOf(spare), n) }

func bytesOf[T any](v []T) []byte {
	var z T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(z)))
}

// packRows turns h rows of d elements into d columns of height.
func packRows[S float | uint16](dst, src []S, ld, h, d, height int) {
	if h < height {
		clear(dst)
	}
	i := 0
	for ; i+2 <= h; i += 2 {
		x, y := src[i*ld:][:d], src[(i+1)*ld:][:d]
		to := i
		for p := range x {
			out := dst[to : to+2 : to+2]
			out[0], out[1] = x[p], y[p]
			to += height
		}
	}
	if i < h {
		for p, v := range src[i*ld:][:d] {
			dst[p*height+i] = v
		}
	}
}

// packCols copies d rows of w elements side by side, width apart.
func packCols[S float | uint16](dst, src []S, ld, d, w, width int) {
	if w < width {
		clear(dst)
	}
	for p := range d {
		copy(dst[p*width:], src[p*ld:][:w])
	}
}

// packPairs copies the d/2 rows of a complex matrix, each twice: as its parts
// stand, to meet real parts of the other matrix, and multiplied by i, to meet
// the imaginary ones.
func packPairs[T float](dst, src []T, ld, d, w, width int) {
	if w < width {
		clear(dst)
	}
	for p := 0; p < d; p += 2 {
		row, plain, turned := src[p/2*ld:][:w], dst[p*width:][:w], dst[(p+1)*width:][:w]
		copy(plain, row)
		for j := 0; j < w; j += 2 {
			turned[j], turned[j+1] = -row[j+1], row[j]
		}
	}
}

// goTile multiplies a tile of 4 × 4.
func goTile[T float](k int, a, b, c *T, ldc int) {
	const side = 4
	x, y := unsafe.Slice(a, side*k), unsafe.Slice(b, side*k)
	var s [side][side]T
	for ; len(x) >= side && len(y) >= side; x, y = x[side:], y[side:] {
		for i := range side {
			v := x[i]
			s[i][0] += v * y[0]
			s[i][1] += v * y[1]
			s[i][2] += v * y[2]
			s[i][3] += v * y[3]
		}
	}
	for i := range side {
		out := unsafe.Slice((*T)(unsafe.Add(unsafe.Pointer(c), i*ldc*int(unsafe.Sizeof(*c)))), side)
		for j := range out {
			out[j] += s[i][j]
		}
	}
}

var (
	widenFloat16, _  = Cast(dtype.Float16, dtype.Float32)
	widenBFloat16, _ = Cast(dtype.BFloat16, dtype.Float32)
)
