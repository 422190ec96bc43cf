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
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op/window"
)

func init() { blockwise.Register("filter.affine", Affine{}) }

// Affine is a spline of an order, whose coefficients are the input in float64, at places that follow from
// those of the result by a matrix, row by row, and an offset: along each axis the sum over the result's axes of
// Matrix[row][column] × place, plus the offset. Outside of the array it is Value; coefficients beyond its
// edges are those mirrored about the last ones.
type Affine struct {
	Shape  []int // of the input
	Out    []int
	Matrix [][]float64
	Offset []float64
	Order  int
	Value  float64
}

// diagonal reports that each axis of the result goes along one of the input: boxes of any form then read
// boxes like them.
func (o Affine) diagonal() bool {
	for d, row := range o.Matrix {
		for k, v := range row {
			if k != d && v != 0 {
				return false
			}
		}
	}
	return true
}

// affineTile is about how many elements of a result are computed from one box of the input.
const affineTile = 1 << 20

// Chunks are about as long along each axis, as what is turned reads the box around.
func (o Affine) Chunks() []int {
	if o.diagonal() {
		return nil
	}
	return cube(o.Out, affineTile)
}

// cube is a box of up to so many elements that is as long along each axis, where the shape is.
func cube(shape []int, elements float64) []int {
	side := int(math.Pow(elements, 1/float64(len(shape))))
	tile := slices.Clone(shape)
	for d := range tile {
		tile[d] = max(min(tile[d], side), 1)
	}
	return tile
}

// extent is the longest box of the input around a box of the result.
func (o Affine) extent(box []int) []int {
	read := make([]int, len(o.Shape))
	for d := range read {
		length := 0.0
		for k, n := range box {
			length += math.Abs(o.Matrix[d][k]) * float64(max(n-1, 0))
		}
		read[d] = int(min(length+float64(2*o.Order+6), float64(o.Shape[d])))
	}
	return read
}

// Requirements is the box of coefficients. A core takes about a nanosecond for each.
func (o Affine) Requirements(box []int) blockwise.Requirements {
	read := o.extent(box)
	taps := 1
	for range o.Shape {
		taps *= o.Order + 1
	}
	return blockwise.Requirements{Reads: [][]int{read}, Scratch: int64(8 * grid.Size(read)), Work: int64(grid.Size(box)) * int64(taps)}
}

// Fill reads the box around the places and sums.
func (o Affine) Fill(ctx context.Context, t *blockwise.Task) error {
	dims := len(o.Shape)
	read := grid.Box{Start: make([]int, dims), Shape: make([]int, dims)}
	empty := false
	for d := range dims {
		low, high := o.Offset[d], o.Offset[d]
		for k, n := range t.Box.Shape {
			a := o.Matrix[d][k] * float64(t.Box.Start[k])
			b := o.Matrix[d][k] * float64(t.Box.Start[k]+n-1)
			low, high = low+min(a, b), high+max(a, b)
		}
		last := float64(o.Shape[d] - 1)
		if low > last+1 || high < -1 {
			empty = true
			break
		}
		read.Start[d], read.Shape[d] = reach(o.Shape[d], o.Order, low, high)
		if most := o.extent(t.Box.Shape)[d]; read.Shape[d] > most {
			read.Shape[d] = most
		}
	}
	out := dtype.Slice[float64](t.Dst)
	if empty {
		return t.Compute(func() error {
			for i := range out {
				out[i] = o.Value
			}
			return nil
		})
	}
	in := t.Scratch[:8*read.Size()]
	return t.ComputeFrom(ctx, 0, read, in, func() error {
		o.sum(out, dtype.Slice[float64](in), t.Box, read)
		return nil
	})
}

// reach are the elements along an axis of n that places from low to high take, those that are mirrored at its ends among
// them: they lie as far from an end on the other side.
func reach(n, order int, low, high float64) (start, length int) {
	near, last := order/2+1, float64(n-1)
	from, to := int(math.Floor(max(low, 0)))-near, int(math.Ceil(min(high, last)))+near
	start = max(min(from, 2*(n-1)-to), 0)
	return start, min(max(to, -from), n-1) + 1 - start
}

