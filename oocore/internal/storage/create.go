package storage

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/store"
)

// dataAlign is where the elements of a new npy file begin: at a page, so that
// chunks can bypass the page cache. NumPy reads a header of any length.
const dataAlign = disk.Page

// Create is store.Create.
func Create(path string, m store.Meta) (store.Writer, error) {
	f := formatOf(path)
	create := f.Create
	if StagingDirOf(m) == nil {
		create = func(path string, m store.Meta) (store.Writer, error) { return createAlone(f, path, m) }
	}
	w, err := create(path, m)
	if err != nil {
		return nil, PathError("create", path, err)
	}
	return w, nil
}

// StagingDirOf returns the staging folder that a new array is given, or nil.
func StagingDirOf(m store.Meta) *StagingDir {
	ws, _ := m.StagingDir.(*StagingDir)
	return ws
}

// createAlone begins an array in a staging folder that ends with its writer.
func createAlone(f store.Format, path string, m store.Meta) (_ store.Writer, err error) {
	if _, err := f.Layout(path, m); err != nil {
		return nil, err
	}
	ws, err := NewStagingDir(path)
	if err != nil {
		return nil, err
	}
	if !m.Resume {
		err = ws.Clear()
	}
	m.StagingDir = ws
	alone := &aloneWriter{ws: ws}
	if err == nil {
		alone.Writer, err = f.Create(path, m)
	}
	switch coded, ok := alone.Writer.(CodedWriter); {
	case err != nil && m.Resume: // what an earlier run has left may still serve another
		return nil, errors.Join(err, ws.Close())
	case err != nil:
		return nil, errors.Join(err, ws.Remove())
	case ok:
		return aloneCodedWriter{alone, coded}, nil
	}
	return alone, nil
}

// aloneWriter is a Writer that owns its staging folder.
type aloneWriter struct {
	store.Writer
	ws    *StagingDir
	ended bool
}

// aloneCodedWriter is an aloneWriter that encodes.
type aloneCodedWriter struct {
	*aloneWriter
	coded CodedWriter
}

func (w aloneCodedWriter) Session(work []byte) (store.WriteSession, error) {
	return w.coded.Session(work)
}

// Resumed is asked by storage.Resumed.
func (w *aloneWriter) Resumed() bool { return Resumed(w.Writer) }

// Placed is asked by storage.Placed.
func (w *aloneWriter) Placed() bool { return Placed(w.Writer) }

// Commit commits the array and removes the staging folder. An error of the removal is ignored, since the array is whole.
func (w *aloneWriter) Commit(ctx context.Context) error {
	err := w.Writer.Commit(ctx)
	if err == nil {
		_ = w.end(w.ws.Remove)
	}
	return err
}

func (w *aloneWriter) Suspend() error { return errors.Join(w.Writer.Suspend(), w.end(w.ws.Close)) }

func (w *aloneWriter) Abort() error { return errors.Join(w.Writer.Abort(), w.end(w.ws.Remove)) }

func (w *aloneWriter) end(release func() error) error {
	if w.ended {
		return nil
	}
	w.ended = true
	return release()
}

// Resumed reports whether a writer created with Meta.Resume resumes what an
// earlier one left. Where nothing was left, or it was of another array, the writer
// has begun anew and has no elements yet.
func Resumed(w store.Writer) bool {
	r, ok := w.(interface{ Resumed() bool })
	return ok && r.Resumed()
}

// Resize makes the array that a writer fills longer or shorter along its first axis, while nothing is
// written: an npy or a raw file in C order that is new, and whose path says nothing of its shape. Its room is taken from the disk.
func Resize(w store.Writer, rows int) error {
	if alone, ok := w.(*aloneWriter); ok {
		w = alone.Writer
	}
	f, ok := w.(*flatWriter)
	if !ok || f.resize == nil {
		return errors.ErrUnsupported
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return PathError("resize", f.path, fs.ErrClosed)
	}
	if err := f.resize(rows); err != nil {
		return PathError("resize", f.path, err)
	}
	return nil
}

