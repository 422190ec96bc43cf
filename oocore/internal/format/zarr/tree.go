package zarr

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/meter"
	"github.com/gonbext/gonbext/oocore/store"
)

// Entry is an array of a group.
type Entry struct {
	Path  string // that opens it
	Shape []int
	DType dtype.Type
	Err   error // why it cannot be opened; it then has neither shape nor type
}

// listedBytes is what an Entry takes in memory, in a list that grows, and the Member that is made of it.
const listedBytes = 3*80 + 2*32

// tree returns the arrays of a group, by path.
func tree(ctx context.Context, root string, b blob.Bucket) (list []Entry, err error) {
	m := meter.Meter{What: "the list of its arrays"}
	defer m.Done()
	room := meter.Room{Take: m.Take}
	for e, err := range arrays(ctx, root, b) {
		if err != nil {
			return nil, store.Plain(err)
		}
		if room.For(listedBytes + int64(2*len(e.Path)+8*len(e.Shape))) {
			list = append(list, e)
		}
	}
	if room.Err != nil {
		return nil, room.Err
	}
	slices.SortFunc(list, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	return list, nil
}

// arrays goes through the arrays of the group in a bucket; root is its path.
func arrays(ctx context.Context, root string, b blob.Bucket) iter.Seq2[Entry, error] {
	root = strings.TrimRight(root, "/")
	return func(yield func(Entry, error) bool) {
		found, err := consolidated(ctx, b)
		if err != nil {
			yield(Entry{}, err)
			return
		}
		if found != nil {
			for _, e := range found {
				e.Path = root + "/" + e.Path
				if !yield(e, nil) {
					return
				}
			}
			return
		}
		for name, err := range places(ctx, root, b) {
			if err != nil {
				yield(Entry{}, err)
				return
			}
			e := Entry{Path: root + "/" + name}
			m, _, err := loadMeta(ctx, b.Join(name+"/"))
			switch {
			case err == errGroup:
				continue
			case err != nil:
				e.Err = err
			default:
				e.Shape, e.DType = m.shape, m.dtype
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

// places goes through what may be arrays below a group: the folders with metadata.
func places(ctx context.Context, root string, b blob.Bucket) iter.Seq2[string, error] {
	if !blob.Remote(root) {
		return func(yield func(string, error) bool) { folders(ctx, root, "", yield) }
	}
	return func(yield func(string, error) bool) {
		for e, err := range b.List(ctx, "") {
			name, file := path.Split(e.Key)
			if err == nil && (name == "" || file != v3File && file != v2File) {
				continue
			}
			if !yield(strings.TrimSuffix(name, "/"), err) || err != nil {
				return
			}
		}
	}
}

// folders goes through the folders below a place, but not into arrays. It returns
// false when it was told to stop.
func folders(ctx context.Context, root, place string, yield func(string, error) bool) bool {
	if err := ctx.Err(); err != nil {
		yield("", err)
		return false
	}
	list, err := os.ReadDir(filepath.Join(root, filepath.FromSlash(place)))
	if err != nil {
		yield("", err)
		return false
	}
	for _, d := range list {
		if !d.IsDir() || strings.HasPrefix(d.Name(), ".") {
			continue
		}
		name := path.Join(place, d.Name())
		_, _, err := loadMeta(ctx, blob.Dir(filepath.Join(root, filepath.FromSlash(name))))
		switch {
		case err == errGroup:
			if !folders(ctx, root, name, yield) {
				return false
			}
		case !errors.Is(err, fs.ErrNotExist):
			if !yield(name, nil) {
				return false
			}
		}
	}
	return true
}

// consolidated is what a group's metadata say of the arrays below it; nil where they
// do not.
func consolidated(ctx context.Context, b blob.Bucket) ([]Entry, error) {
	text, _, err := readMetadata(ctx, b, v3File)
	if err == nil {
		return consolidatedV3(text)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	text, _, err = readMetadata(ctx, b, v2Consolidated)
	if err == nil {
		return consolidatedV2(text)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return nil, nil
}

func consolidatedV3(text []byte) ([]Entry, error) {
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
	list := []Entry{}
	for name, o := range c.Metadata {
		if string(o["node_type"]) != `"array"` || !fs.ValidPath(name) {
			continue
		}
		m, err := fromV3(o)
		list = append(list, newEntry(name, m, err))
	}
	return sorted(list), nil
}

func consolidatedV2(text []byte) ([]Entry, error) {
	o, err := parseObject(text)
	var members object
	if err == nil {
		err = o.field("metadata", &members)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", v2Consolidated, err)
	}
	list := []Entry{}
	for key, raw := range members {
		if name, file := path.Split(key); file == v2File && fs.ValidPath(strings.TrimSuffix(name, "/")) {
			m, err := parseV2(raw, nil)
			list = append(list, newEntry(strings.TrimSuffix(name, "/"), m, err))
		}
	}
	return sorted(list), nil
}

func newEntry(name string, m *meta, err error) Entry {
	if err != nil {
		return Entry{Path: name, Err: err}
	}
	return Entry{Path: name, Shape: m.shape, DType: m.dtype}
}

func sorted(list []Entry) []Entry {
	slices.SortFunc(list, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	return list
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
		return []store.Member{{Name: strings.TrimSuffix(name, suffix), Path: root}}, nil
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
	for _, e := range list {
		name := strings.TrimPrefix(e.Path, root+"/")
		if !slices.ContainsFunc(all[:levels], func(m store.Member) bool { return m.Name == name }) {
			all = append(all, store.Member{Name: name, Path: e.Path})
		}
	}
	return all, err
}
