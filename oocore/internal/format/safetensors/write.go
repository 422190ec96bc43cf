package safetensors

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/meter"
	"github.com/gonbext/gonbext/oocore/internal/storage"
)

// fileLayout lays out a file.
type fileLayout struct {
	old      Header
	metadata map[string]string // that takes the place of the old one; nil for none
}

func (l *fileLayout) Read(r io.ReaderAt, size int64) (_ []string, err error) {
	var m meter.Meter
	defer m.Done()
	l.old, err = ReadHeader(r, size, m.Take)
	return l.old.List(), err
}

func (l *fileLayout) Frame(members []storage.NewMember) (f storage.Frame, err error) {
	h := Header{Metadata: l.old.Metadata}
	if l.metadata != nil {
		h.Metadata = l.metadata
	}
	added := make(map[string]int, len(members))
	for i, m := range members {
		t, err := newTensor(m.Name, m.Meta)
		if err != nil {
			return f, err
		}
		added[m.Name] = i
		h.Tensors = append(h.Tensors, t)
		if h.Metadata, err = merge(h.Metadata, m.Details.Attributes); err != nil {
			return f, err
		}
	}
	kept := map[string]int64{} // where the others begin
	for _, t := range l.old.Tensors {
		if _, replaced := added[t.Name]; !replaced {
			kept[t.Name] = l.old.Data + t.Begin
			h.Tensors = append(h.Tensors, t)
		}
	}
	size := place(h.Tensors)
	head, err := h.encode()
	if err != nil {
		return f, err
	}
	h.Data = int64(len(head))
	f = storage.Frame{Offsets: make([]int64, len(members)), Size: h.Data + size, Head: head}
	for _, t := range h.Tensors {
		if i, ok := added[t.Name]; ok {
			f.Offsets[i] = h.Data + t.Begin
		} else {
			f.Kept = append(f.Kept, storage.Kept{Name: fmt.Sprintf("tensor %.80q", t.Name), To: h.Data + t.Begin, From: kept[t.Name], Bytes: t.End - t.Begin})
		}
	}
	return f, nil
}

// merge adds an array's attributes to a file's texts. What is not a text is kept
// as its JSON.
func merge(old map[string]string, attributes json.RawMessage) (map[string]string, error) {
	var fields map[string]json.RawMessage
	if len(attributes) == 0 {
		return old, nil
	}
	if err := json.Unmarshal(attributes, &fields); err != nil {
		return nil, fmt.Errorf("attributes: they are not a JSON object: %w", err)
	}
	merged := make(map[string]string, len(old)+len(fields))
	maps.Copy(merged, old)
	for key, value := range fields {
		var text string
		if json.Unmarshal(value, &text) != nil || slices.Equal(value, []byte("null")) {
			text = string(value)
		}
		merged[key] = text
	}
	return merged, nil
}
