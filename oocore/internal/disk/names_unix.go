//go:build unix

package disk

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// at is the descriptor that a name is relative to.
func at(dir *os.File) int {
	if dir == nil {
		return unix.AT_FDCWD
	}
	return int(dir.Fd())
}

func rename(dirA *os.File, a string, dirB *os.File, b string) error {
	for {
		if err := unix.Renameat(at(dirA), a, at(dirB), b); err != unix.EINTR {
			return err
		}
	}
}

// RenamesOpen says that a file can be renamed while it is open.
const RenamesOpen = true

// Linked reports that an open file still has a name.
func Linked(h Handle) bool {
	st, err := h.Stat()
	if err != nil {
		return false
	}
	sys, ok := st.Sys().(*syscall.Stat_t)
	return !ok || sys.Nlink > 0
}

// Numbers returns those of a file's device and inode, which it keeps under any name; 0
// where the system has none.
func Numbers(st fs.FileInfo) (device, inode uint64) {
	if sys, ok := st.Sys().(*syscall.Stat_t); ok {
		return uint64(sys.Dev), uint64(sys.Ino)
	}
	return 0, 0
}

// Owner returns the number of a file's user.
func Owner(st fs.FileInfo) uint32 {
	if sys, ok := st.Sys().(*syscall.Stat_t); ok {
		return sys.Uid
	}
	return 0
}

// Foreign says why a folder is not this user's alone; "" where it is.
func Foreign(st fs.FileInfo) string {
	switch owner := Owner(st); {
	case int(owner) != os.Geteuid():
		return "it belongs to user " + strconv.Itoa(int(owner))
	case st.Mode().Perm()&0o022 != 0:
		return "others can write to it"
	}
	return ""
}

// Planted reports a link that another user has made in a folder that all may write to, as in /tmp: by the rule of Linux's
// fs.protected_symlinks it is not followed.
func Planted(path string) bool {
	link, err := os.Lstat(path)
	if err != nil || link.Mode()&fs.ModeSymlink == 0 {
		return false
	}
	dir, err := os.Stat(filepath.Dir(path))
	shared := err == nil && dir.Mode()&fs.ModeSticky != 0 && dir.Mode().Perm()&0o002 != 0
	return shared && int(Owner(link)) != os.Geteuid() && Owner(link) != Owner(dir)
}

// Free returns the number of bytes that this user can still write in a folder.
func Free(dir string) (int64, error) {
	var st unix.Statfs_t
	err := unix.Statfs(dir, &st)
	return int64(st.Bavail) * int64(st.Bsize), err
}

// descriptors is how many files a process may have open.
func descriptors() int {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil || l.Cur > 1<<20 {
		return 1 << 20
	}
	return int(l.Cur)
}

func link(dirA *os.File, a string, dirB *os.File, b string) error {
	return unix.Linkat(at(dirA), a, at(dirB), b, 0)
}

func syncDir(d *os.File) error {
	err := d.Sync()
	if closed := d.Close(); err == nil {
		err = closed
	}
	return err
}
