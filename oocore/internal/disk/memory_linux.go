package disk

import (
	"path/filepath"

	"golang.org/x/sys/unix"
)

// InMemory reports whether a file, or what the files of a folder have, lies in memory, as in a tmpfs. What does not exist
// yet lies where its folder does.
func InMemory(dir string) bool {
	var st unix.Statfs_t
	err := unix.Statfs(dir, &st)
	for err == unix.ENOENT && dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
		err = unix.Statfs(dir, &st)
	}
	return err == nil && (uint32(st.Type) == unix.TMPFS_MAGIC || uint32(st.Type) == unix.RAMFS_MAGIC || uint32(st.Type) == unix.HUGETLBFS_MAGIC)
}
