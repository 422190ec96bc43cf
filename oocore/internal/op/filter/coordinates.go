package filter

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
)

func init() { blockwise.Register("filter.coordinates", Coordinates{}) }

// Coordinates is a spline of an order, whose coefficients are the first input in float64, at places that the second has: of
// each point a place along each axis, in this order along the second input's first axis. Outside of the array it is Value, as
// at places that are NaN.
type Coordinates struct {
	Shape []int // of the coefficients
	Out   []int
	Order int
	Value float64
}

const (
	pointsAtOnce = 1 << 18 // of a box of the result
	tileAtOnce   = 1 << 19 // of coefficients, about
)

// Chunks are points that follow each other.
func (o Coordinates) Chunks() []int { return grid.Auto(o.Out, 1, pointsAtOnce) }

// tile is a box of coefficients that points which lie together are in.
func (o Coordinates) tile() []int { return cube(o.Shape, tileAtOnce) }

// most is the longest box of coefficients that is read at once.
func (o Coordinates) most() []int {
	read := o.tile()
	for d := range read {
		read[d] = min(read[d]+2*o.Order+6, o.Shape[d])
	}
	return read
}

// Requirements is the box's places, the points in the order of tiles, and a tile with its border.
func (o Coordinates) Requirements(box []int) blockwise.Requirements {
	dims, points := len(o.Shape), grid.Size(box)
	places := append([]int{dims}, box...)
	work := 60 * float64(points) * math.Pow(float64(o.Order+1), float64(dims))
	return blockwise.Requirements{Reads: [][]int{o.most(), places}, Spans: [][]int{o.Shape, places}, Gather: true, Work: int64(work),
		Scratch: blockwise.Aligned(8*dims*points) + blockwise.Aligned(8*points) + int64(8*grid.Size(o.most()))}
}

// Fill reads the places, brings the points into the order of the tiles that they are in, and reads of each tile once the box
// around its points.
func (o Coordinates) Fill(ctx context.Context, t *blockwise.Task) error {
	dims, points := len(o.Shape), t.Box.Size()
	m := t.ScratchLayout()
	a, b := m.Take(8*dims*points), m.Take(8*points)
	box := grid.Box{Start: append([]int{0}, t.Box.Start...), Shape: append([]int{dims}, t.Box.Shape...)}
	if err := t.In[1].Read(ctx, box, a); err != nil {
		return err
	}
	places, order, out := dtype.Slice[float64](a), dtype.Slice[int64](b), dtype.Slice[float64](t.Dst)
	if err := t.Compute(func() error { order = o.arrange(places, order, out); return nil }); err != nil {
		return err
	}
	in := m.Take(8 * grid.Size(o.most()))
	read := grid.Box{Start: make([]int, dims), Shape: make([]int, dims)}
	for n := 0; len(order) > 0; order = order[n:] {
		for n = 1; n < len(order) && order[n]/pointsAtOnce == order[0]/pointsAtOnce; n++ {
		}
		for d := range dims {
			low, high := math.Inf(1), math.Inf(-1)
			for _, k := range order[:n] {
				c := places[d*points+int(k%pointsAtOnce)]
				low, high = min(low, c), max(high, c)
			}
			read.Start[d], read.Shape[d] = reach(o.Shape[d], o.Order, low, high)
		}
		all := in[:8*read.Size()]
		if err := t.ComputeFrom(ctx, 0, read, all, func() error {
			s := newSpot(o.Shape, o.Order, dtype.Slice[float64](all), read)
			for _, k := range order[:n] {
				i := int(k % pointsAtOnce)
				for d := range dims {
					s.place(d, places[d*points+i])
				}
				out[i] = s.total(0, 0)
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// arrange returns the points that are in the array in the order of the tiles that they are in, as the tile's number times
// pointsAtOnce and the point's. The others have their value.
func (o Coordinates) arrange(places []float64, order []int64, out []float64) []int64 {
	g := grid.Grid{Shape: o.Shape, Chunks: o.tile()}
	order = order[:0]
	for i := range out {
		tile, inside := 0, true
		for d, n := range o.Shape {
			c := places[d*len(out)+i]
			if inside = c >= 0 && c <= float64(n-1); !inside {
				break
			}
			tile = tile*g.Count(d) + int(c)/g.Chunks[d]
		}
		if out[i] = o.Value; inside {
			order = append(order, int64(tile)*pointsAtOnce+int64(i))
		}
	}
	slices.Sort(order)
	return order
}

// MapCoordinates is scipy.ndimage.map_coordinates with its mode "constant".
func MapCoordinates(site graph.Site, a CoordinatesArgs) (*graph.Node, error) {
	x, at := a.X, a.Coordinates
	var err error
	switch {
	case at.DType.Kind() == dtype.KindComplex:
		err = fmt.Errorf("takes real numbers as places")
	case len(at.Shape) < 2:
		err = fmt.Errorf("takes places in an array of two dimensions or more, not of shape %s", grid.Format(at.Shape))
	case at.Shape[0] != len(x.Shape):
		err = fmt.Errorf("takes a place along each of %d axes, which places of shape %s do not have along their first", len(x.Shape), grid.Format(at.Shape))
	}
	if err != nil {
		return nil, graph.Reject(site, "map_coordinates", err, x, at)
	}
	m, o := &graph.Maker{Site: site}, Coordinates{x.Shape, at.Shape[1:], a.Order, a.Value}
	return splined(m, "map_coordinates", x, a.Spline, o.Out, o, m.Cast(at, dtype.Float64))
}
