package zarr

import (
	"path"
	"path/filepath"

	"github.com/gonbext/gonbext/oocore/internal/storage"
)

// Coordinates returns the array of the dimension's name in the group of an array, and in those that hold it.
func (format) Coordinates(array, dim string) (all []string) {
	root, inner := split(array)
	if _, isLevel := pyramidOf(array); isLevel {
		return nil
	}
	if inner == "" && inGroup(array) {
		return []string{filepath.Join(filepath.Dir(filepath.Clean(array)), dim)}
	}
	for group := range storage.Above(inner) {
		all = append(all, root+"/"+path.Join(group, dim))
	}
	return all
}
