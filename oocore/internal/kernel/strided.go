package kernel

import (
	"math/bits"
	"unsafe"
)

// Copy copies elements of size 1, 2, 4, 8 or 16 bytes between strided views of
// two buffers that do not overlap. Offsets and strides count elements; a
// stride of 0 in src repeats an element along its axis, and strides may be
// negative. What is contiguous in both is copied as such, short runs as if they
// were elements, and a transposition goes by square tiles, so that either side stays
// in the cache.
func Copy(size int, shape []int, dst []byte, dstAt int, dstStride []int, src []byte, srcAt int, srcStride []int) {
	var room [maxAxes]axis
	axes := room[:0]
	for i, n := range shape {
		if n == 0 {
			return
		}
		if n > 1 {
			axes = append(axes, axis{n, dstStride[i], srcStride[i]})
		}
	}
	sortAxes(axes)
	axes = joinAxes(axes)
	d, s := unsafe.Pointer(&dst[dstAt*size]), unsafe.Pointer(&src[srcAt*size])
	switch size, axes = widen(size, axes); size {
	case 1:
		copyAxes((*uint8)(d), (*uint8)(s), axes)
	case 2:
		copyAxes((*uint16)(d), (*uint16)(s), axes)
	case 4:
		copyAxes((*uint32)(d), (*uint32)(s), axes)
	case 8:
		copyAxes((*uint64)(d), (*uint64)(s), axes)
	case 16:
		copyAxes((*[2]uint64)(d), (*[2]uint64)(s), axes)
	case 32:
		copyAxes((*[4]uint64)(d), (*[4]uint64)(s), axes)
	case 64:
		copyAxes((*[8]uint64)(d), (*[8]uint64)(s), axes)
	}
}

// maxAxes is NumPy's limit before version 2, and the number of axes that are
// looped over without allocating.
const maxAxes = 32

// axis is one loop of a strided copy.
type axis struct{ n, dst, src int }

// widen makes elements of runs of up to 64 bytes that are contiguous in both buffers, where all
// other strides are whole numbers of them: a call for each run takes longer than its copy.
func widen(size int, axes []axis) (int, []axis) {
	last := len(axes) - 1
	if last < 1 || axes[last].dst != 1 || axes[last].src != 1 {
		return size, axes
	}
	n := axes[last].n
	if n&(n-1) != 0 || n*size > 64 {
		return size, axes
	}
	for _, a := range axes[:last] {
		if a.dst%n != 0 || a.src%n != 0 {
			return size, axes
		}
	}
	axes = axes[:last]
	for i := range axes {
		axes[i].dst /= n
		axes[i].src /= n
	}
	return n * size, axes
}

// copyAxes loops over axes, of which the innermost two decide the speed.
func copyAxes[T any](d, s *T, axes []axis) {
	switch len(axes) {
	case 0:
		*d = *s
		return
	case 1:
		copyLine(d, s, axes[0])
		return
	}
	outer, rows, line := axes[:len(axes)-2], axes[len(axes)-2], axes[len(axes)-1]
	// The source's nearest neighbours go innermost when the destination's are
	// elsewhere: that pair is a transposition.
	transposed := line.src != 1 && line.src != 0
	if transposed {
		best := len(axes) - 2
		for i := range axes[:len(axes)-1] {
			if abs(axes[i].src) < abs(axes[best].src) && axes[i].src != 0 || axes[best].src == 0 {
				best = i
			}
		}
		axes[best], axes[len(axes)-2] = axes[len(axes)-2], axes[best]
		rows = axes[len(axes)-2]
		transposed = abs(rows.src) < abs(line.src)
	}
	var at [maxAxes]int
	for {
		if transposed {
			copyTiles(d, s, rows, line)
		} else {
			d, s := d, s
			for i := range rows.n {
				copyLine(d, s, line)
				if i+1 < rows.n {
					d, s = step(d, rows.dst), step(s, rows.src)
				}
			}
		}
		i := len(outer) - 1
		for ; i >= 0; i-- {
			a := outer[i]
			if at[i]++; at[i] < a.n {
				d, s = step(d, a.dst), step(s, a.src)
				break
			}
			at[i] = 0
			d, s = step(d, -a.dst*(a.n-1)), step(s, -a.src*(a.n-1))
		}
		if i < 0 {
			return
		}
	}
}

