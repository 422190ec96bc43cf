package kernel

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/gonbext/gonbext/oocore/testcases"
)

// TestCopy compares a strided copy with one made element by element, and has
// no other byte change.
func TestCopy(t *testing.T) {
	rapid.Check(testcases.Seeded(t), func(r *rapid.T) {
		size := rapid.SampledFrom([]int{1, 2, 4, 8, 16}).Draw(r, "size")
		shape := rapid.SliceOfN(rapid.OneOf(rapid.IntRange(0, 5), rapid.IntRange(1, 40)), 0, 4).Draw(r, "shape")
		dstAt, dstStride, dstLen := layout(r, "dst", shape, false)
		srcAt, srcStride, srcLen := layout(r, "src", shape, true)
		if run := rapid.SampledFrom([]int{1, 1, 2, 3, 4, 8, 16}).Draw(r, "run"); run > 1 { // elements that lie together in both
			shape = append(shape, run)
			for _, strides := range []*[]int{&dstStride, &srcStride} {
				for i := range *strides {
					(*strides)[i] *= run
				}
				*strides = append(*strides, 1)
			}
			dstAt, srcAt, dstLen, srcLen = dstAt*run, srcAt*run, dstLen*run, srcLen*run
		}
		src, dst := make([]byte, srcLen*size), make([]byte, dstLen*size)
		for i := range src {
			src[i] = byte(i*7 + i>>8)
		}
		for i := range dst {
			dst[i] = 0xee
		}
		src, dst = aligned(src), aligned(dst)
		want := bytes.Clone(dst)
		var each func(axis, d, s int)
		each = func(axis, d, s int) {
			if axis == len(shape) {
				copy(want[d*size:][:size], src[s*size:][:size])
				return
			}
			for i := range shape[axis] {
				each(axis+1, d+i*dstStride[axis], s+i*srcStride[axis])
			}
		}
		each(0, dstAt, srcAt)
		Copy(size, shape, dst, dstAt, dstStride, src, srcAt, srcStride)
		if !bytes.Equal(dst, want) {
			t.Fatalf("size %d, shape %v, strides %v from %v: the copy differs", size, shape, dstStride, srcStride)
		}
	})
}

// layout draws where the elements of a shape lie: their axes in any order and
// direction, with gaps, and for a source with repeated axes.
func layout(r *rapid.T, name string, shape []int, repeat bool) (at int, stride []int, length int) {
	axes := make([]int, len(shape))
	for i := range axes {
		axes[i] = i
	}
	axes = rapid.Permutation(axes).Draw(r, name+" axes")
	stride, length = make([]int, len(shape)), 1
	for _, a := range axes {
		if repeat && rapid.IntRange(0, 4).Draw(r, name+" repeat") == 0 {
			continue
		}
		length += rapid.IntRange(0, 1).Draw(r, name+" gap")
		stride[a] = length
		length *= max(shape[a], 1)
		if rapid.IntRange(0, 3).Draw(r, name+" back") == 0 {
			at += stride[a] * (max(shape[a], 1) - 1)
			stride[a] = -stride[a]
		}
	}
	return at, stride, length + 1
}

func TestSwap(t *testing.T) {
	rapid.Check(testcases.Seeded(t), func(r *rapid.T) {
		size := rapid.SampledFrom([]int{2, 4, 8}).Draw(r, "size")
		b := rapid.SliceOfN(rapid.Byte(), 0, 100).Draw(r, "bytes")
		b = b[:len(b)/size*size]
		got := append(bytes.Clone(b), 1)
		Swap(got[:len(b):len(b)], size)
		for i := range b {
			if want := b[i/size*size+size-1-i%size]; got[i] != want {
				t.Fatalf("size %d: byte %d is %x, want %x", size, i, got[i], want)
			}
		}
		if got[len(b)] != 1 {
			t.Fatal("wrote beyond the elements")
		}
	})
	b := binary.BigEndian.AppendUint32(nil, 0x01020304)
	Swap(b, 4)
	if binary.LittleEndian.Uint32(b) != 0x01020304 {
		t.Errorf("%x is not little-endian", b)
	}
}

func TestCopyAllocatesNothing(t *testing.T) {
	src, dst := make([]byte, 4096), make([]byte, 4096)
	shape, rows, columns := []int{8, 8, 8}, []int{64, 8, 1}, []int{1, 8, 64}
	allocs := testing.AllocsPerRun(10, func() {
		Copy(4, shape, dst, 0, rows, src, 0, columns)
		Copy(4, shape, dst, 0, rows, src, 0, rows)
		Swap(dst, 4)
	})
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}

func BenchmarkCopy(b *testing.B) {
	const n = 512
	for _, size := range []int{1, 2, 4, 8, 16} {
		src, dst := make([]byte, n*n*size), make([]byte, n*n*size)
		for _, c := range []struct {
			name   string
			stride []int
		}{{"dense", []int{n, 1}}, {"transposed", []int{1, n}}, {"reversed", []int{-n, -1}}, {"repeated row", []int{0, 1}}, {"repeated column", []int{1, 0}}} {
			at := 0
			if c.stride[0] < 0 {
				at = n*n - 1
			}
			b.Run(fmt.Sprintf("%d/%s", size, c.name), func(b *testing.B) {
				b.SetBytes(int64(len(dst)))
				for range b.N {
					Copy(size, []int{n, n}, dst, 0, []int{n, 1}, src, at, c.stride)
				}
			})
		}
		if size > 1 && size < 16 {
			b.Run(fmt.Sprintf("%d/swap", size), func(b *testing.B) {
				b.SetBytes(int64(len(dst)))
				for range b.N {
					Swap(dst, size)
				}
			})
		}
	}
}