// sum computes a box of the result from a box of coefficients.
func (o Affine) sum(out, in []float64, box, read grid.Box) {
	dims := len(o.Shape)
	s := newSpot(o.Shape, o.Order, in, read)
	at := slices.Clone(box.Start)
	for i := range out {
		inside := true
		for d := range dims {
			c := 0.0
			for k, p := range at {
				c += float64(p) * o.Matrix[d][k]
			}
			if inside = s.place(d, c+o.Offset[d]); !inside {
				break
			}
		}
		if out[i] = o.Value; inside {
			out[i] = s.total(0, 0)
		}
		for d := dims - 1; d >= 0; d-- {
			if at[d]++; at[d] < box.Start[d]+box.Shape[d] {
				break
			}
			at[d] = box.Start[d]
		}
	}
}

// spot is a place that a spline is computed at.
type spot struct {
	shape   []int
	order   int
	all     []float64 // the coefficients in a box
	read    grid.Box
	strides []int
	known   []float64   // the places that weights are for
	weights [][]float64 // along each axis
	offsets [][]int
}

func newSpot(shape []int, order int, all []float64, read grid.Box) *spot {
	s := &spot{shape: shape, order: order, all: all, read: read, strides: grid.Strides(read.Shape), known: slices.Repeat([]float64{math.NaN()}, len(shape))}
	for range shape {
		s.weights, s.offsets = append(s.weights, make([]float64, order+1)), append(s.offsets, make([]int, order+1))
	}
	return s
}

// place goes to a place along an axis; false where it is outside of the array.
func (s *spot) place(d int, c float64) bool {
	n, order := s.shape[d], s.order
	if !(c >= 0 && c <= float64(n-1)) {
		return false
	}
	if c == s.known[d] {
		return true
	}
	s.known[d] = c
	first := int(math.Floor(c)) - order/2
	if order%2 == 0 {
		first = int(math.Floor(c+0.5)) - order/2
	}
	basis(s.weights[d], c-float64(first))
	for k := range s.offsets[d] {
		s.offsets[d][k] = (mirrored(first+k, n) - s.read.Start[d]) * s.strides[d]
	}
	return true
}

// total is the sum over axes from d on, of coefficients so far behind the first.
func (s *spot) total(d, offset int) float64 {
	sum := 0.0
	for k, w := range s.weights[d] {
		if p := offset + s.offsets[d][k]; d == len(s.shape)-1 {
			sum += w * s.all[p]
		} else {
			sum += w * s.total(d+1, p)
		}
	}
	return sum
}

// mirrored is the element that a place beyond the edges of n shows.
func mirrored(i, n int) int {
	if n == 1 {
		return 0
	}
	if i = (i%(2*n-2) + 2*n - 2) % (2*n - 2); i >= n {
		return 2*n - 2 - i
	}
	return i
}

// basis are the weights of the order + 1 coefficients from the first on, for a place so far behind that.
func basis(w []float64, place float64) {
	for k := range w {
		w[k] = spline(len(w)-1, place-float64(k))
	}
}

// spline is the B-spline of an order at a place from its middle: those of order 0 are blended order by order.
func spline(order int, x float64) float64 {
	if order == 0 {
		if x >= -0.5 && x < 0.5 {
			return 1
		}
		return 0
	}
	n, half := float64(order), float64(order+1)/2
	return ((half+x)*spline(order-1, x+0.5) + (half-x)*spline(order-1, x-0.5)) / n
}

// poles are those of the inverse of splines' sums, by order.
func poles(order int) []float64 {
	switch order {
	case 2:
		return []float64{math.Sqrt(8) - 3}
	case 3:
		return []float64{math.Sqrt(3) - 2}
	case 4:
		return []float64{math.Sqrt(664-math.Sqrt(438976)) + math.Sqrt(304) - 19, math.Sqrt(664+math.Sqrt(438976)) - math.Sqrt(304) - 19}
	case 5:
		return []float64{math.Sqrt(67.5-math.Sqrt(4436.25)) + math.Sqrt(26.25) - 6.5, math.Sqrt(67.5+math.Sqrt(4436.25)) - math.Sqrt(26.25) - 6.5}
	}
	return nil
}

// coefficients are those of the spline of an order through the elements, in float64. A recursion that SciPy runs along
// lines there and back has so little memory that a window is all of it: of weights that fall below 1e-17.
func coefficients(m *graph.Maker, x *graph.Node, order int) *graph.Node {
	x = m.Cast(x, dtype.Float64)
	for d := range x.Shape {
		for _, z := range poles(order) {
			radius := int(math.Ceil(math.Log(1e-17) / math.Log(math.Abs(z))))
			weights := make([]float64, 2*radius+1)
			for k := range weights {
				weights[k] = (1 - z) * (1 - 1/z) * -z / (1 - z*z) * math.Pow(z, math.Abs(float64(k-radius)))
			}
			lo := make([]int, len(x.Shape))
			lo[d] = radius
			x = m.Make(func() (*graph.Node, error) {
				w, err := window.Around(x.Shape, dtype.Float64, lo, lo, window.Border{Mode: window.Mirror})
				if err != nil {
					return nil, err
				}
				return graph.NewBlockwise(m.Site, "spline_filter", DirectConv{Window: w, Weights: weights}, x.Shape, dtype.Float64, []*graph.Node{x}, fmt.Sprint(order), fmt.Sprintf("axis %d", d))
			})
		}
	}
	return x
}

