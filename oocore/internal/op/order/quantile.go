package order

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unsafe"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

func init() { blockwise.Register("quantiles", Quantiles{}) }

// QuantileOptions are the arguments of quantiles.
type QuantileOptions struct {
	Axes     []int // none: all
	KeepDims bool
	Method   Method      // "": linear
	SkipNaN  bool        // NaN does not count; of nothing else the result is NaN. Else it is NaN where there is one.
	Weights  *graph.Node // of the elements, in their shape or that of the axes; nil: they weigh alike
}

// Quantile is NumPy's quantile, exact: of all axes given together. list says that the
// result has an axis for the quantiles, the first. It also is nanquantile, median and
// nanmedian, under the name that is given.
//
// What is reduced and fits into 16 MiB is sorted in memory, in one pass. More is counted
// by its leading bits, then by those that follow, among the elements that have the
// leading ones of the result: a pass for each 16 bits of an element, or where there are
// many results side by side for each 11 or fewer. Lines that lie across the input are
// counted too where they are long enough for that to be less than to put them in order.
//
// With weights an element takes 16 bytes, and it is those that are added up where elements
// are counted without: as many passes, over both.
func Quantile(site graph.Site, name string, n *graph.Node, q []float64, list bool, o QuantileOptions) (*graph.Node, error) {
	if o.Method == "" {
		o.Method = "linear"
	}
	if o.SkipNaN && grid.Size(n.Shape) == 0 {
		return ofNothing(site, name, n, q, o)
	}
	s, err := quantiles(n, q, list, o)
	if err != nil {
		return nil, graph.Reject(site, name, err, n)
	}
	in := []*graph.Node{n}
	if o.Weights != nil {
		m := &graph.Maker{Site: site}
		w, err := m.Weights(o.Weights, n.Shape, o.Axes)
		if err != nil {
			return nil, graph.Reject(site, name, err, n, o.Weights)
		}
		in = append(in, m.Cast(w, dtype.Float64))
		s.Shares = dtype.Float64
		if n.DType.Kind() == dtype.KindFloat && !list {
			s.Shares = n.DType
		}
		if m.Err != nil {
			return nil, m.Err
		}
	}
	for i := range in {
		if len(in[i].Shape) == 0 {
			if in[i], err = graph.ExpandDims(site, in[i], 0); err != nil {
				return nil, err
			}
			s.Shape, s.Axes, o.KeepDims = in[i].Shape, []int{0}, false
		}
		if in[i], err = graph.AsType(site, in[i], in[i].DType); err != nil {
			return nil, graph.Reject(site, name, err, n)
		}
	}
	args := []string{}
	if o.Method != middle {
		for _, v := range q {
			args = append(args, strconv.FormatFloat(v, 'g', -1, 64))
		}
	}
	for _, a := range o.Axes {
		args = append(args, strconv.Itoa(a))
	}
	var out *graph.Node
	switch {
	case grid.Size(s.shape()) == 0 || s.count() == 0:
		fill := dtype.FromInt(s.Out, 0) // of integers there is no result to fill
		if s.Out.Kind() == dtype.KindFloat {
			fill = dtype.FromFloat(s.Out, math.NaN())
		}
		out, err = graph.Full(site, fill, s.shape()...)
	case !s.counted() && s.weighted():
		out, err = graph.NewBlockwise(site, name, WeightedQuantiles{s}, s.shape(), s.Out, in, args...)
	case !s.counted():
		out, err = graph.NewBlockwise(site, name, s, s.shape(), s.Out, in, args...)
	default:
		out, err = newSearch(s).nodes(site, name, in, args)
	}
	if err == nil && o.KeepDims {
		at := make([]int, len(s.Axes))
		for i, a := range s.Axes {
			at[i] = a + 1
		}
		out, err = graph.ExpandDims(site, out, at...)
	}
	if err == nil && !list {
		out, err = graph.Squeeze(site, out, 0)
	}
	return out, err
}

// ofNothing is nanquantile and nanmedian of an array without elements: NumPy's nanmean of it,
// which has no axis for the quantiles.
func ofNothing(site graph.Site, name string, n *graph.Node, q []float64, o QuantileOptions) (*graph.Node, error) {
	m := &graph.Maker{Site: site}
	if n.DType.Kind() < dtype.KindFloat {
		n = m.Cast(n, dtype.Float64)
	}
	s, err := quantiles(n, q, false, o)
	if err != nil {
		return nil, graph.Reject(site, name, err, n)
	}
	shape := s.keptShape()
	if o.KeepDims {
		shape = slices.Clone(n.Shape)
		for _, a := range s.Axes {
			shape[a] = 1
		}
	}
	return m.Full(dtype.FromFloat(n.DType, math.NaN()), shape...), m.Err
}

