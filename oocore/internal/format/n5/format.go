// Package n5 reads the arrays of N5 containers (github.com/saalfeldlab/n5, versions 1 to 4):
// x.n5/group/name. Axes are in C order, as zarr-python and z5py have them: N5's first axis is the last.
//
// What the specification lets change the meaning of bytes: dataType and compression (those without a reader here are an error by name;
// useZlib is read), a block's mode (default and varlength are read, the latter where it has all elements of its shape; objects are an error),
// a block's own shape (that of an edge may be cut), blocks that are not stored (zeros, as N5's readers have them). Of other
// attributes Paintera's isLabelMultiset is an error, as its bytes are serialized sets; axes are names of dimensions; the rest are attributes.
package n5

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/format/chunked"
	"github.com/gonbext/gonbext/oocore/internal/format/zarr"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

func init() { store.Register(format{"N5 containers are read only: save to NAME.zarr"}) }

type format struct{ store.ReadOnly }

const (
	suffix         = ".n5"
	attributesFile = "attributes.json"
)

// Owns reports a path with an element that ends in .n5.
func (format) Owns(path string) bool {
	_, _, ok := split(path)
	return ok
}

func (format) Place(path string) string { return strings.TrimRight(path, "/") }

// split takes a path apart: the container, and the place of an array in it.
func split(path string) (root, inner string, ok bool) {
	for end := 0; end <= len(path); end++ {
		if (end == len(path) || path[end] == '/') && strings.HasSuffix(path[:end], suffix) && path[:end] != suffix {
			return path[:end], strings.Trim(path[end:], "/"), true
		}
	}
	return path, "", false
}

// bucketOf is where the blocks of a path's array lie.
func bucketOf(name string) (blob.Bucket, error) {
	root, inner, _ := split(name)
	return zarr.BucketIn(root, inner)
}

// load reads the attributes of an array.
func load(ctx context.Context, b blob.Bucket) (*zarr.Blocks, blob.Entry, error) {
	text, e, err := zarr.ReadMetadata(ctx, b, attributesFile)
	if err != nil {
		return nil, e, err
	}
	m, err := parse(text)
	return m, e, err
}

func (format) Open(ctx context.Context, path string) (store.Array, error) {
	b, err := bucketOf(path)
	if err != nil {
		return nil, err
	}
	m, e, err := load(ctx, b)
	if err == errGroup || errors.Is(err, fs.ErrNotExist) && b.Can().Files {
		if all, listed := members(ctx, path, b); listed == nil && len(all) > 0 {
			names := make([]string, len(all))
			for i, m := range all {
				names[i] = m.Name
			}
			return nil, fmt.Errorf("it is a group: it has %s", storage.QuoteNames("array", names))
		}
	}
	if err != nil {
		return nil, err
	}
	return zarr.OpenBlocks(path, b, e, m), nil
}

// header reads the header of a block: what follows it, its shape and, of blocks of other lengths
// than their shape's, how many elements it has.
func header(ctx context.Context, a *chunked.Array, chunk []int, s *chunked.Source) error {
	dims := len(chunk)
	b := make([]byte, min(int64(8+4*dims), s.Bytes))
	if err := s.ReadAt(ctx, b, 0); err != nil {
		return err
	}
	if len(b) < 4+4*dims {
		return errors.New("it is cut short")
	}
	mode := binary.BigEndian.Uint16(b)
	if n := int(binary.BigEndian.Uint16(b[2:])); n != dims || mode > 1 {
		return fmt.Errorf("its header says mode %d and %d axes, in an array of %d: it is damaged, or holds objects", mode, n, dims)
	}
	shape := make([]int, dims)
	for d := range shape {
		shape[dims-1-d] = int(binary.BigEndian.Uint32(b[4+4*d:]))
	}
	s.Base = int64(4 + 4*dims)
	if mode == 1 {
		if s.Base += 4; len(b) < int(s.Base) || int(binary.BigEndian.Uint32(b[s.Base-4:])) != grid.Size(shape) {
			return fmt.Errorf("its header does not say the %d elements of its shape: it holds objects of other lengths, or is damaged", grid.Size(shape))
		}
	}
	if s.Bytes -= s.Base; s.Bytes < 0 {
		return errors.New("it is cut short")
	}
	s.Pipeline = nil
	if slices.Equal(shape, a.Chunk) {
		return nil
	}
	edge, err := a.Edge(chunk)
	if err != nil {
		return err
	}
	if edge == nil || !slices.Equal(shape, edge.Chunk()) {
		return fmt.Errorf("it has the shape %v, where the array has %v", shape, a.Chunk)
	}
	s.Pipeline = edge
	return nil
}

// Members lists the arrays of a container or a group by name, or the array itself.
func (format) Members(ctx context.Context, root string) ([]store.Member, error) {
	b, err := bucketOf(root)
	if err != nil {
		return nil, err
	}
	root = strings.TrimRight(root, "/")
	if _, _, err := load(ctx, b); err == nil {
		return []store.Member{{Name: strings.TrimSuffix(path.Base(root), suffix), Path: root}}, nil
	}
	return members(ctx, root, b)
}

// members lists the arrays below a group.
func members(ctx context.Context, root string, b blob.Bucket) (all []store.Member, err error) {
	below := zarr.Below(ctx, root, b, []string{attributesFile}, func(b blob.Bucket) (array, group bool) {
		_, _, err := load(ctx, b)
		group = err == errGroup || errors.Is(err, fs.ErrNotExist)
		return !group, group
	})
	for place, err := range below {
		if err != nil {
			return nil, storage.Plain(err)
		}
		all = append(all, store.Member{Name: strings.TrimPrefix(place, root+"/"), Path: place})
	}
	slices.SortFunc(all, func(a, b store.Member) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}