// transform is the spline through an array at other places, in its type.
func transform(site graph.Site, name string, x *graph.Node, o Affine) (*graph.Node, error) {
	if slices.ContainsFunc(slices.Concat(append(slices.Clone(o.Matrix), o.Offset)...), func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }) {
		return nil, graph.Reject(site, name, fmt.Errorf("takes finite numbers"), x)
	}
	o.Shape = x.Shape
	return splined(&graph.Maker{Site: site}, name, x, Spline{o.Order, o.Value}, o.Out, o)
}

// splined is what an operation makes of the coefficients of the spline through an array, and of more, in the array's type.
func splined(m *graph.Maker, name string, x *graph.Node, s Spline, shape []int, o blockwise.Op, more ...*graph.Node) (*graph.Node, error) {
	var err error
	switch {
	case s.Order < 0 || s.Order > 5:
		err = fmt.Errorf("takes splines of order 0 to 5, not %d", s.Order)
	case x.DType.Kind() == dtype.KindComplex:
		err = fmt.Errorf("takes real numbers: Real and Imag are transformed each")
	case len(x.Shape) == 0:
		err = fmt.Errorf("takes an array of one dimension or more")
	case grid.Size(x.Shape) == 0:
		err = fmt.Errorf("takes an array with elements, not of shape %s", grid.Format(x.Shape))
	case math.IsNaN(s.Value) || math.IsInf(s.Value, 0):
		err = fmt.Errorf("takes finite numbers")
	}
	if err != nil {
		return nil, graph.Reject(m.Site, name, err, x)
	}
	if grid.Size(shape) == 0 {
		return m.Full(dtype.FromInt(x.DType, 0), shape...), m.Err
	}
	out := m.Blockwise(name, o, shape, dtype.Float64, append([]*graph.Node{coefficients(m, x, s.Order)}, more...))
	if x.DType.Kind() < dtype.KindFloat { // SciPy rounds halves away from zero, and keeps to the type's range
		low, high := limits(x.DType)
		out = m.Apply(kernel.Trunc, m.Apply(kernel.Add, out, m.Apply(kernel.Copysign, m.Number(0.5), out)))
		out = m.Apply(kernel.Minimum, m.Apply(kernel.Maximum, out, m.Number(low)), m.Number(high))
	}
	return m.Result(name, m.Cast(out, x.DType), x)
}

// limits are the smallest and the largest float64 that are values of a type of integers.
func limits(t dtype.Type) (low, high float64) {
	bits := 8 * t.Size()
	switch {
	case t == dtype.Bool:
		return 0, 1
	case t.Kind() == dtype.KindUint:
		return 0, math.Ldexp(1, bits) - max(1, math.Ldexp(1, bits-53))
	}
	return -math.Ldexp(1, bits-1), math.Ldexp(1, bits-1) - max(1, math.Ldexp(1, bits-1-53))
}

// diagonal is a matrix of numbers on the diagonal.
func diagonal(values []float64) [][]float64 {
	all := make([][]float64, len(values))
	for d, v := range values {
		all[d] = make([]float64, len(values))
		all[d][d] = v
	}
	return all
}

// Zoom is scipy.ndimage.zoom: the first and the last elements stay where they are.
func Zoom(site graph.Site, a ZoomArgs) (*graph.Node, error) {
	factors, err := window.Each("factors", a.Factors, len(a.X.Shape))
	if err != nil {
		return nil, graph.Reject(site, "zoom", err, a.X)
	}
	o := Affine{Order: a.Order, Value: a.Value, Offset: make([]float64, len(factors))}
	scale := make([]float64, len(factors))
	for d, f := range factors {
		n := math.RoundToEven(float64(a.X.Shape[d]) * f)
		if !(n >= 0 && n < 1<<62) {
			return nil, graph.Reject(site, "zoom", fmt.Errorf("the factor %v along axis %d leaves no length", f, d), a.X)
		}
		o.Out = append(o.Out, int(n))
		if scale[d] = 1; n > 1 {
			scale[d] = float64(a.X.Shape[d]-1) / (n - 1)
		}
	}
	o.Matrix = diagonal(scale)
	return transform(site, "zoom", a.X, o)
}