// counted reports quantiles that are found by counting: of what is too long for a task, and
// of lines that lie in the input in short tiles, where counting moves little compared with it.
func (s Quantiles) counted() bool {
	if s.count()*s.item() > rowBytes {
		return true
	}
	box := slab(s.Shape, s.Axes, s.item())
	return scattered(box, s.Shape, s.item()) && newSearch(s).overhead() <= 0.1
}

// Median is NumPy's median.
func Median(site graph.Site, n *graph.Node, o QuantileOptions) (*graph.Node, error) {
	name := "median"
	if o.SkipNaN {
		name = "nanmedian"
	}
	o.Method = middle
	if n.DType == dtype.Bool { // true counts one
		var err error
		if n, err = graph.AsType(site, n, dtype.Uint8); err != nil {
			return nil, err
		}
	}
	return Quantile(site, name, n, []float64{0.5}, false, o)
}

func quantiles(n *graph.Node, q []float64, list bool, o QuantileOptions) (s Quantiles, err error) {
	if err := o.Method.check(); err != nil {
		return s, err
	}
	axes, err := grid.Axes(o.Axes, len(n.Shape))
	if err != nil {
		return s, err
	}
	for _, v := range q {
		if !(v >= 0 && v <= 1) {
			return s, fmt.Errorf("the quantile %g is not between 0 and 1", v)
		}
	}
	switch {
	case o.Weights != nil && o.Method == middle:
		return s, errors.New("weighs all elements alike: a quantile of 0.5 by the method inverted_cdf takes weights")
	case o.Weights != nil && o.Weights.DType.Kind() == dtype.KindComplex:
		return s, errors.New("weights are real numbers")
	case o.Weights != nil && o.Method != "inverted_cdf":
		return s, fmt.Errorf("the method %q takes no weights: inverted_cdf does", o.Method)
	case n.DType.Kind() == dtype.KindComplex:
		return s, fmt.Errorf("takes real numbers, not %s", n.DType)
	case n.DType == dtype.Bool && !o.Method.discrete():
		return s, errors.New("bools have none in between: AsType first")
	}
	s = Quantiles{Shape: n.Shape, Axes: axes, Type: n.DType, Q: q, Method: o.Method, SkipNaN: o.SkipNaN, Out: o.Method.result(n.DType, list)}
	if s.count() == 0 && (o.Method != middle && !o.SkipNaN || s.Out.Kind() != dtype.KindFloat) {
		return s, fmt.Errorf("shape %s has no elements to take it of", grid.Format(n.Shape))
	}
	return s, nil
}

// Quantiles sorts what is reduced in memory. Its result has an axis for the quantiles,
// and those that are kept.
type Quantiles struct {
	Shape   []int
	Axes    []int // that are reduced
	Type    dtype.Type
	Q       []float64
	Method  Method
	SkipNaN bool
	Out     dtype.Type
	// Shares is the type in which shares of the weights are compared with quantiles; Invalid:
	// the elements weigh alike.
	Shares dtype.Type `json:",omitempty"`
}

// weighted reports elements that have weights.
func (s Quantiles) weighted() bool { return s.Shares != dtype.Invalid }

// item is the bytes of an element on its way to a quantile: with its weight where it has one.
func (s Quantiles) item() int {
	if s.weighted() {
		return int(unsafe.Sizeof(pair{}))
	}
	return s.Type.Size()
}

// kept are the axes that are not reduced.
func (s Quantiles) kept() (axes []int) {
	for d := range s.Shape {
		if !slices.Contains(s.Axes, d) {
			axes = append(axes, d)
		}
	}
	return axes
}

// shape is the result's.
func (s Quantiles) shape() []int {
	shape := []int{len(s.Q)}
	for _, d := range s.kept() {
		shape = append(shape, s.Shape[d])
	}
	return shape
}

// keptShape is the result's without its quantiles.
func (s Quantiles) keptShape() []int { return s.shape()[1:] }

// count is the number of elements of one result.
func (s Quantiles) count() int {
	n := 1
	for _, a := range s.Axes {
		n *= s.Shape[a]
	}
	return n
}

