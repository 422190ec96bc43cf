package storage

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/store"
)

// labelled is a Format whose arrays may have others beside them that label their dimensions, by the dimension's name, as NetCDF
// has them and xarray in Zarr.
type labelled interface {
	store.Format
	// Coordinates returns the paths at which the labels of a dimension may be, the nearest first.
	Coordinates(array, dim string) []string
}

// Coordinate returns the array of one dimension that labels a dimension of an array, or false where there is none. It reads headers.
func Coordinate(ctx context.Context, info *store.Info, axis int) (store.Info, bool, error) {
	for _, at := range coordinates(info, axis) {
		a, err := OpenContext(ctx, at)
		if err != nil {
			if ctx.Err() != nil || errors.Is(err, fs.ErrPermission) {
				return store.Info{}, false, err
			}
			continue // a dimension need not have labels, and texts are none that can be read
		}
		found := a.Info()
		if err := a.Close(); err != nil {
			return store.Info{}, false, err
		}
		if slices.Equal(found.Shape, info.Shape[axis:axis+1]) {
			return found, true, nil
		}
	}
	return store.Info{}, false, nil
}

// CoordinatePath is where the labels of a dimension of an array would be stored beside it; "" where its format has none.
func CoordinatePath(info *store.Info, axis int) string {
	if all := coordinates(info, axis); len(all) > 0 {
		return all[0]
	}
	return ""
}

// coordinates are the paths at which the labels of a dimension may be. Of an array without names of dimensions no format is asked.
func coordinates(info *store.Info, axis int) []string {
	dims := info.Details.Dims
	if axis >= len(dims) || len(dims) != len(info.Shape) || dims[axis] == "" {
		return nil
	}
	f, ok := formatOf(info.Path).(labelled)
	if !ok {
		return nil
	}
	return f.Coordinates(info.Path, dims[axis])
}

// Coordinates returns the array of the dimension's name in the group of an array, and in those that hold it.
func (x Extensions) Coordinates(array, dim string) (all []string) {
	file, name, _ := x.Cut(array)
	for group := range Above(name) {
		all = append(all, file+"#"+path.Join(group, dim))
	}
	return all
}

// Above yields the groups of an array, the innermost first, by its path in what holds them: the last is "".
func Above(name string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for name = strings.Trim(name, "/"); ; {
			if name = strings.TrimSuffix(path.Dir(name), "."); !yield(name) || name == "" {
				return
			}
		}
	}
}
