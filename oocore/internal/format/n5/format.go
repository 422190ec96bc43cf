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
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/format/chunked"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/store"
)

func init() { store.Register(format{"N5 containers are read only: save to NAME.zarr"}) }

type format struct{ store.ReadOnly }

const (
	suffix         = ".n5"
	attributesFile = "attributes.json"
	maxMetadata    = 16 << 20
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
	if inner != "" && (!fs.ValidPath(inner) || path.Clean(inner) != inner) {
		return nil, fmt.Errorf("%q does not name an array in %s", inner, path.Base(root))
	}
	b, err := blob.At(root)
	if err != nil || inner == "" {
		return b, err
	}
	return b.Join(inner + "/"), nil
}

// load reads the attributes of an array.
func load(ctx context.Context, b blob.Bucket) (*meta, blob.Entry, error) {
	text := make([]byte, 16<<10)
	e, err := blob.Get(ctx, b, attributesFile, text)
	if err == blob.ErrLarge && e.Size <= maxMetadata {
		text = make([]byte, e.Size)
		e, err = blob.Get(ctx, b, attributesFile, text)
	}
	if err != nil {
		return nil, e, fmt.Errorf("%s: %w", attributesFile, store.Plain(err))
	}
	m, err := parse(text[:e.Size])
	return m, e, err
}

func (format) Open(ctx context.Context, path string) (store.Array, error) {
	b, err := bucketOf(path)
	if err != nil {
		return nil, err
	}
	m, e, err := load(ctx, b)
	if err == errGroup || errors.Is(err, fs.ErrNotExist) && !blob.Remote(path) {
		if all, listed := members(ctx, path, b); listed == nil && len(all) > 0 {
			names := make([]string, len(all))
			for i, m := range all {
				names[i] = m.Name
			}
			return nil, fmt.Errorf("it is a group: it has %s", store.QuoteNames("array", names))
		}
	}
	if err != nil {
		return nil, err
	}
	a := &array{bucket: b, meta: m, entry: e}
	a.Path, a.Shape, a.Chunk, a.DType, a.Pipeline, a.Fill = path, m.shape, m.chunk, m.dtype, m.pipeline, make([]byte, m.dtype.Size())
	a.NewIndex = func(_ []byte, read *int64) chunked.Index {
		return &finder{array: a, source: chunked.Source{Kind: "block", Read: read}}
	}
	return a, nil
}

// array is an open dataset.
type array struct {
	chunked.Array
	bucket blob.Bucket
	meta   *meta
	entry  blob.Entry // of the attributes
}

func (a *array) Info() store.Info {
	m := a.meta
	return store.Info{
		Path: a.Path, Format: "n5", Shape: slices.Clone(m.shape), DType: m.dtype, Chunks: slices.Clone(m.chunk), Bytes: -1, Codec: m.pipeline.String(),
		ID: store.FileVersion{Size: a.entry.Size, Version: a.entry.Version}, Work: a.Work(),
		Details: store.Details{Dims: slices.Clone(m.dims), Attributes: slices.Clone(m.attributes)},
	}
}

// Chunks lists the blocks that are stored, with their bytes.
func (a *array) Chunks(ctx context.Context, each func(index []int, bytes int64) error) error {
	if a.Closed() {
		return a.Fail(ctx, store.ErrClosed)
	}
	for e, err := range a.bucket.List(ctx, "") {
		if err != nil {
			return a.Fail(ctx, err)
		}
		if chunk, ok := a.meta.parseKey(e.Key); ok {
			if err := each(chunk, e.Size); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// Digest identifies the version of every block and of the attributes.
func (a *array) Digest(ctx context.Context) (string, error) { return a.Array.Digest(ctx, a.bucket) }

// there returns an error when the array is no longer what was opened: only then a block that is
// not found is one of zeros.
func (a *array) there(ctx context.Context) error {
	o, err := a.bucket.Open(ctx, attributesFile)
	if err != nil {
		return fmt.Errorf("%s: %w", attributesFile, store.Plain(err))
	}
	defer o.Close()
	if e := o.Entry(); e.Size != a.entry.Size || e.Version != a.entry.Version {
		return fmt.Errorf("%s: %w", attributesFile, store.ErrChanged)
	}
	return nil
}

// finder has the block open that was read last.
type finder struct {
	*array
	chunk  []int // of object
	object blob.Object
	source chunked.Source
}

func (f *finder) Close() error {
	f.chunk = nil
	if f.object == nil {
		return nil
	}
	err := f.object.Close()
	f.object = nil
	return err
}

// Find returns where the elements of a block lie: behind its header.
func (f *finder) Find(ctx context.Context, chunk []int) (*chunked.Source, error) {
	if f.chunk == nil || !slices.Equal(f.chunk, chunk) {
		if err := f.open(ctx, chunk); err != nil {
			return nil, err
		}
	}
	if f.object == nil {
		return nil, ctx.Err()
	}
	return &f.source, ctx.Err()
}

// open opens a block and reads its header. Where there is none, object is nil.
func (f *finder) open(ctx context.Context, chunk []int) error {
	if err := f.Close(); err != nil {
		return err
	}
	name := key(chunk)
	o, err := f.bucket.Open(ctx, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := f.there(ctx); err != nil {
			return err
		}
		f.chunk = slices.Clone(chunk)
		return nil
	case err != nil:
		return fmt.Errorf("block %s: %w", name, store.Plain(err))
	}
	s := &f.source
	s.Object, s.Serial, s.Key, s.Base, s.Bytes = o, s.Serial+1, name, 0, o.Entry().Size
	if err := f.header(ctx, chunk); err != nil {
		return errors.Join(s.Fault(ctx, err), o.Close())
	}
	f.object, f.chunk = o, slices.Clone(chunk)
	return nil
}

// header reads the header of a block: what follows it, its shape and, of blocks of other lengths
// than their shape's, how many elements it has.
func (f *finder) header(ctx context.Context, chunk []int) error {
	s, dims := &f.source, len(chunk)
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
	if slices.Equal(shape, f.Chunk) {
		return nil
	}
	edge, err := f.Edge(chunk)
	if err != nil {
		return err
	}
	if edge == nil || !slices.Equal(shape, edge.Chunk()) {
		return fmt.Errorf("it has the shape %v, where the array has %v", shape, f.Chunk)
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
	var names []string
	if blob.Remote(root) {
		for e, err := range b.List(ctx, "") {
			if err != nil {
				return nil, store.Plain(err)
			}
			if name, file := path.Split(e.Key); file == attributesFile && name != "" {
				names = append(names, strings.TrimSuffix(name, "/"))
			}
		}
	} else if err := folders(root, "", &names); err != nil {
		return nil, err
	}
	slices.Sort(names)
	for _, name := range names {
		if _, _, err := load(ctx, b.Join(name+"/")); err != errGroup {
			all = append(all, store.Member{Name: name, Path: root + "/" + name})
		}
	}
	return all, nil
}

// folders finds the folders with attributes below one of this machine, but not in arrays.
func folders(root, place string, names *[]string) error {
	list, err := os.ReadDir(filepath.Join(root, filepath.FromSlash(place)))
	if err != nil {
		return err
	}
	for _, d := range list {
		if !d.IsDir() || strings.HasPrefix(d.Name(), ".") {
			continue
		}
		name := path.Join(place, d.Name())
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name), attributesFile))
		if err == nil {
			if _, err = parse(text); err != errGroup {
				*names = append(*names, name)
				continue
			}
		}
		if err := folders(root, name, names); err != nil {
			return err
		}
	}
	return nil
}
