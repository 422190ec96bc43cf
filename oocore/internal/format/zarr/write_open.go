package zarr

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/internal/strided"
)

const (
	// gatherBytes is the buffer in which Write brings together what lies together in a
	// chunk and not in the box.
	gatherBytes = 1 << 20
	// openFiles bounds how many chunks are open at once, where the process may have
	// that many.
	openFiles = 1024
	// syncWorkers is how many of them are synced at once.
	syncWorkers = 8
)

// openWriter fills an array whose chunks are stored as they are: files of one size
// in a folder that is not in its place yet, into which boxes of any form can be
// written at once.
type openWriter struct {
	base
	d      *writeLayout
	folder string
	size   int64 // of a chunk's file

	buffers sync.Pool
	syncing sync.Mutex // so that a Sync does not return before another that it relies on
	failed  error      // of a Sync, after which no other can be believed
	files   sync.Mutex
	open    map[string]*chunkFile
	folders map[string]bool // whose entries have changed since the last Sync
}

// chunkFile is a chunk that is open. It is synced before it is closed: an error of the
// disk is told to those who have the file open.
type chunkFile struct {
	*disk.File
	users int
	dirty bool // it was written to since it was synced
}

func newOpenWriter(path string, ws *storage.StagingDir, t Target, d *writeLayout, folder string) *openWriter {
	return &openWriter{
		base: base{path: path, ws: ws, target: t}, d: d, folder: folder, size: d.meta.chunkBytes(),
		buffers: sync.Pool{New: func() any { p := make([]byte, gatherBytes); return &p }},
		open:    map[string]*chunkFile{}, folders: map[string]bool{},
	}
}

func (w *openWriter) Write(ctx context.Context, src []byte, b grid.Box) error {
	return w.writing(func() error { return w.write(ctx, src, b) })
}

func (w *openWriter) write(ctx context.Context, src []byte, b grid.Box) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := w.d.check(src, b); err != nil || len(src) == 0 {
		return err
	}
	for part := range b.Align(nil, w.d.chunks) {
		if err := w.writeChunk(ctx, src, b, part); err != nil {
			return err
		}
	}
	return nil
}

// writeChunk stores the part of a box that lies in one chunk.
func (w *openWriter) writeChunk(ctx context.Context, src []byte, b, part grid.Box) error {
	at := indexOf(part, w.d.chunks)
	name := filepath.Join(w.folder, filepath.FromSlash(w.d.key(at)))
	f, err := w.take(ctx, name)
	if err != nil {
		return err
	}
	defer w.give(f)
	full := chunkBox(at, w.d.chunks)
	for run := range part.Split(w.runs(part, w.size)) {
		l, err := strided.Of(b.Shape, w.d.item, grid.Within(run, b).Region())
		if err != nil {
			return err
		}
		if len(l.Axes) == 0 {
			if err := w.writeRun(ctx, f, src[l.Start:l.Start+int64(l.Run)], full, run); err != nil {
				return err
			}
			continue
		}
		if err := w.gather(ctx, f, src, b, full, run); err != nil {
			return err
		}
	}
	return nil
}

// runs are the lengths of pieces of a box that are one run in a chunk's file, of at
// most limit bytes.
func (w *openWriter) runs(b grid.Box, limit int64) []int {
	lengths := make([]int, len(b.Shape))
	room := max(int(limit)/w.d.item, 1)
	for axis := len(lengths) - 1; axis >= 0; axis-- {
		lengths[axis] = min(b.Shape[axis], room)
		if room /= lengths[axis]; lengths[axis] < w.d.chunks[axis] {
			room = 1
		}
	}
	return lengths
}

// gather stores a run of a chunk that is in pieces in the box.
func (w *openWriter) gather(ctx context.Context, f *chunkFile, src []byte, b, full, run grid.Box) error {
	buffer := w.buffers.Get().(*[]byte)
	defer w.buffers.Put(buffer)
	for piece := range run.Split(w.runs(run, gatherBytes)) {
		l, err := strided.Of(b.Shape, w.d.item, grid.Within(piece, b).Region())
		if err != nil {
			return err
		}
		p := (*buffer)[:l.Bytes()]
		l.Gather(p, src, 0)
		if err := w.writeRun(ctx, f, p, full, piece); err != nil {
			return err
		}
	}
	return nil
}

func (w *openWriter) writeRun(ctx context.Context, f *chunkFile, p []byte, full, run grid.Box) error {
	l, err := strided.Of(full.Shape, w.d.item, grid.Within(run, full).Region())
	if err != nil {
		return err
	}
	return f.WriteAll(ctx, p, l.Start)
}

