package safetensors

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/store"
)

// index is a checkpoint in several files, by the index that Transformers writes beside them:
// model.safetensors.index.json, or one tensor of it with #name.
type index struct{ store.Extensions }

func (x index) Open(ctx context.Context, path string) (store.Array, error) {
	file, name, _ := x.Cut(path)
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
