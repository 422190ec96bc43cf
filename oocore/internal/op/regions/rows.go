// Package regions finds the connected parts of an array.
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
}

// Args are the arguments of label.
type Args struct {
	X            *graph.Node
	Connectivity int `word:"2" default:"0"`
	Run          op.Run
}
