package oocore

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
)

// imageAxes are those of OME-Zarr, in its order.
var imageAxes = []string{"t", "c", "z", "y", "x"}

// axisWords are the names of dimensions that say which of imageAxes an axis is, in lower case.
var axisWords = map[string]string{
	"time": "t", "frame": "t", "frames": "t",
	"channel": "c", "channels": "c", "s": "c", "sample": "c", "samples": "c", "band": "c", "bands": "c", "rgb": "c", "rgba": "c", "wavelength": "c",
	"depth": "z", "slice": "z", "slices": "z", "plane": "z", "lev": "z", "level": "z", "plev": "z", "altitude": "z", "height": "z",
	"lat": "y", "latitude": "y", "row": "y", "rows": "y", "line": "y", "lines": "y", "northing": "y", "nlat": "y", "rlat": "y",
	"lon": "x", "longitude": "x", "col": "x", "cols": "x", "column": "x", "columns": "x", "pixel": "x", "pixels": "x", "easting": "x", "nlon": "x", "rlon": "x",
}

const (
	// tile is the length of a pyramid's chunks along y and x.
	tile = 1024
	// samplesBytes are the most of a chunk that has all samples of its pixels.
	samplesBytes = 8 << 20
)

// Pyramid returns an image at several resolutions, named 0, 1 and so on: each is half as long as the
// one before along y and x, with the means of 2 × 2 elements, of integers rounded to the
// nearest and of halves to the even one. At the end of an odd length they are means of fewer. Saved to
// x.zarr they are an image of OME-Zarr 0.5, in chunks of 1024 × 1024 where Chunks says no others, written
// in one pass over what the array is computed of, except with Shards or chunks above 8 MiB.
//
// The levels have the order of axes that OME-Zarr demands: t, c, z, y, x. An axis is known by its
// dimension name, such as c, channel, band, or s for the samples of a pixel; lat and row are y, lon and column x. It keeps its name.
// Axes without such a name are the last of t, c, z, y and x that no other axis is. The attribute axes of the array,
// which TIFF and NIfTI files have, gives the units and the distances of elements.
func (a *Array) Pyramid(levels int) *Collection { return a.pyramid(graph.Caller(), levels, nil, nil) }

// PyramidAlong is Pyramid with names of all axes of the array, in its order, in place of its dimension names unless they are nil, and
// halves the axes of the names given, such as z, y and x, in place of y and x.
func (a *Array) PyramidAlong(levels int, axes []string, halve ...string) *Collection {
	return a.pyramid(graph.Caller(), levels, axes, halve)
}

func (a *Array) pyramid(site graph.Site, levels int, names, halve []string) *Collection {
	c := &Collection{site: site}
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
	c.image = &image{}
	axes, order, err := imageAxesOf(a, names)
	if err != nil {
		return failed(err)
	}
	factors := slices.Repeat([]int{1}, dims)
	for i, axis := range axes {
		if len(halve) == 0 && (axis.kind == "y" || axis.kind == "x") || slices.Contains(halve, axis.Name) || slices.Contains(halve, axis.kind) {
			factors[i] = 2
		}
		c.image.axes = append(c.image.axes, axis.Name)
		if axis.kind == "c" && order[i] == dims-1 {
			c.image.samples = i + 1
		}
	}
	for _, name := range halve {
		if !slices.ContainsFunc(axes, func(axis imageAxis) bool { return axis.Name == name || axis.kind == name }) {
			return failed(fmt.Errorf("%q is no axis that can be halved: the axes are %q", name, c.image.axes))
		}
	}
	if !slices.IsSorted(order) {
		a = a.Transpose(order...)
	}
	var datasets []any
	scale := make([]float64, dims)
	for i, axis := range axes {
		scale[i] = axis.Scale
	}
	for i := range levels {
		if i > 0 {
			a = operate("downsample", a, factors)[0]
			if of.Kind() != dtype.KindFloat {
				a = a.Rint()
			}
			a = a.AsType(of)
			for d, n := range factors {
				scale[d] *= float64(n)
			}
		}
		name, level := strconv.Itoa(i), a
		c.members = append(c.members, named{name, func() *Array { return level }})
		datasets = append(datasets, map[string]any{"path": name, "coordinateTransformations": []any{map[string]any{"type": "scale", "scale": slices.Clone(scale)}}})
	}
	var described []any
	for _, axis := range axes {
		entry := map[string]string{"name": axis.Name, "type": map[string]string{"t": "time", "c": "channel"}[axis.kind]}
		if entry["type"] == "" {
			entry["type"] = "space"
		}
		if axis.Unit != "" {
			entry["unit"] = axis.Unit
		}
		described = append(described, entry)
	}
	c.image.attributes, err = json.Marshal(map[string]any{"ome": map[string]any{"version": "0.5", "multiscales": []any{map[string]any{"axes": described, "datasets": datasets, "type": "mean"}}}})
	if err != nil {
		return failed(err)
	}
	return c
}

