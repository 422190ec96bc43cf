package store

import (
	"math"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/gonbext/gonbext/oocore/store/blob"
)

// FreeSpace is the number of bytes that this user can still write in the folder
// of a path. Object stores have room for all.
func FreeSpace(path string) (int64, error) {
	place := formatOf(path).Place(path)
	if blob.Remote(place) {
		return math.MaxInt64, nil
	}
	var st unix.Statfs_t
	dir := filepath.Dir(place)
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, pathError("statfs", dir, err)
	}
	return int64(st.Bavail) * int64(st.Bsize), nil
}
