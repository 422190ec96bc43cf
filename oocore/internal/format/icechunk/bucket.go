package icechunk

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/format/kerchunk"
	"github.com/gonbext/gonbext/oocore/store"
)

// bucket has the objects below a node of a snapshot as Zarr has them: zarr.json, and c/1/0 of an array. It is read only, and what it holds never
// changes: versions of objects are what they hold, whichever snapshot they are read of.
type bucket struct {
	*snapshot
	root   blob.Bucket
	prefix string // of the node, with a slash at its end
	chunks *chunks
	files  kerchunk.Files
}

var errReadOnly = errors.New("repositories of Icechunk are read only")

func (b *bucket) Create(context.Context, string) (blob.Upload, error) { return nil, errReadOnly }
func (b *bucket) Delete(context.Context, string) error                { return errReadOnly }
func (b *bucket) Sync(context.Context) error                          { return nil }
func (b *bucket) Can() blob.Capabilities {
	return blob.Capabilities{List: true, Network: b.root.Can().Network}
}
func (b *bucket) String() string { return "snapshot " + b.id }
func (b *bucket) Join(prefix string) blob.Bucket {
	return &bucket{snapshot: b.snapshot, root: b.root, prefix: b.prefix + prefix}
}

const metadata = "zarr.json"

// node is that of the metadata of a key, or nil.
func (b *bucket) node(key string) *node {
	dir, file := path.Split(b.prefix + key)
	if file != metadata {
		return nil
	}
	return b.find(strings.TrimSuffix(dir, "/"))
}

func (n *node) entry(key string) blob.Entry {
	return blob.Entry{Key: key, Size: int64(len(n.text)), Version: hash(n.text)}
}

func hash(b []byte) string {
	h := xxh3.Hash128(b).Bytes()
	return fmt.Sprintf("%x", h)
}

// Open opens metadata or a chunk.
func (b *bucket) Open(ctx context.Context, key string) (blob.Object, error) {
	return b.OpenAt(ctx, key, nil, 0)
}

// Get reads it, if it has no more than len(p) bytes.
func (b *bucket) Get(ctx context.Context, key string, p []byte) (blob.Entry, error) {
	size := int64(len(p))
	if c := b.chunk(key); c != nil {
		if size = c.size; size > int64(len(p)) {
			return b.entry(key, c), blob.ErrLarge
		}
	}
	o, err := b.OpenAt(ctx, key, p[:size], 0)
	if err != nil {
		return blob.Entry{}, err
	}
	if o.Entry().Size > int64(len(p)) {
		err = blob.ErrLarge
	}
	return o.Entry(), errors.Join(err, o.Close())
}

// OpenAt opens it and fills p from a place in it, of a file in an object store by one request.
func (b *bucket) OpenAt(ctx context.Context, key string, p []byte, at int64) (blob.Object, error) {
	if n := b.node(key); n != nil {
		p, at = blob.There(p, at, int64(len(n.text)))
		copy(p, n.text[at:])
		return &object{entry: n.entry(key), text: n.text}, nil
	}
	c := b.chunk(key)
	if c == nil {
		return nil, &fs.PathError{Op: "open", Path: key, Err: fs.ErrNotExist}
	}
	o, e := &object{entry: b.entry(key, c), at: c.at}, error(nil)
	p, at = blob.There(p, at, c.size)
	switch c.kind {
	case inline:
		o.text, o.at = b.chunks.inline[c.at:c.at+c.size], 0
		copy(p, o.text[at:])
		return o, ctx.Err()
	case native:
		name := "chunks/" + c.id.String()
		if o.in, e = blob.OpenAt(ctx, b.root, name, p, c.at+at); e == nil {
			if size := o.in.Entry().Size; c.at > size-c.size {
				e = errors.Join(fmt.Errorf("%s: %d bytes at %d are beyond its end, it has %d", name, c.size, c.at, size), o.Close())
			}
		}
		if errors.Is(e, fs.ErrNotExist) { // the chunk is not missing, which would make it fill values
			e = fmt.Errorf("%s is gone from the repository", name)
		}
	default:
		v := b.chunks.files[binary.LittleEndian.Uint32(c.id[:])]
		o.at = 0
		if o.in, e = b.files.Open(ctx, v.file, o.entry, c.at, v.check); e == nil && len(p) > 0 {
			if e = o.ReadAt(ctx, p, at); e != nil {
				e = errors.Join(e, o.Close())
			}
		}
	}
	if e != nil {
		return nil, e
	}
	return o, nil
}

