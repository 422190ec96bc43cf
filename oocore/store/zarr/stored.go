package zarr

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/gonbext/gonbext/oocore/codec"
	"github.com/gonbext/gonbext/oocore/store/blob"
)

// source is where the bytes of an encoded chunk lie: an object, or a part of one.
type source struct {
	object blob.Object
	serial int // of the opening of the object
	key    string
	shard  bool
	base   int64
	size   int64
	read   *int64 // counts the bytes that are read
}

func (s *source) Size() int64 { return s.size }

func (s *source) ReadAt(ctx context.Context, p []byte, at int64) error {
	if at < 0 || at > s.size-int64(len(p)) {
		return io.ErrUnexpectedEOF
	}
	*s.read += int64(len(p))
	return s.object.ReadAt(ctx, p, s.base+at)
}

// kind is what the object is called in messages.
func (s *source) kind() string {
	if s.shard {
		return "shard"
	}
	return "chunk"
}

// fault names the object that is at fault.
func (s *source) fault(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("%s %s: %w", s.kind(), s.key, plainError(err))
}

// broken is fault of what cannot be decoded.
func (s *source) broken(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, codec.ErrShort) {
		err = fmt.Errorf("it is cut short: %w", plainError(err))
	}
	return s.fault(ctx, err)
}

// opened is the object that a session has open, the one of the chunk that it read
// last, and the indexes of the shards that lie in it.
type opened struct {
	a       *array
	unit    []int // index of the object in the grid of units
	ready   bool  // unit has been looked for
	object  blob.Object
	serial  int
	key     string
	indexes []shardIndex
	place   []int // of a part within its shard
	source  source
	read    *int64 // counts the bytes that are read
}

func newOpened(a *array, memory []indexMemory, read *int64) opened {
	dims := len(a.meta.shape)
	o := opened{a: a, read: read, unit: make([]int, dims), place: make([]int, dims)}
	for i := range a.meta.shards {
		o.indexes = append(o.indexes, newShardIndex(&a.meta.shards[i], memory[i]))
	}
	return o
}

func (o *opened) close() error {
	o.ready = false
	if o.object == nil {
		return nil
	}
	err := o.object.Close()
	o.object = nil
	return err
}

// find is where a chunk lies, valid until the next call; nil where it is not
// stored.
func (o *opened) find(ctx context.Context, chunk []int) (*source, error) {
	if err := o.open(ctx, chunk); err != nil || o.object == nil {
		return nil, err
	}
	m := o.a.meta
	o.source = source{object: o.object, serial: o.serial, key: o.key, shard: len(m.shards) > 0,
		size: o.object.Entry().Size, read: o.read}
	for i := range o.indexes {
		x := &o.indexes[i]
		for d, n := range chunk {
			// The chunk's first element in this shard, in parts.
			o.place[d] = n * m.chunks[d] % x.level.shape[d] / x.level.inner[d]
		}
		at, size, found, err := x.lookup(ctx, &o.source, x.level.entry(o.place))
		if err != nil {
			return nil, o.source.fault(ctx, err)
		}
		if !found {
			return nil, nil
		}
		o.source.base, o.source.size = o.source.base+at, size
	}
	return &o.source, nil
}

// open opens the object that holds a chunk, unless it is open. Where there is none,
// object is nil.
func (o *opened) open(ctx context.Context, chunk []int) error {
	m := o.a.meta
	unit, same := m.unit(), o.ready
	for d, n := range chunk {
		same = same && o.unit[d] == n*m.chunks[d]/unit[d]
		o.unit[d] = n * m.chunks[d] / unit[d]
	}
	if same {
		return nil
	}
	if err := o.close(); err != nil {
		return err
	}
	for i := range o.indexes {
		o.indexes[i].forget()
	}
	o.key = m.key(o.unit)
	object, err := o.a.bucket.Open(ctx, o.key)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := o.a.there(ctx); err != nil {
			return err
		}
	case err != nil:
		s := source{key: o.key, shard: len(m.shards) > 0}
		return s.fault(ctx, err)
	default:
		o.object = object
		o.serial++
		// An array of this machine is replaced in one move, chunks and metadata. In an
		// object store the chunks of another have other keys.
		if o.a.local {
			if err := o.a.there(ctx); err != nil {
				return errors.Join(err, o.close())
			}
		}
	}
	o.ready = true
	return nil
}
