package hdf5

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"iter"
	"math"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/codec"
	"github.com/gonbext/gonbext/oocore/internal/format/zarr"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

const (
	// chunkTarget is the default size of chunks: that of the cache in which HDF5's own readers keep decoded ones.
	chunkTarget = 1 << 20
	// defaultCodec is that of new arrays without one in their options: every reader has it.
	defaultCodec = "gzip:1"
	// maxChunk is the most bytes of a chunk.
	maxChunk = math.MaxUint32
	// firstName is that of a file's first array, where none is given.
	firstName = "data"
)

// output is an array that is written.
type output struct {
	name    string
	meta    store.Meta
	netcdf  bool
	chunks  *zarr.BareChunks
	filters []filter

	mu     sync.Mutex
	places map[int64]storage.AppendedChunk // by the numbers of chunks; nil until they are asked for
}

// isNetCDF reports the name of a file that the library of NetCDF reads.
func isNetCDF(file string) bool {
	ext := strings.ToLower(filepath.Ext(file))
	return ext == ".nc" || ext == ".nc4"
}

// newOutput checks an array for a file.
func newOutput(file, name string, m store.Meta) (n *output, err error) {
	n = &output{name: name, meta: m, netcdf: isNetCDF(file)}
	if err := checkType(m.DType, n.netcdf); err != nil {
		return nil, err
	}
	if m.Shards != nil {
		return nil, errors.New("HDF5 has no shards: leave them out, or save to NAME.zarr")
	}
	if err := grid.Check(m.Shape, m.DType.Size()); err != nil {
		return nil, err
	}
	if m.Chunks == nil {
		m.Chunks = grid.Auto(m.Shape, m.DType.Size(), chunkTarget)
	}
	n.chunks, err = zarr.NewBareChunks(m, func(chunk []int) (p *codec.Pipeline, err error) {
		if size := int64(grid.Size(chunk)) * int64(m.DType.Size()); size > maxChunk || slices.ContainsFunc(chunk, func(n int) bool { return n > math.MaxUint32 }) {
			return nil, fmt.Errorf("chunks %s have %d bytes, and HDF5's have less than 4 GiB", grid.Format(chunk), size)
		}
		if !n.chunked() {
			return codec.Parse("none", chunk, m.DType)
		}
		n.filters, p, err = newFilters(cmp.Or(m.Codec, defaultCodec), chunk, m.DType)
		return p, err
	})
	if err != nil {
		return nil, err
	}
	return n, checkDetails(m.Details, m.Shape, m.DType, n.netcdf)
}

// chunked reports an array in chunks: one without dimensions, or without elements, has none.
func (n *output) chunked() bool { return len(n.meta.Shape) > 0 && grid.Size(n.meta.Shape) > 0 }

// newFilters are those of a codec as options name it. Zstandard by itself is none: HDF5's filter wants frames that say how long they become. Deflate comes with shuffle.
func newFilters(text string, chunk []int, t dtype.Type) (all []filter, p *codec.Pipeline, err error) {
	name, setting, _ := strings.Cut(text, ":")
	if !slices.Contains([]string{"none", "gzip", "blosc"}, name) {
		return nil, nil, fmt.Errorf("chunks of HDF5 have no codec %q: use none, gzip:5, which is deflate and shuffle, or blosc:zstd:5:shuffle, which h5py reads by hdf5plugin", text)
	}
	if p, err = codec.Parse(text, chunk, t); err != nil || name == "none" {
		return nil, p, err
	}
	if name == "blosc" { // each chunk says all of it
		return []filter{{32001, []uint32{2, 2, uint32(t.Size()), uint32(grid.Size(chunk) * t.Size()), 5, 1, 1}}}, p, nil
	}
	level, err := strconv.Atoi(cmp.Or(setting, "5"))
	if err != nil {
		return nil, nil, err
	}
	ids, values := []int{1}, [][]uint32{{uint32(level)}}
	if t.Size() > 1 {
		ids, values = []int{2, 1}, [][]uint32{{uint32(t.Size())}, values[0]}
	}
	for i, id := range ids {
		all = append(all, filter{id, values[i]})
	}
	p, err = codec.FromHDF5(codec.Field{}, ids, values, false, chunk, t)
	return all, p, err
}

func (x format) Layout(path string, m store.Meta) (store.Layout, error) {
	file, name, _ := x.Cut(path)
	if p := blob.PlaceOf(file); !p.Files {
		return store.Layout{}, fmt.Errorf("HDF5 files are not written over %s: write NAME.zarr there", p.Scheme)
	}
	if m.Region != nil {
		return store.Layout{}, errors.New("regions of HDF5 files are not written: write the whole array, or save to NAME.zarr")
	}
	n, err := newOutput(file, name, m)
	if err != nil {
		return store.Layout{}, err
	}
	l := n.chunks.Layout()
	l.Codec = cmp.Or(m.Codec, defaultCodec)
	return l, nil
}

// Keeps says that all details are kept.
func (format) Keeps(store.Details) error { return nil }

// Split takes a path with an array's name apart.
func (x format) Split(path string) (file, name string, ok bool) {
	file, name, _ = x.Cut(path)
	return file, name, name != ""
}

