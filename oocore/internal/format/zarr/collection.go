package zarr

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

// Split takes the path of an array in a store of this machine apart that is not there yet.
func (format) Split(name string) (group, array string, ok bool) {
	group, array = split(strings.TrimRight(name, "/"))
	if array == "" || !blob.PlaceOf(name).Replace {
		return "", "", false
	}
	_, err := os.Stat(group)
	return group, array, errors.Is(err, fs.ErrNotExist) || storage.FolderPlaced(group)
}

// MemberPath is the path of an array in a group.
func (format) MemberPath(group, name string) string {
	return strings.TrimRight(group, "/") + "/" + name
}

// CreateAll begins a group with its arrays.
func (format) CreateAll(m storage.CollectionMeta) (storage.CollectionWriter, error) {
	if !blob.PlaceOf(m.Path).Replace {
		return nil, errors.New("a group in an object store is not written as a whole: save its arrays one after the other")
	}
	if root, inner := split(strings.TrimRight(m.Path, "/")); inner != "" {
		return nil, fmt.Errorf("a collection takes the place of a whole store: save to %s, or another", root)
	}
	for _, of := range m.Members {
		if _, err := BucketIn(strings.TrimSuffix(m.Path, ".zip"), of.Name); err != nil {
			return nil, err
		}
		if slices.Contains(strings.Split(of.Name, "/"), v3File) {
			return nil, fmt.Errorf("array %.80q: %s is the file of a group's metadata", of.Name, v3File)
		}
	}
	if err := m.CheckTree(); err != nil {
		return nil, err
	}
	m.Members = slices.Clone(m.Members)
	taken := map[string]map[string]int{} // lengths of dimensions by group
	for i := range m.Members {
		of := &m.Members[i]
		named := &meta{shape: of.Shape, dims: of.Details.Dims}
		group, base := path.Split(of.Name)
		if taken[group] == nil {
			taken[group] = map[string]int{}
		}
		among := taken[group]
		if of.Details.ChosenDims && m.Groups == nil {
			among = nil // levels of an image have axes of one name and several lengths
		}
		if len(of.Shape) > 0 {
			named.nameDimsAmong(among, base, of.Details.ChosenDims)
		}
		for d, dim := range named.dims {
			taken[group][dim] = of.Shape[d]
		}
		of.Details.Dims, of.Details.ChosenDims = named.dims, true
	}
	f := storage.NewFolder{Extension: ".zarr", Finish: func(folder string) error { return finishGroups(folder, m.Root, m.Groups) }, Bytes: func(m store.Meta) (int64, error) {
		made, err := newMeta(m)
		if err != nil {
			return 0, err
		}
		return made.plainBytes(), nil
	}}
	switch {
	case zipped(m.Path) && m.Add:
		return nil, errZipped
	case zipped(m.Path):
		f.Replaces, f.Pack = func(string) error { return nil }, pack
	case !m.Add:
		f.Replaces = replaceableGroup
	}
	return storage.CreateFolder(m, f)
}

// replaceableGroup rejects replacing a folder that has more than groups and arrays.
func replaceableGroup(folder string) error {
	b := blob.Dir(folder)
	st, err := os.Stat(folder)
	if err != nil {
		return err
	}
	if !st.IsDir() {
		return errors.New("a file of this name is there: remove it, or choose another name")
	}
	_, _, err = loadMeta(context.Background(), b)
	switch {
	case err == nil:
		return replaceable(context.Background(), folder, st)
	case err != errGroup && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: %w", folder, err)
	}
	var inner error
	listing := disk.List(folder, func(e fs.DirEntry) bool {
		name := filepath.Join(folder, e.Name())
		if e.IsDir() {
			inner = replaceableGroup(name)
		} else if !slices.Contains([]string{v3File, v2Group, v2Attributes, v2Consolidated}, e.Name()) {
			inner = fmt.Errorf("%s is no part of the group that is there, and would be deleted with it: move it elsewhere, or choose another name", name)
		}
		return inner == nil
	})
	return errors.Join(inner, listing)
}

// finishGroups makes a folder a group of attributes, and those in it that hold arrays groups, with
// attributes by their paths.
func finishGroups(folder string, root store.Details, groups map[string]store.Details) error {
	all := map[string]store.Details{"": root}
	maps.Copy(all, groups)
	for name, of := range all {
		in := filepath.Join(folder, filepath.FromSlash(name))
		if err := disk.MkdirAll(in, 0o777); err != nil {
			return err
		}
		if of.Attributes == nil {
			continue // as a folder with arrays
		}
		text := fmt.Sprintf(`{"zarr_format":3,"node_type":"group","attributes":%s}`, of.Attributes)
		if err := disk.WriteFile(filepath.Join(in, v3File), withBareNumbers([]byte(text))); err != nil {
			return err
		}
	}
	return filepath.WalkDir(folder, func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return err
		}
		switch text, err := disk.ReadFile(filepath.Join(name, v3File)); {
		case errors.Is(err, fs.ErrNotExist):
			return disk.WriteFile(filepath.Join(name, v3File), []byte(groupText))
		case err != nil || isGroup(text):
			return err
		}
		return fs.SkipDir // an array
	})
}