func newFlatWriter(path string, m store.Meta, offset int64) *flatWriter {
	return &flatWriter{path: path, name: "out", ws: StagingDirOf(m), part: part{shape: slices.Clone(m.Shape), itemsize: m.DType.Size(), offset: offset}}
}

// unfinishedExt ends the name of a temporary array that is not whole.
const unfinishedExt = ".unfinished"

// begin makes the file in the staging folder, or resumes the one that is there
// under the same id: a line on the array, and what else must be the same.
func (w *flatWriter) begin(file string, size int64, id string, m store.Meta) (_ store.Writer, err error) {
	var old fs.FileInfo
	if w.target, old, err = resolve(file); err != nil {
		return nil, err
	}
	w.id = id
	w.temp = w.ws.Join(w.name + filepath.Ext(w.target))
	if w.temporary() {
		w.temp = w.target + unfinishedExt
	}
	if m.Resume && !w.ws.attached && w.isPlaced() {
		w.resumed, w.placed = true, true
		return w, nil
	}
	if m.Resume || w.ws.attached {
		if found, err := w.reopen(size); err != nil {
			return nil, errors.Join(err, w.Suspend())
		} else if found {
			w.resumed = true
			return w, nil
		}
	}
	if w.ws.attached {
		return nil, ErrNotStaged
	}
	if err := w.anew(size, old); err != nil {
		return nil, errors.Join(err, w.Abort())
	}
	return w, nil
}

// anew makes the file.
func (w *flatWriter) anew(size int64, old fs.FileInfo) (err error) {
	if err := errors.Join(disk.Remove(w.temp), disk.Remove(w.idName()), w.ws.RemoveMove(w.temp)); err != nil {
		return err
	}
	if err := disk.Fits(filepath.Dir(w.target), size); err != nil {
		return err
	}
	if w.grows {
		if w.out, err = disk.CreatePart(w.temp); err == nil {
			err = w.out.Truncate(size)
		}
	} else {
		w.out, err = disk.Create(w.temp, size)
	}
	if err != nil {
		return err
	}
	if old != nil {
		if err := disk.Chmod(w.temp, old.Mode().Perm()); err != nil {
			return err
		}
	}
	return disk.WriteNote(w.idName(), []byte(w.id))
}

// idName is the file that says what is being written, for those who resume
// it.
func (w *flatWriter) idName() string { return w.temp + ".id" }

// reopen resumes what an earlier writer left, if there is something of the
// same array. Where that lies in another place of the file, as other arrays there
// have changed, it is lost, and that cannot pass in silence.
func (w *flatWriter) reopen(size int64) (found bool, err error) {
	was, err := disk.ReadFile(w.idName())
	if err != nil {
		return false, nil
	}
	if firstLine(string(was)) != firstLine(w.id) {
		return false, nil
	}
	if string(was) != w.id {
		return false, errors.New("what an earlier run wrote does not fit any more, since the file was changed: start over with --fresh")
	}
	out, err := disk.Reopen(w.temp)
	if err != nil {
		return false, nil
	}
	if st, err := out.Stat(); err != nil || st.Size() != size && !w.grows || st.Size() < size {
		return false, out.Close()
	}
	w.out = out
	return true, nil
}

// firstLine is the part of an id that says which array it is.
func firstLine(id string) string {
	line, _, _ := strings.Cut(id, "\n")
	return line
}

// resolve follows links to the file that is to be replaced, nil where there is
// none yet.
func resolve(file string) (target string, old fs.FileInfo, err error) {
	if target, err = followed(file); err != nil {
		return "", nil, err
	}
	old, err = os.Stat(target)
	switch {
	case err == nil:
		return target, old, regular(old)
	case errors.Is(err, fs.ErrNotExist):
		return target, nil, nil
	}
	return "", nil, err
}
