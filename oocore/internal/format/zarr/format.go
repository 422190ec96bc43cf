// Package zarr reads and writes Zarr arrays: version 3, and version 2 for reading.
//
// An array is a folder, or a prefix of an object store, with metadata in JSON and
// one object for each chunk, or for each shard of many chunks. Its path is that of
// the folder, whose name ends in .zarr or holds zarr.json or .zarray; arrays in a
// group's folder follow after it: x.zarr/group/array. What a store says of itself
// is never trusted. Of an array of records x.zarr#NAME is a field, which is read only.
//
// A chunk or a shard that is not stored is legal and reads as the fill value, which may
// be meant, as zarr-python stores no chunk of fill values alone, or be the loss of an object:
// gonbext info and [storage.Listed] tell how many are stored.
package zarr

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/meter"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

func init() { store.Register(format{}) }

// format is Zarr among the formats of arrays.
type format struct{}

// Owns reports a path with an element that ends in .zarr, a folder of this machine that holds
// Zarr's metadata, and a level or a field of either: x.zarr#2.
func (f format) Owns(path string) bool {
	if of, ok := partOf(path); f.OwnsName(path) || ok && f.Owns(of) {
		return true
	}
	if !blob.PlaceOf(path).Files {
		return false
	}
	if st, err := os.Stat(path); err != nil || !st.IsDir() {
		return false
	}
	for _, name := range []string{v3File, v2File, v2Group} {
		if st, err := os.Stat(filepath.Join(path, name)); err == nil && st.Mode().IsRegular() {
			return true
		}
	}
	return false
}

// OwnsName reports a path that ends like an array or a group, or leads into one, or to a level or a field of one.
func (format) OwnsName(path string) bool {
	root, _ := split(path)
	if of, _, ok := CutPart(root); ok {
		root = of
	}
	return strings.HasSuffix(root, suffix) || strings.HasSuffix(root, zipSuffix)
}

// Open opens an array and reads its metadata only.
func (format) Open(ctx context.Context, path string) (store.Array, error) {
	a, err := openPath(ctx, path)
	if err != nil {
		return nil, err
	}
	return a, nil
}

func openPath(ctx context.Context, path string) (*array, error) {
	if group, level, ok := cutLevel(path); ok {
		b, err := bucketOf(group)
		if err != nil {
			return nil, err
		}
		if a, err := openLevel(ctx, path, b, level); a != nil || err != nil {
			return a, err
		}
	}
	b, err := bucketOf(path)
	if err != nil {
		return nil, err
	}
	a, err := openIn(ctx, path, b)
	if of, field, ok := CutPart(path); ok && errors.Is(err, fs.ErrNotExist) {
		b, failed := bucketOf(of)
		if failed != nil {
			return nil, failed
		}
		if a, other := openField(ctx, path, of, b, field); !errors.Is(other, fs.ErrNotExist) {
			return a, other
		}
	}
	return a, err
}

func (format) Layout(path string, m store.Meta) (store.Layout, error) {
	if err := writable(path); err != nil {
		return store.Layout{}, err
	}
	return layout(path, m)
}

func (format) Create(path string, m store.Meta) (store.Writer, error) {
	if err := writable(path); err != nil {
		return nil, err
	}
	return create(path, m)
}

// writable rejects a level by its number, which has a path of its own, and a field of records.
func writable(path string) error {
	if _, ok := partOf(path); ok {
		if _, _, level := cutLevel(path); !level {
			return errors.New("fields of records are read only: save to a name without #")
		}
		return errors.New("a level is read only by its number: save to NAME.zarr/PATH")
	}
	return nil
}

// Keeps says that all details are kept.
func (format) Keeps(store.Details) error { return nil }

// Place is the array's own folder, or that of the outermost group which is missing and
// comes into being with it.
func (format) Place(path string) string {
	if of, ok := partOf(path); ok {
		return of
	}
	return place(path)
}

// Holders leaves out folders that are arrays. An array holds no other array, and the staging folder next to
// it is its own.
func (format) Holders(path string) []string {
	_, above := groups(path)
	return slices.DeleteFunc(above, func(folder string) bool {
		_, _, err := loadMeta(context.Background(), blob.Dir(folder))
		return err == nil
	})
}

const suffix = ".zarr"

// split takes a path apart: the store, and the place of an array in it.
func split(path string) (root, inner string) {
	for at := 0; at < len(path); {
		end := len(path)
		if i := strings.IndexByte(path[at:], '/'); i >= 0 {
			end = at + i
		}
		if name := path[at:end]; strings.HasSuffix(name, suffix) || strings.HasSuffix(name, zipSuffix) {
			return path[:end], strings.Trim(path[end:], "/")
		}
		at = end + 1
	}
	return path, ""
}

// bucketOf is where the objects of a path's array lie.
func bucketOf(name string) (blob.Bucket, error) { return BucketIn(split(name)) }

// maxMetadata is the most that a file of metadata can have.
const maxMetadata = 16 << 20

// parsedBytes is about how many bytes of memory a byte of metadata takes while it is parsed.
const parsedBytes = 4

// ReadMetadata reads a file of metadata whole. That it is missing is
// fs.ErrNotExist.
func ReadMetadata(ctx context.Context, b blob.Bucket, key string) ([]byte, blob.Entry, error) {
	return readUpTo(ctx, b, key, maxMetadata)
}

