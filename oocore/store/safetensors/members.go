package safetensors

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/store"
)

func init() {
	store.Register(index{"an index of safetensors files is not written: save to NAME.safetensors#tensor"})
}

// Members lists the tensors of a file.
func (format) Members(ctx context.Context, path string) ([]store.Member, error) {
	file, name, _ := store.CutMember(path, extension)
	return store.InFile(ctx, file, name, func(r io.ReaderAt, size int64) (names []string, err error) {
		h, err := ReadHeader(r, size)
		for _, t := range h.Tensors {
			names = append(names, t.Name)
		}
		return names, err
	})
}

// index is a checkpoint in several files, by the index that Transformers writes beside them:
// model.safetensors.index.json, or one tensor of it with #name.
type index struct{ store.ReadOnly }

const indexExtension = ".safetensors.index.json"

func (index) Owns(path string) bool {
	_, _, ok := store.CutMember(path, indexExtension)
	return ok
}

func (index) Place(path string) string {
	file, _, _ := store.CutMember(path, indexExtension)
	return file
}

func (x index) Open(ctx context.Context, path string) (store.Array, error) {
	file, name, _ := store.CutMember(path, indexExtension)
	all, err := x.Members(ctx, file)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(all, func(m store.Member) bool { return m.Name == name })
	if at < 0 {
		return nil, fmt.Errorf("no tensor %.80q: the index names %d", name, len(all))
	}
	return store.OpenContext(ctx, all[at].Path)
}

// maxIndex is the most bytes of an index.
const maxIndex = 64 << 20

// Members lists the tensors by name, each in its file beside the index.
func (index) Members(ctx context.Context, path string) (all []store.Member, err error) {
	o, id, err := store.OpenObject(ctx, path)
	if err != nil {
		return nil, err
	}
	defer o.Close()
	if id.Size > maxIndex {
		return nil, fmt.Errorf("the index has %d bytes, %d are read at the most", id.Size, maxIndex)
	}
	text := make([]byte, id.Size)
	if err := o.ReadAt(ctx, text, 0); err != nil {
		return nil, err
	}
	var of struct {
		Map map[string]string `json:"weight_map"`
	}
	if err := json.Unmarshal(text, &of); err != nil || of.Map == nil {
		return nil, errors.New("not an index of safetensors files: it has no weight_map")
	}
	for name, file := range of.Map {
		if !filepath.IsLocal(file) || !strings.HasSuffix(file, extension) {
			return nil, fmt.Errorf("tensor %.80q is in %.80q, which is no safetensors file beside the index", name, file)
		}
		all = append(all, store.Member{Name: name, Path: strings.TrimSuffix(path, filepath.Base(path)) + file + "#" + name})
	}
	slices.SortFunc(all, func(a, b store.Member) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}