// imageAxis is an axis of an image, in part as the attribute axes of a stored array describes it.
type imageAxis struct {
	Name  string  `json:"name"`
	Unit  string  `json:"unit"`
	Scale float64 `json:"scale"` // distance of its elements
	kind  string  // of imageAxes
}

// imageAxesOf returns the axes of an image in OME-Zarr's order, and which of the array's each is.
func imageAxesOf(a *Array, names []string) (axes []imageAxis, order []int, err error) {
	shape := a.Shape()
	if names == nil {
		names = a.DimNames()
	}
	if names == nil {
		if last := shape[len(shape)-1]; len(shape) > 2 && (last == 3 || last == 4) {
			return nil, nil, fmt.Errorf("whether the last axis of shape %v is x or has the samples of RGB or RGBA is not known: name the axes, as in y,x,c or z,y,x, by --dims or PyramidAlong", shape)
		}
		names = make([]string, len(shape))
	}
	if len(names) != len(shape) {
		return nil, nil, fmt.Errorf("%d names of axes %q for %d dimensions", len(names), names, len(shape))
	}
	free, at, found := slices.Clone(imageAxes), map[string]int{}, make([]bool, len(names))
	for d, name := range names {
		kind := strings.ToLower(name)
		if word, ok := axisWords[kind]; ok {
			kind = word
		}
		if i := slices.Index(free, kind); i >= 0 {
			free, at[kind], found[d] = slices.Delete(free, i, i+1), d, true
		} else if slices.Contains(imageAxes, kind) {
			return nil, nil, fmt.Errorf("two of the axes %q are %s, an image has one: select an element along one of them, or name them otherwise by --dims or PyramidAlong", names, kind)
		}
	}
	_, y := at["y"]
	if _, x := at["x"]; x != y {
		return nil, nil, fmt.Errorf("which of the axes %q are y and x is not known: name them, as in z,y,x, by --dims or PyramidAlong", names)
	}
	for d := len(names) - 1; d >= 0; d-- { // the others are the last of those that are left
		if !found[d] {
			at[free[len(free)-1]], free = d, free[:len(free)-1]
		}
	}
	known, lengths := storedAxes(a)
	for _, kind := range imageAxes {
		d, ok := at[kind]
		if !ok {
			continue
		}
		axis := imageAxis{Name: names[d], Scale: 1, kind: kind}
		axis.Unit = known[names[d]].Unit
		if scale := known[names[d]].Scale; scale > 0 && lengths[names[d]] == shape[d] { // else it may be a slice with steps
			axis.Scale = scale
		}
		axes, order = append(axes, axis), append(order, d)
	}
	for i := range axes { // a name says which axis it is, samples are the channels
		if n := axes[i].Name; n == "" || n == "s" || n == "i" {
			axes[i].Name = axes[i].kind
		}
	}
	return axes, order, nil
}

// storedAxes returns what the attribute axes says of the stored array that has all elements of a, by the names of its axes, and their
// lengths there: formats that know units and distances write it.
func storedAxes(a *Array) (known map[string]imageAxis, lengths map[string]int) {
	n, err := a.expression()
	for err == nil && (n.Kind == graph.Cast || n.Kind == graph.View) {
		n = n.In[0]
	}
	var attributes struct {
		Axes []imageAxis `json:"axes"`
	}
	if err != nil || n.Kind != graph.Source || json.Unmarshal(n.Stored.Info.Details.Attributes, &attributes) != nil {
		return nil, nil
	}
	known, lengths = map[string]imageAxis{}, map[string]int{}
	for d, name := range n.DimNames() {
		lengths[name] = n.Shape[d]
	}
	for _, axis := range attributes.Axes {
		known[axis.Name] = axis
	}
	return known, lengths
}

// image is what a group says that holds an image.
type image struct {
	axes       []string
	samples    int // where the source has all samples of a pixel together: 1 + the index of their axis
	attributes json.RawMessage
}

// chunks are those of a level where the options say none.
func (m *image) chunks(shape []int, size int) []int {
	chunks, side := slices.Repeat([]int{1}, len(shape)), tile
	if m.samples > 0 { // so that the pixels are read once
		chunks[m.samples-1] = max(shape[m.samples-1], 1)
		for side > 64 && chunks[m.samples-1]*side*side*size > samplesBytes {
			side /= 2
		}
	}
	for d := len(shape) - 2; d < len(shape); d++ {
		chunks[d] = min(side, max(shape[d], 1))
	}
	return chunks
}
