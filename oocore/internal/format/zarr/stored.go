package zarr

import (
	"context"
	"errors"
	"io/fs"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/format/chunked"
)

// opened is the object that a session has open, the one of the chunk that it read
// last, the indexes of the shards that lie in it, and those of objects that it had open.
type opened struct {
	a       *array
	unit    []int // index of the object in the grid of units
	ready   bool  // unit has been looked for
	object  blob.Object
	serial  int
	key     string
	kept    []shardIndex  // of objects, each where its number says
	indexes []*shardIndex // of the shards in one another that a chunk lies in; the first is one of kept
	place   []int         // of a part within its shard
	source  chunked.Source
	behind  chunked.Source // its head, of the object with this serial number
	read    *int64         // counts the bytes that are read
	folder  *blob.OpenFolder
	looked  bool // since Begin, whether the folder is the one of its name
}

// newIndex makes the index of a session. Objects of an object store that are chunks are
// read by one request each.
func (a *array) newIndex(memory []byte, read *int64) chunked.Index {
	dims := len(a.meta.shape)
	o := &opened{a: a, read: read, unit: make([]int, dims), place: make([]int, dims)}
	for i := range a.meta.shards {
		var x shardIndex
		x, memory = newShardIndex(&a.meta.shards[i], memory)
		o.indexes = append(o.indexes, &x)
	}
	if len(o.indexes) > 0 {
		o.kept = []shardIndex{*o.indexes[0]}
	}
	for len(memory) > 0 {
		var x shardIndex
		x, memory = o.kept[0].another(memory)
		o.kept = append(o.kept, x)
	}
	if a.fetches() {
		return fetcher{o}
	}
	return o
}

// fetcher is the index of chunks that are objects of an object store.
type fetcher struct{ *opened }

func (f fetcher) Fetch(ctx context.Context, chunk []int, p []byte) (int64, *chunked.Source, error) {
	src := &chunked.Source{Kind: "chunk", Key: f.a.meta.key(chunk)}
	e, err := blob.Get(ctx, f.a.bucket, src.Key, p)
	switch {
	case err == nil:
		*f.read += e.Size
	case err == blob.ErrLarge:
		err = nil
	case errors.Is(err, fs.ErrNotExist):
		return 0, nil, f.a.there(ctx)
	}
	return e.Size, src, err
}

var _ chunked.Fetcher = fetcher{}

// Forget closes the chunk that is open.
func (f fetcher) Forget() { _ = f.closeObject() } // it was only read

// FetchAt opens the chunk's object by the request that reads the first of it.
func (f fetcher) FetchAt(ctx context.Context, chunk []int, p []byte, at int64) (int64, *chunked.Source, error) {
	before := f.serial
	if err := f.open(ctx, chunk, p, at); err != nil || f.object == nil {
		return 0, nil, err
	}
	src, size := f.named(), f.object.Entry().Size
	there := min(int64(len(p)), max(size-at, 0))
	*f.read += there
	if f.serial != before || there < int64(len(p)) {
		return size, &src, nil
	}
	return size, &src, f.object.ReadAt(ctx, p, at)
}

func (o *opened) Close() error { return errors.Join(o.closeObject(), o.closeFolder()) }

// closeObject closes the object that is open.
func (o *opened) closeObject() error {
	o.ready = false
	if o.object == nil {
		return nil
	}
	err := o.object.Close()
	o.object = nil
	return err
}

