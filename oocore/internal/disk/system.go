package disk

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/edsrzf/mmap-go"

	"github.com/gonbext/gonbext/oocore/internal/flock"
)

// system is the file system of this machine.
type system struct{}

// quick is among the flags that files are opened with. Of files and folders it changes nothing, and
// package os, which looks for those that its poller can wait for, leaves four system calls out. A
// pipe is opened without waiting for who writes to it.
const quick = syscall.O_NONBLOCK

// quickly adds quick to the flags of an open file, unless that changes a file which others may hold a
// lease of: then opening it waits for them.
func quickly(flag int) int {
	if flag&(os.O_WRONLY|os.O_RDWR) == 0 || flag&os.O_EXCL != 0 {
		return flag | quick
	}
	return flag
}

func (system) OpenFile(name string, flag int, perm fs.FileMode) (Handle, error) {
	flag = quickly(flag)
	if h, rel := holding(name); h != nil {
		f, err := h.root.OpenFile(rel, flag, perm)
		return opened(f, full(err, name))
	}
	return opened(os.OpenFile(name, flag, perm))
}

// opened avoids a Handle that holds a nil file.
func opened(f *os.File, err error) (Handle, error) {
	if err != nil {
		return nil, err
	}
	return handle{f}, nil
}

func (system) Mkdir(name string, perm fs.FileMode) error {
	if h, rel := holding(name); h != nil {
		return full(h.root.Mkdir(rel, perm), name)
	}
	return os.Mkdir(name, perm)
}

func (system) Remove(name string) error {
	if h, rel := holding(name); h != nil && rel != "." { // the folder itself has a name above
		return full(h.root.Remove(rel), name)
	}
	return os.Remove(name)
}

func (system) Rename(from, to string) error {
	return between(from, to, "rename", rename)
}

func (system) Exchange(a, b string) error {
	return between(a, b, "exchange", exchange)
}

func (system) Link(from, to string) error { return between(from, to, "link", link) }

func (system) List(name string, yield func(fs.DirEntry) bool) error {
	d, err := openDir(name)
	if err != nil {
		return err
	}
	return list(d, yield)
}

func (system) SyncDir(name string) error {
	d, err := openDir(name)
	if err != nil {
		return err
	}
	return syncDir(d)
}

func (system) Below(root *Root) FS { return below{root} }

// openDir opens a folder.
func openDir(name string) (*os.File, error) {
	if h, rel := holding(name); h != nil {
		f, err := h.root.OpenFile(rel, os.O_RDONLY|quick, 0)
		return f, full(err, name)
	}
	return os.OpenFile(name, os.O_RDONLY|quick, 0)
}

// listed bounds how many entries of a folder are held at once.
const listed = 1024

func list(d *os.File, yield func(fs.DirEntry) bool) error {
	defer d.Close()
	for {
		entries, err := d.ReadDir(listed)
		for _, e := range entries {
			if !yield(e) {
				return nil
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// below is the file system of an open folder.
type below struct{ root *Root }

func (b below) name(rel string) string { return filepath.Join(b.root.Name(), rel) }

func (b below) OpenFile(name string, flag int, perm fs.FileMode) (Handle, error) {
	flag = quickly(flag)
	if f := openBelow(b.root, name, flag); f != nil {
		return f, nil
	}
	f, err := b.root.OpenFile(name, flag, perm)
	return opened(f, full(err, b.name(name)))
}

func (b below) Mkdir(name string, perm fs.FileMode) error {
	return full(b.root.Mkdir(name, perm), b.name(name))
}

func (b below) Rename(from, to string) error { return full(b.root.Rename(from, to), b.name(to)) }

func (b below) Exchange(string, string) error { return errors.ErrUnsupported }

func (b below) Link(from, to string) error { return full(b.root.Link(from, to), b.name(to)) }

func (b below) Remove(name string) error { return full(b.root.Remove(name), b.name(name)) }

func (b below) List(name string, yield func(fs.DirEntry) bool) error {
	d, err := b.root.OpenFile(name, os.O_RDONLY|quick, 0)
	if err != nil {
		return full(err, b.name(name))
	}
	return listStates(d, yield)
}

func (b below) SyncDir(name string) error {
	d, err := b.root.OpenFile(name, os.O_RDONLY|quick, 0)
	if err != nil {
		return full(err, b.name(name))
	}
	return syncDir(d)
}

func (b below) Below(root *Root) FS { return below{root} }

// full names a file in an error as its user does.
func full(err error, name string) error {
	switch e := err.(type) {
	case *fs.PathError:
		return &fs.PathError{Op: strings.TrimSuffix(e.Op, "at"), Path: name, Err: e.Err}
	case *os.LinkError:
		return &os.LinkError{Op: strings.TrimSuffix(e.Op, "at"), Old: e.Old, New: name, Err: e.Err}
	}
	return err
}

// handle is a file of this machine.
type handle struct{ *os.File }

func (h handle) OS() *os.File { return h.File }

func (h handle) Lock() error { return flock.Exclusive(h.File) }

func (h handle) Map(at int64, n int) (mmap.MMap, error) {
	return mmap.MapRegion(h.File, n, mmap.RDONLY, 0, at)
}
