// Package gguf reads and writes the tensors of .gguf files, as x.gguf#tensor; the name may be left out
// where there is one tensor. Tensors in blocks of few bits are arrays of float32, which are decoded as
// they are read: all that ggml decodes. Written are the types of elements
// that the format has, and blocks, by recipes that say which tensor has which.
//
// A file is a header of key-value pairs and tensors, and then the tensors' elements, each aligned
// (github.com/ggml-org/ggml/blob/master/docs/gguf.md). Dimensions stand in the header in the order
// opposite to NumPy's.
//
// What changes the meaning of bytes: the byte order, of which big-endian files are rejected by their version;
// general.alignment, which offsets keep to; a tensor's type, whose blocks rows are made of and whose bytes lie in the
// file and in no other tensor; split.count, by which further tensors are in other files. Other types are named.
package gguf

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/codec"
	"github.com/gonbext/gonbext/oocore/internal/format/chunked"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

const (
	extension = ".gguf"
	kind      = "tensor"
)

func init() { store.Register(files) }

var files = format{storage.MemberFormat{
	NamedArrays: storage.NamedArrays{Extensions: storage.Extensions{extension}, Names: headers.Names},
	Name:        "GGUF", Kind: kind, First: "tensor", Types: Types, Encoded: encoded,
	Blocks: func(name string) bool { _, _, ok := codec.GGML(name); return ok },
	Supports: func(m store.Meta) error {
		_, err := newTensor("", m)
		return err
	},
	Lay: func(m storage.CollectionMeta) storage.FileLayout { return &fileLayout{template: m.Template} },
}}

type format struct{ storage.MemberFormat }

var headers = storage.Catalog[Header]{Parse: ReadHeader}

func (x format) Open(ctx context.Context, path string) (store.Array, error) {
	a, err := x.open(ctx, path)
	if errors.Is(err, errOther) {
		file, name, _ := x.Cut(path)
		return storage.FindPart(ctx, kind, name, func() ([]store.Member, error) { return x.Members(ctx, file) })
	}
	return a, err
}

func (x format) open(ctx context.Context, path string) (store.Array, error) {
	file, name, _ := x.Cut(path)
	return storage.OpenHeader(ctx, path, file, "gguf", func(r io.ReaderAt, size int64) (e storage.Header, err error) {
		h, err := headers.Read(file, r, size)
		if err != nil {
			return e, err
		}
		i, err := h.Find(name)
		if h.Parts > 1 && (name == "" || err != nil) {
			return e, errOther
		}
		if err != nil {
			return e, err
		}
		t := h.Tensors[i]
		if dt, ok := types[t.Type]; ok {
			e.Extent = store.Extent{Offset: h.Data + t.Offset, Shape: t.Shape, DType: dt}
			e.Details.Attributes = h.Attributes
			return e, nil
		}
		format, known := blocks[t.Type]
		if _, _, ok := codec.GGML(format); ok {
			e.Build = func(o storage.Object, id store.FileVersion) (store.Array, error) { return newArray(path, h, t, o, id) }
			return e, nil
		}
		if !known {
			format = fmt.Sprint(t.Type)
		}
		return e, fmt.Errorf("tensor %.80q: type %s cannot be read: write the file as F16 by llama.cpp (llama-quantize --allow-requantize OLD.gguf NEW.gguf F16)", t.Name, format)
	})
}

// encoded is where the bytes of a tensor in blocks are.
func encoded(ctx context.Context, file, name string) (at storage.Encoded, err error) {
	h, err := headers.Open(ctx, file)
	if err != nil {
		return at, err
	}
	i, err := h.Find(name)
	if err != nil {
		return at, err
	}
	t := h.Tensors[i]
	floats, size, ok := codec.GGML(blocks[t.Type])
	if !ok {
		return at, nil
	}
	at = storage.Encoded{Type: blocks[t.Type], File: file, Offset: h.Data + t.Offset, Shape: slices.Clone(t.Shape)}
	last := &at.Shape[len(at.Shape)-1]
	*last = *last / floats * size
	return at, nil
}

// chunkElements is about how many elements are decoded at once.
const chunkElements = 256 << 10

// newArray opens a tensor in blocks. Its chunks are whole rows, of which the tensor is a whole number, so
// that they follow each other in the file.
func newArray(path string, h Header, t Tensor, o storage.Object, id store.FileVersion) (store.Array, error) {
	a := &chunked.File{Object: o}
	a.Path, a.Shape, a.DType, a.Fill = path, t.Shape, dtype.Float32, make([]byte, 4)
	a.Chunk = slices.Repeat([]int{1}, len(t.Shape))
	last := len(t.Shape) - 1
	a.Chunk[last] = max(t.Shape[last], 1)
	if last > 0 {
		rows := max(t.Shape[last-1], 1)
		n := min(rows, max(chunkElements/a.Chunk[last], 1))
		for rows%n != 0 {
			n--
		}
		a.Chunk[last-1] = n
	}
	var err error
	if a.Pipeline, err = codec.FromGGML(blocks[t.Type], a.Chunk); err != nil {
		return nil, err
	}
	each := a.Pipeline.MaxEncoded()
	a.FindIn(chunked.Source{Object: o, Kind: "tensor", Key: t.Name, Bytes: each}, func(chunk []int, at *chunked.Source) (bool, error) {
		at.Base = h.Data + t.Offset + int64(a.Number(chunk))*each
		return true, nil
	})
	n, _ := t.bytes()
	a.Describe(store.Info{Format: "gguf", Chunks: a.Chunk, Codec: a.Pipeline.String(), Bytes: n, ID: id, Work: a.Work(),
		Details: store.Details{Attributes: h.Attributes}})
	return a, nil
}

// Keeps says that attributes are not kept: the pairs of a file come from another one.
func (format) Keeps(d store.Details) error {
	if d.Dims != nil || d.Fill != "" {
		return errors.New("a GGUF file stores neither dimension names nor a fill value: save to NAME.zarr")
	}
	return nil
}

// TakesTemplate says that a new file has the pairs of another.
func (format) TakesTemplate() {}