// check rejects a file that has changed since its chunks were found.
func (v virtual) check(now store.FileVersion) error {
	if v.modified > 0 && now.ModTime.Unix() > int64(v.modified) {
		return fmt.Errorf("it was changed at %s, after the repository's references to it were made: make them anew", now.ModTime.UTC().Format(time.RFC3339))
	}
	if etag := strings.Trim(now.Version, `"`); v.etag != "" && etag != "" && v.etag != etag {
		return fmt.Errorf("it was changed: the repository refers to version %.80q, and it is %.80q", v.etag, etag)
	}
	return nil
}

// chunk is that of a key, or nil.
func (b *bucket) chunk(key string) *chunk {
	if b.chunks == nil || key != "c" && !strings.HasPrefix(key, "c/") {
		return nil
	}
	index := make([]int, 0, 8)
	for part := range strings.SplitSeq(strings.TrimPrefix(key, "c"), "/") {
		if part == "" && len(index) == 0 {
			continue
		}
		i, err := strconv.Atoi(part)
		if err != nil || i < 0 {
			return nil
		}
		index = append(index, i)
	}
	return b.chunks.find(index)
}

// entry is that of a chunk. Its version is what it holds, or the place of it, where nothing is replaced.
func (b *bucket) entry(key string, c *chunk) blob.Entry {
	e := blob.Entry{Key: key, Size: c.size}
	switch c.kind {
	case native:
		e.Version = c.id.String() + "@" + strconv.FormatInt(c.at, 10)
	case inline:
		e.Version = hash(b.chunks.inline[c.at : c.at+c.size])
	default:
		v := b.chunks.files[binary.LittleEndian.Uint32(c.id[:])]
		e.Version = fmt.Sprint(v.file, "@", c.at, " ", v.etag, " ", v.modified)
	}
	return e
}

// List goes through the objects of a node. Of a file elsewhere, of which the repository does not say what it was, the version is that which it has.
func (b *bucket) List(ctx context.Context, prefix string) iter.Seq2[blob.Entry, error] {
	return func(yield func(blob.Entry, error) bool) {
		if n := b.node(metadata); n != nil && prefix == "" && !yield(n.entry(metadata), nil) || b.chunks == nil {
			return
		}
		now := map[uint32]blob.Entry{}
		index := make([]uint64, len(b.chunks.grid))
		for i := range b.chunks.all {
			c := &b.chunks.all[i]
			rest := c.number
			for d := len(index) - 1; d >= 0; d-- {
				index[d], rest = rest%uint64(b.chunks.grid[d]), rest/uint64(b.chunks.grid[d])
			}
			key := []byte("c")
			for _, i := range index {
				key = strconv.AppendUint(append(key, '/'), i, 10)
			}
			e := b.entry(string(key), c)
			if file := binary.LittleEndian.Uint32(c.id[:]); c.kind == elsewhere && b.chunks.files[file].etag == "" && b.chunks.files[file].modified == 0 {
				of, ok := now[file]
				if !ok {
					var err error
					if of, err = kerchunk.Version(ctx, b.chunks.files[file].file); err != nil {
						yield(e, err)
						return
					}
					now[file] = of
				}
				e.Version, e.Changed = e.Version+of.Version, of.Changed
			}
			if strings.HasPrefix(e.Key, prefix) && !yield(e, nil) {
				return
			}
		}
	}
}

// object is an open object: text, or bytes of a file.
type object struct {
	entry blob.Entry
	text  []byte
	in    blob.Object
	at    int64
}

func (o *object) Entry() blob.Entry { return o.entry }

func (o *object) ReadAt(ctx context.Context, p []byte, at int64) error {
	if at < 0 || at > o.entry.Size-int64(len(p)) {
		return io.ErrUnexpectedEOF
	}
	if o.in == nil {
		copy(p, o.text[at:])
		return ctx.Err()
	}
	return o.in.ReadAt(ctx, p, o.at+at)
}

func (o *object) Close() error {
	if o.in == nil {
		return nil
	}
	return o.in.Close()
}
