package zarr

import (
	"context"
	"errors"
	"io"
	"io/fs"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/codec"
	"github.com/gonbext/gonbext/oocore/internal/grid"
)

// objectWriter writes the object of a session: a shard, or a chunk. It is the
// encoder's codec.Sink.
type objectWriter struct {
	s     *writeSession
	index []int
	box   grid.Box // what is written of it
	left  int      // chunks that are still to come
	old   blob.Object

	upload blob.Upload // nil until its first byte
	size   int64       // bytes that were appended, with those in the buffer
	buffer []byte      // of a shard, the last of them
	start  int64       // of the chunk that is under way
}

// begin starts a unit, and opens what is to be kept of the one that is there.
func (s *writeSession) begin(ctx context.Context, index []int) error {
	d := s.d
	full := chunkBox(index, d.unit())
	u := &objectWriter{s: s, index: index, box: grid.Meet(full, s.box), left: 1}
	if l := d.shard(); l != nil {
		u.left = countChunks(u.box, d.chunks)
		u.buffer = s.mem.buffer[:0]
		clearIndex(s.mem.index)
		if l.index.atStart {
			u.size = l.indexBytes()
		}
	}
	if !equal(u.box, grid.Meet(full, d.all())) {
		old, err := s.w.bucket.Open(ctx, d.key(index))
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return err
		default:
			u.old = old
			if l := d.shard(); l != nil {
				if err := l.load(ctx, old, s.mem.old); err != nil {
					return errors.Join(err, old.Close())
				}
			}
		}
	}
	s.unit = u
	return nil
}

// countChunks returns how many chunks of a grid a box overlaps.
func countChunks(b grid.Box, lengths []int) int {
	n := 1
	for axis, length := range lengths {
		first := b.Start[axis] / length
		n *= (b.Start[axis]+b.Shape[axis]+length-1)/length - first
	}
	return n
}

// begin starts a chunk of the unit.
func (u *objectWriter) begin(index []int) *chunkWriter {
	d := u.s.d
	full := chunkBox(index, d.chunks)
	c := &chunkWriter{s: u.s, index: index, full: full, want: grid.Meet(full, u.box)}
	c.gapless = equal(c.full, c.want)
	if u.old != nil && !equal(c.want, grid.Meet(full, d.all())) {
		c.old = u.stored(index)
	}
	u.start = u.size
	return c
}

// stored is a chunk as it was before; nil where it was not stored.
func (u *objectWriter) stored(index []int) codec.Source {
	l := u.s.d.shard()
	if l == nil {
		return section{u.old, 0, u.old.Entry().Size}
	}
	at, n, ok := l.index.partAt(u.s.mem.old, u.entry(index))
	if !ok {
		return nil
	}
	return section{u.old, at, n}
}

// entry is a chunk's place in the index of its shard.
func (u *objectWriter) entry(index []int) int {
	l := u.s.d.shard()
	inner := make([]int, len(index))
	for axis, i := range index {
		inner[axis] = i % l.count(axis)
	}
	return l.entry(inner)
}

// section is a part of an object, as a codec.Source.
type section struct {
	blob.Object
	from, size int64
}

func (s section) Size() int64 { return s.size }

func (s section) ReadAt(ctx context.Context, p []byte, at int64) error {
	if at+int64(len(p)) > s.size {
		return io.ErrUnexpectedEOF
	}
	return s.Object.ReadAt(ctx, p, s.from+at)
}

// end completes a chunk, and the unit after its last.
func (u *objectWriter) end(ctx context.Context, c *chunkWriter) error {
	l := u.s.d.shard()
	if n := u.size - u.start; l != nil && n > 0 {
		l.index.setPart(u.s.mem.index, u.entry(c.index), u.start, n)
	}
	if u.left--; u.left > 0 {
		return nil
	}
	if l != nil {
		if err := u.seal(ctx, l); err != nil {
			return err
		}
	}
	if u.upload != nil {
		if err := u.upload.Close(ctx); err != nil {
			return err
		}
		u.upload = nil
		if err := u.s.w.wrote(ctx); err != nil {
			return err
		}
	}
	u.release()
	return nil
}

// seal writes the end of a shard, with the chunks that are kept as they are.
func (u *objectWriter) seal(ctx context.Context, l *shardLevel) error {
	if u.old != nil {
		if err := u.carry(ctx); err != nil {
			return err
		}
	}
	if u.upload == nil && len(u.buffer) == 0 { // no chunk is stored
		return nil
	}
	index := u.s.mem.index
	l.index.seal(index)
	if !l.index.atStart {
		if err := u.Write(ctx, index); err != nil {
			return err
		}
		return u.flush(ctx)
	}
	if err := u.flush(ctx); err != nil {
		return err
	}
	return u.writeAt(ctx, index, 0)
}

