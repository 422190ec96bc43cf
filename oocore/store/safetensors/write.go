package safetensors

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/store"
)

func (format) Layout(path string, m store.Meta) (store.Layout, error) {
	file, _, _ := store.CutMember(path, extension)
	if err := local(file); err != nil {
		return store.Layout{}, err
	}
	return store.Layout{Open: true}, supported(m)
}

// supported rejects what the format does not have.
func supported(m store.Meta) error {
	switch {
	case m.Codec != "" && m.Codec != "none":
		return fmt.Errorf("safetensors files are stored as they are: no codec %q", m.Codec)
	case m.Shards != nil:
		return errors.New("safetensors files have no shards")
	case m.DType == dtype.Invalid:
		return errors.New("no dtype is given")
	}
	if _, err := newTensor("", nil, m.DType); err != nil {
		return err
	}
	return grid.Check(m.Shape, m.DType.Size())
}

// Create begins a tensor of a new file, or one that is added to a file, where it
// replaces what has its name. The other tensors are copied at Commit, by windows.
func (format) Create(path string, m store.Meta) (store.Writer, error) {
	file, name, _ := store.CutMember(path, extension)
	if err := local(file); err != nil {
		return nil, err
	}
	if err := supported(m); err != nil {
		return nil, err
	}
	if m.Region != nil {
		return nil, errors.New("regions of a tensor are not written: write the whole tensor")
	}
	old, err := read(file)
	if err != nil {
		return nil, err
	}
	if name == "" {
		if name, err = old.only(); err != nil {
			return nil, err
		}
	}
	t, err := newTensor(name, m.Shape, m.DType)
	if err != nil {
		return nil, err
	}
	h := Header{Metadata: old.Metadata}
	for _, o := range old.Tensors {
		if o.Name != name {
			h.Tensors = append(h.Tensors, o)
		}
	}
	h.Tensors = append(h.Tensors, t)
	if h.Metadata, err = merge(h.Metadata, m.Details.Attributes); err != nil {
		return nil, err
	}
	size := place(h.Tensors)
	head, err := h.encode()
	if err != nil {
		return nil, err
	}
	h.Data = int64(len(head))
	t, _ = h.Find(name)
	frame := store.Frame{Offset: h.Data + t.Begin, Size: h.Data + size, Old: old.id,
		Fill: func(ctx context.Context, w store.File, file io.ReaderAt) error {
			if _, err := w.WriteAt(head, 0); err != nil {
				return err
			}
			for _, t := range h.Tensors {
				from, err := old.Find(t.Name)
				if err != nil || t.Name == name {
					continue
				}
				if err := store.CopyRange(ctx, w, h.Data+t.Begin, file, old.Data+from.Begin, t.End-t.Begin); err != nil {
					return fmt.Errorf("tensor %.80q: %w", t.Name, err)
				}
			}
			return nil
		}}
	return store.CreateExtent(path, file, m, frame)
}

// oldFile is what a file has before the writing.
type oldFile struct {
	Header
	id store.FileVersion // empty where there is no file
}

// read reads the header of the file that is to be written, if there is one.
func read(file string) (oldFile, error) {
	f, id, err := store.OpenFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return oldFile{}, nil
	}
	if err != nil {
		return oldFile{}, err
	}
	defer f.Close()
	h, err := ReadHeader(f, id.Size)
	if err != nil {
		return oldFile{}, fmt.Errorf("the file is there and cannot be added to: %w", err)
	}
	return oldFile{h, id}, nil
}

// only is the name of a tensor that is given none: that of the only one there
// is.
func (f oldFile) only() (string, error) {
	switch len(f.Tensors) {
	case 0:
		return "tensor", nil
	case 1:
		return f.Tensors[0].Name, nil
	}
	return "", fmt.Errorf("which tensor? the file has %s: add #NAME to the path", f.names())
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
	for key, text := range old {
		merged[key] = text
	}
	for key, value := range fields {
		var text string
		if json.Unmarshal(value, &text) != nil || slices.Equal(value, []byte("null")) {
			text = string(value)
		}
		merged[key] = text
	}
	return merged, nil
}
