package cuda

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gonbext/gonbext/cuda/internal/driver"
	"github.com/gonbext/gonbext/oocore/units"
)

// Memory describes the memory of a device, in bytes.
type Memory struct {
	Total   int64
	Free    int64
	Largest int64 // the longest block that could be allocated
	Used    int64 // by runs and buffers of this process
	Others  int64 // by other processes, and by the driver's context and libraries of this one
}

// grain is the accuracy to which the longest block is found.
const grain = 1 << 20

// Memory asks the device for its memory. No driver reports the longest free block: it is found by
// allocations of several lengths, each of which is freed at once.
func (g *GPU) Memory() (m Memory, err error) {
	c, err := g.opened()
	if err != nil {
		return m, err
	}
	if m.Free, m.Total, err = c.Memory(); err != nil {
		return m, g.explain(err)
	}
	g.mu.Lock()
	m.Used = g.used
	g.mu.Unlock()
	m.Others = max(m.Total-m.Free-m.Used, 0)
	too := m.Free + 1
	for try := m.Free; too-m.Largest > grain && try > 0; try = m.Largest + (too-m.Largest)/2 {
		at, err := c.Alloc(try)
		switch {
		case err == nil:
			m.Largest = try
			if err := c.Free(at); err != nil {
				return m, g.explain(err)
			}
		case errors.Is(err, driver.ErrMemory):
			too = try
		default:
			return m, g.explain(err)
		}
	}
	return m, nil
}

// Buffer is memory of a device.
type Buffer struct {
	gpu   *GPU
	once  sync.Once
	freed atomic.Bool
	taken allocation
}

// Alloc takes a buffer of the device, whose bytes are undefined. An error that is
// device.ErrMemory means that there is no such block.
func (g *GPU) Alloc(bytes int64) (*Buffer, error) {
	if !g.made() {
		return nil, errNotMade
	}
	if bytes <= 0 {
		return nil, fmt.Errorf("a buffer of %d bytes on %s: give it one or more", bytes, g.name)
	}
	t, err := g.alloc(bytes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", g.name, g.explain(err))
	}
	return &Buffer{gpu: g, taken: t}, nil
}

// Size returns the buffer's length in bytes.
func (b *Buffer) Size() int64 {
	if b == nil {
		return 0
	}
	return b.taken.bytes
}

// Free waits for the copies of the buffer, and gives it back. It does so once.
func (b *Buffer) Free() (err error) {
	if b == nil || b.gpu == nil {
		return nil
	}
	b.once.Do(func() {
		b.freed.Store(true)
		err = b.gpu.explain(b.gpu.free(b.taken))
	})
	return err
}

// PinnedBuffer is memory of the host whose pages are locked, so that a device copies it at
// the link's full rate while the host does something else. The budgets of runs do not count it.
type PinnedBuffer struct {
	Data  []byte
	once  sync.Once
	unpin func() error
}

// Pinned takes a locked buffer of the host.
func (g *GPU) Pinned(bytes int) (*PinnedBuffer, error) {
	if !g.made() {
		return nil, errNotMade
	}
	if bytes <= 0 {
		return nil, fmt.Errorf("a locked buffer of %d bytes: give it one or more", bytes)
	}
	b := lockable(bytes)
	unpin, err := g.Pin(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %s of the host cannot be locked: %w", g.name, units.Exact(int64(bytes)), err)
	}
	return &PinnedBuffer{Data: b, unpin: unpin}, nil
}

// Free unlocks the buffer, once.
func (b *PinnedBuffer) Free() (err error) {
	if b == nil || b.unpin == nil {
		return nil
	}
	b.once.Do(func() { err = b.unpin() })
	return err
}

// Stream copies in the order of the calls, while the host and other streams go on.
type Stream struct {
	gpu    *GPU
	inner  driver.Stream
	once   sync.Once
	closed atomic.Bool
}

