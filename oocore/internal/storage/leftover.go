package storage

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/disk"
)

// Leftover is a staging folder that a run has left: whole chunks, from which the same run
// would resume, and temporary arrays.
type Leftover struct {
	Path   string // of the folder
	target string
}

// Leftovers returns the staging folder of an output, and those below path where that is a
// folder. It follows no links, and passes over what it may not read.
func Leftovers(path string) ([]Leftover, error) {
	dir, target, err := stagingPath(placeOf(path))
	if err != nil {
		return nil, PathError("clean", path, err)
	}
	var all []Leftover
	if begun(dir) {
		all = append(all, Leftover{dir, target})
	}
	if target == "" { // in an object store
		return all, nil
	}
	err = filepath.WalkDir(target, func(name string, e fs.DirEntry, err error) error {
		switch base := filepath.Base(name); {
		case err != nil && (name != target || errors.Is(err, fs.ErrNotExist)):
			return nil
		case err != nil:
			return err
		case !e.IsDir() || !strings.HasPrefix(base, ".") || !strings.HasSuffix(base, stagingSuffix) || !begun(name):
			return nil
		default:
			of := filepath.Join(filepath.Dir(name), strings.TrimSuffix(base[1:], stagingSuffix))
			all = append(all, Leftover{name, of})
			return fs.SkipDir
		}
	})
	return all, err
}

// begun reports whether a folder has a staging folder's lock.
func begun(dir string) bool {
	st, err := disk.Lstat(filepath.Join(dir, lockName))
	return err == nil && st.Mode().IsRegular()
}

// Remove removes the folder: the run that left it starts over when it is run again. The
// error is a *LockedError where a process holds it, and nil where the folder no longer exists.
func (l Leftover) Remove() error {
	w, err := takeThere(l.Path, l.Path, l.target, true)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if errors.Is(err, fs.ErrPermission) {
		return &os.PathError{Op: "remove", Path: l.Path, Err: err}
	}
	if err != nil {
		return err
	}
	return w.Remove()
}
