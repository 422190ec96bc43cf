//go:build !unix

package setup

import "io/fs"

// ownedAlone reports that a file is no link: folders here inherit who can write to them.
func ownedAlone(st fs.FileInfo) bool { return st.Mode()&fs.ModeSymlink == 0 }