// Stream makes a stream of the device.
func (g *GPU) Stream() (*Stream, error) {
	c, err := g.opened()
	if err != nil {
		return nil, err
	}
	s, err := c.NewStream()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", g.name, g.explain(err))
	}
	return &Stream{gpu: g, inner: s}, nil
}

// Upload enqueues a copy of src to the beginning of a buffer. Both are the stream's until
// the copy is done.
func (s *Stream) Upload(to *Buffer, src []byte) (*Copy, error) {
	if err := s.fits(to, len(src)); err != nil {
		return nil, err
	}
	return s.copy(src, func() error { return s.inner.Upload(to.taken.at, src) })
}

// Download enqueues a copy of the beginning of a buffer to dst. Both are the stream's until
// the copy is done.
func (s *Stream) Download(dst []byte, from *Buffer) (*Copy, error) {
	if err := s.fits(from, len(dst)); err != nil {
		return nil, err
	}
	return s.copy(dst, func() error { return s.inner.Download(dst, from.taken.at) })
}

func (s *Stream) fits(b *Buffer, n int) error {
	if s == nil || s.gpu == nil || b == nil || b.gpu == nil {
		return errors.New("the stream or the buffer is a nil or zero value: GPU.Stream and GPU.Alloc make them")
	}
	g := s.gpu
	switch {
	case b.gpu != g:
		return fmt.Errorf("a stream of %s copies no buffer of %s", g.name, b.gpu.name)
	case b.freed.Load(): // its memory may be another's
		return fmt.Errorf("the buffer of %d bytes on %s has been freed", b.Size(), g.name)
	case n == 0 || int64(n) > b.Size():
		return fmt.Errorf("%d bytes are copied with a buffer of %d bytes: copy one or more, and no more than it has", n, b.Size())
	}
	return nil
}

// copy enqueues a copy between two events.
func (s *Stream) copy(host []byte, do func() error) (*Copy, error) {
	if s.closed.Load() { // the driver would take its handle for another's
		return nil, fmt.Errorf("the stream of %s has been closed", s.gpu.name)
	}
	c := &Copy{gpu: s.gpu, host: host}
	var err error
	if c.begin, err = s.gpu.context.NewEvent(); err != nil {
		return nil, s.gpu.explain(err)
	}
	if c.end, err = s.gpu.context.NewEvent(); err != nil {
		return nil, s.gpu.explain(errors.Join(err, c.begin.Close()))
	}
	if err = s.inner.Record(c.begin); err == nil {
		if err = do(); err == nil {
			err = s.inner.Record(c.end)
		}
	}
	if err != nil {
		return nil, s.gpu.explain(errors.Join(err, c.close()))
	}
	return c, nil
}

// Close waits for the copies, and ends the stream.
func (s *Stream) Close() (err error) {
	if s == nil || s.gpu == nil {
		return nil
	}
	s.once.Do(func() {
		s.closed.Store(true)
		err = s.gpu.explain(s.inner.Close())
	})
	return err
}

// Copy is a copy under way.
type Copy struct {
	gpu        *GPU
	begin, end driver.Event
	host       []byte // which the driver knows by its address, until the copy is done
	once       sync.Once
	took       time.Duration
	err        error
}

// Wait returns the time that the copy took, when it is done. A copy that nobody waits for
// keeps two events of the driver.
func (c *Copy) Wait() (time.Duration, error) {
	if c == nil || c.gpu == nil {
		return 0, errors.New("the copy is a nil or zero value: Stream.Upload and Download make one")
	}
	c.once.Do(func() {
		if c.err = c.end.Wait(); c.err == nil {
			c.took, c.err = c.end.Since(c.begin)
		}
		c.err = c.gpu.explain(errors.Join(c.err, c.close()))
		c.host = nil
	})
	return c.took, c.err
}

func (c *Copy) close() error { return errors.Join(c.begin.Close(), c.end.Close()) }
