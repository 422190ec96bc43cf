// Package disk has the operations on files that stores are built from, behind an interface,
// so that tests can make any single one fail or lose what was not synced.
//
// What only looks (stat, following links) goes to package os directly, but in
// folders that are held: see Hold.
package disk

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/edsrzf/mmap-go"

	"github.com/gonbext/gonbext/oocore/units"
)

// Fits rejects what the disk of a folder has no room for.
func Fits(dir string, need int64) error {
	if free, err := Free(dir); err == nil && need > free {
		return fmt.Errorf("it needs %s, and the disk has %s free", units.Exact(need), units.Exact(free))
	}
	return nil
}

// HasRoom reports whether a folder has room for bytes that a run can do without: others have
// use for the rest of the disk, and of memory the run has its budget. Where that cannot be told
// there is room.
func HasRoom(dir string, bytes int64) bool {
	free, err := Free(dir)
	return (err != nil || bytes <= free/2) && !InMemory(dir)
}

// FS is a file system. Its errors are as package os's.
type FS interface {
	// OpenFile is os.OpenFile.
	OpenFile(name string, flag int, perm fs.FileMode) (Handle, error)
	Mkdir(name string, perm fs.FileMode) error
	Rename(from, to string) error
	// Exchange swaps two files or folders in one step. Where the system cannot it
	// returns errors.ErrUnsupported.
	Exchange(a, b string) error
	// Link gives a file a second name. Where the system cannot it returns an error.
	Link(from, to string) error
	// Remove removes a file or an empty folder.
	Remove(name string) error
	// List goes through a folder's entries, in no order, until yield returns false.
	List(name string, yield func(fs.DirEntry) bool) error
	// SyncDir makes durable which entries a folder has.
	SyncDir(name string) error
	// Below is the file system of an open folder. Names are relative to it, and no
	// link leads out of it.
	Below(root *Root) FS
}

// Handle is an open file.
type Handle interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Stat() (fs.FileInfo, error)
	Truncate(size int64) error
	// Sync makes the file's bytes and size durable, and not its times.
	Sync() error
	// Lock locks the file for this open file alone, without waiting. The errors are
	// those of package flock.
	Lock() error
	// Map shows n bytes from a multiple of the page size on, for reading.
	Map(at int64, n int) (mmap.MMap, error)
	// OS is the file itself, for locks and hints.
	OS() *os.File
}

var current FS = system{}

// Use replaces the file system, until restore is called. Tests do, before they
// open anything.
func Use(f FS) (restore func()) {
	old := current
	current = f
	return func() { current = old }
}

// Current returns the file system that this package's functions work on.
func Current() FS { return current }

// System returns the file system of this machine.
func System() FS { return system{} }

// OpenFile is os.OpenFile.
func OpenFile(name string, flag int, perm fs.FileMode) (Handle, error) {
	return current.OpenFile(name, flag, perm)
}

// Open opens a file for reading, mostly from front to back, and looks at it.
func Open(name string) (Handle, fs.FileInfo, error) { return OpenIn(current, name) }

// hintedBytes is the size from which on a hint to the disk is worth a system call.
const hintedBytes = 64 << 10

// OpenIn is Open in another file system.
func OpenIn(in FS, name string) (Handle, fs.FileInfo, error) {
	h, err := in.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, nil, err
	}
	st, err := h.Stat()
	if err != nil {
		return nil, nil, errors.Join(err, h.Close())
	}
	return hinted(h, st.Size()), st, nil
}

// OpenSized is Open of a file of a size, without a look at it.
func OpenSized(name string, size int64) (Handle, error) {
	h, err := OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	return hinted(h, size), nil
}

func hinted(h Handle, size int64) Handle {
	if size >= hintedBytes {
		return ahead(h)
	}
	return h
}

// windowBytes is what Window maps at once where memory is no matter.
const windowBytes = 4 << 20

