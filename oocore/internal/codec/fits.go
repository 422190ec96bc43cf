package codec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"sync"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

// FITS is how a tile of a compressed image is stored (FITS Standard 4.0, section 10), for reading.
type FITS struct {
	Coding string // as ZCMPTYPE has it
	// Of RICE_1, elements of a block and bytes of an element.
	Block, Bytes int
	Flip         bool // the highest bit of integers is stored inverted
	// Quantum is set of floats that are stored as integers.
	Quantum *Quantum
}

// Quantum is what the integers of a tile stand for: their product with Scale, plus Zero.
type Quantum struct {
	Scale, Zero float64
	Missing     bool
	Blank       int64 // that of NaN, if Missing
	Dither      bool  // a random number was added to each, by the sequence from Seed on
	Seed        int
	Zeros       bool // one integer is exactly 0
}

// quantumOfZero is the integer that stands for 0 with SUBTRACTIVE_DITHER_2.
const quantumOfZero = -2147483646

// FromFITS makes the pipeline of a tile. All of an array take the memory of the array's, or less.
func FromFITS(f FITS, chunk []int, t dtype.Type) (*Pipeline, error) {
	count, size := grid.Size(chunk), t.Size()
	gzip := &deflate{"gzip", defaultDeflate}
	var coding []filter
	big := true // the order of bytes
	switch f.Coding {
	case "NOCOMPRESS":
		coding = append(coding, &reading{name: "nocompress", most: gzip.bound, undo: func(dst, src []byte) (int, error) {
			if len(src) > len(dst) {
				return 0, errLarge
			}
			return copy(dst, src), nil
		}})
	case "GZIP_1":
		coding = append(coding, gzip)
	case "GZIP_2":
		coding = append(coding, &reading{name: "shuffle", most: func(n int64) int64 { return n }, undo: func(dst, src []byte) (int, error) {
			unshuffleBytes(dst[:len(src)], src, max(len(src)/count, 1))
			return len(src), nil
		}}, gzip)
	case "RICE_1", "RICE_ONE":
		if f.Block != 16 && f.Block != 32 || f.Bytes != 1 && f.Bytes != 2 && f.Bytes != 4 {
			return nil, fmt.Errorf("RICE_1 has BLOCKSIZE %d and BYTEPIX %d: 16 or 32, and 1, 2 or 4, are supported: unpack the file with funpack", f.Block, f.Bytes)
		}
		big = false
		coding = append(coding, &reading{name: "rice", most: gzip.bound, undo: func(dst, src []byte) (int, error) {
			return count * f.Bytes, unrice(dst[:count*f.Bytes], src, f.Block, f.Bytes)
		}})
	case "PLIO_1":
		big = false
		coding = append(coding, &reading{name: "plio", most: gzip.bound, undo: func(dst, src []byte) (int, error) { return count * 4, unplio(dst[:count*4], src) }})
	default:
		return nil, fmt.Errorf("the compression %.20q of FITS is not supported: supported are RICE_1, GZIP_1, GZIP_2, PLIO_1 and NOCOMPRESS: unpack the file with funpack", f.Coding)
	}
	if !big && !t.Integer() && f.Quantum == nil {
		return nil, fmt.Errorf("floats by %s without ZSCALE and ZZERO, that say what its integers stand for: the file is damaged", f.Coding)
	}
	elements := &reading{name: "fits", most: func(n int64) int64 { return max(n, 4*int64(count)) }, heap: func(int64) int64 { return inflateHeap }, undo: func(dst, ints []byte) (int, error) {
		item := len(ints) / count
		if item*count != len(ints) || item != 1 && item != 2 && item != 4 && item != 8 {
			return 0, fmt.Errorf("its %d elements have %d bytes", count, len(ints))
		}
		if big && item > 1 {
			kernel.Swap(ints, item)
		}
		return count * size, f.elements(dst, ints, t, item)
	}}
	return newPipeline(chunk, t, grid.UpTo(len(chunk)), false, append([]filter{elements}, coding...))
}

// elements makes those of a type of integers of so many bytes, of which those of one byte have no sign, or of what are elements already.
func (f FITS) elements(dst, ints []byte, t dtype.Type, item int) error {
	size := t.Size()
	switch {
	case f.Quantum != nil:
		f.Quantum.undo(dst, ints, size, item)
		return nil
	case item == size:
		copy(dst, ints)
	case !t.Integer():
		return fmt.Errorf("its floats have %d bytes each, not %d", item, size)
	default:
		if f.Flip { // what is stored has the sign of the format's own type
			t = map[int]dtype.Type{1: dtype.Uint8, 2: dtype.Int16, 4: dtype.Int32, 8: dtype.Int64}[size]
		}
		for i := range len(dst) / size {
			v := integer(ints, i, item)
			if !t.Fits(v) {
				return fmt.Errorf("its integer %d is none of BITPIX %d", v, 8*size)
			}
			Bits{Size: size}.put(dst[i*size:], uint64(v))
		}
	}
	for i := size - 1; f.Flip && i < len(dst); i += size {
		dst[i] ^= 0x80
	}
	return nil
}

// integer is one of several.
func integer(b []byte, i, item int) int64 {
	switch item {
	case 1:
		return int64(b[i])
	case 2:
		return int64(int16(binary.LittleEndian.Uint16(b[2*i:])))
	case 4:
		return int64(int32(binary.LittleEndian.Uint32(b[4*i:])))
	}
	return int64(binary.LittleEndian.Uint64(b[8*i:]))
}

