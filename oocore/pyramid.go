package oocore

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
)

// imageAxes are those of OME-Zarr, in its order; images have the last of them.
var imageAxes = []string{"t", "c", "z", "y", "x"}

// tile is the length of a pyramid's chunks along its last two axes.
const tile = 1024

// Pyramid returns an image at several resolutions, named 0, 1 and so on: each is half as long as the
// one before along the last two axes, with the means of 2 × 2 elements, of integers rounded to the
// nearest and of halves to the even one. At the end of an odd length they are means of fewer. Saved to
// x.zarr they are an image of OME-Zarr 0.5, in chunks of 1024 × 1024 where Chunks says no others, written
// in one pass over what the array is computed of, except with Shards or chunks above 8 MiB. Its
// axes are the last of t, c, z, y and x, unless the array's dimension names are some of these.
func (a *Array) Pyramid(levels int) *Collection {
	c := &Collection{site: graph.Caller()}
	failed := func(err error) *Collection {
		c.err = &Error{Op: "pyramid", Site: c.site, Err: err}
		return c
	}
	if err := a.Err(); err != nil {
		return failed(err)
	}
	dims, of := a.Dims(), a.DType()
	switch whole := of.Kind() == dtype.KindInt || of.Kind() == dtype.KindUint; {
	case dims < 2 || dims > len(imageAxes):
		return failed(fmt.Errorf("images have 2 to %d dimensions, not %d", len(imageAxes), dims))
	case levels < 1 || levels > 32:
		return failed(fmt.Errorf("an image has 1 to 32 levels, not %d", levels))
	case whole && of.Size() > 4, !whole && of.Kind() != dtype.KindFloat, of.StorageOnly():
		return failed(fmt.Errorf("images are of integers up to 32 bits or of floats, not of %s", of))
	}
	axes := a.DimNames()
	if !isImage(axes) {
		axes = imageAxes[len(imageAxes)-dims:]
	}
	var datasets []any
	factors, scale := slices.Repeat([]int{1}, dims), slices.Repeat([]int{1}, dims)
	factors[dims-2], factors[dims-1] = 2, 2
	for i := range levels {
		if i > 0 {
			a = operate("downsample", a, factors)[0]
			if of.Kind() != dtype.KindFloat {
				a = a.Rint()
			}
			a = a.AsType(of)
			scale[dims-2], scale[dims-1] = 2*scale[dims-2], 2*scale[dims-1]
		}
		name, level := strconv.Itoa(i), a
		c.members = append(c.members, named{name, func() *Array { return level }})
		datasets = append(datasets, map[string]any{"path": name, "coordinateTransformations": []any{map[string]any{"type": "scale", "scale": slices.Clone(scale)}}})
	}
	var described []any
	for _, axis := range axes {
		kind := map[string]string{"t": "time", "c": "channel"}[axis]
		if kind == "" {
			kind = "space"
		}
		described = append(described, map[string]string{"name": axis, "type": kind})
	}
	attributes, err := json.Marshal(map[string]any{"ome": map[string]any{"version": "0.5", "multiscales": []any{map[string]any{"axes": described, "datasets": datasets, "type": "mean"}}}})
	if err != nil {
		return failed(err)
	}
	c.image = &image{axes, attributes}
	return c
}

// image is what a group says that holds an image.
type image struct {
	axes       []string
	attributes json.RawMessage
}

// isImage reports the names of an image's axes: some of OME-Zarr's, in its order.
func isImage(names []string) bool {
	at := -1
	for _, name := range names {
		next := slices.Index(imageAxes, name)
		if next <= at {
			return false
		}
		at = next
	}
	return len(names) >= 2 && names[len(names)-2] == "y"
}

// chunks are those of a level where the options say none.
func (*image) chunks(shape []int) []int {
	chunks := slices.Repeat([]int{1}, len(shape))
	for d := len(shape) - 2; d < len(shape); d++ {
		chunks[d] = min(tile, max(shape[d], 1))
	}
	return chunks
}
