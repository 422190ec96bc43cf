// Package kerchunk reads Zarr arrays whose chunks are parts of other files, which references name:
// refs.json#name, packed as refs.json.zst or refs.json.gz too, or refs.parq#name of a folder of Parquet files, which package
// oocore/adapters/arrow reads; the name may be left out where there is one array (fsspec.github.io/kerchunk).
//
// The references are a bucket of objects, and package zarr reads them.
package kerchunk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/format/zarr"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

func init() {
	store.Register(format{"Kerchunk references are read only: save to NAME.zarr", storage.Extensions{".json", ".json.gz", ".json.zst"}})
}

type format struct {
	store.ReadOnly
	storage.Extensions
}

// Owns reports JSON that has references, or cannot be looked at: many other files are JSON too.
func (x format) Owns(path string) bool {
	file, name, ok := x.cut(path)
	if !ok || parquet(file) {
		return ok
	}
	if strings.HasSuffix(strings.ToLower(file), ".safetensors.index.json") {
		return false
	}
	local, plain := blob.PlaceOf(file).Files, strings.HasSuffix(strings.ToLower(file), ".json")
	if name != "" || !local || !plain {
		return local || plain
	}
	f, err := os.Open(file)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close()
	head := make([]byte, 64<<10)
	n, _ := io.ReadFull(f, head)
	for _, sign := range []string{`"refs"`, `.zgroup"`, `.zarray"`, `.zattrs"`, `.zmetadata"`, `zarr.json"`} {
		if bytes.Contains(head[:n], []byte(sign)) {
			return true
		}
	}
	return false
}

// cut takes the name of an array from the path of its references.
func (x format) cut(path string) (file, name string, ok bool) {
	if file, name, ok = x.Cut(path); !ok {
		file, name, _ = strings.Cut(path, "#")
		file = strings.TrimRight(file, "/")
		ok = parquet(file)
	}
	return file, name, ok
}

// Place returns the path without the array's name.
func (x format) Place(path string) string {
	file, _, _ := x.cut(path)
	return file
}

var headers storage.Headers[*references]

// open opens the references of a path, and says which array it names.
func (x format) open(ctx context.Context, path string) (refs *references, name string, err error) {
	file, name, _ := x.cut(path)
	if parquet(file) {
		refs, err = readFolder(ctx, file)
		return refs, name, err
	}
	o, size, err := storage.OpenUnpacked(ctx, file)
	if err != nil {
		return nil, "", err
	}
	r := storage.HeadOf(ctx, o, size)
	refs, err = headers.Read(file, r, func(take func(bytes int64) error) (*references, error) {
		return readReferences(r, size, file, take)
	})
	return refs, name, errors.Join(err, o.Close())
}

func (x format) Open(ctx context.Context, path string) (store.Array, error) {
	refs, name, err := x.open(ctx, path)
	if err != nil {
		return nil, err
	}
	names := refs.arrays()
	if name == "" && len(names) == 1 {
		name = names[0]
	}
	of, field, ok := zarr.CutPart(name)
	if ok = ok && !contains(refs, name+"/") && contains(refs, of+"/"); ok {
		name = of
	} else {
		field = ""
	}
	prefix := ""
	if name != "" {
		prefix = strings.Trim(name, "/") + "/"
	}
	if !contains(refs, prefix) {
		list := storage.QuoteNames("array", names)
		if name == "" {
			return nil, fmt.Errorf("the references have %s: add #NAME to the path", list)
		}
		return nil, fmt.Errorf("no array %.80q: the references have %s", name, list)
	}
	files := &Files{}
	a, err := zarr.OpenIn(ctx, path, &bucket{refs, files, prefix}, field)
	if err != nil {
		return nil, errors.Join(err, files.Close())
	}
	return &array{a, refs, files}, nil
}

func contains(refs *references, prefix string) bool {
	_, v2 := refs.find(prefix + ".zarray")
	_, v3 := refs.find(prefix + "zarr.json")
	return v2 || v3
}

// array is an open array, and the files that it reads.
type array struct {
	zarr.Opened
	refs  *references
	files *Files
}

// Info says which files are read.
func (a *array) Info() store.Info {
	info := a.Opened.Info()
	info.Format += " by references to " + a.refs.opens()
	return info
}

func (a *array) Close() error { return errors.Join(a.Opened.Close(), a.files.Close()) }

// Members lists the arrays by name.
func (x format) Members(ctx context.Context, place string) ([]store.Member, error) {
	refs, name, err := x.open(ctx, place)
	if err != nil {
		return nil, err
	}
	if name != "" {
		return []store.Member{{Name: name, Path: place}}, nil
	}
	var all []store.Member
	for _, name := range refs.arrays() {
		if name == "" {
			all = append(all, store.Member{Name: strings.TrimSuffix(path.Base(place), path.Ext(place)), Path: place})
		} else {
			all = append(all, store.Member{Name: name, Path: place + "#" + name})
		}
	}
	return all, nil
}
