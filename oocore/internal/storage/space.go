package storage

import (
	"path/filepath"

	"github.com/gonbext/gonbext/oocore/internal/disk"
)

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
