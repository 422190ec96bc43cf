package storage

import (
	"math"
	"path/filepath"

	"github.com/gonbext/gonbext/oocore/internal/disk"
)

// FreeSpace returns the number of bytes that this user can still write in the folder
// of a path. Object stores have room for all.
func FreeSpace(path string) (int64, error) {
	place := placeOf(path)
	if !place.Files {
		return math.MaxInt64, nil
	}
	dir := filepath.Dir(place.Path)
	free, err := disk.Free(dir)
	if err != nil {
		return 0, PathError("statfs", dir, err)
	}
	return free, nil
}

// InMemory reports what of a run lies in memory, as in a tmpfs, where the kernel takes nothing
// of it back: the array at a path, and what the run spills. "" is an array that is collected.
func InMemory(path string) (array, spilled bool) {
	if path == "" {
		_, spilled = tempParent()
		return false, spilled
	}
	staging, target, err := stagingPath(placeOf(path))
	if err != nil {
		return false, false
	}
	spilled = disk.InMemory(filepath.Dir(staging))
	return spilled && target != "", spilled
}
