package storage

import (
	"context"
	"runtime/debug"

	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/strided"
	"github.com/gonbext/gonbext/oocore/store"
)

const (
	// mapBelow is the mean distance of runs from which on reading each of them is
	// as fast as mapping them all. Measured with the file in the page cache, in
	// nanoseconds a run of 4 bytes: 780 to read it at any distance, to map it 16
	// at 512 bytes, 210 at 8 KiB, 1150 at 64 KiB; of 2000 bytes at 40,000, 570 to
	// read it and 1270 to map it. From disk mapping wins by up to two at short
	// distances, and nothing at 40,000. Populating windows beforehand
	// (MADV_POPULATE_READ) is four times slower in the page cache, MADV_WILLNEED
	// twice, and neither is faster from disk.
	mapBelow = 32 << 10
	// pageBytes is a multiple of the page size of every system that this runs on.
	pageBytes = 64 << 10
)

// fill copies a layout from the file to dst, where it is dense.
func (h *handle) fill(ctx context.Context, dst []byte, l strided.Layout) (err error) {
	l.Split(disk.WindowBytes(), func(part strided.Layout) bool {
		if err = ctx.Err(); err != nil {
			return false
		}
		n := part.Bytes()
		from, to := part.Span()
		if runs := n / max(part.Run, 1); runs > 1 && (to-from)/int64(runs) < mapBelow {
			err = h.window(dst[:n], part)
		} else {
			err = h.runs(ctx, dst[:n], part)
		}
		dst = dst[n:]
		return err == nil
	})
	return err
}

// window maps the bytes that a layout spans and copies from them. Touching a
// page that the file no longer has is a fault, which becomes ErrCutShort.
func (h *handle) window(dst []byte, l strided.Layout) (err error) {
	from, to := l.Span()
	from -= from % pageBytes
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch r := recover().(type) {
		case nil:
		case interface{ Addr() uintptr }: // what the runtime throws for a fault
			err = store.ErrCutShort
		default:
			panic(r)
		}
	}()
	return disk.Window(h.file, from, int(to-from), func(m []byte) { l.Gather(dst, m, from) })
}
