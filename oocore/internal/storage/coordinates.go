package storage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/meter"
	"github.com/gonbext/gonbext/oocore/store"
)

// labelled is a Format whose arrays may have others beside them that label their dimensions, by the dimension's name, as NetCDF
// has them and xarray in Zarr.
type labelled interface {
	store.Format
	// Coordinates returns the paths at which the labels of a dimension may be, the nearest first.
	Coordinates(array, dim string) []string
}

// texts is a Format that has arrays of text, which no array is opened of: their texts are labels.
type texts interface {
	// Texts returns the texts of an array of one dimension, and its attributes: nil where it has none, whatever the error. With the error of
	// texts that cannot be read they are not nil.
	Texts(ctx context.Context, path string) ([]string, json.RawMessage, error)
}

// Labels are an array that labels a dimension. Of texts Info has their path, shape and attributes.
type Labels struct {
	store.Info
	Texts []string // nil of numbers
}

// MaxTexts is the most bytes of labels that are text.
const MaxTexts = 64 << 20

// Coordinate returns the array of one dimension that labels a dimension of an array, or false where there is none. It reads headers,
// and labels that are text.
func Coordinate(ctx context.Context, info *store.Info, axis int) (found Labels, ok bool, err error) {
	for _, at := range coordinates(info, axis) {
		a, err := OpenContext(ctx, at)
		if ctx.Err() != nil || errors.Is(err, fs.ErrPermission) {
			return Labels{}, false, err
		}
		if found = (Labels{Info: store.Info{Path: at}}); err == nil {
			found.Info, err = a.Info(), a.Close()
		} else if !errors.Is(err, fs.ErrNotExist) {
			found.Texts, err = reading(ctx, formatOf(at), at, func(f store.Format) (all []string, err error) {
				if f, has := f.(texts); has {
					all, found.Details.Attributes, err = f.Texts(ctx, at)
				}
				return all, err
			})
			found.Shape, err = []int{len(found.Texts)}, PathError("open", at, err)
		}
		if found.Texts == nil && a == nil {
			continue // a dimension need not have labels
		}
		if err != nil {
			return Labels{}, false, err
		}
		if slices.Equal(found.Shape, info.Shape[axis:axis+1]) {
			return found, true, nil
		}
	}
	return Labels{}, false, nil
}

// ReadTexts returns the n texts of an array of their bytes, and its attributes, and closes it.
func ReadTexts(ctx context.Context, a store.Array, n int, text func(b []byte) (string, bool)) (all []string, attributes json.RawMessage, err error) {
	defer func() { err = errors.Join(err, a.Close()) }()
	shape := a.Info().Shape
	size := grid.Size(shape)
	if size > MaxTexts {
		return []string{}, nil, fmt.Errorf("texts of %d bytes are no labels, which have at most %d", size, MaxTexts)
	}
	m := meter.Meter{What: "labels that are text"}
	defer m.Done()
	if err := m.Take(4*int64(size) + 32*int64(n)); err != nil {
		return []string{}, nil, err
	}
	b := make([]byte, size)
	if err := a.Read(ctx, b, grid.Box{Start: make([]int, len(shape)), Shape: shape}.Region()); err != nil {
		return []string{}, nil, err
	}
	all = make([]string, n)
	for i := range all {
		var ok bool
		if all[i], ok = text(b[i*size/n : (i+1)*size/n]); !ok {
			return all, nil, fmt.Errorf("the text at place %d is not there: the file is damaged", i)
		}
	}
	return all, a.Info().Details.Attributes, nil
}

// ReadInts returns the n integers of a small array.
func ReadInts(ctx context.Context, path string, n int) (all []int, err error) {
	a, err := OpenContext(ctx, path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	info := a.Info()
	if !slices.Equal(info.Shape, []int{n}) || !info.DType.Integer() {
		return nil, PathError("open", path, fmt.Errorf("it should be %d integers, and is %s of shape %s", n, info.DType, grid.Format(info.Shape)))
	}
	size := info.DType.Size()
	b := make([]byte, n*size)
	if err := a.Read(ctx, b, grid.Box{Start: []int{0}, Shape: []int{n}}.Region()); err != nil {
		return nil, err
	}
	for ; len(b) > 0; b = b[size:] {
		v := Number(info.DType, b, false)
		if i, signed := v.(int64); signed {
			all = append(all, int(i))
		} else {
			all = append(all, int(v.(uint64)))
		}
	}
	return all, nil
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