// carry copies the chunks of the old shard that nothing was written to.
func (u *objectWriter) carry(ctx context.Context) error {
	d := u.s.d
	all := grid.Meet(chunkBox(u.index, d.unit()), d.all())
	for b := range all.Align(nil, d.chunks) {
		if grid.Meet(b, u.box).Size() > 0 {
			continue
		}
		if err := u.copy(ctx, indexOf(b, d.chunks)); err != nil {
			return err
		}
	}
	return nil
}

// copy takes one chunk over from the old shard.
func (u *objectWriter) copy(ctx context.Context, index []int) error {
	old := u.stored(index)
	if old == nil {
		return nil
	}
	if err := u.flush(ctx); err != nil {
		return err
	}
	start, size := u.size, old.Size()
	for at := int64(0); at < size; {
		p := u.s.mem.buffer[:min(int64(len(u.s.mem.buffer)), size-at)]
		if err := old.ReadAt(ctx, p, at); err != nil {
			return err
		}
		if err := u.out(ctx, p); err != nil {
			return err
		}
		at += int64(len(p))
	}
	u.size += size
	u.s.d.shard().index.setPart(u.s.mem.index, u.entry(index), start, size)
	return nil
}

// Write appends to the unit. What goes through the buffer leaves it in whole pages
// and large pieces, as the disk takes it fastest.
func (u *objectWriter) Write(ctx context.Context, p []byte) error {
	if cap(u.buffer) == 0 {
		u.size += int64(len(p))
		return u.out(ctx, p)
	}
	for len(p) > 0 {
		n := copy(u.buffer[len(u.buffer):cap(u.buffer)], p)
		u.buffer, p = u.buffer[:len(u.buffer)+n], p[n:]
		u.size += int64(n)
		if len(u.buffer) < cap(u.buffer) {
			break
		}
		if err := u.flush(ctx); err != nil {
			return err
		}
	}
	return nil
}

// WriteAt replaces bytes of the chunk that is under way.
func (u *objectWriter) WriteAt(ctx context.Context, p []byte, at int64) error {
	at += u.start
	if buffered := u.size - int64(len(u.buffer)); at < buffered {
		n := min(int64(len(p)), buffered-at)
		if err := u.writeAt(ctx, p[:n], at); err != nil {
			return err
		}
		p, at = p[n:], at+n
	}
	if len(p) > 0 {
		copy(u.buffer[at-(u.size-int64(len(u.buffer))):], p)
	}
	return nil
}

// flush uploads what is in the buffer.
func (u *objectWriter) flush(ctx context.Context) error {
	if len(u.buffer) == 0 {
		return nil
	}
	p := u.buffer
	u.buffer = u.buffer[:0]
	return u.out(ctx, p)
}

// out uploads the next bytes.
func (u *objectWriter) out(ctx context.Context, p []byte) error {
	if err := u.open(ctx); err != nil {
		return err
	}
	u.s.stored += int64(len(p))
	return u.upload.Write(ctx, p)
}

func (u *objectWriter) writeAt(ctx context.Context, p []byte, at int64) error {
	if err := u.open(ctx); err != nil {
		return err
	}
	u.s.stored += int64(len(p))
	return u.upload.WriteAt(ctx, p, at)
}

// open begins the upload. Where the index is at the start it leaves room for it.
func (u *objectWriter) open(ctx context.Context) error {
	if u.upload != nil {
		return nil
	}
	upload, err := u.s.w.bucket.Create(ctx, u.s.d.key(u.index))
	if err != nil {
		return err
	}
	u.upload = upload
	if l := u.s.d.shard(); l != nil && l.index.atStart {
		return u.upload.Write(ctx, u.s.mem.index)
	}
	return nil
}

// put uploads the whole unit at once, or prepares Encode's put. Where p is the session's own
// memory that may continue until its next Write.
func (u *objectWriter) put(ctx context.Context, p []byte, own bool) error {
	s, key := u.s, u.s.d.key(u.index)
	s.stored += int64(len(p))
	switch {
	case s.into != nil:
		p = append(s.into[:0], p...)
		s.put = func(ctx context.Context) error { return s.w.put(ctx, key, p) }
		return nil
	case own && s.flies:
		s.flight = s.w.flights.begin(func() error { _, err := blob.Put(ctx, s.w.bucket, key, p); return err })
		return nil
	}
	return s.w.store(ctx, key, p)
}

// release gives up what of the unit is not whole.
func (u *objectWriter) release() {
	if u.upload != nil {
		u.upload.Abort()
		u.upload = nil
	}
	if u.old != nil {
		_ = u.old.Close() // it was only read
		u.old = nil
	}
}
