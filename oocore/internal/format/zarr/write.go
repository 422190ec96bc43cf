package zarr

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"
	"path"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/internal/strided"
	"github.com/gonbext/gonbext/oocore/store"
)

// Target is where an array is put when it is whole.
type Target interface {
	// Commit puts the array under its name; all its chunks are durable.
	Commit(ctx context.Context) error
	// Suspend keeps what is durable.
	Suspend() error
	// Abort removes what was made.
	Abort() error
	// Resumed reports that an earlier writer's chunks are there.
	Resumed() bool
}

// base is what all writers have: how their writing ends.
type base struct {
	path   string // as it was given to Create
	ws     *storage.StagingDir
	target Target

	mu     sync.RWMutex // held for reading while a box is written
	closed bool         // nothing more can be written
	ended  bool         // committed, suspended or aborted
}

// Resumed is asked by storage.Resumed.
func (w *base) Resumed() bool { return w.target.Resumed() }

// Placed is asked by storage.Placed.
func (w *base) Placed() bool {
	t, ok := w.target.(interface{ Placed() bool })
	return ok && t.Placed()
}

// Share is called by storage.Share.
func (w *base) Share() {
	if t, ok := w.target.(interface{ share() }); ok {
		t.share()
	}
}

// writing does what nobody may do when the writer has ended, and names the array in its error.
func (w *base) writing(do func() error) error {
	w.mu.RLock()
	defer w.mu.RUnlock()
	err := w.usable()
	if err == nil {
		err = do()
	}
	return w.named("write", err)
}

// usable rejects what comes too late.
func (w *base) usable() error {
	if w.closed {
		return fs.ErrClosed
	}
	return nil
}

// named gives an error the array's path, unless it names a part of it.
func (w *base) named(op string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if inner, ok := errors.AsType[*fs.PathError](err); ok && strings.Contains(inner.Path, path.Base(w.path)) {
		return err
	}
	return &fs.PathError{Op: op, Path: blob.Shown(w.path), Err: err}
}

