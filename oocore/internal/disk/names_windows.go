package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

func rename(dirA *os.File, a string, dirB *os.File, b string) error {
	return os.Rename(path(dirA, a), path(dirB, b))
}

// path is a name in an open folder, which cannot be renamed while it is open.
func path(dir *os.File, name string) string {
	if dir == nil {
		return name
	}
	return filepath.Join(dir.Name(), name)
}

func exchange(_ *os.File, _ string, _ *os.File, _ string) error { return errors.ErrUnsupported }

func link(dirA *os.File, a string, dirB *os.File, b string) error {
	return os.Link(path(dirA, a), path(dirB, b))
}

// RenamesOpen says that a file can be renamed while it is open.
const RenamesOpen = false

// Linked reports that an open file still has a name, which here none can lose.
func Linked(Handle) bool { return true }

// Numbers returns those of a file's device and inode, which it keeps under any name; 0
// where the system has none.
func Numbers(fs.FileInfo) (device, inode uint64) { return 0, 0 }

// Owner returns the number of a file's user, which here has none.
func Owner(fs.FileInfo) uint32 { return 0 }

// Foreign says why a folder is not this user's alone; "" where it is. Here folders
// inherit who can write to them, and temporary ones are each user's own.
func Foreign(fs.FileInfo) string { return "" }

// Planted reports no link: Windows has no such folder.
func Planted(string) bool { return false }

// Free returns the number of bytes that this user can still write in a folder.
func Free(dir string) (int64, error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	var free uint64
	err = windows.GetDiskFreeSpaceEx(name, &free, nil, nil)
	return int64(min(free, 1<<62)), err
}

// descriptors is how many files a process may have open.
func descriptors() int { return 1 << 16 }

// syncDir does nothing: NTFS keeps the order of its own changes of folders.
func syncDir(d *os.File) error { return d.Close() }
