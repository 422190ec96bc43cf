package zarr

import (
	"context"
	"fmt"

	"github.com/gonbext/gonbext/oocore/internal/codec"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/strided"
)

// chunkWriter is the chunk that a session is encoding. Its elements come as the boxes of
// want, in C order. The rest of it, beyond the array's edge or around a region, is
// what was stored before, or fill.
type chunkWriter struct {
	s     *writeSession
	index []int
	full  grid.Box // with what lies beyond the array's edge
	want  grid.Box
	came  int64 // bytes of want

	old     codec.Source // what was stored, where a part of it is kept; nil is fill
	whole   bool         // elements are put together in the session's memory
	begun   bool         // the encoder's stream
	zeros   int64        // bytes of zeros that came before the stream was begun
	at      int64        // bytes of full that were staged or encoded
	staged  int          // bytes in the session's stage
	gapless bool
}

// size is the number of bytes of want.
func (c *chunkWriter) size() int64 { return int64(c.want.Size() * c.s.d.item) }

// take encodes a box. It reports true after the chunk's last.
func (c *chunkWriter) take(ctx context.Context, src []byte, b grid.Box) (bool, error) {
	if err := c.next(b); err != nil {
		return false, err
	}
	first := c.came == 0
	c.came += int64(len(src))
	last := c.came == c.size()
	d, mem := c.s.d, c.s.mem
	if first && last && c.gapless && c.s.whole && d.straight() {
		return true, c.encode(ctx, src)
	}
	if first {
		c.whole = mem.chunk != nil
		if err := c.keep(ctx); err != nil {
			return false, err
		}
	}
	l, err := strided.Of(c.full.Shape, d.item, grid.Within(b, c.full).Region())
	if err != nil {
		return false, err
	}
	if c.whole {
		l.Scatter(mem.chunk, src, 0)
		if last {
			err = c.encode(ctx, mem.chunk)
		}
		return last, err
	}
	l.Runs(func(at int64) bool {
		if err = c.gap(ctx, at); err == nil {
			err = c.put(ctx, src[:l.Run])
		}
		src = src[l.Run:]
		return err == nil
	})
	if err == nil && last {
		err = c.end(ctx)
	}
	return last, err
}

// next rejects a box that does not continue where the one before ended.
func (c *chunkWriter) next(b grid.Box) error {
	l, err := strided.Of(c.want.Shape, c.s.d.item, grid.Within(b, c.want).Region())
	if err == nil && (len(l.Axes) > 0 || l.Start != c.came) {
		err = fmt.Errorf("the box %s is not the next run of rows of the chunk %s: its first %d bytes are there", b, c.want, c.came)
	}
	return err
}

// keep gets what was stored before: all of it, or a stream of it.
func (c *chunkWriter) keep(ctx context.Context) error {
	if c.gapless {
		return nil
	}
	s := c.s
	switch {
	case c.whole && c.old == nil:
		repeat(s.mem.chunk, s.d.fill)
	case c.whole:
		_, err := s.dec.Whole(ctx, s.mem.chunk, c.old)
		return err
	case c.old != nil:
		return s.dec.Begin(ctx, c.old)
	}
	return nil
}

// encode encodes a whole chunk.
func (c *chunkWriter) encode(ctx context.Context, full []byte) error {
	if c.s.elide && zero(full) {
		return nil
	}
	out, err := c.s.enc.Whole(ctx, full)
	if err != nil {
		return err
	}
	if c.s.d.shard() == nil {
		own := len(out) > 0 && &out[0] != &full[0] // no codec leaves it where it was
		return c.s.unit.put(ctx, out, own)
	}
	return c.s.unit.Write(ctx, out)
}

// gap encodes what is kept before a byte of the whole chunk.
func (c *chunkWriter) gap(ctx context.Context, to int64) error {
	stage := c.s.mem.stage
	for c.at < to {
		n := int(min(to-c.at, int64(len(stage)-c.staged)))
		p := stage[c.staged : c.staged+n]
		if c.old == nil {
			repeat(p, c.s.d.fill)
		} else if _, err := c.s.dec.Next(ctx, p); err != nil {
			return err
		}
		if err := c.push(ctx, n); err != nil {
			return err
		}
	}
	return nil
}

// put encodes a run of elements.
func (c *chunkWriter) put(ctx context.Context, src []byte) error {
	if c.gapless {
		c.at += int64(len(src))
		return c.stream(ctx, src)
	}
	stage := c.s.mem.stage
	for len(src) > 0 {
		n := min(len(src), len(stage)-c.staged)
		p := stage[c.staged : c.staged+n]
		if c.old != nil { // what is replaced has to be decoded too
			if _, err := c.s.dec.Next(ctx, p); err != nil {
				return err
			}
		}
		copy(p, src)
		src = src[n:]
		if err := c.push(ctx, n); err != nil {
			return err
		}
	}
	return nil
}

// push counts n bytes that were staged, and encodes a full stage.
func (c *chunkWriter) push(ctx context.Context, n int) error {
	c.at += int64(n)
	if c.staged += n; c.staged < len(c.s.mem.stage) {
		return nil
	}
	return c.flush(ctx)
}

func (c *chunkWriter) flush(ctx context.Context) error {
	p := c.s.mem.stage[:c.staged]
	c.staged = 0
	return c.stream(ctx, p)
}

// stream encodes the next elements. Zeros are held back until something else
// comes, where a chunk of them is left out.
func (c *chunkWriter) stream(ctx context.Context, p []byte) error {
	if !c.begun {
		if c.s.elide && zero(p) {
			c.zeros += int64(len(p))
			return nil
		}
		if err := c.s.enc.Begin(ctx, c.s.unit); err != nil {
			return err
		}
		c.begun = true
		for c.zeros > 0 {
			n := min(c.zeros, int64(len(zeros)))
			if err := c.s.enc.Next(ctx, zeros[:n]); err != nil {
				return err
			}
			c.zeros -= n
		}
	}
	return c.s.enc.Next(ctx, p)
}

// zeros is read only.
var zeros [stageBytes]byte

// end encodes the rest of a streamed chunk.
func (c *chunkWriter) end(ctx context.Context) error {
	if err := c.gap(ctx, c.s.d.meta.chunkBytes()); err != nil {
		return err
	}
	if c.staged > 0 {
		if err := c.flush(ctx); err != nil {
			return err
		}
	}
	if !c.begun { // all of it is zero
		return nil
	}
	_, err := c.s.enc.End(ctx)
	return err
}
