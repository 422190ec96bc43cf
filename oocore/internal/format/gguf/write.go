package gguf

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/codec"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/meter"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

// newTensor is the tensor of an array; of one in blocks, which comes as their bytes, in elements.
func newTensor(name string, m store.Meta) (t Tensor, err error) {
	t = Tensor{Name: name, Shape: slices.Clone(m.Shape)}
	if n := len(m.Shape); n < 1 || n > 4 {
		return t, fmt.Errorf("GGUF files have arrays of 1 to 4 dimensions, not %s", grid.Format(m.Shape))
	}
	if len(name) > maxText {
		return t, fmt.Errorf("a name of %d bytes", len(name))
	}
	if m.Codec != "" && m.Codec != "none" {
		var ok bool
		if t.Type, ok = number(blocks, m.Codec); !ok || m.DType != dtype.Uint8 {
			return t, fmt.Errorf("GGUF files have no %s of %s", m.Codec, m.DType)
		}
		floats, size, _ := codec.GGML(m.Codec)
		last := &t.Shape[len(t.Shape)-1]
		if *last%size != 0 {
			return t, fmt.Errorf("rows of %d bytes are not made of blocks of %s", *last, m.Codec)
		}
		*last = *last / size * floats
		return t, nil
	}
	var ok bool
	if t.Type, ok = number(types, m.DType); !ok {
		return t, fmt.Errorf("GGUF files have no %s: save float32, float16 or bfloat16", m.DType)
	}
	return t, nil
}

// fileLayout lays out a file.
type fileLayout struct {
	old      Header
	pairs    []byte // of old, as they are stored
	template *storage.Template
}

func (l *fileLayout) Read(r io.ReaderAt, size int64) (_ []string, err error) {
	l.old, l.pairs, err = readPairs(r, size)
	return l.old.List(), err
}

// readPairs reads a header and its key-value pairs, as they are stored.
func readPairs(r io.ReaderAt, size int64) (h Header, pairs []byte, err error) {
	var m meter.Meter
	defer m.Done()
	if h, err = ReadHeader(r, size, m.Take); err != nil {
		return h, nil, err
	}
	if err := m.Take(3 * (h.Pairs[1] - h.Pairs[0])); err != nil { // a copy, and in the new header
		return h, nil, err
	}
	pairs = make([]byte, h.Pairs[1]-h.Pairs[0])
	if n, err := r.ReadAt(pairs, h.Pairs[0]); n < len(pairs) {
		return h, nil, err
	}
	return h, pairs, nil
}

// from returns the header, and its pairs, of the file that is added to, else of the template.
func (l *fileLayout) from() (Header, []byte, error) {
	if l.old.Data > 0 || l.template == nil {
		return l.old, l.pairs, nil
	}
	r, err := l.template.Open()
	if err != nil {
		return Header{}, nil, err
	}
	defer r.Close()
	h, pairs, err := readPairs(r, l.template.Version.Size)
	if err != nil {
		return h, nil, fmt.Errorf("%s: %w", l.template.Path, err)
	}
	for _, cut := range slices.Backward(h.split) { // the new file is the whole model
		pairs = slices.Delete(pairs, int(cut[0]), int(cut[1]))
		h.Keys--
		if h.fileType > cut[0] {
			h.fileType -= cut[1] - cut[0]
		}
	}
	return h, pairs, nil
}

func (l *fileLayout) Frame(members []storage.NewMember) (f storage.Frame, err error) {
	from, pairs, err := l.from()
	if err != nil {
		return f, err
	}
	h := Header{Keys: from.Keys, Alignment: max(from.Alignment, 1)}
	if h.Keys == 0 {
		h.Alignment = defaultAlignment
	}
	added := make(map[string]int, len(members))
	for i, m := range members {
		t, err := newTensor(m.Name, m.Meta)
		if err != nil {
			return f, err
		}
		added[m.Name] = i
		h.Tensors = append(h.Tensors, t)
	}
	kept := map[string]int64{} // where the others begin
	for _, t := range l.old.Tensors {
		if _, replaced := added[t.Name]; replaced {
			continue
		}
		if _, known := t.bytes(); !known {
			return f, fmt.Errorf("tensor %.80q of the file that is there has a type that cannot be copied", t.Name)
		}
		kept[t.Name] = l.old.Data + t.Offset
		h.Tensors = append(h.Tensors, t)
	}
	if from.fileType > 0 {
		pairs = bytes.Clone(pairs)
		binary.LittleEndian.PutUint32(pairs[from.fileType:], fileType(h.Tensors))
	}
	const quantized = "general.quantization_version" // which models in blocks have
	if h.Keys > 0 && slices.ContainsFunc(h.Tensors, func(t Tensor) bool { return blocks[t.Type] != "" }) && !bytes.Contains(pairs, []byte(quantized)) {
		pairs = append(text(slices.Clip(pairs), quantized), 4, 0, 0, 0, 2, 0, 0, 0) // 2 as uint32
		h.Keys++
	}
	align := func(n int64) int64 { return (n + h.Alignment - 1) / h.Alignment * h.Alignment }
	var end int64
	for i := range h.Tensors {
		t := &h.Tensors[i]
		t.Offset = align(end)
		n, _ := t.bytes()
		end = t.Offset + n
	}
	head := h.encode(pairs)
	h.Data = align(int64(len(head)))
	f = storage.Frame{Offsets: make([]int64, len(members)), Size: h.Data + align(end), Head: head}
	for _, t := range h.Tensors {
		if i, ok := added[t.Name]; ok {
			f.Offsets[i] = h.Data + t.Offset
		} else {
			n, _ := t.bytes()
			f.Kept = append(f.Kept, storage.Kept{Name: fmt.Sprintf("tensor %.80q", t.Name), To: h.Data + t.Offset, From: kept[t.Name], Bytes: n})
		}
	}
	return f, nil
}

// fileType is llama.cpp's number of the type that most bytes of a file have: a hint for people.
func fileType(all []Tensor) uint32 {
	size := map[uint32]int64{}
	for _, t := range all {
		n, _ := t.bytes()
		size[t.Type] += n
	}
	most := uint32(0)
	for t, n := range size {
		if n > size[most] {
			most = t
		}
	}
	return map[uint32]uint32{1: 1, 2: 2, 3: 3, 8: 7, 6: 8, 7: 9, 10: 10, 11: 12, 12: 15, 13: 17, 14: 18, 30: 32, 39: 38}[most]
}

func text(b []byte, s string) []byte {
	return append(binary.LittleEndian.AppendUint64(b, uint64(len(s))), s...)
}

func (h *Header) encode(pairs []byte) []byte {
	b := binary.LittleEndian.AppendUint32([]byte(magic), version)
	b = binary.LittleEndian.AppendUint64(b, uint64(len(h.Tensors)))
	b = binary.LittleEndian.AppendUint64(b, h.Keys)
	b = append(b, pairs...)
	for _, t := range h.Tensors {
		b = text(b, t.Name)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(t.Shape)))
		for _, n := range slices.Backward(t.Shape) {
			b = binary.LittleEndian.AppendUint64(b, uint64(n))
		}
		b = binary.LittleEndian.AppendUint32(b, t.Type)
		b = binary.LittleEndian.AppendUint64(b, uint64(t.Offset))
	}
	return b
}
