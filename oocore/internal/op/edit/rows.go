package edit

import (
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/op"
	"github.com/gonbext/gonbext/oocore/internal/op/index"
	"github.com/gonbext/gonbext/oocore/internal/op/shape"
)

// Rows are the operations of this package.
var Rows = []op.Row{
	{Name: "piecewise", Build: op.Build(pieces), Examples: "piecewise(x, x > 0.5, y)",
		Go: "Array.Piecewise"},
	{Name: "set", NumPy: "x[...] = values", Passes: op.Fused + "; of a mask and a list of values those of cumsum over the mask, of indices those of argsort over them", Holds: op.Shown, Build: op.Build(Assign), Examples: `set(x, "0:10", 0)`,
		Go: "(a *Array) Set(region string, values any)", Doc: `Set returns a new array with a region replaced by values, an array or a number: NumPy's x[region] = values. Values broadcast to the region and take the array's type; a number
that the type does not have is rejected.`},
	{Name: "put", Names: "x indices values", Passes: "as set of indices", Holds: op.Shown, Build: op.Build(Put), Examples: "put(x, arange(0, 1000, 1), 0)",
		Go: "(a *Array) Put(indices *Array, values any) = a, indices, values, \"raise\"", Doc: `Put returns a new array with values, an array or a number, where indices point to in the array as if flattened: NumPy's put. Values are repeated where they are fewer than the indices; where an index is repeated its last value stays. The indices are sorted, with the passes of Argsort.`},
	{Name: "insert", Holds: op.Shown, Build: op.Build(inserted),
		Go: "Array.Insert"},
	{Name: "delete", Without: "Values", Holds: op.Shown, Build: op.Build(deleted),
		Go: "Array.Delete"},
}

// Arguments, by the operation.
type (
	piecesArgs struct {
		X  *graph.Node
		In []*graph.Node `usage:"condition, y, condition, z...2, otherwise" least:"2"`
	}
	AssignArgs struct {
		X      *graph.Node
		At     op.Value `usage:"bools or indices or \"0:100, ::2\""`
		Values *graph.Node
		Axis   []int `most:"1"`
	}
	PutArgs struct {
		X, Indices, Values *graph.Node
		Mode               string `words:"raise wrap clip" default:"raise"`
	}
	insertArgs struct {
		X      *graph.Node
		At     op.Value `usage:"index or \"1, 4\" or \"2:8\""`
		Values *graph.Node
		Axis   []int `most:"1"`
		Run    op.Run
	}
)

// Assign returns an array with values in a region, where a mask is true, or where indices along an
// axis point to.
func Assign(site graph.Site, a AssignArgs) (*graph.Node, error) {
	x, at, values, axis := a.X, a.At, a.Values, a.Axis
	mask := at.Node != nil && at.Node.DType == dtype.Bool
	switch {
	case len(axis) > 0 && (at.Node == nil || mask):
		return nil, at.Reject("takes an axis for indices in an array alone")
	case at.Text != nil:
		return index.Set(site, x, *at.Text, values)
	case mask:
		return SetMask(site, x, at.Node, values)
	case at.Node != nil:
		return SetAt(site, x, at.Node, values, append(axis, 0)[0])
	}
	return nil, at.Reject("takes the region as text in double quotes, a mask or an array of indices")
}

// Put is NumPy's put of a new array: SetAt of the array as if flattened, by the mode of Take.
func Put(site graph.Site, a PutArgs) (_ *graph.Node, err error) {
	defer graph.Renamed(&err, site, "put", a.X, a.Indices, a.Values)
	m := &graph.Maker{Site: site}
	flat, values, indices := m.Reshape(a.X, -1), m.Reshape(a.Values, -1), m.Reshape(a.Indices, -1)
	count, have := grid.Size(indices.Shape), grid.Size(values.Shape)
	if m.Err != nil || count == 0 || have == 0 {
		return a.X, m.Err
	}
	if times := (op.Lengths{X: values, Lengths: []int{(count + have - 1) / have}}); have > 1 {
		values = m.Part(m.Make(func() (*graph.Node, error) { return shape.Tile(site, times) }), 0, 0, count)
	}
	indices = m.Make(func() (*graph.Node, error) { return index.Within(site, indices, flat.Shape[0], a.Mode) })
	return m.Reshape(m.Make(func() (*graph.Node, error) { return SetAt(site, flat, indices, values, 0) }), a.X.Shape...), m.Err
}

func inserted(site graph.Site, a insertArgs) (*graph.Node, error) {
	p, err := placesOf("insert", site, a.Run, a.X, a.At, a.Axis)
	if err != nil {
		return nil, err
	}
	if p.every != nil {
		return InsertEvery(site, p.x, p.every.Start[0], p.every.Step[0], p.every.Shape[0], a.Values, p.axis)
	}
	return Insert(site, p.x, p.indices, p.alone, a.Values, p.axis)
}

func deleted(site graph.Site, a insertArgs) (*graph.Node, error) {
	p, err := placesOf("delete", site, a.Run, a.X, a.At, a.Axis)
	if err != nil {
		return nil, err
	}
	if p.every != nil {
		return DeleteEvery(site, p.x, p.every.Start[0], p.every.Step[0], p.every.Shape[0], p.axis)
	}
	return Delete(site, p.x, p.indices, p.axis)
}

// places are indices along an axis of an array, which is flat where none is named.
type places struct {
	x       *graph.Node
	axis    int
	every   *grid.View // that a slice selects; nil where indices are
	indices []int
	alone   bool // one number
}

// placesOf reads one number, several in text, a slice in text, or the elements of an array.
func placesOf(name string, site graph.Site, run op.Run, x *graph.Node, at op.Value, axes []int) (p places, err error) {
	if p.x, p.axis, err = shape.Along(site, x, axes); err != nil {
		return p, err
	}
	switch {
	case at.Text != nil && strings.Contains(*at.Text, ":"):
		var v grid.View
		if p.axis, err = grid.Axis(p.axis, len(p.x.Shape)); err == nil {
			v, err = grid.ParseSlice(*at.Text, p.x.Shape[p.axis:p.axis+1])
		}
		p.every = &v
	case at.Node != nil:
		wide, err := index.Integers(site, at.Node)
		if err != nil {
			return p, graph.Reject(site, name, err, at.Node)
		}
		elements, err := run(wide)
		for _, i := range elements {
			p.indices = append(p.indices, int(i))
		}
		p.alone = len(at.Node.Shape) == 0
		return p, err
	default:
		p.indices, p.alone, err = at.Ints()
		return p, err
	}
	if err != nil {
		err = graph.Reject(site, name, err, p.x)
	}
	return p, err
}

// pieces reads a value after each condition, and perhaps one more.
func pieces(site graph.Site, a piecesArgs) (*graph.Node, error) {
	in := a.In
	var conditions, values []*graph.Node
	for i := 0; i < len(in); i += 2 {
		if i+1 == len(in) {
			values = append(values, in[i])
			break
		}
		conditions, values = append(conditions, in[i]), append(values, in[i+1])
	}
	return Piecewise(site, a.X, conditions, values)
}
