package kernel

import "unsafe"

// A product of integers of 8 or 16 bits is blocked as one of float32 is, and added
// up in 32 bits: elements are widened to 16 bits as they are packed, two steps along
// k side by side, whose products one instruction adds up. What wraps in 32 bits has
// the same low bits as what wraps in 8 or 16.
const blockPairs = blockK

type shortInt interface{ int8 | uint8 | int16 }

// gemmPairs adds a·b to c.
func gemmPairs[S shortInt, C int32 | uint8 | uint16](m, n, k int, a []byte, lda int, b []byte, ldb int, c []byte, ldc int, work []byte) {
	rows, cols := tileShape[float32]()
	s := workspaceOf[float32](m, n, (k+1)/2, false)
	room := view[uint32](work, s.size())
	packedB, packedA, edge := room[:s.b], room[s.b:][:s.a], view[int32](bytesOf(room[s.b+s.a:]), rows*cols)
	x, y, z := view[S](a, (m-1)*lda+k), view[S](b, (k-1)*ldb+n), view[C](c, (m-1)*ldc+n)
	for j := 0; j < n; j += blockCols {
		w := min(blockCols, n-j)
		for q := 0; q < k; q += 2 * blockPairs {
			steps := min(2*blockPairs, k-q)
			d := (steps + 1) / 2
			for l := 0; l < w; l += cols {
				packPairsOfRows(packedB[l*d:][:cols*d], y[q*ldb+j+l:], ldb, steps, min(cols, w-l), cols)
			}
			for i := 0; i < m; i += blockRows {
				h := min(blockRows, m-i)
				for l := 0; l < h; l += rows {
					packPairsOfCols(packedA[l*d:][:rows*d], x[(i+l)*lda+q:], lda, min(rows, h-l), steps, rows)
				}
				multiplyPairBlock(h, w, d, packedA, packedB, z[i*ldc+j:], ldc, edge)
			}
		}
	}
}

// multiplyPairBlock adds the product of packed blocks to h × w elements of c.
func multiplyPairBlock[C int32 | uint8 | uint16](h, w, d int, a, b []uint32, c []C, ldc int, edge []int32) {
	rows, cols := tileShape[float32]()
	wide := unsafe.Sizeof(c[0]) == 4
	for j := 0; j < w; j += cols {
		for i := 0; i < h; i += rows {
			if wide && i+rows <= h && j+cols <= w {
				multiplyPairTile(d, &a[i*d], &b[j*d], (*int32)(unsafe.Pointer(&c[i*ldc+j])), ldc)
				continue
			}
			clear(edge)
			multiplyPairTile(d, &a[i*d], &b[j*d], &edge[0], cols)
			for r := range min(rows, h-i) {
				out := c[(i+r)*ldc+j:][:min(cols, w-j)]
				for x, v := range edge[r*cols:][:len(out)] {
					out[x] += C(v)
				}
			}
		}
	}
}

// pair has two steps side by side.
func pair[S shortInt](x, y S) uint32 { return uint32(uint16(int16(x))) | uint32(uint16(int16(y)))<<16 }

// packPairsOfCols turns h rows of steps elements into columns of height pairs.
func packPairsOfCols[S shortInt](dst []uint32, src []S, ld, h, steps, height int) {
	if h < height {
		clear(dst)
	}
	for i := range h {
		row, to := src[i*ld:][:steps], i
		for ; len(row) >= 2; row = row[2:] {
			dst[to] = pair(row[0], row[1])
			to += height
		}
		if len(row) > 0 {
			dst[to] = pair(row[0], 0)
		}
	}
}

// packPairsOfRows lays steps rows of w elements side by side by twos, width apart.
func packPairsOfRows[S shortInt](dst []uint32, src []S, ld, steps, w, width int) {
	if w < width {
		clear(dst)
	}
	for p := 0; p < steps; p += 2 {
		out, row := dst[p/2*width:][:w], src[p*ld:][:w]
		if p+1 == steps {
			for j, v := range row {
				out[j] = pair(v, 0)
			}
			break
		}
		next := src[(p+1)*ld:][:w]
		for j, v := range row {
			out[j] = pair(v, next[j])
		}
	}
}

// goPairTile multiplies a tile of 4 × 4.
func goPairTile(k int, a, b *uint32, c *int32, ldc int) {
	const side = 4
	x, y := unsafe.Slice(a, side*k), unsafe.Slice(b, side*k)
	var s [side][side]int32
	for ; len(x) >= side && len(y) >= side; x, y = x[side:], y[side:] {
		for i := range side {
			low, high := int32(int16(x[i])), int32(int16(x[i]>>16))
			for j := range side {
				s[i][j] += low*int32(int16(y[j])) + high*int32(int16(y[j]>>16))
			}
		}
	}
	for i := range side {
		out := unsafe.Slice((*int32)(unsafe.Add(unsafe.Pointer(c), 4*i*ldc)), side)
		for j := range out {
			out[j] += s[i][j]
		}
	}
}
