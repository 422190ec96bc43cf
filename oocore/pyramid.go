package oocore

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/omezarr"
	"github.com/gonbext/gonbext/oocore/internal/op"
	"github.com/gonbext/gonbext/oocore/internal/op/filter"
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
	case dims < 2 || dims > len(omezarr.Axes):
		return failed(fmt.Errorf("images have 2 to %d dimensions, not %d", len(omezarr.Axes), dims))
	case levels < 1 || levels > 32:
		return failed(fmt.Errorf("an image has 1 to 32 levels, not %d", levels))
	case whole && of.Size() > 4, !whole && of.Kind() != dtype.KindFloat, of.StorageOnly():
		return failed(fmt.Errorf("images are of integers up to 32 bits or of floats, not of %s", of))
	}
	if names == nil {
		names = a.DimNames()
	}
	attributes, lengths := storedAxes(a)
	axes, order, err := omezarr.AxesOf(a.Shape(), names, attributes, lengths)
	if err != nil {
		return failed(err)
	}
	c.image = &omezarr.Image{Axes: axes}
	factors := slices.Repeat([]int{1}, dims)
	for i, axis := range axes {
		if len(halve) == 0 && (axis.Kind == "y" || axis.Kind == "x") || slices.Contains(halve, axis.Name) || slices.Contains(halve, axis.Kind) {
			factors[i] = 2
		}
		if axis.Kind == "c" && order[i] == dims-1 {
			c.image.Samples = i + 1
		}
	}
	for _, name := range halve {
		if !slices.ContainsFunc(axes, func(axis omezarr.Axis) bool { return axis.Name == name || axis.Kind == name }) {
			return failed(fmt.Errorf("%q is no axis that can be halved: the axes are %q", name, c.image.Names()))
		}
	}
	if !slices.IsSorted(order) {
		a = a.Transpose(order...)
	}
	for i := range levels {
		if i > 0 {
			a = downsample(a, factors)
			if of.Kind() != dtype.KindFloat {
				a = a.Rint()
			}
			a = a.AsType(of)
		}
		level := a
		c.members = append(c.members, named{name: strconv.Itoa(i), make: func() *Array { return level }})
	}
	if err := c.image.Describe(levels, factors); err != nil {
		return failed(err)
	}
	return c
}

func downsample(a *Array, factors []int) *Array {
	in := called("downsample")
	return in.Result(filter.Downsample(in.Site, op.Lengths{X: in.Node(a), Lengths: factors}))
}

// storedAxes returns the attributes of the stored array that has all elements of a, and its lengths by the names of its axes.
func storedAxes(a *Array) (attributes json.RawMessage, lengths map[string]int) {
	n, err := a.expression()
	for err == nil && (n.Kind == graph.Cast || n.Kind == graph.View) {
		n = n.In[0]
	}
	if err != nil || n.Kind != graph.Source {
		return nil, nil
	}
	lengths = map[string]int{}
	for d, name := range n.DimNames() {
		lengths[name] = n.Shape[d]
	}
	return n.Stored.Info.Details.Attributes, lengths
}
