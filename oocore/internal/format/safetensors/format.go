// Package safetensors reads and writes the tensors of .safetensors files, as
// x.safetensors#tensor; the name may be left out where there is one tensor.
//
// A file is the length of its header (8 bytes, little-endian), the header, which
// is a JSON object, and the tensors' elements: dense, in C order, little-endian,
// one behind the other without gaps (github.com/huggingface/safetensors). What
// breaks the format's rules is rejected when it is opened: holes and overlaps, a
// tensor whose bytes are not those of its shape and dtype, bytes behind the last
// one, names that stand twice. Fields of a tensor that the format does not have are
// passed over, as the reference does.
//
// What the format lets change the meaning of bytes: dtype (those of less than 8 bits, and of 8 bits without a type here, are an error by
// name), shape and data_offsets (checked against each other and the file), __metadata__ (attributes of all tensors: texts that the
// format gives no meaning, of which scale_factor and its like are not written, as they are of one array). Scales of quantized weights
// are tensors of their own, which expressions multiply. There is one order and one byte order.
package safetensors

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

const (
	extension = ".safetensors"
	kind      = "tensor"
)

func init() {
	store.Register(files)
	store.Register(index{Index{storage.Extensions{".safetensors.index.json"}, extension}})
}

var files = format{storage.MemberFormat{
	NamedArrays: storage.NamedArrays{Extensions: storage.Extensions{extension}, Names: headers.Names},
	Name:        "safetensors", Kind: kind, First: "tensor",
	Supports: func(m store.Meta) error {
		_, err := newTensor("", m)
		return err
	},
	Encoded: encoded, Blocks: copied,
	Lay: func(m storage.CollectionMeta) storage.FileLayout { return &fileLayout{metadata: m.Metadata} },
}}

type format struct{ storage.MemberFormat }

// copied reports a type of known size that arrays do not have.
func copied(name string) bool {
	_, ok := computed(name)
	return !ok && bits[name] > 0
}

// encoded is where the bytes of a tensor are whose type is only copied, where its rows are whole bytes.
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
	last := len(t.Shape) - 1
	if last < 0 || !copied(t.DType) || t.Shape[last]*bits[t.DType]%8 != 0 {
		return at, nil
	}
	at = storage.Encoded{Type: t.DType, File: file, Offset: h.Data + t.Begin, Shape: slices.Clone(t.Shape)}
	at.Shape[last] = at.Shape[last] * bits[t.DType] / 8
	return at, nil
}

// Parts returns the files of the model that a file is a part of, as its name says: model-00001-of-00003.safetensors,
// where no index beside them lists their tensors. With one a file is read by itself.
func (x format) Parts(ctx context.Context, file string) ([]string, error) {
	files, _ := storage.PartsOf(file)
	if len(files) < 2 {
		return []string{file}, nil
	}
	o, _, err := storage.OpenObject(ctx, strings.TrimSuffix(files[0], fmt.Sprintf("-%05d-of-%05d%s", 1, len(files), extension))+extension+".index.json")
	if err == nil {
		return []string{file}, o.Close()
	}
	return files, nil
}

// Members lists the tensors of the model that a file is a part of.
func (x format) Members(ctx context.Context, path string) ([]store.Member, error) {
	file, name, _ := x.Cut(path)
	files, err := x.Parts(ctx, file)
	if err != nil || name != "" || len(files) == 1 {
		return x.MemberFormat.Members(ctx, path)
	}
	return storage.PartMembers(ctx, files, func(file string) ([]store.Member, error) { return x.MemberFormat.Members(ctx, file) })
}

// errOther is why a tensor is looked for in the other files of a model.
var errOther = errors.New("the tensor may be in another file of the model")

func (x format) Open(ctx context.Context, path string) (store.Array, error) {
	a, err := x.open(ctx, path, false)
	if errors.Is(err, errOther) {
		file, name, _ := x.Cut(path)
		if files, failed := x.Parts(ctx, file); failed == nil && len(files) > 1 {
			return storage.FindPart(ctx, kind, name, func() ([]store.Member, error) { return x.Members(ctx, file) })
		}
		return x.open(ctx, path, true)
	}
	return a, err
}

// open opens a tensor of a file, which may be a part of a model where it is not read alone.
func (x format) open(ctx context.Context, path string, alone bool) (store.Array, error) {
	file, name, _ := x.Cut(path)
	return store.OpenExtent(ctx, path, file, x.Name, func(r io.ReaderAt, size int64) (store.Extent, error) {
		h, err := headers.Read(file, r, size)
		if err != nil {
			return store.Extent{}, err
		}
		i, err := h.Find(name)
		if files, _ := storage.PartsOf(file); !alone && len(files) > 1 && (name == "" || err != nil) {
			return store.Extent{}, errOther
		}
		if err != nil {
			return store.Extent{}, err
		}
		return h.extent(h.Tensors[i])
	})
}

var headers = storage.Catalog[Header]{Parse: ReadHeader}

// Keeps says that attributes are kept, as texts of the file.
func (format) Keeps(d store.Details) error {
	if d.Dims != nil || d.Fill != "" {
		return errors.New("a safetensors file stores neither dimension names nor a fill value: save to NAME.zarr")
	}
	return nil
}
