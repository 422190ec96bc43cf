package safetensors

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/store"
)

// maxHeader is the format's own bound, in bytes.
const maxHeader = 100_000_000

// Header is what stands before the elements.
type Header struct {
	Tensors  []Tensor          // in the order of their elements
	Metadata map[string]string // of the file; nil where it has none
	Data     int64             // where the elements begin in the file
	names    store.Names       // of Tensors
}

// Tensor is one array of a file.
type Tensor struct {
	Name       string
	DType      string // the format's name, such as F32
	Shape      []int
	Begin, End int64 // of the elements, from Header.Data on
}

// ReadHeader reads and checks the header of a file of the given size. It takes
// memory in proportion to the header, which is part of the file.
func ReadHeader(r io.ReaderAt, size int64) (Header, error) {
	if size < 8 {
		return Header{}, fmt.Errorf("not a safetensors file: it has only %d bytes", size)
	}
	var start [8]byte
	if n, err := r.ReadAt(start[:], 0); n < len(start) {
		return Header{}, err
	}
	length := binary.LittleEndian.Uint64(start[:])
	if length > maxHeader {
		return Header{}, fmt.Errorf("the header claims %d bytes, the format allows %d", length, maxHeader)
	}
	if int64(length) > size-8 {
		return Header{}, fmt.Errorf("the header claims %d bytes, the file has only %d", length, size)
	}
	text := make([]byte, length)
	if n, err := r.ReadAt(text, 8); n < len(text) {
		return Header{}, err
	}
	h, err := parse(text)
	if err != nil {
		return Header{}, fmt.Errorf("header: %w", err)
	}
	h.Data = 8 + int64(length)
	if err := h.check(size); err != nil {
		return Header{}, err
	}
	names := make([]string, len(h.Tensors))
	for i, t := range h.Tensors {
		names[i] = t.Name
	}
	h.names = store.NewNames(kind, names)
	return h, nil
}

// check holds the tensors to the format's rules: each has the bytes that its
// shape and dtype say, and together they are all that the file has, without
// holes or overlaps.
func (h Header) check(size int64) error {
	slices.SortStableFunc(h.Tensors, func(a, b Tensor) int {
		return cmp.Or(cmp.Compare(a.Begin, b.Begin), cmp.Compare(a.End, b.End))
	})
	at, before := int64(0), ""
	for _, t := range h.Tensors {
		switch {
		case t.Begin > t.End:
			return fmt.Errorf("tensor %.80q: data_offsets [%d, %d] end before they begin", t.Name, t.Begin, t.End)
		case t.Begin > at:
			return fmt.Errorf("tensor %.80q: data_offsets [%d, %d] leave a hole of %d bytes before them", t.Name, t.Begin, t.End, t.Begin-at)
		case t.Begin < at:
			return fmt.Errorf("tensor %.80q: data_offsets [%d, %d] overlap those of %.80q, which end at %d", t.Name, t.Begin, t.End, before, at)
		}
		if need, ok := t.bytes(); ok && need != t.End-t.Begin {
			return fmt.Errorf("tensor %.80q: shape %s of %s has %d bytes, data_offsets [%d, %d] have %d",
				t.Name, grid.Format(t.Shape), t.DType, need, t.Begin, t.End, t.End-t.Begin)
		}
		at, before = t.End, t.Name
	}
	if have := size - h.Data; at != have {
		return fmt.Errorf("the tensors end at byte %d of the data, the file has %d", at, have)
	}
	return nil
}

// extent is where a tensor lies in the file.
func (h Header) extent(t Tensor) (store.Extent, error) {
	dt, err := t.dtype()
	if err != nil {
		return store.Extent{}, fmt.Errorf("tensor %.80q: %w", t.Name, err)
	}
	e := store.Extent{Offset: h.Data + t.Begin, Shape: t.Shape, DType: dt}
	if len(h.Metadata) > 0 {
		if e.Details.Attributes, err = json.Marshal(h.Metadata); err != nil {
			return store.Extent{}, err
		}
	}
	return e, nil
}

// parse reads the JSON object token by token, since a key that stands twice is
// to be rejected, and nothing else would tell.
func parse(text []byte) (Header, error) {
	if len(text) == 0 || text[0] != '{' {
		return Header{}, errors.New("it does not begin with {")
	}
	if !utf8.Valid(text) {
		return Header{}, errors.New("it is not UTF-8")
	}
	var h Header
	o := newObject(text)
	err := o.fields("", func(name string) (err error) {
		if name == "__metadata__" {
			h.Metadata, err = o.metadata()
			return err
		}
		t := Tensor{Name: name}
		if err := o.tensor(&t); err != nil {
			return fmt.Errorf("tensor %.80q: %w", name, err)
		}
		h.Tensors = append(h.Tensors, t)
		return nil
	})
	if err != nil {
		return Header{}, err
	}
	return h, o.end(text)
}
