package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/units"
)

// dataAlign is where the elements of a new npy file begin: at a page, so that
// chunks can bypass the page cache. NumPy reads a header of any length.
const dataAlign = disk.Page

// Create begins a new array, in the formats that Open knows; the shape and
// dtype of a raw file's path may be left out, else they must agree with m.
// x.npy?order=F&dtype=>f4 is written in Fortran's order and big-endian, and
// x.bin likewise.
//
// Nothing is seen under the name until Commit. Rejected before any byte is
// written: a folder that is missing or not writable, a name that is a
// directory, a shape or dtype that the format cannot hold, an array larger than
// the disk's free space, an output that another process writes. Errors are
// *fs.PathError or *LockedError, and one line each.
func Create(path string, m Meta) (Writer, error) {
	w, err := formatOf(path).Create(path, m)
	if err != nil {
		return nil, pathError("create", path, err)
	}
	return w, nil
}

// Resumed reports that a writer created with Meta.Resume resumes what an
// earlier one left. Where nothing was left, or it was of another array, the writer
// has begun anew: nothing that was written earlier is there.
func Resumed(w Writer) bool {
	r, ok := w.(interface{ Resumed() bool })
	return ok && r.Resumed()
}

// create begins an npy or a raw file.
func create(path string, m Meta) (Writer, error) {
	p, err := plan(path, m)
	if err != nil {
		return nil, err
	}
	w := newFlatWriter(path, m, int64(len(p.header)))
	w.order = order{fortran: p.raw.fortran, big: p.raw.big, part: partSize(m.DType)}
	w.finish = func(context.Context) error {
		_, err := w.out.WriteAt(p.header, 0)
		return err
	}
	return w.begin(p.file, p.size, fmt.Sprintf("%s %v %s%s", p.format, m.Shape, m.DType, w.order), m)
}

// createExtent begins an array that is a part of a file.
func createExtent(path, file string, m Meta, frame Frame) (Writer, error) {
	w := newFlatWriter(path, m, frame.Offset)
	w.finish = func(ctx context.Context) error {
		old, err := openOld(file, frame.Old)
		if err != nil {
			return err
		}
		if old == nil {
			return frame.Fill(ctx, settled{w.out}, nil)
		}
		return errors.Join(frame.Fill(ctx, settled{w.out}, old), old.Close())
	}
	id := fmt.Sprintf("%s %v %s\nat %d of %d", path, m.Shape, m.DType, frame.Offset, frame.Size)
	return w.begin(file, frame.Size, id, m)
}

func newFlatWriter(path string, m Meta, offset int64) *flatWriter {
	return &flatWriter{path: path, ws: m.StagingDir, shape: slices.Clone(m.Shape), itemsize: m.DType.Size(), offset: offset}
}

// unfinishedExt ends the name of a temporary array that is not whole.
const unfinishedExt = ".unfinished"

// begin makes the file in the staging folder, or resumes the one that is there
// under the same id: a line on the array, and what else must be the same.
func (w *flatWriter) begin(file string, size int64, id string, m Meta) (_ Writer, err error) {
	var old fs.FileInfo
	if w.target, old, err = resolve(file); err != nil {
		return nil, err
	}
	if w.ws == nil {
		if w.ws, err = NewStagingDir(w.path); err != nil {
			return nil, err
		}
		w.owned = true
	}
	w.temp = w.ws.Join("out" + filepath.Ext(w.target))
	if w.temporary() {
		w.temp = w.target + unfinishedExt
	}
	if m.Resume && !w.ws.attached && w.isPlaced(id) {
		w.resumed, w.placed = true, true
		return w, nil
	}
	if m.Resume || w.ws.attached {
		if found, err := w.reopen(id, size); err != nil {
			return nil, errors.Join(err, w.Suspend())
		} else if found {
			w.resumed = true
			return w, nil
		}
	}
	if w.ws.attached {
		return nil, ErrNotStaged
	}
	if err := w.anew(size, id, old); err != nil {
		return nil, errors.Join(err, w.Abort())
	}
	return w, nil
}

// anew makes the file.
func (w *flatWriter) anew(size int64, id string, old fs.FileInfo) (err error) {
	if w.owned {
		err = w.ws.Clear()
	}
	if err := errors.Join(err, disk.Remove(w.temp), disk.Remove(w.idName()), w.ws.RemoveMove(w.temp)); err != nil {
		return err
	}
	if free, err := FreeSpace(w.target); err == nil && size > free {
		return fmt.Errorf("it needs %s, and the disk has %s free", units.Exact(size), units.Exact(free))
	}
	if w.out, err = disk.Create(w.temp, size); err != nil {
		return err
	}
	if old != nil {
		if err := disk.Chmod(w.temp, old.Mode().Perm()); err != nil {
			return err
		}
	}
	return disk.WriteFile(w.idName(), []byte(id))
}

// idName is the file that says what is being written, for those who resume
// it.
func (w *flatWriter) idName() string { return w.temp + ".id" }

// reopen resumes what an earlier writer left, if there is something of the
// same array. Where that lies in another place of the file, as other arrays there
// have changed, it is lost, and that cannot pass in silence.
func (w *flatWriter) reopen(id string, size int64) (found bool, err error) {
	was, err := disk.ReadFile(w.idName())
	if err != nil {
		return false, nil
	}
	if firstLine(string(was)) != firstLine(id) {
		return false, nil
	}
	if string(was) != id {
		return false, errors.New("what an earlier run wrote does not fit any more, since the file was changed: start over with --fresh")
	}
	out, err := disk.Reopen(w.temp)
	if err != nil {
		return false, nil
	}
	if st, err := out.Stat(); err != nil || st.Size() != size {
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
