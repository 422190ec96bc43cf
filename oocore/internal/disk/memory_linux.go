package disk

import "golang.org/x/sys/unix"

// InMemory reports whether a file, or what the files of a folder have, lies in memory, as in a tmpfs.
func InMemory(dir string) bool {
	var st unix.Statfs_t
	return unix.Statfs(dir, &st) == nil && (uint32(st.Type) == unix.TMPFS_MAGIC || uint32(st.Type) == unix.RAMFS_MAGIC || uint32(st.Type) == unix.HUGETLBFS_MAGIC)
}
