package safetensors

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"golang.org/x/text/encoding"
	"golang.org/x/text/transform"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/meter"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

// maxHeader is the format's own bound, in bytes.
const maxHeader = 100_000_000

// Header is what stands before the elements.
type Header struct {
	Tensors       []Tensor          // in the order of their elements
	Metadata      map[string]string // of the file; nil where it has none
	Data          int64             // where the elements begin in the file
	storage.Names                   // of Tensors
}

// Tensor is one array of a file.
type Tensor struct {
	Name string
	*Type
	Begin, End int64 // of the elements, from Header.Data on
}

// Type is what tensors that are alike share.
type Type struct {
	DType string // the format's name, such as F32
	Shape []int
}

// ReadHeader reads and checks the header of a file of the given size. take counts the memory that it holds.
func ReadHeader(r io.ReaderAt, size int64, take func(bytes int64) error) (Header, error) {
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
	h, err := parse(io.NewSectionReader(r, 8, int64(length)), int64(length), take)
	if err != nil {
		return Header{}, fmt.Errorf("header: %w", err)
	}
	h.Data = 8 + int64(length)
	slices.SortStableFunc(h.Tensors, func(a, b Tensor) int {
		return cmp.Or(cmp.Compare(a.Begin, b.Begin), cmp.Compare(a.End, b.End))
	})
	if h.Names, err = storage.NewNames(kind, len(h.Tensors), func(i int) string { return h.Tensors[i].Name }); err != nil {
		return Header{}, fmt.Errorf("header: %w", err)
	}
	return h, h.check(size)
}

// check holds the tensors to the format's rules: each has the bytes that its
// shape and dtype say, and together they are all that the file has, without
// holes or overlaps.
func (h Header) check(size int64) error {
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

// tensorBytes is what a tensor takes in memory besides its name and type, and typeBytes what a type does.
const tensorBytes, typeBytes = 40 + 8 + 4, 160

// parse reads the JSON object of so many bytes token by token, since a key that stands twice is
// to be rejected, and nothing else would tell. What does not fit into memory it only counts.
func parse(r io.Reader, length int64, take func(bytes int64) error) (h Header, err error) {
	text := bufio.NewReaderSize(transform.NewReader(r, encoding.UTF8Validator), 64<<10)
	if first, err := text.Peek(1); len(first) == 0 || first[0] != '{' {
		if err != nil && err != io.EOF && err != encoding.ErrInvalidUTF8 {
			return h, err
		}
		return h, errors.New("it does not begin with {")
	}
	o := newObject(text, take)
	types := map[string]*Type{}
	room := meter.Room{Take: take}
	err = o.fields("", nil, func(name string) (err error) {
		if name == "__metadata__" {
			if h.Metadata != nil {
				return fmt.Errorf("key %.80q stands twice", name)
			}
			h.Metadata, err = o.metadata()
			return err
		}
		t := Tensor{Name: name, Type: new(Type)}
		if err := o.tensor(&t); err != nil {
			return fmt.Errorf("tensor %.80q: %w", name, err)
		}
		key := fmt.Sprint(t.DType, t.Shape)
		if same, ok := types[key]; ok {
			t.Type = same
		} else if room.For(typeBytes + int64(len(key)+8*len(t.Shape))) {
			types[key] = t.Type
		}
		if room.For(tensorBytes + int64(len(name))) {
			h.Tensors = meter.Append(&room, h.Tensors, t, o.InputOffset(), length)
		}
		return nil
	})
	if err = cmp.Or(err, room.Err); err == nil {
		err = o.end(text)
	}
	if errors.Is(err, encoding.ErrInvalidUTF8) {
		err = errors.New("it is not UTF-8")
	}
	return h, err
}

// names are the format's names of the dtypes. It has none for complex128.
var names = map[dtype.Type]string{
	dtype.Bool: "BOOL", dtype.Int8: "I8", dtype.Int16: "I16", dtype.Int32: "I32", dtype.Int64: "I64",
	dtype.Uint8: "U8", dtype.Uint16: "U16", dtype.Uint32: "U32", dtype.Uint64: "U64",
	dtype.Float16: "F16", dtype.BFloat16: "BF16", dtype.Float32: "F32", dtype.Float64: "F64",
	dtype.Complex64: "C64", dtype.Float8E4M3FN: "F8_E4M3", dtype.Float8E5M2: "F8_E5M2",
}

// bits are the sizes of elements by the format's names, those included that can
// only be passed over.
var bits = map[string]int{
	"F4": 4, "F6_E2M3": 6, "F6_E3M2": 6,
	"F8_E8M0": 8, "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8,
}

func init() {
	for t, name := range names {
		bits[name] = 8 * t.Size()
	}
}

// computed returns the type that arrays have by the format's name, if they have it.
func computed(name string) (t dtype.Type, ok bool) {
	for t, of := range names {
		if of == name {
			return t, true
		}
	}
	return 0, false
}

// dtype is the tensor's type of elements, if there is one here.
func (t Tensor) dtype() (dtype.Type, error) {
	if dt, ok := computed(t.DType); ok {
		return dt, nil
	}
	if _, known := bits[t.DType]; known {
		return 0, fmt.Errorf("dtype %s cannot be read: save the tensor as F16, BF16 or F32", t.DType)
	}
	return 0, fmt.Errorf("dtype %.40q is unknown", t.DType)
}

// bytes is the size of the elements, where the dtype's is known. The shape's
// product was checked to fit.
func (t Tensor) bytes() (int64, bool) {
	b, known := bits[t.DType]
	if b < 8 {
		n := int64(grid.Size(t.Shape))
		return n/8*int64(b) + (n%8*int64(b)+7)/8, known
	}
	return int64(grid.Size(t.Shape)) * int64(b/8), known
}
