package storage

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"sync"

	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/strided"
	"github.com/gonbext/gonbext/oocore/types"
)

// part is an array's place in a file.
type part struct {
	shape    []int
	itemsize int
	offset   int64 // of the first element
	order    order // in the file
}

// flatWriter fills an array whose elements lie in one run in a file.
type flatWriter struct {
	part
	path   string // as it was given to Create
	target string // what is replaced
	name   string // in the staging folder, without an extension
	temp   string // what is written, in the staging folder
	id     string // says what that is; "" of what is written in its place
	ws     *StagingDir
	// finish writes what stands around the elements.
	finish func(context.Context) error
	resize func(rows int) error // nil where the array has the shape that it was created with
	grows  bool                 // its size is not known before

	resumed bool
	placed  bool // by an earlier writer: there is no file to write

	mu     sync.RWMutex // held for reading while a box is written
	out    *disk.File
	closed bool // nothing can be written any more
	ended  bool // nothing is left to do

	syncing sync.Mutex // a Sync waits for others: the kernel reports an error to one of them only
	named   bool       // what a later writer resumes by is durable: the id and the staging folder
	failed  error      // of a sync, after which no other can be believed
}

func (w *flatWriter) Write(ctx context.Context, src []byte, b types.Box) error {
	return w.writePart(ctx, w.path, w.part, src, b)
}

// writePart writes a box of an array of the file; path is the array's name for people.
func (w *flatWriter) writePart(ctx context.Context, path string, p part, src []byte, b types.Box) error {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.closed || w.placed {
		return PathError("write", path, fs.ErrClosed)
	}
	return AccessError(ctx, "write", path, p.write(ctx, w.out, src, b))
}

func (w *part) write(ctx context.Context, out *disk.File, src []byte, b types.Box) (err error) {
	l, err := strided.ForBox(w.shape, w.itemsize, b, len(src))
	if err != nil {
		return err
	}
	if w.order.fortran || w.order.big { // in another order than in memory
		return w.convert(ctx, out, src, b)
	}
	l.Start += w.offset
	return writeLayout(ctx, out, src, l)
}

// writeLayout writes dense elements to their places in a file.
func writeLayout(ctx context.Context, out *disk.File, src []byte, l strided.Layout) (err error) {
	p := pass{out: out, from: l.Start, scattered: l.Run < disk.ShortRun}
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
	// pieceBytes bounds one system call, so that a cancelled write ends soon.
	pieceBytes = 8 << 20
)

// pass writes the runs of one box, which lie one behind the other in the file.
type pass struct {
	out       *disk.File
	scattered bool
	from      int64 // all before is settled
	cached    int   // bytes in the page cache since
	touched   int   // bytes of the pages that scattered runs lie in
}

// run writes one run, in pieces that end where pages do.
func (p *pass) run(ctx context.Context, src []byte, at int64) error {
	for len(src) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(len(src), pieceBytes-int(at%dataAlign))
		cached, err := p.out.Write(src[:n], at)
		if err != nil {
			return err
		}
		if p.scattered && cached > 0 {
			const page = disk.Page
			p.touched += (int(at%page) + n + page - 1) &^ (page - 1)
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
		touched := p.touched
		p.touched = 0
		return p.out.ThrottleDirty(touched)
	}
	from, cached := p.from, p.cached
	p.from, p.cached = to, 0
	return p.out.WritebackRange(from, to, cached)
}

// Resumed reports whether the elements of an earlier writer are kept.
func (w *flatWriter) Resumed() bool { return w.resumed }

// Placed is asked by storage.Placed.
func (w *flatWriter) Placed() bool { return w.placed }

// Sync makes durable what was written. After an error of the disk nothing more
// can be: the kernel reports each only once.
func (w *flatWriter) Sync(ctx context.Context) error {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if w.closed {
		return PathError("sync", w.path, fs.ErrClosed)
	}
	return PathError("sync", w.path, w.sync())
}

// sync makes the elements durable, and what a later writer resumes them by.
func (w *flatWriter) sync() error {
	w.syncing.Lock()
	defer w.syncing.Unlock()
	if err := w.syncElements(); err != nil || w.placed || w.named {
		return err
	}
	w.named = true
	if w.id != "" {
		w.failed = disk.WriteFile(w.idName(), []byte(w.id))
	}
	w.failed = errors.Join(w.failed, w.ws.sync())
	return w.failed
}

func (w *flatWriter) syncElements() error {
	if w.failed == nil && !w.placed {
		w.failed = w.out.Sync()
	}
	return w.failed
}

func (w *flatWriter) Commit(ctx context.Context) error { return w.commitBy(ctx, w.commit) }

// commitBy commits the array by a function that depends on the kind of writer.
func (w *flatWriter) commitBy(ctx context.Context, commit func(context.Context) error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return PathError("commit", w.path, fs.ErrClosed)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return PathError("commit", w.path, commit(ctx))
}

func (w *flatWriter) commit(ctx context.Context) error {
	if w.ws.attached {
		return ErrAttachedCommit
	}
	if !w.placed {
		if err := w.place(ctx); err != nil {
			return err
		}
	}
	w.closed, w.ended = true, true
	err := disk.SyncDir(filepath.Dir(w.target))
	// What cannot be cleaned away does not make the array any less whole. In a staging folder
	// of another's the notes stay until he has noted that the array is in its place.
	if w.temporary() {
		_ = disk.Remove(w.idName())
	}
	return err
}

// place renames the file to the array's name.
func (w *flatWriter) place(ctx context.Context) error {
	if err := w.finish(ctx); err != nil {
		return err
	}
	if err := w.syncElements(); err != nil {
		return err
	}
	w.closed = true
	if err := w.out.Close(); err != nil {
		return err
	}
	if w.temporary() {
		return disk.Rename(w.temp, w.target)
	}
	if err := w.ws.Fence(ctx, w.temp); err != nil {
		return err
	}
	v, err := versionOfFile(w.temp)
	if err == nil {
		// Where the machine stops before the note is durable, the file is written once more.
		err = w.ws.noteMove(disk.WriteNote, w.temp, w.target, v)
	}
	if err == nil {
		err = disk.Rename(w.temp, w.target)
	}
	return err
}

// temporary reports whether the array stays in the staging folder.
func (w *flatWriter) temporary() bool { return filepath.Dir(w.target) == w.ws.Path }

// isPlaced reports whether an earlier writer of the same array has put it in its place, and
// nothing has changed it since.
func (w *flatWriter) isPlaced() bool {
	was, err := disk.ReadFile(w.idName())
	if err != nil || firstLine(string(was)) != firstLine(w.id) {
		return false
	}
	now, err := versionOfFile(w.target)
	return err == nil && w.ws.Moved(w.temp, now)
}

// versionOfFile returns the version of a file that no other process writes to now.
func versionOfFile(name string) (Version, error) {
	st, err := disk.Lstat(name)
	if err != nil {
		return Version{}, err
	}
	return Version{File: fileVersion(st)}, nil
}

func (w *flatWriter) Suspend() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return nil
	}
	return PathError("suspend", w.path, w.close())
}

func (w *flatWriter) Abort() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return nil
	}
	err := w.close()
	if !w.ws.attached {
		err = errors.Join(err, disk.Remove(w.temp), disk.Remove(w.idName()), w.ws.RemoveMove(w.temp))
	}
	return PathError("abort", w.path, err)
}

// close closes the file.
func (w *flatWriter) close() error {
	was := w.closed
	w.closed, w.ended = true, true
	if was || w.out == nil {
		return nil
	}
	return w.out.Close()
}
