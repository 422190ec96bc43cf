package store

import (
	"math"
	"path/filepath"

	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/store/blob"
)

// FreeSpace returns the number of bytes that this user can still write in the folder
// of a path. Object stores have room for all.
func FreeSpace(path string) (int64, error) {
	place := formatOf(path).Place(path)
	if blob.Remote(place) {
		return math.MaxInt64, nil
	}
	dir := filepath.Dir(place)
	free, err := disk.Free(dir)
	if err != nil {
		return 0, pathError("statfs", dir, err)
	}
	return free, nil
}
