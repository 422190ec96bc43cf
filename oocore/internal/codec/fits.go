package codec

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strings"
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

// FromFITS makes the pipeline of a tile. All of one shape and type take the same memory.
func FromFITS(f FITS, chunk []int, t dtype.Type) (*Pipeline, error) {
	switch f.Coding {
	case "RICE_ONE":
		f.Coding = "RICE_1"
	case "RICE_1", "GZIP_1", "GZIP_2", "PLIO_1", "NOCOMPRESS":
	default:
		return nil, fmt.Errorf("the compression %.20q of FITS is not supported: supported are RICE_1, GZIP_1, GZIP_2, PLIO_1 and NOCOMPRESS: unpack the file with funpack", f.Coding)
	}
	if f.Coding == "RICE_1" && (f.Block != 16 && f.Block != 32 || f.Bytes != 1 && f.Bytes != 2 && f.Bytes != 4) {
		return nil, fmt.Errorf("RICE_1 has BLOCKSIZE %d and BYTEPIX %d: 16 or 32, and 1, 2 or 4, are supported: unpack the file with funpack", f.Block, f.Bytes)
	}
	if !t.Integer() && f.Quantum == nil && (f.Coding == "RICE_1" || f.Coding == "PLIO_1") {
		return nil, fmt.Errorf("floats by %s without ZSCALE and ZZERO, that say what its integers stand for: the file is damaged", f.Coding)
	}
	return newPipeline(chunk, t, grid.UpTo(len(chunk)), false, []filter{&fitsTile{f, t}})
}

type fitsTile struct {
	FITS
	t dtype.Type
}

func (f *fitsTile) text() string                           { return strings.ToLower(f.Coding) }
func (f *fitsTile) v3() json.RawMessage                    { return configured("fits_"+f.text(), nil) }
func (f *fitsTile) bound(n int64) int64                    { return f.most(n) + f.most(n)/4 + 1024 }
func (f *fitsTile) encodeMemory(int64) memory              { return memory{} }
func (f *fitsTile) encoder(int64, []byte) (encoder, error) { return nil, errNotWritten }

// most is how many bytes the integers of n bytes of elements have.
func (f *fitsTile) most(n int64) int64 {
	size := int64(f.t.Size())
	return n / size * max(size, 4)
}

func (f *fitsTile) decodeMemory(n int64) memory {
	return memory{arena: 2 * room(f.most(n)), heap: inflateHeap}
}

func (f *fitsTile) decoder(n int64, work []byte) (decoder, error) {
	c := cutter{work}
	return &untile{fitsTile: f, coded: c.cut(f.most(n)), planes: c.cut(f.most(n)), inflater: inflater{frame: "gzip"}}, nil
}

// untile decodes tiles.
type untile struct {
	*fitsTile
	coded, planes []byte // integers, and those of GZIP_2
	inflater      inflater
}

func (d *untile) close() { d.inflater.close() }

func (d *untile) decode(dst, src []byte) (n int, err error) {
	count := len(dst) / d.t.Size()
	ints, big := d.coded, true
	switch d.Coding {
	case "RICE_1":
		ints, big = ints[:min(count*d.Bytes, len(ints))], false
		err = unrice(ints, src, d.Block, d.Bytes)
	case "PLIO_1":
		ints, big = ints[:4*count], false
		err = unplio(ints, src)
	case "NOCOMPRESS":
		ints = src
	case "GZIP_1":
		n, err = d.inflater.decode(ints, src)
		ints = ints[:n]
	case "GZIP_2":
		if n, err = d.inflater.decode(d.planes, src); err == nil && n%count == 0 {
			unshuffleBytes(ints, d.planes[:n], max(n/count, 1))
		}
		ints = ints[:n]
	}
	if err != nil {
		return 0, err
	}
	item := len(ints) / count
	if item*count != len(ints) || item != 1 && item != 2 && item != 4 && item != 8 {
		return 0, fmt.Errorf("its %d elements have %d bytes", count, len(ints))
	}
	if big && item > 1 {
		kernel.Swap(ints, item)
	}
	return len(dst), d.convert(dst, ints, item)
}

// convert makes elements of integers of so many bytes, of which those of one byte have no sign, or of what are elements already.
func (d *untile) convert(dst, ints []byte, item int) error {
	size := d.t.Size()
	switch {
	case d.Quantum != nil:
		d.Quantum.undo(dst, ints, size, item)
		return nil
	case item == size:
		copy(dst, ints)
	case !d.t.Integer():
		return fmt.Errorf("its floats have %d bytes each, not %d", item, size)
	default:
		all := Bits{Size: size}
		stored := d.t
		if d.Flip { // what is stored has the sign of the format's own type
			stored = map[int]dtype.Type{1: dtype.Uint8, 2: dtype.Int16, 4: dtype.Int32, 8: dtype.Int64}[size]
		}
		for i, at := 0, 0; at < len(dst); i, at = i+1, at+size {
			v := integer(ints, i, item)
			if !stored.Fits(v) {
				return fmt.Errorf("its integer %d is none of BITPIX %d", v, 8*size)
			}
			all.put(dst[at:at+size], uint64(v))
		}
	}
	for i := size - 1; d.Flip && i < len(dst); i += size {
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
			switch {
			case low == most:
				diff = in.take(8 * item)
			case low >= 0:
				diff = in.zeros() << low
				diff |= in.take(low)
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
		if in.short {
			return ErrShort
		}
	}
	return nil
}

// bitReader reads bits, the highest of a byte first.
type bitReader struct {
	src   []byte
	bits  uint64 // the next are the highest
	n     int    // of them
	short bool   // more were read than there are
}

func (r *bitReader) fill() {
	for r.n <= 56 && len(r.src) > 0 {
		r.bits |= uint64(r.src[0]) << (56 - r.n)
		r.src, r.n = r.src[1:], r.n+8
	}
}

// take returns up to 32 bits.
func (r *bitReader) take(n int) uint32 {
	if r.n < n {
		r.fill()
	}
	if r.n < n {
		r.short, r.n = true, n
	}
	v := uint32(r.bits >> 32 >> (32 - n))
	r.bits, r.n = r.bits<<n, r.n-n
	return v
}

// zeros returns how many bits are 0 before one that is 1, and passes that, too.
func (r *bitReader) zeros() (n uint32) {
	for {
		r.fill()
		zeros := bits.LeadingZeros64(r.bits)
		if zeros < r.n {
			r.bits, r.n = r.bits<<(zeros+1), r.n-zeros-1
			return n + uint32(zeros)
		}
		if n += uint32(r.n); len(r.src) == 0 {
			r.bits, r.n, r.short = 0, 0, true
			return n
		}
		r.bits, r.n = 0, 0
	}
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
