// Package safetensors reads and writes the tensors of .safetensors files, as
// x.safetensors#tensor; the name may be left out where there is one tensor.
//
// A file is the length of its header (8 bytes, little-endian), the header, which
// is a JSON object, and the tensors' elements: dense, in C order, little-endian,
// one behind the other without gaps (github.com/huggingface/safetensors). What
// breaks the format's rules is rejected when it is opened.
//
// What the format lets change the meaning of bytes: dtype (those of less than 8 bits, and of 8 bits without a type here, are an error by
// name), shape and data_offsets (checked against each other and the file), __metadata__ (attributes of all tensors: texts that the
// format gives no meaning, of which scale_factor and its like are not written, as they are of one array). Scales of quantized weights
// are tensors of their own, which expressions multiply.
package safetensors

import (
	"context"
	"errors"
	"io"

	"github.com/gonbext/gonbext/oocore/store"
)

const (
	extension = ".safetensors"
	kind      = "tensor"
)

func init() {
	store.Register(files)
	store.Register(index{store.Extensions{".safetensors.index.json"}})
}

var files = format{store.MemberFormat{
	NamedArrays: store.NamedArrays{Extensions: store.Extensions{extension}, Names: func(file string, r io.ReaderAt, size int64) ([]string, error) {
		h, err := readHeader(file, r, size)
		return h.names.List(), err
	}},
	Name: "safetensors", Kind: kind, First: "tensor",
	Supports: func(m store.Meta) error {
		_, err := newTensor("", nil, m.DType)
		return err
	},
	Lay: func(m store.CollectionMeta) store.FileLayout { return &fileLayout{metadata: m.Metadata} },
}}

type format struct{ store.MemberFormat }

func (x format) Open(ctx context.Context, path string) (store.Array, error) {
	file, name, _ := x.Cut(path)
	return store.OpenExtent(ctx, path, file, x.Name, func(r io.ReaderAt, size int64) (store.Extent, error) {
		h, err := readHeader(file, r, size)
		if err != nil {
			return store.Extent{}, err
		}
		i, err := h.names.Find(name)
		if err != nil {
			return store.Extent{}, err
		}
		return h.extent(h.Tensors[i])
	})
}

var headers store.Headers[Header]

// readHeader is ReadHeader of a file that was opened before, too.
func readHeader(file string, r io.ReaderAt, size int64) (Header, error) {
	return headers.Read(file, r, func(take func(bytes int64) error) (Header, error) {
		return ReadHeader(r, size, take)
	})
}

// Keeps says that attributes are kept, as texts of the file.
func (format) Keeps(d store.Details) error {
	if d.Dims != nil || d.Fill != "" {
		return errors.New("a safetensors file stores neither dimension names nor a fill value: save to NAME.zarr")
	}
	return nil
}