// sortAxes puts the destination's nearest neighbours innermost (insertion
// sort: axes are few and mostly in order).
func sortAxes(axes []axis) {
	for i := 1; i < len(axes); i++ {
		for j := i; j > 0 && abs(axes[j].dst) > abs(axes[j-1].dst); j-- {
			axes[j], axes[j-1] = axes[j-1], axes[j]
		}
	}
}

// joinAxes makes one loop of two where the inner one's end is the outer one's
// next step.
func joinAxes(axes []axis) []axis {
	out := axes[:0]
	for _, a := range axes {
		if k := len(out) - 1; k >= 0 && out[k].dst == a.dst*a.n && out[k].src == a.src*a.n {
			out[k] = axis{out[k].n * a.n, a.dst, a.src}
			continue
		}
		out = append(out, a)
	}
	return out
}

// copyLine copies along one axis.
func copyLine[T any](d, s *T, a axis) {
	switch {
	case a.dst == 1 && a.src == 1:
		copy(unsafe.Slice(d, a.n), unsafe.Slice(s, a.n))
	case a.dst == 1 && a.src == 0:
		out := unsafe.Slice(d, a.n)
		out[0] = *s
		for done := 1; done < len(out); done *= 2 {
			copy(out[done:], out[:done])
		}
	case a.dst == 1:
		for i, out := 0, unsafe.Slice(d, a.n); i < len(out); i++ {
			out[i] = *step(s, i*a.src)
		}
	default:
		for i := range a.n {
			*step(d, i*a.dst) = *step(s, i*a.src)
		}
	}
}

// tileBytes bounds a transposition's square tile, which passes through a
// buffer: each line of either matrix is touched once, however its stride meets
// the cache's sets.
const tileBytes = 4096

// copyTiles copies two axes of which the destination is nearly dense along
// line and the source along rows.
func copyTiles[T any](d, s *T, rows, line axis) {
	var room [tileBytes]byte
	size := int(unsafe.Sizeof(*d))
	side := 8
	for 4*side*side*size <= tileBytes {
		side *= 2
	}
	// The buffer is bytes, since its length must not depend on T; the stack
	// aligns it for words, which is all that copying needs.
	buf := unsafe.Slice((*T)(unsafe.Pointer(&room)), side*side)
	for i := 0; i < rows.n; i += side {
		h := min(side, rows.n-i)
		for j := 0; j < line.n; j += side {
			w := min(side, line.n-j)
			dt, st := step(d, i*rows.dst+j*line.dst), step(s, i*rows.src+j*line.src)
			for l := range w {
				spread(buf[l:], side, step(st, l*line.src), rows.src, h)
			}
			for k := range h {
				copyLine(step(dt, k*rows.dst), &buf[k*side], axis{w, line.dst, 1})
			}
		}
	}
}

// spread copies n elements, stride apart, to every side'th of buf.
func spread[T any](buf []T, side int, s *T, stride, n int) {
	if stride == 1 {
		at := 0
		for _, v := range unsafe.Slice(s, n) {
			buf[at] = v
			at += side
		}
		return
	}
	for k := range n {
		buf[k*side] = *step(s, k*stride)
	}
}

// step is the element n after p, or before it. Like all kernels it trusts that
// the caller's strides stay within the buffer.
func step[T any](p *T, n int) *T {
	return (*T)(unsafe.Add(unsafe.Pointer(p), n*int(unsafe.Sizeof(*p))))
}

func abs(n int) int { return max(n, -n) }

// Swap reverses the bytes of each element of size 2, 4 or 8 in place. The
// elements of a complex array are its parts.
func Swap(b []byte, size int) {
	n := len(b) / size
	switch size {
	case 2:
		x := view[uint16](b, n)
		for i, v := range x {
			x[i] = bits.ReverseBytes16(v)
		}
	case 4:
		x := view[uint32](b, n)
		for i, v := range x {
			x[i] = bits.ReverseBytes32(v)
		}
	case 8:
		x := view[uint64](b, n)
		for i, v := range x {
			x[i] = bits.ReverseBytes64(v)
		}
	}
}