// readUpTo is ReadMetadata of a file that has most bytes at the most.
func readUpTo(ctx context.Context, b blob.Bucket, key string, most int64) ([]byte, blob.Entry, error) {
	const usual = 16 << 10
	p := make([]byte, usual)
	e, err := blob.Get(ctx, b, key, p)
	if err == blob.ErrLarge {
		if e.Size > most {
			return nil, e, fmt.Errorf("%s has %d bytes, metadata has at most %d", key, e.Size, most)
		}
		m := meter.Meter{What: key}
		defer m.Done()
		if err := m.Take(parsedBytes * e.Size); err != nil {
			return nil, e, err
		}
		p = make([]byte, e.Size)
		e, err = blob.Get(ctx, b, key, p)
	}
	if err != nil {
		return nil, e, fmt.Errorf("%s: %w", key, storage.Plain(err))
	}
	return p[:e.Size], e, nil
}

// loadMeta reads an array's metadata, of either version. It returns the file that
// it found. Where a group lies there the error is errGroup, where nothing does
// fs.ErrNotExist.
func loadMeta(ctx context.Context, b blob.Bucket) (*meta, blob.Entry, error) {
	return loadField(ctx, b, "")
}

// loadField is loadMeta of a field of records.
func loadField(ctx context.Context, b blob.Bucket, field string) (*meta, blob.Entry, error) {
	m, _, e, err := parseNode(field, func(key string) ([]byte, blob.Entry, error) { return ReadMetadata(ctx, b, key) })
	return m, e, err
}

// loadMetaAtOnce is loadMeta, which asks for all files that there may be at the same time. It
// returns the text of the file that it found, too.
func loadMetaAtOnce(ctx context.Context, b blob.Bucket) (*meta, []byte, blob.Entry, error) {
	keys := []string{v3File, v2File, v2Group}
	type file struct {
		text  []byte
		entry blob.Entry
		err   error
	}
	files := make([]file, len(keys))
	var all sync.WaitGroup
	for i, key := range keys {
		all.Go(func() {
			f := &files[i]
			f.text, f.entry, f.err = ReadMetadata(ctx, b, key)
		})
	}
	all.Wait()
	return parseNode("", func(key string) ([]byte, blob.Entry, error) {
		if i := slices.Index(keys, key); i >= 0 {
			return files[i].text, files[i].entry, files[i].err
		}
		return ReadMetadata(ctx, b, key)
	})
}

// parseNode reads an array's metadata from the files that there are, and returns the text and the
// entry of the main one. field is one of records, or "".
func parseNode(field string, read func(key string) ([]byte, blob.Entry, error)) (*meta, []byte, blob.Entry, error) {
	text, e, err := read(v3File)
	if err == nil {
		m, err := parseV3Field(text, field)
		return m, text, e, err
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, e, err
	}
	text, e, err = read(v2File)
	if err == nil {
		attributes, _, err := read(v2Attributes)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, nil, e, err
		}
		m, err := parseV2Field(text, attributes, field)
		return m, text, e, err
	}
	if errors.Is(err, fs.ErrNotExist) {
		if _, _, err := read(v2Group); err == nil {
			return nil, nil, e, errGroup
		}
	}
	return nil, nil, e, err
}

// openIn opens the array in a bucket; path is what it is called.
func openIn(ctx context.Context, path string, b blob.Bucket) (*array, error) {
	return openField(ctx, path, path, b, "")
}

// openField is openIn of a field of records, which are at the path of.
func openField(ctx context.Context, path, of string, b blob.Bucket, field string) (*array, error) {
	m, e, err := loadField(ctx, b, field)
	switch {
	case err == errGroup:
		return nil, groupError(ctx, of, b)
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("no array is there: neither %s nor %s: %w", v3File, v2File, fs.ErrNotExist)
	case err != nil:
		return nil, err
	}
	return newArray(path, b, m, e), nil
}

// groupError says that a group is no array, and which arrays it has.
func groupError(ctx context.Context, path string, b blob.Bucket) error {
	const most = 8
	var names []string
	if p, err := readPyramid(ctx, b); err == nil && p != nil {
		for _, m := range p.members(path) {
			names = append(names, m.Path)
		}
		return fmt.Errorf("%w: open a level of it, %s", errGroup, strings.Join(names[:min(len(names), most)], ", "))
	}
	for array, err := range arrays(ctx, path, b) {
		if err != nil {
			return fmt.Errorf("%w (and it could not be listed: %w)", errGroup, err)
		}
		if len(names) == most {
			names = append(names, "…")
			break
		}
		names = append(names, array)
	}
	if names == nil {
		return fmt.Errorf("%w, and it has none", errGroup)
	}
	return fmt.Errorf("%w: open one of %s", errGroup, strings.Join(names, ", "))
}

// Coordinates returns the array of the dimension's name in the group of an array, and in those that hold it; none of an array
// that is in no group.
func (format) Coordinates(array, dim string) (all []string) {
	root, inner := split(array)
	if _, isPart := partOf(array); isPart {
		return nil
	}
	if inner == "" && inGroup(array) {
		return []string{filepath.Join(filepath.Dir(filepath.Clean(array)), dim)}
	}
	if inner == "" {
		return nil
	}
	for group := range storage.Above(inner) {
		all = append(all, root+"/"+path.Join(group, dim))
	}
	return all
}
