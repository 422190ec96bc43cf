package store

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/units"
)

// dataAlign is where the elements of a new npy file begin: at a page, so that
// chunks can bypass the page cache. NumPy reads a header of any length.
const dataAlign = 4096

// Create begins a new array, in the formats that Open knows; the shape and
// dtype of a raw file's path may be left out, else they must agree with m.
//
// Nothing is seen under the name until Commit. Refused before any byte is
// written: a folder that is missing or not writable, a name that is a
// directory, a shape or dtype that the format cannot hold, an array larger than
// the disk's free space. Errors are *fs.PathError, and one line each.
func Create(path string, m Meta) (Writer, error) {
	w, err := create(path, m)
	if err != nil {
		return nil, pathError("create", path, err)
	}
	return w, nil
}

func create(path string, m Meta) (*flatWriter, error) {
	loc, err := locate(path)
	if err != nil {
		return nil, err
	}
	if m.DType == dtype.Invalid {
		return nil, errors.New("no dtype is given")
	}
	if err := grid.Check(m.Shape, m.DType.Size()); err != nil {
		return nil, err
	}
	var header []byte
	if loc.format == formatNpy {
		header, err = npyHeader(m.Shape, m.DType, dataAlign)
	} else {
		err = loc.raw.agree(m)
	}
	if err != nil {
		return nil, err
	}
	target, old, err := resolve(loc.file)
	if err != nil {
		return nil, err
	}
	sweep(target)
	size := int64(len(header)) + int64(grid.Size(m.Shape)*m.DType.Size())
	if free, err := FreeSpace(target); err == nil && size > free {
		return nil, fmt.Errorf("it needs %s, and the disk has %s free", units.Exact(size), units.Exact(free))
	}
	temp, out, err := temporary(target, size)
	if err != nil {
		return nil, err
	}
	w := &flatWriter{path: path, target: target, temp: temp, out: out,
		shape: slices.Clone(m.Shape), itemsize: m.DType.Size(), offset: int64(len(header))}
	if old != nil {
		err = os.Chmod(temp, old.Mode().Perm())
	}
	if err == nil {
		_, err = out.write(header, 0)
	}
	if err != nil {
		w.Abort()
		return nil, err
	}
	return w, nil
}

// temporary makes the file that will be renamed to target, and holds it.
func temporary(target string, size int64) (string, *output, error) {
	for {
		name := filepath.Join(filepath.Dir(target),
			fmt.Sprintf(".%s.gonbext-%d-%08x.tmp", filepath.Base(target), os.Getpid(), rand.Uint32()))
		out, err := newOutput(name, size)
		if err != nil || claim(out.file) {
			return name, out, err
		}
		out.close()
		os.Remove(name)
	}
}

// agree refuses a path that says something other than the array to be written.
func (q rawQuery) agree(m Meta) error {
	switch {
	case q.shape != nil && !slices.Equal(q.shape, m.Shape):
		return fmt.Errorf("shape=%s in the path, the array has %s", grid.Format(q.shape), grid.Format(m.Shape))
	case q.dtype != dtype.Invalid && q.dtype != m.DType:
		return fmt.Errorf("dtype=%s in the path, the array has %s", q.dtype, m.DType)
	case q.offset != 0 || q.fortran:
		return errors.New("offset= and order=F are for reading: what is written begins at 0 and is in C order")
	}
	return nil
}

// resolve follows links to the file that is to be replaced, nil where there is
// none yet.
func resolve(file string) (target string, old fs.FileInfo, err error) {
	target = file
	if resolved, err := filepath.EvalSymlinks(file); err == nil {
		target = resolved
	}
	old, err = os.Stat(target)
	if err == nil {
		return target, old, regular(old)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", nil, err
	}
	dir := filepath.Dir(target)
	st, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil, fmt.Errorf("the folder %s does not exist: make it first", dir)
	case err == nil && !st.IsDir():
		return "", nil, fmt.Errorf("%s is not a folder", dir)
	}
	return target, nil, err
}
