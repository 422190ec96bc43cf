package disk

import "golang.org/x/sys/unix"

// InMemory reports whether what a folder's files have lies in memory, as in a tmpfs.
func InMemory(dir string) bool {
	var st unix.Statfs_t
	return unix.Statfs(dir, &st) == nil && (uint32(st.Type) == unix.TMPFS_MAGIC || uint32(st.Type) == unix.RAMFS_MAGIC)
}