// Window calls use with n bytes of a file from a multiple of the page size on, which are mapped
// meanwhile. Touching what the file no longer has is a fault.
func Window(h Handle, at int64, n int, use func(mapped []byte)) error {
	m, err := h.Map(at, n)
	if err != nil {
		return err
	}
	defer m.Unmap()
	defer arrive(h, m, at)()
	use(m)
	return nil
}

// Mkdir makes a folder.
func Mkdir(name string, perm fs.FileMode) error { return current.Mkdir(name, perm) }

// MkdirAll makes a folder and those above it, where they are missing.
func MkdirAll(name string, perm fs.FileMode) error {
	if err := MakeFolders(current, name, perm, func(string) {}); err != nil {
		return err
	}
	if st, err := os.Stat(name); err == nil && !st.IsDir() {
		return &fs.PathError{Op: "mkdir", Path: name, Err: fs.ErrExist}
	}
	return nil
}

// MakeFolders makes a folder and those above it in a file system, where they are missing, and
// tells of each that it has made.
func MakeFolders(in FS, name string, perm fs.FileMode, made func(name string)) error {
	err := in.Mkdir(name, perm)
	if above := filepath.Dir(name); errors.Is(err, fs.ErrNotExist) && above != name {
		if err := MakeFolders(in, above, perm, made); err != nil {
			return err
		}
		err = in.Mkdir(name, perm)
	}
	switch {
	case err == nil:
		made(name)
	case errors.Is(err, fs.ErrExist): // or another was faster
		return nil
	}
	return err
}

// Rename puts a file or folder under another name, in place of a file that is
// there.
func Rename(from, to string) error { return current.Rename(from, to) }

// Link gives a file a second name.
func Link(from, to string) error { return current.Link(from, to) }

// Aside ends the name that Exchange gives for a moment to what it replaces.
const Aside = ".aside"

// Exchange swaps two files or folders: in one step where the system can, else in
// three. Where it is ended before the second of these, b is missing and lies under
// the name of a with Aside: whoever owns the folder of a puts it back.
func Exchange(a, b string) error {
	err := current.Exchange(a, b)
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	aside := a + Aside
	if err := move(b, aside); err != nil {
		return err
	}
	if err := move(a, b); err != nil {
		return errors.Join(err, move(aside, b))
	}
	return move(aside, a)
}

// move renames, and makes that durable before the next step.
func move(from, to string) error {
	return errors.Join(Rename(from, to), SyncDir(filepath.Dir(to)), SyncDir(filepath.Dir(from)))
}

// Remove removes a file or an empty folder. That it is not there is no error.
func Remove(name string) error {
	if err := current.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// RemoveAll removes a file, or a folder with all that is in it. It continues where
// something cannot be removed.
func RemoveAll(name string) error {
	st, err := Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && st.IsDir() {
		err = List(name, func(e fs.DirEntry) bool {
			err = errors.Join(err, RemoveAll(filepath.Join(name, e.Name())))
			return true
		})
	}
	return errors.Join(err, Remove(name))
}

// List goes through a folder's entries, in no order, until yield returns false.
func List(name string, yield func(fs.DirEntry) bool) error { return current.List(name, yield) }

// SyncDir makes durable which entries a folder has.
func SyncDir(name string) error { return current.SyncDir(name) }

// WriteFile makes a small file durable under its name, which has it whole or as
// it was before. Until then it has a hidden name of its own.
func WriteFile(name string, text []byte) error {
	if err := writeFile(name, text, Handle.Sync); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(name))
}

// WriteNote is WriteFile of what processes that are killed leave to others, and a machine
// that stops may lose: it waits for no disk.
func WriteNote(name string, text []byte) error {
	return writeFile(name, text, func(Handle) error { return nil })
}

func writeFile(name string, text []byte, sync func(Handle) error) (err error) {
	dir, base := filepath.Split(name)
	temp := dir + "." + base[:min(len(base), 100)] + ".gonbext-" + rand.Text()
	f, err := OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(text, 0)
	if err == nil {
		err = sync(f)
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = Rename(temp, name)
	}
	if err != nil {
		_ = Remove(temp) // the first error is the one that tells
	}
	return err
}
