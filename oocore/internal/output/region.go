package output

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/storage"
)

// intoRegion is what is to be written to a region of a stored array,
// brought to the region's shape, with the region's box and the shape of that array.
func (s *Settings) intoRegion(root *graph.Node, path string) (of *graph.Node, box *grid.Box, whole []int, err error) {
	if path == "" {
		return root, nil, nil, errors.New("a region is for Save: Slice selects a part of an array")
	}
	if s.Chunks != nil || s.Shards != nil || s.Codec != "" {
		return root, nil, nil, fmt.Errorf("region %q: chunks, shards and codec are those of the stored array", s.Region)
	}
	info, err := storage.Describe(path)
	if err != nil {
		return root, nil, nil, err
	}
	if info.Fortran {
		slices.Reverse(info.Shape)
	}
	b, err := regionBox(s.Region, info.Shape)
	if err != nil {
		return root, nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	if info.DType != root.DType {
		return root, nil, nil, fmt.Errorf("region %q of %s has elements of %s, not %s: AsType brings them there", s.Region, path, info.DType, root.DType)
	}
	if slices.Equal(root.Shape, b.Shape) {
		return root, &b, info.Shape, nil
	}
	wide, err := graph.BroadcastTo(root.Site, root, b.Shape...)
	if err != nil {
		return root, nil, nil, fmt.Errorf("region %q of %s has shape %s: %w", s.Region, path, grid.Format(b.Shape), err)
	}
	return wide, &b, info.Shape, nil
}

// regionBox reads a region of an array: ranges with steps of one, and indices, which
// keep their axis with length one.
func regionBox(spec string, shape []int) (grid.Box, error) {
	v, err := grid.ParseSlice(spec, shape)
	if err != nil {
		return grid.Box{}, err
	}
	if err := insideOf(spec, shape); err != nil {
		return grid.Box{}, err
	}
	b := grid.Box{Start: v.Start, Shape: make([]int, len(shape))}
	for d, a := range v.Axis {
		b.Shape[d] = 1
		if a >= 0 {
			b.Shape[d] = v.Shape[a]
		}
		if v.Step[d] != 1 {
			return grid.Box{}, fmt.Errorf("region %q has a step other than 1", spec)
		}
		if b.Shape[d] == 0 {
			return grid.Box{}, fmt.Errorf("region %q of an array of shape %s is empty", spec, grid.Format(shape))
		}
	}
	return b, nil
}

// insideOf rejects ranges that go past the end, which NumPy's slices clip, and new axes.
func insideOf(spec string, shape []int) error {
	fields := strings.Split(strings.TrimSuffix(strings.TrimSpace(spec), ","), ",")
	if slices.ContainsFunc(fields, func(f string) bool { return strings.TrimSpace(f) == "newaxis" || strings.TrimSpace(f) == "None" }) {
		return fmt.Errorf("region %q adds an axis", spec)
	}
	d := -1
	for i, field := range fields {
		if d++; strings.TrimSpace(field) == "..." {
			d = len(shape) - (len(fields) - i)
			continue
		}
		for _, p := range strings.Split(field, ":") {
			if n, err := strconv.Atoi(strings.TrimSpace(p)); err == nil && (n > shape[d] || -n > shape[d]) {
				return fmt.Errorf("region %q goes past the end of axis %d, which has length %d", spec, d, shape[d])
			}
		}
	}
	return nil
}
