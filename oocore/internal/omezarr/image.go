// Package omezarr describes images as groups of OME-Zarr 0.5: which axes they have, at which resolutions, in which chunks.
package omezarr

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Axes are the kinds of axes of an image, in OME-Zarr's order.
var Axes = []string{"t", "c", "z", "y", "x"}

// axisWords are the names of dimensions that say of which kind an axis is, in lower case.
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

// Axis is an axis of an image, in part as the attribute axes of a stored array describes it.
type Axis struct {
	Name  string  `json:"name"`
	Unit  string  `json:"unit"`
	Scale float64 `json:"scale"` // distance of its elements
	Kind  string  `json:"-"`     // of Axes
}

// AxesOf returns the axes of an image in OME-Zarr's order, and which of the array's each is. names are those of the
// array's dimensions, nil for none. The attributes of the stored array that has its elements may tell units and distances;
// lengths are that array's, by the names of its axes.
func AxesOf(shape []int, names []string, attributes json.RawMessage, lengths map[string]int) (axes []Axis, order []int, err error) {
	if names == nil {
		if last := shape[len(shape)-1]; len(shape) > 2 && (last == 3 || last == 4) {
			return nil, nil, fmt.Errorf("whether the last axis of shape %v is x or has the samples of RGB or RGBA is not known: name the axes, as in y,x,c or z,y,x, by --dims or PyramidAlong", shape)
		}
		names = make([]string, len(shape))
	}
	if len(names) != len(shape) {
		return nil, nil, fmt.Errorf("%d names of axes %q for %d dimensions", len(names), names, len(shape))
	}
	free, at, found := slices.Clone(Axes), map[string]int{}, make([]bool, len(names))
	for d, name := range names {
		kind := strings.ToLower(name)
		if word, ok := axisWords[kind]; ok {
			kind = word
		}
		if i := slices.Index(free, kind); i >= 0 {
			free, at[kind], found[d] = slices.Delete(free, i, i+1), d, true
		} else if slices.Contains(Axes, kind) {
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
	var stored struct {
		Axes []Axis `json:"axes"`
	}
	known := map[string]Axis{}
	if json.Unmarshal(attributes, &stored) == nil {
		for _, axis := range stored.Axes {
			known[axis.Name] = axis
		}
	}
	for _, kind := range Axes {
		d, ok := at[kind]
		if !ok {
			continue
		}
		axis := Axis{Name: names[d], Scale: 1, Kind: kind}
		axis.Unit = known[names[d]].Unit
		if scale := known[names[d]].Scale; scale > 0 && lengths[names[d]] == shape[d] { // else it may be a slice with steps
			axis.Scale = scale
		}
		axes, order = append(axes, axis), append(order, d)
	}
	for i := range axes { // a name says which axis it is, samples are the channels
		if n := axes[i].Name; n == "" || n == "s" || n == "i" {
			axes[i].Name = axes[i].Kind
		}
	}
	return axes, order, nil
}

// Image is what a group says that holds an image.
type Image struct {
	Axes       []Axis
	Samples    int // where the source has all samples of a pixel together: 1 + the index of their axis
	Attributes json.RawMessage
}

// Names are those of the axes.
func (m *Image) Names() (names []string) {
	for _, axis := range m.Axes {
		names = append(names, axis.Name)
	}
	return names
}

// Describe makes the attributes of levels that are called 0, 1 and so on, each shorter than the one before by factors.
func (m *Image) Describe(levels int, factors []int) (err error) {
	var datasets, axes []any
	scale := make([]float64, len(m.Axes))
	for i, axis := range m.Axes {
		scale[i] = axis.Scale
		entry := map[string]string{"name": axis.Name, "type": map[string]string{"t": "time", "c": "channel"}[axis.Kind]}
		if entry["type"] == "" {
			entry["type"] = "space"
		}
		if axis.Unit != "" {
			entry["unit"] = axis.Unit
		}
		axes = append(axes, entry)
	}
	for i := range levels {
		datasets = append(datasets, map[string]any{"path": strconv.Itoa(i), "coordinateTransformations": []any{map[string]any{"type": "scale", "scale": slices.Clone(scale)}}})
		for d, n := range factors {
			scale[d] *= float64(n)
		}
	}
	m.Attributes, err = json.Marshal(map[string]any{"ome": map[string]any{"version": "0.5", "multiscales": []any{map[string]any{"axes": axes, "datasets": datasets, "type": "mean"}}}})
	return err
}

// Chunks are those of a level where the options say none.
func (m *Image) Chunks(shape []int, size int) []int {
	chunks, side := slices.Repeat([]int{1}, len(shape)), tile
	if m.Samples > 0 { // so that the pixels are read once
		chunks[m.Samples-1] = max(shape[m.Samples-1], 1)
		for side > 64 && chunks[m.Samples-1]*side*side*size > samplesBytes {
			side /= 2
		}
	}
	for d := len(shape) - 2; d < len(shape); d++ {
		chunks[d] = min(side, max(shape[d], 1))
	}
	return chunks
}