// MemberPath returns the path of the file with the array's name.
func (format) MemberPath(path, name string) string { return path + "#" + name }

// NamedPath is the path of an array with its name: that of the only array there is, where none is given.
func (x format) NamedPath(path string) string {
	file, name, _ := x.Cut(path)
	if name != "" {
		return path
	}
	name = firstName
	if r, id, err := storage.OpenFile(file); err == nil {
		if f, err := open(r, id.Size); err == nil {
			if only, err := f.only(); err == nil {
				name = only
			}
			f.meter.Done()
		}
		_ = r.Close() // it was only read
	}
	return file + "#" + name
}

// Create begins an array of a new file, or one that is added to a file, whose other arrays are copied at Commit.
func (x format) Create(path string, m store.Meta) (store.Writer, error) {
	if _, err := x.Layout(path, m); err != nil {
		return nil, err
	}
	path = x.NamedPath(path)
	file, name, _ := x.Cut(path)
	w, err := x.begin(storage.CollectionMeta{Path: file, Add: true, StagingDir: storage.StagingDirOf(m), Resume: m.Resume, Members: []storage.NewMember{{Name: name, Meta: m}}}, path)
	if err != nil {
		return nil, err
	}
	return w.member(0, w.Appended), nil
}

// CreateAll begins the arrays of one file.
func (x format) CreateAll(m storage.CollectionMeta) (storage.CollectionWriter, error) {
	w, err := x.begin(m, m.Path)
	if err != nil {
		return nil, err
	}
	return w, nil
}

// writer writes the arrays of a file.
type writer struct {
	*storage.Appended
	meta   storage.CollectionMeta
	arrays []*output
	loaded sync.Once
	err    error
}

func (w *writer) Member(i int) (store.Writer, error) {
	return w.member(i, memberTarget{w.Appended}), nil
}

func (w *writer) ResumeMember(i int) (store.Writer, error) { return w.Member(i) }

// memberTarget is that of one of the arrays of a file, which are committed together.
type memberTarget struct{ *storage.Appended }

func (memberTarget) Commit(context.Context) error { return nil }
func (memberTarget) Suspend() error               { return nil }
func (memberTarget) Abort() error                 { return nil }

func (w *writer) member(i int, t zarr.Target) store.Writer {
	n := w.arrays[i]
	return n.chunks.Writer(w.meta.Path+"#"+n.name, w.meta.StagingDir, bucket{w, n, int64(i)}, t)
}

// begin begins the arrays of a file.
func (x format) begin(m storage.CollectionMeta, path string) (_ *writer, err error) {
	w := &writer{meta: m}
	if p := blob.PlaceOf(m.Path); !p.Files {
		return nil, fmt.Errorf("HDF5 files are not written over %s: write NAME.zarr there", p.Scheme)
	}
	id := fnv.New128a()
	for _, of := range m.Members {
		n, err := newOutput(m.Path, of.Name, of.Meta)
		if err != nil {
			return nil, fmt.Errorf("array %.80q: %w", of.Name, err)
		}
		w.arrays = append(w.arrays, n)
		_ = json.NewEncoder(id).Encode([]any{of.Name, of.Shape, of.DType, n.chunks.Chunks(), of.Codec, of.Details})
	}
	_ = json.NewEncoder(id).Encode([]any{m.Root, m.Groups})
	if err := w.checkNames(); err != nil {
		return nil, err
	}
	var old store.FileVersion
	offset := int64(superblockBytes)
	if m.Add {
		o, size, err := x.kept(m.Path, w)
		if err != nil {
			return nil, fmt.Errorf("the file is there and cannot be added to: %w", err)
		}
		if size > 0 {
			old, offset = o, (size+7)&^7
		}
	}
	w.Appended, err = storage.CreateAppended(path, m.Path, fmt.Sprintf("hdf5 %x\nat %d of %v", id.Sum(nil), offset, old), offset, old, store.Meta{StagingDir: m.StagingDir, Resume: m.Resume}, w.finish)
	if err != nil {
		return nil, err
	}
	return w, nil
}

// checkNames rejects names that cannot be, and gives dimensions those that they have in the file.
func (w *writer) checkNames() error {
	for _, n := range w.arrays {
		for part := range strings.SplitSeq(n.name, "/") {
			if err := checkName(part); err != nil {
				return fmt.Errorf("array %.80q: %w", n.name, err)
			}
		}
	}
	netcdf := isNetCDF(w.meta.Path)
	for _, of := range w.meta.Groups {
		if _, err := attributesOf(of, dtype.Invalid, netcdf, &heaps{}); err != nil {
			return err
		}
	}
	if _, err := attributesOf(w.meta.Root, dtype.Invalid, netcdf, &heaps{}); err != nil {
		return err
	}
	return w.meta.CheckTree()
}

