package codec

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
)

// The codecs of HDF5 that Zarr v3 does not have: whole chunks only, and for reading.

// newFletcher32 makes HDF5's checksum, of four bytes behind its input (H5checksum.c).
func newFletcher32() *checksum { return &checksum{name: "fletcher32", sum: fletcher} }

// fletcher adds up words of 16 bits, of which the first byte is the high one.
func fletcher(b []byte) uint32 {
	var low, high uint32
	fold := func(x uint32) uint32 { return x&0xffff + x>>16 }
	odd := len(b) % 2
	for words := b[:len(b)-odd]; len(words) > 0; {
		n := min(len(words), 2*360) // before which the sums do not overflow
		for i := 0; i < n; i += 2 {
			low += uint32(words[i])<<8 | uint32(words[i+1])
			high += low
		}
		words = words[n:]
		low, high = fold(low), fold(high)
	}
	if odd == 1 {
		low += uint32(b[len(b)-1]) << 8
		high += low
		low, high = fold(low), fold(high)
	}
	return fold(high)<<16 | fold(low)
}

// lzf is Marc Lehmann's LibLZF, as h5py has it.
type lzf struct{ unwritten }

func (*lzf) text() string                             { return "lzf" }
func (*lzf) v3() json.RawMessage                      { return configured("numcodecs.lzf", nil) }
func (*lzf) bound(n int64) int64                      { return n + n/32 + 1 }
func (l *lzf) decoder(int64, []byte) (decoder, error) { return l, nil }

func (*lzf) decode(dst, src []byte) (int, error) {
	at := 0
	for len(src) > 0 {
		c := int(src[0])
		src = src[1:]
		if c < 32 { // literals
			if c++; c > len(src) {
				return at, io.ErrUnexpectedEOF
			}
			if c > len(dst)-at {
				return at, errMore
			}
			at += copy(dst[at:], src[:c])
			src = src[c:]
			continue
		}
		n := c >> 5
		if n == 7 {
			if len(src) == 0 {
				return at, io.ErrUnexpectedEOF
			}
			n += int(src[0])
			src = src[1:]
		}
		if len(src) == 0 {
			return at, io.ErrUnexpectedEOF
		}
		from := at - (c&31)<<8 - int(src[0]) - 1
		src = src[1:]
		if n += 2; from < 0 {
			return at, errors.New("a match begins before the data")
		}
		if n > len(dst)-at {
			return at, errMore
		}
		for range n { // byte by byte: a match may run into itself
			dst[at] = dst[from]
			at, from = at+1, from+1
		}
	}
	return at, nil
}

// FromHDF5 makes the pipeline of an HDF5 dataset's filters, in the order in which they are
// applied, each with the identifier and the values of the file. Elements may be a field of compounds.
func FromHDF5(of Field, ids []int, values [][]uint32, big bool, chunk []int, t dtype.Type) (*Pipeline, error) {
	all := of.filters()
	for i, id := range ids {
		f, err := hdf5Filter(id, values[i], t)
		if err != nil {
			return nil, err
		}
		if f != nil {
			all = append(all, f)
		}
	}
	return newPipeline(chunk, t, grid.UpTo(len(chunk)), big, all)
}

func hdf5Filter(id int, values []uint32, t dtype.Type) (filter, error) {
	value := func(i, usual int) int {
		if i < len(values) {
			return int(values[i])
		}
		return usual
	}
	switch id {
	case 1:
		return newDeflate("zlib", min(value(0, 1), 9))
	case 2:
		return newShuffle(value(0, t.Size()))
	case 3:
		return newFletcher32(), nil
	case 5:
		return newNbit(values)
	case 6:
		return newScaleOffset(values)
	case 307:
		return bzip{}, nil
	case 32000:
		return &lzf{}, nil
	case 32001: // the compressor and all else are in each chunk
		return newBlosc("lz4", 5, byteShuffle, t.Size(), 0)
	case 32004:
		return newLZ4Blocks(value(0, 0))
	case 32008:
		return newBitshuffle(value(2, t.Size()), value(3, 0), value(4, 0))
	case 32015:
		return newZstd(3, false)
	case 32026:
		return newBlosc2(values), nil
	}
	names := map[int]string{4: "szip", 32013: "ZFP", 32017: "SZ", 32018: "FCIDECOMP", 32019: "JPEG", 32024: "SZ3", 32028: "SPERR"}
	name, ok := names[id]
	if !ok {
		name = fmt.Sprintf("number %d", id)
	}
	return nil, fmt.Errorf("the HDF5 filter %s is not supported: supported are deflate, shuffle, fletcher32, n-bit, scale-offset, LZF, Blosc, Blosc2, LZ4, bitshuffle, bzip2 and Zstandard: write it anew with one of them, as by h5repack -f GZIP=5", name)
}
