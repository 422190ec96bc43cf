//go:build unix

package setup

import (
	"io/fs"
	"os"
	"syscall"
)

// ownedAlone reports whether a file belongs to this user or root, and nobody else
// can write to it. The user's own group, which many systems give to nobody else, may.
func ownedAlone(st fs.FileInfo) bool {
	s, ok := st.Sys().(*syscall.Stat_t)
	if !ok || s.Uid != 0 && int(s.Uid) != os.Geteuid() || st.Mode()&fs.ModeSymlink != 0 {
		return false
	}
	writable := st.Mode().Perm() & 0o022
	return writable == 0 || writable == 0o020 && int(s.Gid) == os.Getegid()
}