// Find returns where a chunk lies.
func (o *opened) Find(ctx context.Context, chunk []int) (*chunked.Source, error) {
	if err := o.open(ctx, chunk, nil, 0); err != nil || o.object == nil {
		return nil, err
	}
	m := o.a.meta
	o.source = o.named()
	o.source.Object, o.source.Serial, o.source.Bytes, o.source.Read = o.object, o.serial, o.object.Entry().Size, o.read
	if m.blocks != nil {
		if o.behind.Serial != o.serial {
			if err := m.blocks.Head(ctx, &o.a.Array, chunk, &o.source); err != nil {
				return nil, o.source.Fault(ctx, err)
			}
			o.behind = o.source
		}
		o.source = o.behind
	}
	for _, x := range o.indexes {
		for d, n := range chunk {
			// The chunk's first element in this shard, in parts.
			o.place[d] = n * m.chunks[d] % x.level.shape[d] / x.level.inner[d]
		}
		at, size, found, err := x.lookup(ctx, &o.source, x.level.entry(o.place))
		if err != nil {
			return nil, o.source.Fault(ctx, err)
		}
		if !found {
			return nil, nil
		}
		o.source.Base, o.source.Bytes = o.source.Base+at, size
	}
	return &o.source, nil
}

// open opens the object that holds a chunk, unless it is open, and fills p from a place in it
// then. Where there is none, object is nil.
func (o *opened) open(ctx context.Context, chunk []int, p []byte, at int64) error {
	m := o.a.meta
	unit, same := m.unit(), o.ready
	for d, n := range chunk {
		same = same && o.unit[d] == n*m.chunks[d]/unit[d]
		o.unit[d] = n * m.chunks[d] / unit[d]
	}
	if same {
		return nil
	}
	if err := o.closeObject(); err != nil {
		return err
	}
	o.key = m.key(o.unit)
	number := m.number(o.unit)
	var ahead *shardIndex // that is read as the object is opened
	if len(o.kept) > 0 {
		o.indexes[0] = &o.kept[number%len(o.kept)]
		if !o.a.bucket.Can().Files {
			if p, at = o.indexes[0].ahead(number); p != nil {
				ahead = o.indexes[0]
			}
		}
	}
	object, err := o.openObject(ctx, p, at)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		s := o.named()
		return s.Fault(ctx, err)
	}
	if missing { // a folder that another takes the place of may have lost its chunks first
		if err := o.a.there(ctx); err != nil {
			return err
		}
	} else {
		o.object = object
		o.serial++
		for _, x := range o.indexes {
			x.setObject(number, object.Entry())
		}
		if ahead != nil && ahead.came() {
			*o.read += int64(len(p))
		}
	}
	o.ready = true
	return nil
}

// openObject opens the object of a unit, on this machine in the folder that stays open.
func (o *opened) openObject(ctx context.Context, p []byte, at int64) (blob.Object, error) {
	folder, local := o.a.bucket.(blob.Folder)
	if !local {
		return blob.OpenAt(ctx, o.a.bucket, o.key, p, at)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !o.looked && o.folder != nil && o.folder.Moved() {
		if err := o.closeFolder(); err != nil {
			return nil, err
		}
	}
	o.looked = true
	if o.folder == nil {
		var err error
		if o.folder, err = folder.OpenFolder(); err != nil {
			o.folder = nil
			return nil, err
		}
	}
	return o.folder.Open(o.key)
}

// Begin lets the first opening of an object look whether the folder's name leads to another by now.
func (o *opened) Begin() { o.looked = false }

// Check returns an error when the array is no longer what was opened. An array of this machine is
// replaced in one move, chunks and metadata: that it is the same is seen after its chunks were
// opened in a folder that stays open. In an object store the chunks of another have other keys.
func (o *opened) Check() error {
	if o.folder == nil || !o.looked {
		return nil
	}
	now, err := o.folder.Stat(o.a.entry.Key)
	if err == nil {
		err = o.a.same(now)
	}
	return o.a.gone(err)
}

func (o *opened) closeFolder() (err error) {
	if o.folder != nil {
		err = o.folder.Close()
		o.folder = nil
	}
	return err
}

// named is a source that has no more than the name of the object.
func (o *opened) named() chunked.Source { return chunked.Source{Kind: o.kind(), Key: o.key} }

func (o *opened) kind() string {
	switch m := o.a.meta; {
	case len(m.shards) > 0:
		return "shard"
	case m.blocks != nil:
		return "block"
	}
	return "chunk"
}
