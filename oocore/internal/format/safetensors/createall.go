package safetensors

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

// defaultShard is the most bytes of tensors in a file of a checkpoint, as Transformers has it.
const defaultShard = 5_000_000_000

// index is one whose files are written, too.
type index struct{ Index }

// MemberPath is the index with the tensor's name.
func (x index) MemberPath(path, name string) string { return path + "#" + name }

// Copies is that of its files.
func (index) Copies(name string) bool { return files.Copies(name) }

// Layout is that of a tensor of one file.
func (x index) Layout(path string, m store.Meta) (store.Layout, error) {
	return files.Layout(x.Place(path), m)
}

// Create rejects one tensor by itself.
func (index) Create(string, store.Meta) (store.Writer, error) {
	return nil, errors.New("a checkpoint with an index is written as a whole, by Collection.Save: save to NAME.safetensors#tensor")
}

// CreateAll begins a checkpoint: tensors in the order of the members, in as many files as it
// takes, and the index, which comes last. Files of a checkpoint that was there, which the new one
// does not name, are removed then.
func (x index) CreateAll(m storage.CollectionMeta) (storage.CollectionWriter, error) {
	most := m.ShardSize
	if most == 0 {
		most = defaultShard
	}
	var shards [][]int
	var bytes, total int64
	for i, of := range m.Members {
		size := int64(grid.Size(of.Shape)) * int64(of.DType.Size())
		if n := len(shards); n == 0 || bytes > 0 && bytes+size > most {
			shards, bytes = append(shards, nil), 0
		}
		bytes += size
		total += size
		shards[len(shards)-1] = append(shards[len(shards)-1], i)
	}
	if m.Metadata == nil {
		m.Metadata = map[string]string{"format": "pt"} // without which Transformers does not open it
	}
	stem := strings.TrimSuffix(m.Path, filepath.Ext(m.Path)) // .json
	stem = strings.TrimSuffix(stem, filepath.Ext(stem))      // .index
	stem = strings.TrimSuffix(stem, filepath.Ext(stem))
	weights := make(map[string]string, len(m.Members))
	var all []storage.NewFile
	for i, shard := range shards {
		path := fmt.Sprintf("%s-%05d-of-%05d%s", stem, i+1, len(shards), extension)
		f, err := files.NewFile(path, m, shard)
		if err != nil {
			return nil, err
		}
		for _, n := range shard {
			weights[m.Members[n].Name] = filepath.Base(path)
		}
		all = append(all, f)
	}
	if len(weights) < len(m.Members) {
		return nil, errors.New("two tensors have one name")
	}
	text, err := json.MarshalIndent(map[string]any{"metadata": map[string]int64{"total_size": total}, "weight_map": weights}, "", "  ")
	if err != nil {
		return nil, err
	}
	return storage.CreateFiles(m, all, func() error {
		old := x.shards(m.Path, stem)
		if err := disk.WriteFile(m.Path, append(text, '\n')); err != nil {
			return err
		}
		var err error
		for _, path := range old {
			if !slices.ContainsFunc(all, func(f storage.NewFile) bool { return f.Path == path }) {
				if gone := os.Remove(path); !errors.Is(gone, fs.ErrNotExist) {
					err = errors.Join(err, gone)
				}
			}
		}
		return err
	})
}

// shards are the files of the checkpoint that is at path, as CreateAll names them, and none that
// another program has named.
func (x index) shards(path, stem string) (all []string) {
	members, _ := x.Members(context.Background(), path) // none where there is no index yet
	for _, m := range members {
		file, _, _ := storage.Split(m.Path)
		if ours, err := filepath.Match("-[0-9][0-9][0-9][0-9][0-9]-of-[0-9][0-9][0-9][0-9][0-9]"+extension, strings.TrimPrefix(file, stem)); ours && err == nil && !slices.Contains(all, file) {
			all = append(all, file)
		}
	}
	return all
}
