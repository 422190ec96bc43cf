package codec

import (
	"encoding/json"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
)

// Field is what an array has of records: of each, of Of bytes, Take bytes from Skip on. The zero Field is of elements that lie without gaps.
type Field struct {
	Skip, Take, Of int
	Bits           Bits `json:"-"` // of integers
}

// FromRecords makes the pipeline of chunks that are records. The last one of a chunk may end with the field.
func FromRecords(f Field, big bool, chunk []int, t dtype.Type) (*Pipeline, error) {
	return newPipeline(chunk, t, grid.UpTo(len(chunk)), big, f.filters())
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
func (Field) decodeMemory(int64) memory                { return memory{} }
func (Field) encodeMemory(int64) memory                { return memory{} }
func (Field) close()                                   {}
func (f Field) decoder(int64, []byte) (decoder, error) { return f, nil }
func (Field) encoder(int64, []byte) (encoder, error)   { return nil, errNotWritten }

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
