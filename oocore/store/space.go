package store

import (
	"path/filepath"

	"golang.org/x/sys/unix"
)

// FreeSpace is the number of bytes that this user can still write in the folder
// of a path.
func FreeSpace(path string) (int64, error) {
	if loc, err := locate(path); err == nil {
		path = loc.file
	}
	var st unix.Statfs_t
	dir := filepath.Dir(path)
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, pathError("statfs", dir, err)
	}
	return int64(st.Bavail) * int64(st.Bsize), nil
}
