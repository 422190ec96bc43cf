// Package regions finds the connected parts of an array, the boxes around them, and distances to what is outside of them.
package regions

import (
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/op"
)

// Rows are the operations of this package.
var Rows = []op.Row{
	{Name: "label", NumPy: "scipy.ndimage.label", Passes: "1 to count when it is called; then 2",
		Holds: "4 bytes for each piece that a part has in a tile of 1 MiB, and for each element of an index along the first axis", Build: op.Build(Label),
		Go: "(a *Array) Label(ctx context.Context, connectivity int, opts ...Option)", Doc: `Label returns for each element the number of the connected part that it is in, as int32, where elements are not zero, and 0 elsewhere: scipy.ndimage.label. Neighbours differ by one along up to connectivity axes; 0 is 1, those that share a face. Parts are numbered from 1 on by their first elements in C order. The pieces of parts are counted here, within the context and the options' budget, tile by tile; the array must not change before the result is read.`},
	{Name: "find_objects", NumPy: "scipy.ndimage.find_objects; as start and stop along each axis", Passes: "as groupby", Holds: "as groupby", Build: op.Build(FindObjects), Examples: `find_objects(slice(i, "0:262144") & 63, 64)`,
		Go: "(a *Array) FindObjects(ctx context.Context, maxLabel int, opts ...Option)", Doc: `FindObjects returns the boxes around the elements of each label from 1 to maxLabel, or of 0 to the largest one: scipy.ndimage.find_objects. The result has a row for each label, in it for each axis the first index and the one after the last, as int64; both are 0 where no element has the label. The largest label is found here, within the context and the options' budget; the array must not change before the result is read.`},
	{Name: "distance_transform_edt", NumPy: "scipy.ndimage.distance_transform_edt", Passes: "1 read and 1 written for each axis, 2 where blocks have to be turned between them", Holds: "whole lines: about 4 MiB of them, or one, and one three times more", Build: op.Build(DistanceTransform), Examples: `distance_transform_edt(slice(s, "0:4096") > 0.2)`,
		Go: "(a *Array) DistanceTransform(sampling ...float64)", Doc: `DistanceTransform returns how far each element that is not zero is from the nearest that is, as float64: scipy.ndimage.distance_transform_edt. Neighbours along each axis, or along all, are sampling apart, 1 where none is given. It is infinite where no element is zero. Distances are exact up to the last rounding, and lines along each axis are in memory as a whole.`},
}

// Args are the arguments of label.
type Args struct {
	X            *graph.Node
	Connectivity int `word:"2" default:"0"`
	Run          op.Run
}