// undo makes floats of integers.
func (q *Quantum) undo(dst, ints []byte, size, item int) {
	random, first, next := dithers(), q.Seed, 0
	if q.Dither {
		next = int(random[first] * 500)
	}
	for i := range len(dst) / size {
		v := integer(ints, i, item)
		x := float64(v)
		if q.Dither {
			x = x - float64(random[next]) + 0.5
			if next++; next == len(random) {
				first = (first + 1) % len(random)
				next = int(random[first] * 500)
			}
		}
		x = float64(x*q.Scale) + q.Zero // rounded twice on every machine
		switch {
		case q.Missing && v == q.Blank:
			x = math.Float64frombits(0x7ff8 << 48) // NumPy's NaN
		case q.Zeros && v == quantumOfZero:
			x = 0
		}
		if size == 4 {
			binary.LittleEndian.PutUint32(dst[4*i:], math.Float32bits(float32(x)))
		} else {
			binary.LittleEndian.PutUint64(dst[8*i:], math.Float64bits(x))
		}
	}
}

// dithers are the random numbers of appendix I of the standard, by the generator of Park and Miller (1988).
var dithers = sync.OnceValue(func() []float32 {
	all, seed := make([]float32, 10000), int64(1)
	for i := range all {
		seed = seed * 16807 % math.MaxInt32
		all[i] = float32(float64(seed) / math.MaxInt32)
	}
	return all
})

// unrice fills dst with integers of so many bytes: the first, then in blocks the differences of neighbours, mapped to numbers without a sign,
// with a number of low bits that a block says, and what is above these in unary (section 10.4.1).
func unrice(dst, src []byte, block, item int) error {
	width := map[int]int{1: 3, 2: 4, 4: 5}[item] // of the number of bits, and one
	most := map[int]int{1: 6, 2: 14, 4: 25}[item]
	if len(src) < item {
		return ErrShort
	}
	last := uint32(0)
	for _, b := range src[:item] {
		last = last<<8 | uint32(b)
	}
	in := bitReader{src: src[item:]}
	for len(dst) > 0 {
		low := int(in.take(width)) - 1
		if low > most {
			return errors.New("a block has more bits than its integers")
		}
		for range min(block, len(dst)/item) {
			diff := uint32(0)
			if low == most {
				diff = in.take(8 * item)
			} else if low >= 0 {
				diff = in.zeros()<<low | in.take(low)
			}
			last += diff>>1 ^ -(diff & 1)
			switch item {
			case 1:
				dst[0] = byte(last)
			case 2:
				binary.LittleEndian.PutUint16(dst, uint16(last))
			default:
				binary.LittleEndian.PutUint32(dst, last)
			}
			dst = dst[item:]
		}
		if in.at > 8*len(in.src) {
			return ErrShort
		}
	}
	return nil
}

// bitReader reads bits, the highest of a byte first. Beyond the last are zeros.
type bitReader struct {
	src []byte
	at  int
}

// next are the next bits, 57 or more.
func (r *bitReader) next() uint64 {
	from := min(r.at/8, len(r.src))
	if from+8 <= len(r.src) {
		return binary.BigEndian.Uint64(r.src[from:]) << (r.at % 8)
	}
	var end [8]byte
	copy(end[:], r.src[from:])
	return binary.BigEndian.Uint64(end[:]) << (r.at % 8)
}

// take returns up to 32 bits.
func (r *bitReader) take(n int) uint32 {
	v := r.next() >> 32 >> (32 - n)
	r.at += n
	return uint32(v)
}

// zeros returns how many bits are 0 before one that is 1, and passes that, too.
func (r *bitReader) zeros() (n uint32) {
	for r.at <= 8*len(r.src) {
		zeros := min(bits.LeadingZeros64(r.next()), 56)
		n += uint32(zeros)
		if r.at += zeros; zeros < 56 {
			r.at++
			break
		}
	}
	return n
}

// unplio fills dst with integers of 4 bytes: runs of zeros and of a high value, by words of 4 bits that say what to do, and 12 of how much
// (section 10.4.3).
func unplio(dst, src []byte) error {
	word := func(i int) int { return int(int16(binary.BigEndian.Uint16(src[2*i:]))) }
	if len(src) < 6 {
		return ErrShort
	}
	first, end := 3, word(2)
	if end <= 0 {
		if len(src) < 10 {
			return ErrShort
		}
		first, end = word(1), word(4)<<15+word(3)
	}
	if first < 3 || end < 0 || end > len(src)/2 {
		return ErrShort
	}
	clear(dst)
	high, at, count := 1, 0, len(dst)/4
	put := func(from, to int) {
		for i := from; i < to; i++ {
			binary.LittleEndian.PutUint32(dst[4*i:], uint32(high))
		}
	}
	for i := first; i < end && at < count; i++ {
		code, n := word(i)>>12, word(i)&0xfff
		switch code {
		case 0, 4, 5: // zeros, high values, and zeros before a high value
			to := at + n
			if to > count {
				return errMore
			}
			switch code {
			case 4:
				put(at, to)
			case 5:
				put(max(to-1, at), to)
			}
			at = to
		case 1:
			if i++; i == end {
				return ErrShort
			}
			high = word(i)<<12 + n
		case 2, 6:
			high += n
		case 3, 7:
			high -= n
		default:
			return errors.New("a word says what no list of lines can")
		}
		if code >= 6 {
			put(at, at+1)
			at++
		}
	}
	return nil
}
