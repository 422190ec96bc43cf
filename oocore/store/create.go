package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/units"
)

// dataAlign is where the elements of a new npy file begin: at a page, so that
// chunks can bypass the page cache. NumPy reads a header of any length.
const dataAlign = disk.Page

// Create begins a new array, in the formats that Open knows; the shape and
// dtype of a raw file's path may be left out, else they must agree with m.
//
// Nothing is seen under the name until Commit. Refused before any byte is
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

func create(path string, m Meta) (Writer, error) {
	p, err := plan(path, m)
	if err != nil {
		return nil, err
	}
	target, old, err := resolve(p.file)
	if err != nil {
		return nil, err
	}
	w := &flatWriter{path: path, target: target, ws: m.Workspace,
		shape: slices.Clone(m.Shape), itemsize: m.DType.Size(), offset: int64(len(p.header))}
	if w.ws == nil {
		if w.ws, err = NewWorkspace(path); err != nil {
			return nil, err
		}
		w.owned = true
	}
	if err := w.begin(p, m, old); err != nil {
		return nil, errors.Join(err, w.Abort())
	}
	return w, nil
}

// begin makes the file in the workspace, or goes on with the one that is there.
func (w *flatWriter) begin(p planned, m Meta, old fs.FileInfo) error {
	w.temp = w.ws.Join("out" + filepath.Ext(w.target))
	if filepath.Dir(w.target) == w.ws.Path { // a temporary array
		w.temp = w.target + ".unfinished"
	}
	id := fmt.Sprintf("%s %v %s\n", p.format, m.Shape, m.DType)
	if m.Resume && w.reopen(id, p.size) {
		return nil
	}
	if w.owned {
		if err := w.ws.Clear(); err != nil {
			return err
		}
	}
	if err := errors.Join(disk.Remove(w.temp), disk.Remove(w.idName())); err != nil {
		return err
	}
	if free, err := FreeSpace(w.target); err == nil && p.size > free {
		return fmt.Errorf("it needs %s, and the disk has %s free", units.Exact(p.size), units.Exact(free))
	}
	var err error
	if w.out, err = disk.Create(w.temp, p.size); err != nil {
		return err
	}
	if old != nil {
		if err := os.Chmod(w.temp, old.Mode().Perm()); err != nil {
			return err
		}
	}
	if _, err := w.out.Write(p.header, 0); err != nil {
		return err
	}
	return disk.WriteFile(w.idName(), []byte(id))
}

// idName is the file that says what is being written, for those who go on with
// it.
func (w *flatWriter) idName() string { return w.temp + ".id" }

// reopen goes on with what an earlier writer left, where that was the same.
func (w *flatWriter) reopen(id string, size int64) bool {
	if was, err := os.ReadFile(w.idName()); err != nil || string(was) != id {
		return false
	}
	out, err := disk.Reopen(w.temp)
	if err != nil {
		return false
	}
	if st, err := out.Stat(); err != nil || st.Size() != size {
		out.Close()
		return false
	}
	w.out = out
	return true
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

// allocated is how much of a file lies on the disk.
func allocated(st fs.FileInfo) int64 {
	if sys, ok := st.Sys().(*syscall.Stat_t); ok {
		return sys.Blocks * 512
	}
	return 0
}
