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

	"github.com/gonbext/gonbext/oocore/internal/meter"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

// Index is a checkpoint in several files, by the index that Transformers writes beside them:
// model.safetensors.index.json, or one tensor of it with #name.
type Index struct {
	storage.Extensions
	Files string // the extension of its files
}

func (x Index) Open(ctx context.Context, path string) (store.Array, error) {
	file, name, _ := x.Cut(path)
	all, err := x.Members(ctx, file)
	if err != nil {
		return nil, err
	}
	if name == "" && len(all) > 0 { // a name is asked for also where there is one: a model is a collection of any size
		return nil, fmt.Errorf("the index names %s: add #NAME to the path", storage.QuoteNames(kind, namesOf(all)))
	}
	at := slices.IndexFunc(all, func(m store.Member) bool { return m.Name == name })
	if at < 0 {
		return nil, fmt.Errorf("no tensor %.80q: the index names %d of them", name, len(all))
	}
	return store.OpenContext(ctx, all[at].Path)
}

// Members lists the tensors by name, each in its file beside the index.
func (x Index) Members(ctx context.Context, path string) (all []store.Member, err error) {
	o, id, err := storage.OpenObject(ctx, path)
	if err != nil {
		return nil, err
	}
	defer o.Close()
	m := meter.Meter{What: "the list of its tensors"}
	defer m.Done()
	folder, found := strings.TrimSuffix(path, filepath.Base(path)), false
	ix := newObject(io.NewSectionReader(storage.HeadOf(ctx, o, id.Size), 0, id.Size), m.Take)
	room := meter.Room{Take: m.Take}
	err = ix.fields("", map[string]struct{}{}, func(key string) error {
		if key != "weight_map" {
			var skipped json.RawMessage
			return ix.Decode(&skipped)
		}
		found = true
		return ix.fields("weight_map: ", nil, func(name string) error {
			file, err := ix.text()
			if err != nil {
				return fmt.Errorf("weight_map: tensor %.80q: %w", name, err)
			}
			if !filepath.IsLocal(file) || !strings.HasSuffix(file, x.Files) {
				return fmt.Errorf("tensor %.80q is in %.80q, which is no %s file beside the index", name, file, x.Files)
			}
			if room.For(storage.MemberBytes(folder+file, name)) {
				all = meter.Append(&room, all, storage.MemberAt(folder+file+"#", name), ix.InputOffset(), id.Size)
			}
			return nil
		})
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("not an index of a checkpoint's files: %w", err)
	case room.Err != nil:
		return nil, room.Err
	case !found:
		return nil, errors.New("not an index of a checkpoint's files: it has no weight_map")
	}
	slices.SortFunc(all, func(a, b store.Member) int { return strings.Compare(a.Name, b.Name) })
	for i := range all[:max(len(all)-1, 0)] {
		if all[i].Name == all[i+1].Name {
			return nil, fmt.Errorf("not an index of a checkpoint's files: weight_map: key %.80q stands twice", all[i].Name)
		}
	}
	return all, nil
}

func namesOf(all []store.Member) []string {
	names := make([]string, len(all))
	for i, m := range all {
		names[i] = m.Name
	}
	return names
}
