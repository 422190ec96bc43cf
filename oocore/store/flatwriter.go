package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/store/internal/strided"
)

// flatWriter fills an array whose elements lie in one run in a file.
type flatWriter struct {
	path         string // as it was given to Create
	target, temp string
	shape        []int
	itemsize     int
	offset       int64 // of the first element

	mu   sync.RWMutex // held for reading while a box is written
	out  *output
	done bool // committed or aborted
}

func (w *flatWriter) Write(ctx context.Context, src []byte, b grid.Box) error {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if err := w.write(ctx, src, b); err != nil {
		if ctx.Err() != nil {
			return err
		}
		return pathError("write", w.path, err)
	}
	return nil
}

func (w *flatWriter) write(ctx context.Context, src []byte, b grid.Box) (err error) {
	if w.done {
		return ErrClosed
	}
	l, err := strided.Of(w.shape, w.itemsize, strided.Box(b))
	if err != nil {
		return err
	}
	if len(src) != l.Bytes() {
		return fmt.Errorf("the box %s has %d bytes, the buffer %d", b, l.Bytes(), len(src))
	}
	l.Start += w.offset
	p := pass{out: w.out, from: l.Start, scattered: l.Run < scatteredBytes}
	l.Runs(func(at int64) bool {
		err = p.run(ctx, src[:l.Run], at)
		src = src[l.Run:]
		return err == nil
	})
	if err != nil {
		return err
	}
	_, to := l.Span()
	return p.settle(to)
}

const (
	// settleBytes is how much a box puts into the page cache before it asks for
	// write-back.
	settleBytes = 1 << 20
	// scatteredBytes is the length below which runs share so many pages with
	// those of the next box that writing each page back at once, and reading it
	// again, is slower than leaving it to the kernel: 10,000² float32 in boxes of
	// 512 × 2500 reach 0.08 GB/s so and 0.4 left alone; from 32 KiB on they are
	// equal.
	scatteredBytes = 32 << 10
)

// pass writes the runs of one box, which lie one behind the other in the file.
type pass struct {
	out       *output
	scattered bool
	from      int64 // all before is settled
	cached    int   // bytes in the page cache since
}

// run writes one run, in pieces that end where pages do.
func (p *pass) run(ctx context.Context, src []byte, at int64) error {
	for len(src) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(len(src), pieceBytes-int(at%dataAlign))
		cached, err := p.out.write(src[:n], at)
		if err != nil {
			return err
		}
		src, at = src[n:], at+int64(n)
		if p.cached += cached; p.cached >= settleBytes {
			if err := p.settle(at); err != nil {
				return err
			}
		}
	}
	return nil
}

// settle sends what lies before a place on its way to the disk.
func (p *pass) settle(to int64) error {
	if p.scattered {
		return nil
	}
	from, cached := p.from, p.cached
	p.from, p.cached = to, 0
	return p.out.settle(from, to, cached)
}

func (w *flatWriter) Commit(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.done {
		return pathError("commit", w.path, ErrClosed)
	}
	if err := ctx.Err(); err != nil {
		return errors.Join(err, w.abort())
	}
	w.done = true
	err := w.out.finish()
	if err == nil {
		err = os.Rename(w.temp, w.target)
	}
	if err != nil {
		os.Remove(w.temp)
		return pathError("commit", w.path, err)
	}
	if err := syncDir(filepath.Dir(w.target)); err != nil {
		return pathError("commit", w.path, err)
	}
	return nil
}

func (w *flatWriter) Abort() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.abort()
}

func (w *flatWriter) abort() error {
	if w.done {
		return nil
	}
	w.done = true
	if err := errors.Join(w.out.close(), os.Remove(w.temp)); err != nil {
		return pathError("abort", w.path, err)
	}
	return nil
}

// syncDir makes a rename durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
