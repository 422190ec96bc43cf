package codec

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
)

// scaleOffset is HDF5's filter of that name (H5Zscaleoffset.c): a chunk has its least element, and by how much each is above that, in as few bits as
// the greatest needs. Floats are so stored with some decimal digits, which rounds them.
type scaleOffset struct {
	unwritten
	count, size int  // elements of a chunk, and the bytes of one
	big         bool // the order of an element's bytes
	decimal     bool // floats
	digits      int  // behind the point
	filled      bool // of an element that is the fill value all bits are set
	fill        uint64
}

// scaleOffsetHead is how many bytes of a chunk come before its elements: the number of bits of each, the size of the least element, and that.
const scaleOffsetHead = 21

// newScaleOffset makes the filter of its values in a file: how it scales and by what, elements of a chunk, class, size, sign, order of bytes, whether
// there is a fill value, and that.
func newScaleOffset(values []uint32) (*scaleOffset, error) {
	if len(values) < 8 {
		return nil, fmt.Errorf("the HDF5 filter scale-offset has %d values of 8", len(values))
	}
	const exponents = 1 // of floats, which HDF5 itself does not write
	s := &scaleOffset{count: int(values[2]), decimal: values[3] == 1, size: int(values[4]), big: values[6] == 1, filled: values[7] == 1}
	switch {
	case values[3] > 1, s.size != 1 && s.size != 2 && s.size != 4 && s.size != 8, s.decimal && s.size < 4, s.decimal && values[0] == exponents, values[2] > math.MaxInt32:
		return nil, fmt.Errorf("the HDF5 filter scale-offset of elements of class %d with %d bytes, scaled by method %d, is not supported", values[3], values[4], values[0])
	case s.decimal:
		s.digits = int(int32(values[1]))
	}
	for i, v := range values[8:min(len(values), 10)] {
		s.fill |= uint64(v) << (32 * i)
	}
	return s, nil
}

func (*scaleOffset) text() string                             { return "scale-offset" }
func (*scaleOffset) v3() json.RawMessage                      { return configured("hdf5.scaleoffset", nil) }
func (*scaleOffset) bound(n int64) int64                      { return n + scaleOffsetHead + 1 }
func (s *scaleOffset) decoder(int64, []byte) (decoder, error) { return s, nil }

func (s *scaleOffset) decode(dst, src []byte) (int, error) {
	if len(src) < scaleOffsetHead {
		return 0, ErrShort
	}
	bits := int(min(binary.LittleEndian.Uint32(src), math.MaxInt32))
	var least [8]byte
	copy(least[:], src[5:5+min(src[4], 8)])
	n := s.count * s.size
	if src = src[scaleOffsetHead:]; n > len(dst) {
		return 0, errMore
	}
	if bits > 8*s.size {
		return 0, errors.New("its elements have more bits than their type")
	}
	if len(src) < (s.count*bits+7)/8 {
		return 0, ErrShort
	}
	if bits == 8*s.size {
		s.reorder(dst[:n], src)
		return n, nil
	}
	value := s.values(binary.LittleEndian.Uint64(least[:]), uint64(1)<<bits-1)
	at := 0 // a bit of src
	for out := dst[:n]; len(out) > 0; out = out[s.size:] {
		Bits{Size: s.size, Big: s.big}.put(out, value(bitsAt(src, at, bits)))
		at += bits
	}
	return n, nil
}

// values gives the bits of an element for what a chunk stores of it.
func (s *scaleOffset) values(least, none uint64) func(uint64) uint64 {
	of := func(v uint64) uint64 { return v + least } // of any sign, as the bits beyond the element are dropped
	switch scale := math.Pow10(s.digits); {
	case s.decimal && s.size == 4:
		of = func(v uint64) uint64 {
			scaled := float32(int32(v)) / float32(scale)
			return uint64(math.Float32bits(scaled + math.Float32frombits(uint32(least))))
		}
	case s.decimal:
		of = func(v uint64) uint64 {
			scaled := float64(int64(v)) / scale
			return math.Float64bits(scaled + math.Float64frombits(least))
		}
	}
	return func(v uint64) uint64 {
		if s.filled && v == none {
			return s.fill
		}
		return of(v)
	}
}

// reorder copies whole elements, which the filter has in the order of the machine that wrote them, taken to be little-endian.
func (s *scaleOffset) reorder(dst, src []byte) {
	copy(dst, src)
	for at := 0; s.big && at+s.size <= len(dst); at += s.size {
		slices.Reverse(dst[at : at+s.size])
	}
}