// durable is Sync, by what a writer syncs with.
func (w *base) durable(ctx context.Context, sync func(context.Context) error) error {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if err := w.usable(); err != nil {
		return w.named("sync", err)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	err := sync(ctx)
	if t, ok := w.target.(interface{ sync() error }); ok && err == nil {
		err = t.sync()
	}
	return w.named("sync", err)
}

func (w *base) commit(ctx context.Context, sync func(context.Context) error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.usable(); err != nil {
		return w.named("commit", err)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := sync(ctx); err != nil {
		return w.named("commit", err)
	}
	w.closed = true
	if w.ws.Attached() {
		return w.named("commit", storage.ErrAttachedCommit)
	}
	if err := w.target.Commit(ctx); err != nil {
		return w.named("commit", err)
	}
	w.ended = true
	return nil
}

// abort is what is left to do of one that is given up: what others write too is not this process's to remove.
func (w *base) abort() error {
	if w.ws.Attached() {
		return w.target.Suspend()
	}
	return w.target.Abort()
}

// end closes a writer that was not committed.
func (w *base) end(op string, last ...func() error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return nil
	}
	w.closed, w.ended = true, true
	var err error
	for _, f := range last {
		err = errors.Join(err, f())
	}
	return w.named(op, err)
}

// writer fills an array whose chunks are encoded.
type writer struct {
	base
	d      *writeLayout
	box    grid.Box // what is written: the array, or a region of it
	bucket blob.Bucket
	elide  bool // chunks of zeros are left out: none of them can be there already

	syncing sync.Mutex   // so that a Sync does not return before another that it relies on
	waiting atomic.Int64 // units that are whole and not synced yet
	failed  bool         // a Sync has, and has said why
	flights flights      // of sessions

	seed  maphash.Seed
	locks [64]sync.Mutex // of units that Write changes in part
}

// waitingObjects is how many units may wait for a Sync. In a folder each of them is an
// open file.
const waitingObjects = 256

// wrote counts a unit that is whole.
func (w *writer) wrote(ctx context.Context) error {
	if w.waiting.Add(1) < waitingObjects {
		return nil
	}
	return w.sync(ctx)
}

// put stores a unit that Encode made.
func (w *writer) put(ctx context.Context, key string, p []byte) error {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if err := w.usable(); err != nil {
		return w.named("write", err)
	}
	return w.named("write", w.store(ctx, key, p))
}

// store stores a whole unit.
func (w *writer) store(ctx context.Context, key string, p []byte) error {
	if _, err := blob.Put(ctx, w.bucket, key, p); err != nil {
		return err
	}
	return w.wrote(ctx)
}

func (w *writer) sync(ctx context.Context) error {
	w.syncing.Lock()
	defer w.syncing.Unlock()
	w.waiting.Store(0)
	err := w.flights.wait()
	if err == nil {
		err = w.bucket.Sync(ctx)
	}
	w.failed = w.failed || err != nil
	return err
}

func (w *writer) Session(work []byte) (store.WriteSession, error) {
	var s *writeSession
	err := w.writing(func() (err error) {
		s, err = w.newSession(w.box, work, w.elide)
		return err
	})
	if err != nil {
		return nil, err
	}
	s.flies = !w.d.random
	return s, nil
}

// Write stores a box of any form. Units that it covers in part are read and written
// anew. It takes Layout.Work.Whole bytes of memory, and twice that of a chunk.
func (w *writer) Write(ctx context.Context, src []byte, b grid.Box) error {
	return w.writing(func() error { return w.write(ctx, src, b) })
}

func (w *writer) write(ctx context.Context, src []byte, b grid.Box) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := w.d.check(src, b); err != nil || len(src) == 0 {
		return err
	}
	if !equal(grid.Meet(b, w.box), b) {
		return fmt.Errorf("the box %s is not in the region %s", b, w.box)
	}
	s, err := w.newSession(b, make([]byte, w.d.work(b).Whole), false)
	if err != nil {
		return err
	}
	defer s.enc.Close()
	if s.dec != nil {
		defer s.dec.Close()
	}
	defer s.abandon()
	part := make([]byte, w.d.meta.chunkBytes())
	origin := make([]int, len(b.Start))
	for unit := range b.Align(origin, w.d.unit()) {
		if err := w.writeObject(ctx, s, src, unit, part); err != nil {
			return err
		}
	}
	return nil
}

// writeObject stores the part of a session's box that lies in one unit.
func (w *writer) writeObject(ctx context.Context, s *writeSession, src []byte, unit grid.Box, part []byte) error {
	lock := &w.locks[maphash.Comparable(w.seed, w.d.key(indexOf(unit, w.d.unit())))%uint64(len(w.locks))]
	lock.Lock()
	defer lock.Unlock()
	if w.d.keeps(unit) { // what is kept may have been written just now
		if err := w.sync(ctx); err != nil {
			return err
		}
	}
	for chunk := range unit.Align(nil, w.d.chunks) {
		l, err := strided.Of(s.box.Shape, w.d.item, grid.Within(chunk, s.box).Region())
		if err != nil {
			return err
		}
		p := part[:l.Bytes()]
		l.Gather(p, src, 0)
		if _, err := s.write(ctx, p, chunk); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) Sync(ctx context.Context) error { return w.durable(ctx, w.sync) }

func (w *writer) Commit(ctx context.Context) error { return w.commit(ctx, w.sync) }

func (w *writer) Suspend() error {
	return w.end("suspend", func() error {
		said := w.failed
		if err := w.sync(context.Background()); !said {
			return err
		}
		return nil
	}, w.target.Suspend)
}

// Abort removes what was written. Of a region, what was synced stays: whole chunks.
func (w *writer) Abort() error { return w.end("abort", w.drop, w.abort) }

// drop gives up the units that wait for a Sync.
func (w *writer) drop() error {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = w.sync(ctx) // as it was cancelled, or an earlier one failed
	return nil
}