// kept is the version of the file that is there and the bytes of it that stay, 0 where there is none, or nothing stays.
func (x format) kept(name string, w *writer) (old store.FileVersion, bytes int64, err error) {
	r, old, err := storage.OpenFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return old, 0, nil
	}
	if err != nil {
		return old, 0, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	f, err := open(r, old.Size)
	if err != nil {
		return old, 0, err
	}
	defer f.meter.Done()
	if err := f.extendable(); err != nil {
		return old, 0, err
	}
	names := map[string]bool{}
	for _, n := range w.arrays {
		names[n.name] = true
	}
	for n, err := range f.nodes() {
		switch {
		case err != nil:
			return old, 0, err
		case n.object == nil || n.object.isArray() || n.sparse:
			if names[n.name] || n.object != nil && n.scale != nil && n.scale.bare {
				continue
			}
			for group := range storage.Above(n.name) {
				if names[group] {
					return old, 0, fmt.Errorf("%.80q is a group there", group)
				}
			}
			for name := range names {
				if strings.HasPrefix(name, n.name+"/") {
					return old, 0, fmt.Errorf("%.80q is an array there: there can be none in it", n.name)
				}
			}
			bytes = old.Size
		case names[n.name]:
			return old, 0, fmt.Errorf("%.80q is a group there", n.name)
		default:
			if attributes, _, err := n.object.attributes(false, new(store.Details)); err != nil || len(attributes) > 0 {
				bytes = old.Size
			}
		}
	}
	return old, bytes, nil
}

// extendable rejects a file whose structures are not those that objects are added to here.
func (f *file) extendable() error {
	if f.offsets != 8 || f.lengths != 8 || f.extended {
		return errors.New("it was made with settings of its own for addresses, free space or its index: save to a new file, or write it anew by h5repack")
	}
	return nil
}

// load takes over the chunks that an earlier writer, or another process, has stored.
func (w *writer) load() error {
	w.loaded.Do(func() { w.err = w.read() })
	return w.err
}

func (w *writer) read() error {
	for _, n := range w.arrays {
		n.mu.Lock()
		n.places = map[int64]storage.AppendedChunk{}
		n.mu.Unlock()
	}
	return w.Chunks(func(c storage.AppendedChunk) {
		if c.Array >= 0 && c.Array < int64(len(w.arrays)) {
			w.arrays[c.Array].places[c.Chunk] = c
		}
	})
}

// bucket stores the chunks of one array at the end of the file.
type bucket struct {
	w      *writer
	of     *output
	number int64
}

// chunk is the number of a chunk, in C order, by its key.
func (b bucket) chunk(key string) (number int64, err error) {
	shape, chunks := b.of.meta.Shape, b.of.chunks.Chunks()
	parts := strings.Split(key, "/")[1:]
	for axis, part := range parts {
		i, err := strconv.Atoi(part)
		if err != nil || len(parts) != len(shape) {
			return 0, fmt.Errorf("%s is no chunk", key)
		}
		number = number*int64((shape[axis]+chunks[axis]-1)/chunks[axis]) + int64(i)
	}
	return number, nil
}

func (b bucket) Put(ctx context.Context, key string, p []byte) (blob.Entry, error) {
	number, err := b.chunk(key)
	if err == nil {
		err = b.w.load()
	}
	if err != nil {
		return blob.Entry{}, err
	}
	c, err := b.w.Append(ctx, b.number, number, p)
	if err == nil {
		b.of.mu.Lock()
		b.of.places[number] = c
		b.of.mu.Unlock()
	}
	return blob.Entry{Key: key, Size: c.Bytes}, err
}

func (b bucket) Open(ctx context.Context, key string) (blob.Object, error) {
	number, err := b.chunk(key)
	if err == nil {
		err = b.w.load()
	}
	if err != nil {
		return nil, err
	}
	b.of.mu.Lock()
	c, ok := b.of.places[number]
	b.of.mu.Unlock()
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: key, Err: fs.ErrNotExist}
	}
	return appendedObject{b.w.Appended, key, c}, nil
}

type appendedObject struct {
	out *storage.Appended
	key string
	storage.AppendedChunk
}

func (o appendedObject) Entry() blob.Entry { return blob.Entry{Key: o.key, Size: o.Bytes} }
func (o appendedObject) Close() error      { return nil }

func (o appendedObject) ReadAt(ctx context.Context, p []byte, at int64) error {
	if at < 0 || at+int64(len(p)) > o.Bytes {
		return io.ErrUnexpectedEOF
	}
	return o.out.ReadChunk(ctx, p, o.Offset+at)
}

func (b bucket) Sync(ctx context.Context) error { return b.w.Sync(ctx) }
func (b bucket) Join(string) blob.Bucket        { return b }
func (b bucket) Can() blob.Capabilities         { return blob.Capabilities{} }
func (b bucket) String() string                 { return b.w.meta.Path }

// Chunks are put by one call, and not listed.
func (b bucket) Create(context.Context, string) (blob.Upload, error) {
	return nil, errors.ErrUnsupported
}
func (b bucket) Delete(context.Context, string) error { return errors.ErrUnsupported }
func (b bucket) List(context.Context, string) iter.Seq2[blob.Entry, error] {
	return func(yield func(blob.Entry, error) bool) { yield(blob.Entry{}, errors.ErrUnsupported) }
}

// folder is the group of an array.
func folder(name string) string { return strings.TrimSuffix(path.Dir(name), ".") }
