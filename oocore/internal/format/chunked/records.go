package chunked

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/codec"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

// Records is an array that lies in the records of a file: each index of its first Axes axes has a record, and in it the elements
// of the other axes in one run. Offset is where those of the first record lie.
type Records struct {
	store.Extent
	Axes   int
	Stride int64 // bytes from one record to the next
}

const (
	// recordsBytes is about how many bytes of a file are read at once.
	recordsBytes = 1 << 20
	// recordsGap is how many bytes between two records are read rather than left out.
	recordsGap = 16 << 10
)

// Header is what a file of so many bytes says of the array. One whose elements lie in one run is an Extent. Else its chunks are records
// with what lies between them, or, where that is much, a record or a part of one.
func (r Records) Header(path, format string, size int64) (h storage.Header, err error) {
	if r.Axes < len(r.Shape) && r.Fortran {
		return h, errors.New("a field that is an array in records in Fortran order is not supported: save the field as an array of its own")
	}
	item := r.DType.Size()
	if err := grid.Check(r.Shape, item); err != nil {
		return h, err
	}
	count, record := int64(grid.Size(r.Shape[:r.Axes])), int64(grid.Size(r.Shape[r.Axes:])*item)
	switch {
	case count*record == 0:
		r.Offset = 0
		return storage.Header{Extent: r.Extent}, nil
	case count == 1 || record == r.Stride:
		return storage.Header{Extent: r.Extent}, nil
	case r.Stride < record:
		return h, fmt.Errorf("records of %d bytes are %d bytes apart", record, r.Stride)
	case r.Offset < 0 || r.Offset > size-record || count-1 > (size-record-r.Offset)/r.Stride:
		return h, fmt.Errorf("the file is cut short: it has %d bytes for %d records, %d bytes apart from offset %d on", size, count, r.Stride, r.Offset)
	}
	a := &File{}
	info := storage.Header{Extent: r.Extent}.Info(path, format, store.FileVersion{})
	a.Path, a.Shape, a.DType, a.Fill = path, info.Shape, r.DType, make([]byte, item)
	field := codec.Field{}
	if record < recordsBytes && r.Stride-record <= recordsGap {
		field.Take, field.Of = int(record), int(r.Stride)
		a.Chunk = append(grid.Auto(a.Shape[:r.Axes], int(r.Stride), recordsBytes), a.Shape[r.Axes:]...)
	} else {
		a.Chunk = append(slices.Repeat([]int{1}, r.Axes), grid.Auto(a.Shape[r.Axes:], item, recordsBytes)...)
	}
	if a.Pipeline, err = codec.FromRecords(field, r.Big, a.Chunk, r.DType); err != nil {
		return h, err
	}
	h.Build = func(o storage.Object, id store.FileVersion) (store.Array, error) {
		a.Object = o
		a.FindIn(Source{Object: o, Kind: "file", Key: path}, func(chunk []int, at *Source) (found bool, err error) {
			first, inside, elements := int64(0), int64(0), int64(1)
			for d, i := range chunk {
				start := i * a.Chunk[d]
				if elements *= int64(min(a.Chunk[d], a.Shape[d]-start)); d < r.Axes {
					first = first*int64(a.Shape[d]) + int64(start)
				} else {
					inside = inside*int64(a.Shape[d]) + int64(start)
				}
			}
			at.Base, at.Bytes = r.Offset+first*r.Stride+inside*int64(item), elements*int64(item)
			if field.Of > 0 {
				at.Bytes = (at.Bytes/record-1)*r.Stride + record
			}
			at.Pipeline, err = a.Edge(chunk)
			return true, err
		})
		info.ID, info.Chunks, info.Codec, info.Work = id, a.Chunk, a.Pipeline.String(), a.Work()
		a.Describe(info)
		return a, nil
	}
	return h, nil
}