// take opens a chunk's file, and makes it where it is missing. give ends its use.
func (w *openWriter) take(ctx context.Context, name string) (*chunkFile, error) {
	w.files.Lock()
	defer w.files.Unlock()
	if w.open[name] == nil && len(w.open) >= disk.OpenFiles(openFiles) {
		w.files.Unlock()
		err := w.shrink(ctx)
		w.files.Lock()
		if err != nil {
			return nil, err
		}
	}
	f := w.open[name]
	if f == nil {
		file, err := w.openFile(name)
		if err != nil {
			return nil, err
		}
		f = &chunkFile{File: file}
		w.open[name] = f
	}
	f.users++
	return f, nil
}

// give ends the use of a file that was written to.
func (w *openWriter) give(f *chunkFile) {
	w.files.Lock()
	defer w.files.Unlock()
	f.users--
	f.dirty = true
}

// shrink makes the files that nobody uses durable, and closes them, where too many
// are open.
func (w *openWriter) shrink(ctx context.Context) error {
	return w.once(func() error {
		w.files.Lock()
		idle := w.pin(func(f *chunkFile) bool { return f.users == 0 })
		many := len(w.open) >= disk.OpenFiles(openFiles) // no other has done it meanwhile
		w.files.Unlock()
		var err error
		if many {
			err = w.syncFiles(ctx, idle)
		}
		w.files.Lock()
		defer w.files.Unlock()
		for name, f := range idle {
			if f.users--; many && err == nil && f.users == 0 && !f.dirty {
				delete(w.open, name)
				err = f.Close()
			}
		}
		return err
	})
}

// pin takes files of a kind into use, by their names.
func (w *openWriter) pin(kind func(*chunkFile) bool) map[string]*chunkFile {
	pinned := map[string]*chunkFile{}
	for name, f := range w.open {
		if kind(f) {
			f.users++
			pinned[name] = f
		}
	}
	return pinned
}

func (w *openWriter) openFile(name string) (*disk.File, error) {
	f, err := disk.CreatePart(name)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := disk.Lstat(w.folder); err != nil {
			return nil, err
		}
		made := func(folder string) { w.folders[filepath.Dir(folder)] = true }
		if err := disk.MakeFolders(disk.Current(), filepath.Dir(name), 0o777, made); err != nil {
			return nil, err
		}
		f, err = disk.CreatePart(name)
	}
	if err == nil {
		w.folders[filepath.Dir(name)] = true
	}
	if errors.Is(err, fs.ErrExist) {
		f, err = disk.Reopen(name)
	}
	if err != nil {
		return nil, err
	}
	// The size is set also where an earlier run ended just before.
	if err := f.Truncate(w.size); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (w *openWriter) Sync(ctx context.Context) error { return w.durable(ctx, w.sync) }

// sync makes durable what was written before.
func (w *openWriter) sync(ctx context.Context) error {
	return w.once(func() error {
		w.files.Lock()
		dirty, folders := w.pin(func(f *chunkFile) bool { return f.dirty }), w.folders
		w.folders = map[string]bool{}
		w.files.Unlock()
		err := w.syncFiles(ctx, dirty)
		for name := range folders {
			if err == nil {
				err = disk.SyncDir(name)
			}
		}
		w.files.Lock()
		defer w.files.Unlock()
		for _, f := range dirty {
			f.users--
		}
		if err != nil { // where it was only given up the next continues
			maps.Copy(w.folders, folders)
		}
		return err
	})
}

// once makes something durable, one at a time. After an error nothing more can be:
// the kernel reports each only once.
func (w *openWriter) once(do func() error) error {
	w.syncing.Lock()
	defer w.syncing.Unlock()
	if w.failed != nil {
		return w.failed
	}
	err := do()
	if !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		w.failed = err
	}
	return err
}

// syncFiles syncs those of some files that were written to, some at once.
func (w *openWriter) syncFiles(ctx context.Context, files map[string]*chunkFile) error {
	var group errgroup.Group
	group.SetLimit(syncWorkers)
	for _, f := range files {
		group.Go(func() error {
			w.files.Lock()
			dirty := f.dirty
			f.dirty = false // what is written from now on makes it so again
			w.files.Unlock()
			if !dirty {
				return nil
			}
			err := ctx.Err()
			if err == nil {
				err = f.Sync()
			}
			if err != nil {
				w.files.Lock()
				f.dirty = true
				w.files.Unlock()
			}
			return err
		})
	}
	return group.Wait()
}

func (w *openWriter) Commit(ctx context.Context) error {
	return w.commit(ctx, func(ctx context.Context) error { return errors.Join(w.sync(ctx), w.closeFiles()) })
}

func (w *openWriter) Suspend() error {
	return w.end("suspend", func() error {
		if w.failed != nil { // which it has said
			return nil
		}
		return w.sync(context.Background())
	}, w.closeFiles, w.target.Suspend)
}

func (w *openWriter) Abort() error { return w.end("abort", w.closeFiles, w.abort) }

func (w *openWriter) closeFiles() (err error) {
	for _, f := range w.open {
		err = errors.Join(err, f.Close())
	}
	clear(w.open)
	return err
}
