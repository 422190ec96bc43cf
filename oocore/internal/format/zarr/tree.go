package zarr

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/meter"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

// listedBytes is what a path takes in memory besides its text, in a list that grows, and the Member that is made of it.
const listedBytes = 3*16 + 2*32

// tree returns the paths of the arrays of a group, sorted.
func tree(ctx context.Context, root string, b blob.Bucket) (list []string, err error) {
	m := meter.Meter{What: "the list of its arrays"}
	defer m.Done()
	room := meter.Room{Take: m.Take}
	for array, err := range arrays(ctx, root, b) {
		if err != nil {
			return nil, storage.Plain(err)
		}
		if room.For(listedBytes + int64(2*len(array))) {
			list = append(list, array)
		}
	}
	slices.Sort(list)
	return list, room.Err
}

// arrays goes through the paths of the arrays of the group in a bucket, those that cannot be opened, too; root is the group's.
func arrays(ctx context.Context, root string, b blob.Bucket) iter.Seq2[string, error] {
	root = strings.TrimRight(root, "/")
	return func(yield func(string, error) bool) {
		found, err := consolidated(ctx, b)
		if err != nil {
			yield("", err)
			return
		}
		if found == nil {
			Below(ctx, root, b, []string{v3File, v2File}, func(b blob.Bucket) (array, group bool) {
				_, _, err := loadMeta(ctx, b)
				return err != errGroup && !errors.Is(err, fs.ErrNotExist), err == errGroup
			})(yield)
			return
		}
		for _, name := range found {
			if !yield(root+"/"+name, nil) {
				return
			}
		}
	}
}

// Below goes through the paths of the arrays below a group, whose path is root and whose objects are in b. kind tells what is an
// array, and what is a group to look into. It is asked about each folder of this machine, and in a store about each place that has a
// file of one of these names.
func Below(ctx context.Context, root string, b blob.Bucket, files []string, kind func(b blob.Bucket) (array, group bool)) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		if b.Can().Files {
			folders(ctx, root, kind, yield)
			return
		}
		for e, err := range b.List(ctx, "") {
			if err != nil {
				yield("", err)
				return
			}
			name, file := path.Split(e.Key)
			if name == "" || !slices.Contains(files, file) {
				continue
			}
			if array, _ := kind(b.Join(name)); array && !yield(root+"/"+strings.TrimSuffix(name, "/"), nil) {
				return
			}
		}
	}
}

// folders is Below in a folder. It returns false when it was told to stop.
func folders(ctx context.Context, folder string, kind func(b blob.Bucket) (array, group bool), yield func(string, error) bool) bool {
	list, err := os.ReadDir(filepath.FromSlash(folder))
	if err = cmp.Or(ctx.Err(), err); err != nil {
		yield("", err)
		return false
	}
	for _, d := range list {
		if !d.IsDir() || strings.HasPrefix(d.Name(), ".") {
			continue
		}
		name := folder + "/" + d.Name()
		array, group := kind(blob.Dir(filepath.FromSlash(name)))
		if array && !yield(name, nil) || group && !folders(ctx, name, kind, yield) {
			return false
		}
	}
	return true
}

// consolidated are the names of the arrays below a group, sorted, as its metadata say; nil where they
// do not.
func consolidated(ctx context.Context, b blob.Bucket) ([]string, error) {
	text, _, err := ReadMetadata(ctx, b, v3File)
	if err == nil {
		return consolidatedV3(text)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	text, _, err = ReadMetadata(ctx, b, v2Consolidated)
	if err == nil {
		return consolidatedV2(text)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return nil, nil
}

func consolidatedV3(text []byte) ([]string, error) {
	o, err := parseObject(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", v3File, err)
	}
	if o.absent("consolidated_metadata") {
		return nil, nil
	}
	var c struct {
		Metadata map[string]object
	}
	if err := o.field("consolidated_metadata", &c); err != nil {
		return nil, fmt.Errorf("%s: %w", v3File, err)
	}
	list := []string{}
	for name, o := range c.Metadata {
		if string(o["node_type"]) == `"array"` && fs.ValidPath(name) {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list, nil
}

func consolidatedV2(text []byte) ([]string, error) {
	o, err := parseObject(text)
	var members object
	if err == nil {
		err = o.field("metadata", &members)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", v2Consolidated, err)
	}
	list := []string{}
	for key := range members {
		if name, file := path.Split(key); file == v2File && fs.ValidPath(strings.TrimSuffix(name, "/")) {
			list = append(list, strings.TrimSuffix(name, "/"))
		}
	}
	slices.Sort(list)
	return list, nil
}

// Members lists the arrays of a group by name, or the array itself.
func (format) Members(ctx context.Context, root string) (all []store.Member, err error) {
	b, err := bucketOf(root)
	if err != nil {
		return nil, err
	}
	root = strings.TrimRight(root, "/")
	switch _, _, err := loadMeta(ctx, b); {
	case err == nil:
		name := path.Base(root)
		return []store.Member{{Name: strings.TrimSuffix(strings.TrimSuffix(name, ".zip"), suffix), Path: root}}, nil
	case err != errGroup:
		return nil, err
	}
	p, err := readPyramid(ctx, b)
	if err != nil {
		return nil, err
	}
	all = p.members(root)
	list, err := tree(ctx, root, b)
	if len(all) > 0 && errors.Is(err, errors.ErrUnsupported) { // a web server
		return all, nil
	}
	levels := len(all)
	for _, array := range list {
		name := strings.TrimPrefix(array, root+"/")
		if !slices.ContainsFunc(all[:levels], func(m store.Member) bool { return m.Name == name }) {
			all = append(all, store.Member{Name: name, Path: array})
		}
	}
	return all, err
}

// Groups returns the attributes of a group and of the groups in it that hold arrays.
func (format) Groups(ctx context.Context, root string) (map[string]store.Details, error) {
	b, err := bucketOf(root)
	if err != nil {
		return nil, err
	}
	root = strings.TrimRight(root, "/")
	list, err := tree(ctx, root, b)
	if err != nil {
		return nil, err
	}
	for i := range list {
		list[i] = strings.TrimPrefix(list[i], root+"/")
	}
	return GroupsOf(ctx, b, list)
}

// GroupsOf returns the attributes of the group in a bucket and of those that hold its arrays, whose names are given.
func GroupsOf(ctx context.Context, b blob.Bucket, names []string) (all map[string]store.Details, err error) {
	all = map[string]store.Details{}
	for _, name := range names {
		for name != "" {
			in := b
			if name = path.Dir(name); name == "." {
				name = ""
			} else {
				in = b.Join(name + "/")
			}
			if _, ok := all[name]; ok {
				break
			}
			text, err := groupAttributes(ctx, in)
			if err != nil {
				return nil, err
			}
			var o object
			if text != nil {
				o, err = parseObject(text)
			}
			var d store.Details
			if err == nil && len(o) > 0 {
				d.Attributes, err = json.Marshal(o)
			}
			if err != nil {
				return nil, fmt.Errorf("%.80q: the attributes of the group: %w", name, err)
			}
			all[name] = d
		}
	}
	return all, nil
}
