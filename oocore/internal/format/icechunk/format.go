// Package icechunk reads the Zarr arrays of Icechunk repositories (icechunk.io, versions 1 and 2 of its specification): repo#group/name as the
// branch main has it, repo?branch=NAME#group/name, repo?tag=NAME#group/name and repo?snapshot=ID#group/name; the name may be left out where there is
// one array. A folder of this machine is known by what it holds; in an object store or on a web server a repository has a name that ends in
// .icechunk, or the question mark.
//
// A snapshot is a bucket of objects, and package zarr reads them. Chunks lie in files of the repository, in its manifests, or in files elsewhere (virtual
// references), which are opened as those are that Kerchunk's references name. What an array's manifests say is read as it is opened, and held. The
// version of an array is that of its metadata and chunks: a commit that changes other arrays leaves it.
package icechunk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/format/zarr"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

func init() { // before Zarr, whose names a repository may have
	storage.RegisterFirst(format{"Icechunk repositories are read only: save to NAME.zarr, and commit that by the Python package icechunk"})
}

type format struct{ store.ReadOnly }

const suffix = ".icechunk"

// Owns reports a path whose form is that of a repository, or whose folder holds one.
func (format) Owns(path string) bool {
	p, named := cut(path)
	return named || isRepository(p.root)
}

// OwnsName reports a path whose form is that of a repository.
func (format) OwnsName(path string) bool {
	_, named := cut(path)
	return named
}

// Place returns the repository.
func (format) Place(path string) string {
	p, _ := cut(path)
	return p.root
}

func (format) Open(ctx context.Context, path string) (store.Array, error) {
	p, b, err := arrayAt(ctx, path)
	if err != nil {
		return nil, err
	}
	a, err := zarr.OpenIn(ctx, path, b, p.field)
	if err != nil {
		return nil, err
	}
	return &array{a, b, p}, nil
}

// Texts returns the texts of an array of strings of one dimension, and its attributes.
func (format) Texts(ctx context.Context, path string) ([]string, json.RawMessage, error) {
	_, b, err := arrayAt(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	texts, attributes, err := zarr.TextsIn(ctx, b)
	return texts, attributes, errors.Join(err, b.files.Close())
}

// arrayAt has what a snapshot holds of an array.
func arrayAt(ctx context.Context, path string) (place, *bucket, error) {
	p, _ := cut(path)
	s, err := p.open(ctx)
	if err != nil {
		return p, nil, err
	}
	names := s.arrays(p.node)
	if p.node == "" && len(names) == 1 {
		p.node = names[0]
	}
	n := s.find(p.node)
	if of, field, ok := zarr.CutPart(p.node); ok && n == nil {
		p.node, p.field = of, field
		n = s.find(of)
	}
	switch list := storage.QuoteNames("array", s.arrays("")); {
	case n == nil && p.node != "":
		return p, nil, fmt.Errorf("no array %.80q: the snapshot of %s %.80q has %s: %w", p.node, p.kind, p.name, list, fs.ErrNotExist)
	case p.node == "" && (n == nil || !n.array):
		return p, nil, fmt.Errorf("the snapshot of %s %.80q has %s: add #NAME to the path", p.kind, p.name, list)
	case !n.array:
		return p, nil, fmt.Errorf("%.80q is a group: it has %s", p.node, storage.QuoteNames("array", names))
	}
	b, err := p.bucket(s, n)
	if err != nil {
		return p, nil, err
	}
	b.chunks, err = cached(ctx, &tables, p, s.id, n.path, func(take func(int64) error) (*chunks, error) { return p.readChunks(ctx, n, take) })
	return p, b, err
}

// bucket has what a snapshot holds below a node.
func (p place) bucket(s *snapshot, n *node) (*bucket, error) {
	root, err := blob.At(p.root)
	if err != nil {
		return nil, err
	}
	b := &bucket{snapshot: s, root: root}
	if n != nil && n.path != "" {
		b.prefix = n.path + "/"
	}
	return b, nil
}

// array is an open array, and the files that it reads.
type array struct {
	zarr.Opened
	bucket *bucket
	place  place
}

// Info says which snapshot is read.
func (a *array) Info() store.Info {
	info := a.Opened.Info()
	info.Format += " in Icechunk, snapshot " + a.bucket.id
	if a.place.kind != "snapshot" {
		info.Format += fmt.Sprintf(" of %s %.80q", a.place.kind, a.place.name)
	}
	if files := a.bucket.chunks.files; len(files) > 0 {
		info.Format += " with chunks in " + files[0].file
		if n := len(files) - 1; n > 0 {
			info.Format += fmt.Sprintf(" and %d more", n)
		}
	}
	return info
}

func (a *array) Close() error { return errors.Join(a.Opened.Close(), a.bucket.files.Close()) }

// Members lists the arrays of a repository or a group by name.
func (format) Members(ctx context.Context, name string) ([]store.Member, error) {
	p, _ := cut(name)
	s, err := p.open(ctx)
	if err != nil {
		return nil, err
	}
	var all []store.Member
	for _, array := range s.arrays(p.node) {
		m := store.Member{Name: array, Path: p.path + "#" + array}
		if array == "" { // which is the whole repository
			m = store.Member{Name: strings.TrimSuffix(path.Base(p.root), suffix), Path: p.path}
		}
		all = append(all, m)
	}
	if all == nil && p.node != "" && s.find(p.node) == nil {
		return nil, fmt.Errorf("no array or group %.80q: the snapshot of %s %.80q has %s", p.node, p.kind, p.name, storage.QuoteNames("array", s.arrays("")))
	}
	return all, nil
}

// Groups returns the attributes of the groups that hold arrays.
func (format) Groups(ctx context.Context, name string) (map[string]store.Details, error) {
	p, _ := cut(name)
	s, err := p.open(ctx)
	if err != nil {
		return nil, err
	}
	b, err := p.bucket(s, nil)
	if err != nil {
		return nil, err
	}
	return zarr.GroupsOf(ctx, b, s.arrays(p.node))
}

// Coordinates returns the array of the dimension's name in the group of an array, and in those that hold it.
func (format) Coordinates(array, dim string) (all []string) {
	p, _ := cut(array)
	for group := range storage.Above(p.node) {
		all = append(all, p.path+"#"+path.Join(group, dim))
	}
	return all
}