// Chunks are all quantiles of as many neighbours as make some megabytes.
func (s Quantiles) Chunks() []int {
	box := slab(s.Shape, s.Axes, s.item())
	chunks := []int{len(s.Q)}
	for _, d := range s.kept() {
		chunks = append(chunks, box[d])
	}
	return chunks
}

// read is the box of the input for one of the result.
func (s Quantiles) read(box grid.Box) grid.Box {
	b := grid.Box{Start: make([]int, len(s.Shape)), Shape: slices.Clone(s.Shape)}
	for i, d := range s.kept() {
		b.Start[d], b.Shape[d] = box.Start[i+1], box.Shape[i+1]
	}
	return b
}

// Requirements is the box of the input twice, and a line.
func (s Quantiles) Requirements(box []int) blockwise.Requirements {
	read := s.read(grid.Entire(box)).Shape
	bytes := blockwise.Aligned(grid.Size(read) * s.Type.Size())
	n := blockwise.Requirements{Reads: [][]int{read}, Scratch: bytes + blockwise.Aligned(s.count()*s.Type.Size())}
	if !s.together() {
		n.Scratch += bytes
	}
	return n
}

// together reports that what is reduced lies together.
func (s Quantiles) together() bool { return s.Axes[0] == len(s.Shape)-len(s.Axes) }

// Fill sorts the lines of the box.
func (s Quantiles) Fill(ctx context.Context, t *blockwise.Task) error {
	read := s.read(t.Box)
	bytes := read.Size() * s.Type.Size()
	in, line := t.Scratch[:bytes], t.Scratch[blockwise.Aligned(bytes):]
	return t.ComputeFrom(ctx, 0, read, in, func() error {
		if !s.together() {
			all := line[:bytes]
			line = line[blockwise.Aligned(bytes):]
			order := append(s.kept(), s.Axes...)
			strides := grid.Strides(read.Shape)
			shape, from := make([]int, len(order)), make([]int, len(order))
			for i, d := range order {
				shape[i], from[i] = read.Shape[d], strides[d]
			}
			kernel.Copy(s.Type.Size(), shape, all, 0, grid.Strides(shape), in, 0, from)
			in = all
		}
		kernel.BySize(s.Type.Size(), sortQuantiles[uint8], sortQuantiles[uint16], sortQuantiles[uint32], sortQuantiles[uint64])(s, t.Dst, in, line)
		return nil
	})
}

// sortQuantiles takes the quantiles of lines that follow each other.
func sortQuantiles[W word](s Quantiles, dst, elements, room []byte) {
	in, work := view[W](elements), view[W](room)
	c := classOf(s.Type)
	n := s.count()
	lines := len(in) / n
	for i := range lines {
		line := in[i*n:][:n]
		encode(c, line, line, 0, 1, n)
		line = sortWords(line, work[:n], 0)
		valid := n
		if c.kind == dtype.KindFloat { // NaN is the largest key
			valid, _ = slices.BinarySearch(line, ^W(0))
		}
		for k, q := range s.Q {
			out := dst[(k*lines+i)*s.Out.Size():]
			if valid == 0 || valid < n && !s.SkipNaN {
				dtype.FromFloat(s.Out, math.NaN()).Put(out)
				continue
			}
			low, high, part := s.Method.at(int64(valid), q)
			s.put(c, out, uint64(line[low]), uint64(line[high]), part)
		}
	}
}

// put writes the quantile between two keys.
func (s Quantiles) put(c class, dst []byte, low, high uint64, part float64) {
	a, b := valueOf(c, s.Type, low), valueOf(c, s.Type, high)
	if s.Method.discrete() {
		a.Put(dst)
		return
	}
	dtype.FromFloat(s.Out, s.Method.between(a.Float(), b.Float(), part)).Put(dst)
}

// valueOf is the element of a key.
func valueOf(c class, t dtype.Type, key uint64) dtype.Value {
	return dtype.Value{Type: t, Lo: kernel.BySize(t.Size(), decoded[uint8], decoded[uint16], decoded[uint32], decoded[uint64])(c, key)}
}

func decoded[W word](c class, key uint64) uint64 {
	k := [1]W{W(key)}
	decode(c, k[:], 0, 1, k[:])
	return uint64(k[0])
}

// KeptAxes are those that are not reduced, behind one for the quantiles.
func (s Quantiles) KeptAxes() []int { return append([]int{-1}, s.kept()...) }
