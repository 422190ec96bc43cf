package storage

import (
	"cmp"
	"context"
	"io/fs"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/gonbext/gonbext/oocore/internal/strided"
	"github.com/gonbext/gonbext/oocore/types"
)

const (
	// remoteFlight is how many ranges one session asks for at once.
	remoteFlight = 4
	// remoteGap is how many bytes between two runs are read rather than left out: at
	// 20 ms a request and 100 MB/s a connection, a request costs as much as 2 MB, but
	// bytes may have to be paid for.
	remoteGap = 64 << 10
	// remoteWindow is the buffer of a session: a window for each request. With
	// remoteLeast there is one request at a time, for what that holds.
	remoteWindow = 4 << 20
	remoteLeast  = 128 << 10
)

// remoteSession reads regions of a remote array.
type remoteSession struct {
	array *remote
	work  []byte // nil takes from the heap what is needed
}

func (s *remoteSession) Close() error { return nil }

// Read fills dst with a region's elements. What lies in one run goes straight to
// dst; runs with small gaps between them are read as one range, to a window.
func (s *remoteSession) Read(ctx context.Context, dst []byte, r types.Region) (int64, error) {
	stored, err := s.read(ctx, dst, r)
	if err != nil && ctx.Err() == nil {
		err = PathError("read", s.array.info.Path, err)
	}
	return stored, err
}

func (s *remoteSession) read(ctx context.Context, dst []byte, r types.Region) (int64, error) {
	a := s.array
	l, err := strided.ForRegion(a.info.Shape, a.info.DType.Size(), r, len(dst))
	switch {
	case err != nil:
		return 0, err
	case a.shared.closed.Load():
		return 0, fs.ErrClosed
	case len(dst) == 0:
		return 0, ctx.Err()
	}
	l.Start += a.offset
	stored, err := s.ranges(ctx, dst, l)
	if err == nil {
		a.stored.decode(dst, a.info.DType)
	}
	return stored, err
}

// ranges reads the parts of a layout, a window each, some at once.
func (s *remoteSession) ranges(ctx context.Context, dst []byte, l strided.Layout) (int64, error) {
	if len(l.Axes) == 0 {
		return int64(len(dst)), s.array.shared.object.ReadAt(ctx, dst, l.Start)
	}
	windows := s.windows(l)
	free := make(chan []byte, len(windows))
	for _, window := range windows {
		free <- window
	}
	all, within := errgroup.WithContext(ctx)
	var stored atomic.Int64
	coalesce(l, int64(len(windows[0])), func(part strided.Layout) bool {
		window, into := <-free, dst[:part.Bytes()]
		dst = dst[len(into):]
		all.Go(func() error {
			n, err := s.part(within, into, part, window)
			stored.Add(n)
			free <- window
			return err
		})
		return within.Err() == nil
	})
	err := all.Wait()
	return stored.Load(), cmp.Or(err, context.Cause(ctx))
}

// windows cuts the session's buffer, or a new one where it has none.
func (s *remoteSession) windows(l strided.Layout) [][]byte {
	work := s.work
	if work == nil {
		from, to := l.Span()
		work = make([]byte, min(s.array.info.Work.Whole, to-from))
	}
	size := max(len(work)/remoteFlight, min(len(work), remoteLeast))
	var out [][]byte
	for ; len(work) >= size && len(out) < remoteFlight; work = work[size:] {
		out = append(out, work[:size:size])
	}
	return out
}

// part reads one run, or runs with their gaps. It returns the bytes that came.
func (s *remoteSession) part(ctx context.Context, dst []byte, l strided.Layout, window []byte) (int64, error) {
	object := s.array.shared.object
	if len(l.Axes) == 0 {
		return int64(len(dst)), object.ReadAt(ctx, dst, l.Start)
	}
	from, to := l.Span()
	window = window[:to-from]
	if err := object.ReadAt(ctx, window, from); err != nil {
		return 0, err
	}
	l.Gather(dst, window, from)
	return to - from, nil
}

// coalesce cuts a layout into runs, and into layouts that fit into a window and
// have small gaps only, in the region's order.
func coalesce(l strided.Layout, window int64, yield func(strided.Layout) bool) bool {
	from, to := l.Span()
	if len(l.Axes) == 0 || to-from <= window && smallGaps(l) {
		return yield(l)
	}
	inner := l
	inner.Axes = l.Axes[1:]
	outer := l.Axes[0]
	from, to = inner.Span()
	stride := max(outer.Stride, -outer.Stride)
	group := 1 // this many steps of the outer axis make one range
	if stride-(to-from) <= remoteGap && smallGaps(inner) {
		group = int(max((window-(to-from))/stride+1, 1))
	}
	for i := 0; i < outer.Count; i += group {
		part := inner
		part.Start += int64(i) * outer.Stride
		if n := min(group, outer.Count-i); n > 1 {
			part.Axes = append([]strided.Axis{{Count: n, Stride: outer.Stride}}, inner.Axes...)
		}
		if !coalesce(part, window, yield) {
			return false
		}
	}
	return true
}

// RemoteReads goes through the ranges that a session with a buffer reads of an array which lies in one run in an object, from the place of
// its first element on.
func RemoteReads(shape []int, itemsize int, r types.Region, buffer int64, yield func(at, bytes int64)) error {
	l, err := strided.Of(shape, itemsize, r)
	if err != nil {
		return err
	}
	if len(l.Axes) == 0 {
		yield(l.Start, int64(l.Bytes()))
		return nil
	}
	coalesce(l, max(buffer/remoteFlight, min(buffer, remoteLeast)), func(part strided.Layout) bool {
		from, to := part.Span()
		yield(from, to-from)
		return true
	})
	return nil
}

// smallGaps reports that nothing in a layout is farther apart than what is read
// rather than left out.
func smallGaps(l strided.Layout) bool {
	for ; len(l.Axes) > 0; l.Axes = l.Axes[1:] {
		inner := l
		inner.Axes = l.Axes[1:]
		from, to := inner.Span()
		if stride := l.Axes[0].Stride; max(stride, -stride)-(to-from) > remoteGap {
			return false
		}
	}
	return true
}
