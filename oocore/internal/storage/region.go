package storage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/strided"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/types"
)

// regionWriter writes a box into a file that is there, in place. While it has not
// finished, a mark behind the elements says so, and Open rejects the file.
type regionWriter struct {
	*flatWriter
	extent Header
	size   int64 // of the file without a mark
	box    types.Box
	marked bool        // by this writer
	again  bool        // it resumes what an earlier writer has begun
	wrote  atomic.Bool // the file is no longer what it was
}

func (f FlatFormat) createRegion(path string, m store.Meta) (store.Writer, error) {
	loc, err := f.cutNew(path)
	if err != nil {
		return nil, err
	}
	target, old, err := resolve(loc.File)
	if err != nil {
		return nil, err
	}
	if old == nil {
		return nil, errors.New("there is no array yet of which a region could be written: write the whole array first")
	}
	e, size, err := f.extentOf(loc, m)
	if err != nil {
		return nil, err
	}
	// What is written may be described as the array or as the part of it.
	if !slices.Equal(e.Shape, m.Shape) && !slices.Equal(m.Region.Shape, m.Shape) || e.DType != m.DType {
		return nil, fmt.Errorf("the array there has shape %s of %s, the one to be written %s of %s",
			grid.Format(e.Shape), e.DType, grid.Format(m.Shape), m.DType)
	}
	if err := noCodec(f.Name, m); err != nil {
		return nil, err
	}
	m.Shape = e.Shape
	if _, err := strided.Of(m.Shape, m.DType.Size(), m.Region.Region()); err != nil {
		return nil, fmt.Errorf("region %s: %w", m.Region, err)
	}
	w := &regionWriter{flatWriter: newFlatWriter(path, m, e.Offset), extent: e, size: size, box: *m.Region}
	w.order = order{fortran: e.Fortran, big: e.Big, part: e.DType.Part().Size()}
	w.target = target
	if m.Resume && !w.ws.attached && w.isPlaced() {
		w.resumed, w.placed = true, true
		return w, nil
	}
	if err := w.begin(); err != nil {
		return nil, errors.Join(err, w.Abort())
	}
	return w, nil
}

// extentOf is where the elements of an array lie that is there, and the size of its
// file without a mark. A raw file's path need not say what m does.
func (f FlatFormat) extentOf(loc FlatFile, m store.Meta) (e Header, size int64, err error) {
	file, id, err := openFile(loc.File)
	if err != nil {
		return e, 0, err
	}
	defer file.Close()
	if loc.Shape == nil {
		loc.Shape = m.Shape
	}
	if loc.DType == 0 {
		loc.DType = m.DType
	}
	if e, err = f.header(loc, file, id.Size); err != nil {
		return e, 0, err
	}
	switch {
	case e.unfinished != nil:
		return e, id.Size - markBytes, nil
	case f.Header == nil: // a raw file, which has nothing behind its elements but what a crash has left
		return e, e.Offset + e.Bytes(), nil
	}
	return e, id.Size, nil
}

// begin opens the file, and marks it before it is written to.
func (w *regionWriter) begin() (err error) {
	if w.again, err = resumesBox(w.extent.unfinished, w.box); err != nil {
		return err
	}
	w.resumed = w.again
	if w.ws.attached && !w.again {
		return ErrNotStaged
	}
	if w.out, err = disk.Reopen(w.target); err != nil || w.ws.attached {
		return err
	}
	mark, err := encodeMark(w.box)
	if err != nil {
		return err
	}
	w.marked = true
	_, err = w.out.WriteAt(mark, w.size)
	return errors.Join(err, w.out.Sync())
}

// isPlaced reports whether an earlier writer has written the region and unmarked the file, and
// nothing has changed it since.
func (w *regionWriter) isPlaced() bool {
	now, err := versionOfFile(w.target)
	return err == nil && w.ws.Moved(w.ws.RegionName(w.box), now)
}

// place says that the file is whole, once it is noted which version it will be then: the size
// without the mark, and the time at which the last element was written.
func (w *regionWriter) place() error {
	v, err := versionOfFile(w.target)
	if err != nil {
		return err
	}
	v.File.Size = w.size
	if err := w.ws.NoteMove(w.ws.RegionName(w.box), w.target, v); err != nil {
		return err
	}
	w.ws.touch()
	if err := w.out.Truncate(w.size); err != nil {
		return err
	}
	for range 3 { // where the disk or the machine is busy the folder was touched too long ago
		_ = os.Chtimes(w.target, time.Time{}, v.File.ModTime)
		if w.isPlaced() {
			break
		}
		w.ws.touch()
	}
	return w.out.Sync()
}

// Share is called by storage.Share.
func (w *regionWriter) Share() { w.wrote.Store(true) }

func (w *regionWriter) Write(ctx context.Context, src []byte, b types.Box) error {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return AccessError(ctx, "write", w.path, w.write(ctx, src, b))
}

func (w *regionWriter) write(ctx context.Context, src []byte, b types.Box) error {
	if w.closed || w.placed {
		return fs.ErrClosed
	}
	if !strided.Inside(b, w.box) {
		return fmt.Errorf("the box %s is not in the region %s", b, w.box)
	}
	if _, err := strided.ForBox(w.shape, w.itemsize, b, len(src)); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil || len(src) == 0 {
		return err
	}
	w.wrote.Store(true)
	return w.part.write(ctx, w.out, src, b)
}

// Commit makes the region durable; then the array is whole again.
func (w *regionWriter) Commit(ctx context.Context) error { return w.commitBy(ctx, w.commit) }

// fence gives the array a file that no process which was given up has open.
func (w *regionWriter) fence(ctx context.Context) error {
	if err := w.ws.Fence(ctx, w.target); err != nil {
		return err
	}
	out, err := disk.Reopen(w.target)
	if err == nil {
		err, w.out = w.out.Close(), out
	}
	return err
}

func (w *regionWriter) commit(ctx context.Context) error {
	if w.ws.attached {
		return ErrAttachedCommit
	}
	if !w.placed {
		if err := w.sync(); err != nil {
			return err
		}
		w.closed = true
		if err := w.fence(ctx); err != nil {
			return errors.Join(err, w.out.Close())
		}
		if err := errors.Join(w.place(), w.out.Close()); err != nil {
			return err
		}
	}
	w.closed, w.ended = true, true
	return nil
}

// Abort gives the region up. Where nothing was written the array is as before, else
// it stays rejected until the region, or the whole array, is written again.
func (w *regionWriter) Abort() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return nil
	}
	var err error
	if w.marked && !w.closed && !w.again && !w.wrote.Load() {
		err = errors.Join(w.out.Truncate(w.size), w.out.Sync()) // the file is whole
	}
	return PathError("abort", w.path, errors.Join(err, w.flatWriter.close()))
}
