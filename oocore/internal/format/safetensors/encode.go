package safetensors

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/store"
)

// place puts the tensors of a new file one behind the other: those of larger
// elements first, so that each begins at a multiple of its element's size, and
// then by name, as the format's reference does. It returns the data's size.
func place(tensors []Tensor) int64 {
	slices.SortFunc(tensors, func(a, b Tensor) int {
		return cmp.Or(cmp.Compare(bits[b.DType], bits[a.DType]), cmp.Compare(a.Name, b.Name))
	})
	at := int64(0)
	for i := range tensors {
		t := &tensors[i]
		t.Begin, t.End = at, at+t.End-t.Begin
		at = t.End
	}
	return at
}

// newTensor is a tensor that is not placed yet. One of a type that is only copied comes as bytes.
func newTensor(name string, m store.Meta) (Tensor, error) {
	dt, ok := names[m.DType]
	if !ok {
		return Tensor{}, fmt.Errorf("the safetensors format has no %s: write another dtype, or .npy", m.DType)
	}
	shape := slices.Clone(m.Shape)
	if b := bits[m.Codec]; b > 0 {
		dt = m.Codec
		shape[len(shape)-1] = shape[len(shape)-1] * 8 / b
	}
	if name == "__metadata__" {
		return Tensor{}, fmt.Errorf("a tensor cannot have the name %s, which the format keeps for itself", name)
	}
	if !utf8.ValidString(name) {
		return Tensor{}, fmt.Errorf("tensor %.80q: the name is not UTF-8, as the format's are", name)
	}
	return Tensor{Name: name, Type: &Type{dt, shape}, End: int64(grid.Size(m.Shape)) * int64(m.DType.Size())}, nil
}

// headerAlign is where the data begin: at a page, so that chunks can bypass the
// page cache. The format lets spaces follow the header's object.
const headerAlign = 4096

// encode writes the file up to its data, with the length in front.
func (h Header) encode() ([]byte, error) {
	var b bytes.Buffer
	b.Write(make([]byte, 8))
	b.WriteByte('{')
	if len(h.Metadata) > 0 {
		if err := field(&b, "__metadata__", h.Metadata); err != nil {
			return nil, err
		}
	}
	for _, t := range h.Tensors {
		shape := t.Shape
		if shape == nil {
			shape = []int{} // null is not a list
		}
		err := field(&b, t.Name, struct {
			DType   string   `json:"dtype"`
			Shape   []int    `json:"shape"`
			Offsets [2]int64 `json:"data_offsets"`
		}{t.DType, shape, [2]int64{t.Begin, t.End}})
		if err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	for b.Len()%headerAlign != 0 {
		b.WriteByte(' ')
	}
	length := b.Len() - 8
	if length > maxHeader {
		return nil, fmt.Errorf("the header would have %d bytes, the format allows %d", length, maxHeader)
	}
	binary.LittleEndian.PutUint64(b.Bytes(), uint64(length))
	return b.Bytes(), nil
}

// field appends a member to the object that b holds the beginning of.
func field(b *bytes.Buffer, name string, value any) error {
	key, err := json.Marshal(name)
	if err != nil {
		return err
	}
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	if b.Len() > len("12345678{") {
		b.WriteByte(',')
	}
	b.Write(key)
	b.WriteByte(':')
	b.Write(text)
	return nil
}
