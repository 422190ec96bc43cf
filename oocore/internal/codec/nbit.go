package codec

import (
	"errors"
	"fmt"
	"math"
)

// Bits are those that integers have of their bytes, N from the lowest at At on; the zero Bits are all. Others say nothing.
type Bits struct {
	At, N, Size int
	Signed, Big bool
}

// Widen makes integers of all their bytes of those with Bits, in place.
func (b Bits) Widen(p []byte) {
	for ; len(p) >= b.Size; p = p[b.Size:] {
		v := b.get(p) << (64 - b.At - b.N)
		if b.Signed {
			v = uint64(int64(v) >> (64 - b.N))
		} else {
			v >>= 64 - b.N
		}
		b.put(p, v)
	}
}

// byteAt is the place of a byte of an integer, of which the lowest is byte 0.
func (b Bits) byteAt(i int) int {
	if b.Big {
		return b.Size - 1 - i
	}
	return i
}

func (b Bits) get(p []byte) (v uint64) {
	for i := range b.Size {
		v |= uint64(p[b.byteAt(i)]) << (8 * i)
	}
	return v
}

func (b Bits) put(p []byte, v uint64) {
	for i := range b.Size {
		p[b.byteAt(i)] = byte(v >> (8 * i))
	}
}

// filter undoes what writing such integers is.
func (b Bits) filter() filter {
	return &reading{name: "bits", most: func(n int64) int64 { return n }, undo: func(dst, src []byte) (int, error) {
		if len(src) > len(dst) {
			return 0, errLarge
		}
		b.Widen(dst[:copy(dst, src)])
		return len(src), nil
	}}
}

// newNbit makes HDF5's filter n-bit (H5Znbit.c) of its values in a file: how many these are, whether elements have all of their bits, elements of a
// chunk, and of an integer or a float its class, size, order, bits, and where these begin. A chunk has the bits alone, the highest first.
// The filter is nil where elements have all of their bits.
func newNbit(values []uint32) (filter, error) {
	const atomic = 1
	switch {
	case len(values) > 1 && values[1] == 1:
		return nil, nil
	case len(values) < 8:
		return nil, fmt.Errorf("the HDF5 filter n-bit has %d values of 8", len(values))
	case values[3] != atomic:
		return nil, errors.New("the HDF5 filter n-bit of arrays and compounds is not supported")
	}
	count, b := int(values[2]), Bits{At: int(values[7]), N: int(values[6]), Size: int(values[4]), Big: values[5] == 1}
	if b.Size < 1 || b.Size > 8 || b.N < 1 || b.At+b.N > 8*b.Size || count > math.MaxInt32 {
		return nil, fmt.Errorf("the HDF5 filter n-bit of %d bits of %d bytes is not supported", b.N, b.Size)
	}
	return &reading{name: "nbit", most: func(n int64) int64 { return n + 1 }, undo: func(dst, src []byte) (int, error) {
		switch {
		case count*b.Size > len(dst):
			return 0, errMore
		case len(src) < (count*b.N+7)/8:
			return 0, ErrShort
		}
		for i := range count {
			b.put(dst[i*b.Size:], bitsAt(src, i*b.N, b.N)<<b.At)
		}
		return count * b.Size, nil
	}}, nil
}

// bitsAt returns n bits from a bit of b on, the first of which is the highest.
func bitsAt(b []byte, at, n int) (v uint64) {
	for n > 0 {
		part := min(n, 8-at%8)
		v = v<<part | uint64(b[at/8]<<(at%8)>>(8-part))
		at, n = at+part, n-part
	}
	return v
}
