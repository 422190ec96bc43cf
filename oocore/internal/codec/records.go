package codec

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
)

// Field is what an array has of records: of each, of Of bytes, Take bytes from Skip on. The zero Field is of elements that lie without gaps.
type Field struct {
	unwritten
	Skip, Take, Of int
	Bits           Bits `json:"-"` // of integers
}

// FromRecords makes the pipeline of chunks that are records. The last one of a chunk may end with the field.
func FromRecords(f Field, big bool, chunk []int, t dtype.Type) (*Pipeline, error) {
	return newPipeline(chunk, t, grid.UpTo(len(chunk)), big, f.filters())
}

// FromV3 is the function FromV3 for the chunks of a field. chunk is their shape in records, behind which those of the pipeline have the
// axes inner of a field that is an array. Records of which nothing says the order of bytes are little-endian, as zarr-python's before 3.2.
func (f Field) FromV3(codecs []json.RawMessage, chunk, inner []int, t dtype.Type) (*Pipeline, error) {
	order, big, all, err := parseV3(codecs, len(chunk), f.stored(t))
	return f.pipeline(all, chunk, inner, order, big, t, err)
}

// FromV2 is the function FromV2 likewise.
func (f Field) FromV2(compressor, filters json.RawMessage, order string, big bool, chunk, inner []int, t dtype.Type) (*Pipeline, error) {
	axes := grid.UpTo(len(chunk))
	switch order {
	case "C":
	case "F":
		slices.Reverse(axes)
	default:
		return nil, fmt.Errorf("order %q is neither C nor F", order)
	}
	all, err := parseV2(compressor, filters, f.stored(t))
	return f.pipeline(all, chunk, inner, axes, big, t, err)
}

// stored is what codecs take: elements, or the bytes of records.
func (f Field) stored(t dtype.Type) dtype.Type {
	if f.Of > 0 {
		return dtype.Uint8
	}
	return t
}

func (f Field) pipeline(all []filter, chunk, inner, order []int, big bool, t dtype.Type, err error) (*Pipeline, error) {
	for _, x := range all {
		switch x.(type) {
		case *elementwise, packBits:
			if f.Of > 0 && err == nil {
				err = codecError(x, errors.New("it is of numbers, and not supported over records"))
			}
		}
	}
	if err != nil {
		return nil, err
	}
	for range inner {
		order = append(order, len(order))
	}
	return newPipeline(slices.Concat(chunk, inner), t, order, big, append(f.filters(), all...))
}

func (f Field) filters() (all []filter) {
	if f.Bits.N > 0 {
		all = append(all, f.Bits.filter())
	}
	if f.Take != f.Of {
		all = append(all, f)
	}
	return all
}

func (Field) text() string                             { return "field" }
func (f Field) v3() json.RawMessage                    { return configured("hdf5.field", f) }
func (f Field) bound(n int64) int64                    { return n / int64(f.Take) * int64(f.Of) }
func (f Field) decoder(int64, []byte) (decoder, error) { return f, nil }

func (f Field) decode(dst, src []byte) (int, error) {
	n := len(dst) / f.Take
	switch {
	case len(src) < (n-1)*f.Of+f.Skip+f.Take:
		return 0, ErrShort
	case len(src) > n*f.Of:
		return 0, errMore
	}
	for i := range n {
		copy(dst[i*f.Take:(i+1)*f.Take], src[i*f.Of+f.Skip:])
	}
	return n * f.Take, nil
}