// Shift is scipy.ndimage.shift.
func Shift(site graph.Site, a ShiftArgs) (*graph.Node, error) {
	by, err := window.Each("shifts", a.Shifts, len(a.X.Shape))
	if err != nil {
		return nil, graph.Reject(site, "image_shift", err, a.X)
	}
	o := Affine{Order: a.Order, Value: a.Value, Out: a.X.Shape, Matrix: diagonal(slices.Repeat([]float64{1}, len(by)))}
	for _, v := range by {
		o.Offset = append(o.Offset, -v)
	}
	return transform(site, "image_shift", a.X, o)
}

// AffineTransform is scipy.ndimage.affine_transform with a square matrix, row by row.
func AffineTransform(site graph.Site, a AffineArgs) (*graph.Node, error) {
	dims := len(a.X.Shape)
	o := Affine{Order: a.Order, Value: a.Value, Out: a.X.Shape, Offset: make([]float64, dims)}
	if n := len(a.Matrix); n != dims*dims {
		return nil, graph.Reject(site, "affine_transform", fmt.Errorf("takes %d × %d numbers of a matrix, row by row, not %d", dims, dims, n), a.X)
	}
	for d := range dims {
		o.Matrix = append(o.Matrix, a.Matrix[d*dims:][:dims])
	}
	if a.Offset != nil {
		var err error
		if o.Offset, err = window.Each("offsets", a.Offset, dims); err != nil {
			return nil, graph.Reject(site, "affine_transform", err, a.X)
		}
	}
	if a.Shape != nil {
		if len(a.Shape) != dims || slices.Min(a.Shape) < 0 {
			return nil, graph.Reject(site, "affine_transform", fmt.Errorf("takes %d lengths of its result, not %s", dims, grid.Format(a.Shape)), a.X)
		}
		o.Out = a.Shape
	}
	return transform(site, "affine_transform", a.X, o)
}

// Rotate is scipy.ndimage.rotate in the plane of two axes, by degrees, in a result that all of it fits into.
func Rotate(site graph.Site, a RotateArgs) (*graph.Node, error) {
	dims := len(a.X.Shape)
	plane, err := grid.Axes([]int{0, 1}, dims)
	if a.Axes != nil && err == nil {
		plane, err = grid.Axes(a.Axes, dims)
	}
	if err == nil && len(plane) != 2 {
		err = fmt.Errorf("turns in the plane of two axes, not %d", len(plane))
	}
	if err == nil && (math.IsNaN(a.Angle) || math.IsInf(a.Angle, 0)) {
		err = fmt.Errorf("takes a finite angle")
	}
	if err != nil {
		return nil, graph.Reject(site, "rotate", err, a.X)
	}
	slices.Sort(plane)
	p, q := plane[0], plane[1]
	cos, sin := turn(a.Angle)
	o := Affine{Order: a.Order, Value: a.Value, Out: slices.Clone(a.X.Shape), Matrix: diagonal(slices.Repeat([]float64{1}, dims)), Offset: make([]float64, dims)}
	o.Matrix[p][p], o.Matrix[p][q], o.Matrix[q][p], o.Matrix[q][q] = cos, sin, -sin, cos
	h, w := float64(a.X.Shape[p]), float64(a.X.Shape[q])
	if !a.Keep {
		around := func(x, y float64) int {
			return int(max(0, x, y, x+y) - min(0, x, y, x+y) + 0.5)
		}
		o.Out[p], o.Out[q] = around(cos*h, sin*w), around(-sin*h, cos*w)
	}
	y, x := float64(o.Out[p]-1)/2, float64(o.Out[q]-1)/2
	o.Offset[p] = (h-1)/2 - (cos*y + sin*x)
	o.Offset[q] = (w-1)/2 - (-sin*y + cos*x)
	return transform(site, "rotate", a.X, o)
}

// turn is the cosine and the sine of degrees, which are exact where these are whole quarters.
func turn(degrees float64) (cos, sin float64) {
	degrees = math.Mod(degrees, 360)
	switch math.Mod(degrees+360, 360) {
	case 0:
		return 1, 0
	case 90:
		return 0, 1
	case 180:
		return -1, 0
	case 270:
		return 0, -1
	}
	sin, cos = math.Sincos(degrees * math.Pi / 180)
	return cos, sin
}
