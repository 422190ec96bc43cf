//go:build unix

package setup

import (
	"io/fs"
	"os"
	"syscall"
)

// ownedAlone reports whether a file belongs to this user or root, and nobody else
// can write to it.
func ownedAlone(st fs.FileInfo) bool {
	s, ok := st.Sys().(*syscall.Stat_t)
	if !ok || s.Uid != 0 && int(s.Uid) != os.Geteuid() {
		return false
	}
	return st.Mode()&fs.ModeSymlink == 0 && st.Mode().Perm()&0o022 == 0
}
