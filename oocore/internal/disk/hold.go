package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
)

// Held is a folder that is held open. Until Release every operation on a name
// below its path, by anyone in this process, goes through the open folder: none
// follows a link out of it, and none reaches what another user puts under its name
// meanwhile.
type Held struct {
	path  string
	root  *os.Root
	users int // with held.mu
}

var held struct {
	mu      sync.RWMutex
	folders map[string]*Held
}

// ErrLink is returned for a link where a folder has to be.
var ErrLink = errors.New("it is a link, and has to be a folder")

// Hold opens a folder of this machine, which is not a link to one.
func Hold(path string) (*Held, error) {
	path = filepath.Clean(path)
	named, err := os.Lstat(path)
	switch {
	case err != nil:
		return nil, err
	case named.Mode()&fs.ModeSymlink != 0:
		return nil, &fs.PathError{Op: "open", Path: path, Err: ErrLink}
	case !named.IsDir():
		return nil, &fs.PathError{Op: "open", Path: path, Err: errors.New("it is not a folder")}
	}
	held.mu.Lock()
	defer held.mu.Unlock()
	h := held.folders[path]
	if h == nil {
		root, err := os.OpenRoot(path)
		if err != nil {
			return nil, err
		}
		h = &Held{path: path, root: root}
	}
	st, err := h.Stat()
	if err == nil && !os.SameFile(st, named) {
		err = fmt.Errorf("%s was removed while this process used it: wait until that has ended", path)
		if h.users == 0 { // it was removed, and made again, just now
			err = &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
		}
	}
	if err != nil {
		if h.users == 0 {
			err = errors.Join(err, h.root.Close())
		}
		return nil, err
	}
	if held.folders == nil {
		held.folders = map[string]*Held{}
	}
	held.folders[path] = h
	h.users++
	return h, nil
}

// Stat describes the folder that is open, whatever its name leads to by now.
func (h *Held) Stat() (fs.FileInfo, error) { return h.root.Stat(".") }

// Release closes the folder with its last user.
func (h *Held) Release() error {
	held.mu.Lock()
	defer held.mu.Unlock()
	if h.users--; h.users > 0 {
		return nil
	}
	delete(held.folders, h.path)
	return h.root.Close()
}

// holding finds the held folder that a name lies in, and the name there.
func holding(name string) (h *Held, rel string) {
	held.mu.RLock()
	defer held.mu.RUnlock()
	if len(held.folders) == 0 {
		return nil, ""
	}
	name = filepath.Clean(name)
	for at := name; ; {
		if h := held.folders[at]; h != nil {
			if at == name {
				return h, "."
			}
			return h, name[len(at)+1:]
		}
		above := filepath.Dir(at)
		if above == at || above == "." {
			return nil, ""
		}
		at = above
	}
}

// parent opens the folder of a name that lies in a held one, for operations on two
// names. It is nil for any other name, which stays as it is.
func parent(name string) (dir *os.File, rest string, err error) {
	h, rel := holding(name)
	if h == nil || rel == "." {
		return nil, name, nil
	}
	dir, err = h.root.OpenFile(filepath.Dir(rel), os.O_RDONLY|quick, 0)
	return dir, filepath.Base(rel), full(err, name)
}

// between does an operation on two names, whose folders may be held.
func between(a, b, op string, do func(dirA *os.File, a string, dirB *os.File, b string) error) error {
	dirA, nameA, err := parent(a)
	if err != nil {
		return err
	}
	if dirA != nil {
		defer dirA.Close()
	}
	dirB, nameB := dirA, filepath.Base(b)
	if dirA == nil || filepath.Dir(a) != filepath.Dir(b) {
		if dirB, nameB, err = parent(b); err != nil {
			return err
		}
		if dirB != nil {
			defer dirB.Close()
		}
	}
	err = do(dirA, nameA, dirB, nameB)
	if err == nil || err == errors.ErrUnsupported {
		return err
	}
	return &os.LinkError{Op: op, Old: a, New: b, Err: err}
}

// Lstat is os.Lstat, also in held folders.
func Lstat(name string) (fs.FileInfo, error) {
	if h, rel := holding(name); h != nil {
		st, err := h.root.Lstat(rel)
		return st, full(err, name)
	}
	return os.Lstat(name)
}

// ReadFile is os.ReadFile, also in held folders.
func ReadFile(name string) ([]byte, error) {
	if h, rel := holding(name); h != nil {
		text, err := h.root.ReadFile(rel)
		return text, full(err, name)
	}
	return os.ReadFile(name)
}

// Chmod is os.Chmod, also in held folders.
func Chmod(name string, mode fs.FileMode) error {
	if h, rel := holding(name); h != nil {
		return full(h.root.Chmod(rel, mode), name)
	}
	return os.Chmod(name, mode)
}

// Root is an open folder. Names are relative to it, and no link leads out of it.
type Root struct {
	*os.Root
	path string
	dir  *os.File // of Many
}

// Many prepares the folder for many files to be opened in it.
func (r *Root) Many() (err error) {
	r.dir, err = r.Open(".")
	return err
}

// Close closes the folder, and none of its files.
func (r *Root) Close() error {
	err := r.Root.Close()
	if r.dir != nil {
		err = errors.Join(err, r.dir.Close())
	}
	return err
}

// Name returns the folder's path.
func (r *Root) Name() string { return r.path }

// FS returns the file system of the folder.
func (r *Root) FS() FS { return current.Below(r) }

// OpenRoot opens a folder, also in held ones. A link to the folder is followed.
func OpenRoot(path string) (*Root, error) {
	if h, rel := holding(path); h != nil {
		root, err := h.root.OpenRoot(rel)
		return &Root{Root: root, path: path}, full(err, path)
	}
	// A pipe, opened, would wait for who writes to it.
	if st, err := os.Stat(path); err == nil && !st.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: syscall.ENOTDIR}
	}
	root, err := os.OpenRoot(path)
	return &Root{Root: root, path: path}, err
}

// Inode returns a file's number on its disk, which it keeps under any name.
func Inode(st fs.FileInfo) uint64 {
	_, inode := Numbers(st)
	return inode
}
