package graph

import (
	"fmt"
	"math"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

// ReduceOptions are the less common arguments of a reduction.
type ReduceOptions struct {
	Axes     []int      // none: all
	NoAxes   bool       // of no axis: each element is reduced by itself
	KeepDims bool       // reduced axes stay, with length one
	DDof     float64    // of var and std: what is subtracted from the count
	Where    *Node      // elements to include; nil: all
	DType    dtype.Type // computed and returned in; of sum, prod, mean, var and std
	Initial  any        // a number to begin with; of sum, prod, min and max
}

// Aggregate folds an array along axes, as NumPy's reductions do.
//
// With Where, elements that are left out count as the neutral one: 0 for sum, 1
// for prod, and for min and max, which NumPy rejects without an initial value,
// the type's largest and smallest. Initial is joined with the result, in its type.
func Aggregate(site Site, kind kernel.Reduction, n *Node, o ReduceOptions) (*Node, error) {
	out, err := aggregate(site, kind, n, o)
	if err != nil {
		return nil, reject(site, kind.String(), err, n)
	}
	return out, nil
}

func aggregate(site Site, kind kernel.Reduction, n *Node, o ReduceOptions) (*Node, error) {
	if !kind.Known() {
		return nil, fmt.Errorf("is not a reduction: use one by its name, such as Sum")
	}
	if o.Initial != nil && kind.Row().Join == kernel.Invalid {
		return nil, fmt.Errorf("has no use for an Initial, which is sum's, prod's, min's and max's")
	}
	if n.Weak {
		strong := *n
		strong.Weak = false
		n = &strong
	}
	axes, err := grid.Axes(o.Axes, len(n.Shape))
	if err != nil {
		return nil, err
	}
	n = Computable(site, n)
	if o.DType.StorageOnly() {
		return nil, errStorageOnly(o.DType)
	}
	arg := kind == kernel.ArgMin || kind == kernel.ArgMax
	if arg && len(o.Axes) > 1 {
		return nil, fmt.Errorf("takes one axis or none, not %d", len(o.Axes))
	}
	if o.NoAxes {
		if len(o.Axes) > 0 || arg {
			return nil, fmt.Errorf("is not of no axis here: give one, or nothing for all")
		}
		return each(site, kind, n, o)
	}
	if o.DDof != 0 && kind != kernel.Var && kind != kernel.Std {
		return nil, fmt.Errorf("has no use for DDof, which is var's and std's")
	}
	if err := CheckDDof(o.DDof); err != nil {
		return nil, err
	}
	if kind == kernel.Mean && o.DType.Known() && o.DType.Integer() {
		return wholeMean(site, n, o)
	}
	if (kind == kernel.Var || kind == kernel.Std) && o.DType.Known() && o.DType.Integer() && n.DType.Kind() < dtype.KindComplex {
		return wholeVariance(site, kind, n, o)
	}
	if n, err = typed(site, kind, n, o.DType); err != nil {
		return nil, err
	}
	first, err := initial(site, kind, n, o)
	if err != nil {
		return nil, err
	}
	var out *Node
	shape, count := kept(n.Shape, axes)
	switch {
	case first != nil && count == 0:
		out, first = broadcast(site, first, shape), nil
	case o.Where == nil:
		out, err = fold(site, kind, n, axes, o.DDof)
	case kind == kernel.Mean:
		out, err = maskedMean(site, n, o.Where, axes)
	case kind == kernel.Var || kind == kernel.Std:
		out, err = maskedVariance(site, kind, n, o.Where, axes, o.DDof)
	default:
		if n, err = masked(site, kind, n, o.Where); err == nil {
			out, err = fold(site, kind, n, axes, o.DDof)
		}
	}
	if err == nil && o.DType != dtype.Invalid {
		out, err = cast(site, out, o.DType)
	}
	if err == nil && first != nil {
		out, err = Apply(site, kind.Row().Join, out, first)
	}
	if err == nil && o.KeepDims {
		out, err = ExpandDims(site, out, axes...)
	}
	return out, err
}

// each reduces each element by itself, along an axis of length one.
func each(site Site, kind kernel.Reduction, n *Node, o ReduceOptions) (*Node, error) {
	m := Maker{Site: site}
	wide := m.ExpandDims(n, len(n.Shape))
	if o.Where != nil {
		o.Where = m.ExpandDims(m.of(broadcastMask(site, o.Where, n.Shape)), len(n.Shape))
	}
	o.Axes, o.NoAxes, o.KeepDims = []int{len(n.Shape)}, false, false
	return m.of(aggregate(site, kind, wide, o)), m.Err
}

// wholeMean is NumPy's mean of a type of integers: the sum in that type, by the number of
// elements, without its fraction.
func wholeMean(site Site, n *Node, o ReduceOptions) (*Node, error) {
	m := Maker{Site: site}
	included := m.of(foldedCount(site, n, o))
	sum := m.of(aggregate(site, kernel.Sum, n, o))
	return m.of(cast(site, m.Apply(kernel.Divide, sum, included), o.DType)), m.Err
}

// wholeVariance is NumPy's var and std of a type of integers: the mean and the sum of squares in
// that type, and the result without its fraction.
func wholeVariance(site Site, kind kernel.Reduction, n *Node, o ReduceOptions) (*Node, error) {
	m := Maker{Site: site}
	free := m.Apply(kernel.Subtract, m.of(foldedCount(site, n, o)), m.Number(o.DDof))
	free = m.Apply(kernel.Maximum, free, m.Number(0))
	around := o
	around.KeepDims = true
	distance := m.Apply(kernel.Subtract, n, m.of(wholeMean(site, n, around)))
	squares := m.Apply(kernel.Multiply, distance, distance)
	o.DDof = 0
	sum := m.of(aggregate(site, kernel.Sum, squares, o))
	out := m.of(cast(site, m.Apply(kernel.Divide, sum, free), o.DType))
	if kind == kernel.Std {
		out = m.Apply(kernel.Sqrt, out)
	}
	return m.of(cast(site, out, o.DType)), m.Err
}

// foldedCount is how many elements a reduction folds into each of its results, as int64.
func foldedCount(site Site, n *Node, o ReduceOptions) (*Node, error) {
	axes, err := grid.Axes(o.Axes, len(n.Shape))
	if err != nil {
		return nil, err
	}
	if o.Where == nil {
		_, count := kept(n.Shape, axes)
		return &Node{Kind: Constant, Shape: []int{}, DType: dtype.Int64, Value: dtype.ValueOf(int64(count)), Site: site}, nil
	}
	m := Maker{Site: site}
	mask := m.of(broadcastMask(site, o.Where, n.Shape))
	return m.of(aggregate(site, kernel.CountNonzero, mask, ReduceOptions{Axes: axes, KeepDims: o.KeepDims})), m.Err
}

// broadcastMask repeats a mask to the shape of what it selects from.
func broadcastMask(site Site, mask *Node, shape []int) (*Node, error) {
	if _, err := grid.BroadcastTo(mask.Shape, shape); err != nil {
		return nil, fmt.Errorf("the mask's %w", err)
	}
	return broadcast(site, mask, shape), nil
}

// typed brings the input to the type that a reduction is to be computed in.
func typed(site Site, kind kernel.Reduction, n *Node, t dtype.Type) (*Node, error) {
	if t == dtype.Invalid {
		return n, nil
	}
	switch kind {
	case kernel.Sum, kernel.Prod:
	case kernel.Mean, kernel.Var, kernel.Std:
		if t.Known() && t.Kind() < dtype.KindFloat {
			return nil, fmt.Errorf("is computed in floats, not in %s", t)
		}
	default:
		return nil, fmt.Errorf("has no use for a DType: call AsType before or after it")
	}
	return cast(site, n, t)
}

// initial is a number to begin with in the type of the result, and nil for none.
func initial(site Site, kind kernel.Reduction, n *Node, o ReduceOptions) (*Node, error) {
	if o.Initial == nil {
		return nil, nil
	}
	v, _, err := dtype.Scalar(o.Initial)
	if err != nil {
		return nil, err
	}
	t := kind.Result(n.DType)
	if o.DType != dtype.Invalid {
		t = o.DType
	}
	converted, ok := v.Convert(t)
	if beyond := v.Type == dtype.Uint64 && v.Lo > math.MaxInt64; beyond && t.Integer() {
		ok = t == dtype.Uint64
	} else if ok {
		_, err = v.Weaken(t)
	}
	if !ok || err != nil {
		return nil, fmt.Errorf("begins with %v, which is no %s", v, t)
	}
	return &Node{Kind: Constant, Shape: []int{}, DType: t, Value: converted, Site: site}, nil
}

// kept is the shape that a reduction leaves, and how many elements it folds into each.
func kept(lengths, axes []int) (shape []int, count int) {
	shape, count = []int{}, 1
	for d, length := range lengths {
		if slices.Contains(axes, d) {
			count *= length
			continue
		}
		shape = append(shape, length)
	}
	return shape, count
}

// fold makes the node. Axes are sorted and not negative.
func fold(site Site, kind kernel.Reduction, n *Node, axes []int, ddof float64) (*Node, error) {
	shape, count := kept(n.Shape, axes)
	extreme := kind == kernel.Min || kind == kernel.Max || kind == kernel.ArgMin || kind == kernel.ArgMax
	if extreme && count == 0 && grid.Size(shape) > 0 {
		return nil, fmt.Errorf("shape %s has no elements to take it of", grid.Format(n.Shape))
	}
	if _, ok := kernel.NewFolder(kind, n.DType); !ok {
		return nil, fmt.Errorf("is not defined for %s", n.DType)
	}
	return &Node{Kind: Reduce, Shape: shape, DType: kind.Result(n.DType), In: []*Node{n},
		Fold: &Fold{Kind: kind, Axes: axes, DDof: ddof}, Site: site}, nil
}

// masked puts a reduction's neutral element where the mask is false.
func masked(site Site, kind kernel.Reduction, n, mask *Node) (*Node, error) {
	if kind == kernel.Min && n.DType.Kind() == dtype.KindComplex || kind == kernel.Max && n.DType.Kind() == dtype.KindComplex {
		return nil, fmt.Errorf("with Where is not defined for %s", n.DType)
	}
	neutral := dtype.FromInt(n.DType, 0)
	switch kind {
	case kernel.Sum, kernel.Any, kernel.CountNonzero:
	case kernel.Prod, kernel.All:
		neutral = dtype.FromInt(n.DType, 1)
	case kernel.Min:
		neutral = extremeOf(n.DType, +1)
	case kernel.Max:
		neutral = extremeOf(n.DType, -1)
	default:
		return nil, fmt.Errorf("takes no Where: give the elements that do not count another value before")
	}
	if _, err := grid.BroadcastTo(mask.Shape, n.Shape); err != nil {
		return nil, fmt.Errorf("the mask's %w", err)
	}
	other := &Node{Kind: Constant, Shape: []int{}, DType: n.DType, Value: neutral, Site: site}
	return Apply(site, kernel.Where, mask, n, other)
}

// extremeOf is the largest (sign +1) or smallest (-1) value of a real type.
func extremeOf(t dtype.Type, sign int) dtype.Value {
	switch t.Kind() {
	case dtype.KindFloat:
		return dtype.FromFloat(t, math.Inf(sign))
	case dtype.KindInt:
		largest := int64(math.MaxInt64) >> (64 - 8*t.Size())
		if sign < 0 {
			return dtype.FromInt(t, -largest-1)
		}
		return dtype.FromInt(t, largest)
	}
	if sign < 0 {
		return dtype.FromInt(t, 0)
	}
	return dtype.FromInt(t, -1) // all bits of an unsigned integer; true of a bool
}

// maskedMean is the sum over the mask by the number of elements in it: 0/0 = NaN
// where there are none, as NumPy's.
func maskedMean(site Site, n, mask *Node, axes []int) (*Node, error) {
	result := kernel.Mean.Result(n.DType)
	wide := result
	if wide.Short() {
		wide = dtype.Float32
	}
	m := Maker{Site: site}
	sum := m.of(maskedSum(site, m.of(cast(site, n, wide)), mask, axes))
	count := m.of(maskedCount(site, mask, n.Shape, axes, wide))
	return m.of(cast(site, m.Apply(kernel.Divide, sum, count), result)), m.Err
}

// maskedSum is the sum of the elements in a mask.
func maskedSum(site Site, n, mask *Node, axes []int) (*Node, error) {
	n, err := masked(site, kernel.Sum, n, mask)
	if err != nil {
		return nil, err
	}
	return fold(site, kernel.Sum, n, axes, 0)
}

// maskedCount is the number of elements of a shape that are in a mask.
func maskedCount(site Site, mask *Node, shape, axes []int, t dtype.Type) (*Node, error) {
	m := Maker{Site: site}
	included := m.of(broadcastMask(site, m.of(cast(site, mask, dtype.Bool)), shape))
	return m.of(cast(site, m.of(fold(site, kernel.CountNonzero, included, axes, 0)), t)), m.Err
}

// maskedVariance is the sum of squares of what the elements in the mask are from their
// mean, by their number less ddof, which takes two passes. It is computed in float64.
func maskedVariance(site Site, kind kernel.Reduction, n, mask *Node, axes []int, ddof float64) (*Node, error) {
	m := Maker{Site: site}
	wide := m.of(cast(site, n, dtype.Promote(n.DType, dtype.Float64)))
	included := m.of(cast(site, mask, dtype.Bool))
	mean := m.ExpandDims(m.of(maskedMean(site, wide, included, axes)), axes...)
	squared := m.of(squares(site, m.Apply(kernel.Subtract, wide, mean)))
	out := m.of(maskedSum(site, squared, included, axes))
	count := m.of(maskedCount(site, included, n.Shape, axes, dtype.Float64))
	for _, step := range []struct {
		op kernel.Op
		by float64
	}{{kernel.Subtract, ddof}, {kernel.Maximum, 0}} {
		by := &Node{Kind: Constant, Shape: []int{}, DType: dtype.Float64, Value: dtype.ValueOf(step.by), Site: site}
		count = m.Apply(step.op, count, by)
	}
	out = m.Apply(kernel.Divide, out, count)
	if kind == kernel.Std {
		out = m.Apply(kernel.Sqrt, out)
	}
	return m.of(cast(site, out, kind.Result(n.DType))), m.Err
}

// squares are the squares of magnitudes.
func squares(site Site, n *Node) (*Node, error) {
	if n.DType.Kind() != dtype.KindComplex {
		return Apply(site, kernel.Square, n)
	}
	m := Maker{Site: site}
	var parts [2]*Node
	for i, op := range []kernel.Op{kernel.Real, kernel.Imag} {
		parts[i] = m.Apply(kernel.Square, m.Apply(op, n))
	}
	return m.Apply(kernel.Add, parts[:]...), m.Err
}

// CheckDDof rejects what cannot be subtracted from a count.
func CheckDDof(ddof float64) error {
	if math.IsNaN(ddof) || math.IsInf(ddof, 0) {
		return fmt.Errorf("has a ddof of %v: give a finite number", ddof)
	}
	return nil
}

// Weights brings weights to the shape of the elements that they weigh. They have that
// shape, or that of axes of it, in the order in which those are given.
func (m *Maker) Weights(weights *Node, shape, axes []int) (*Node, error) {
	if slices.Equal(weights.Shape, shape) {
		return weights, m.Err
	}
	if len(axes) == 0 {
		return nil, fmt.Errorf("weights of shape %s are not those of elements of shape %s: give the axes that they are along", grid.Format(weights.Shape), grid.Format(shape))
	}
	if _, err := grid.Axes(axes, len(shape)); err != nil {
		return nil, err
	}
	// The weights' axes in the order of the elements' ones.
	order := make([]int, len(axes))
	var lengths []int
	wide := slices.Repeat([]int{1}, len(shape))
	axes = slices.Clone(axes)
	for i, a := range axes {
		axes[i], _ = grid.Axis(a, len(shape))
		order[i] = i
		lengths = append(lengths, shape[axes[i]])
		wide[axes[i]] = shape[axes[i]]
	}
	if !slices.Equal(weights.Shape, lengths) {
		return nil, fmt.Errorf("weights of shape %s are not those of axes of lengths %s", grid.Format(weights.Shape), grid.Format(lengths))
	}
	slices.SortFunc(order, func(i, k int) int { return axes[i] - axes[k] })
	weights = m.Reshape(m.Transpose(weights, order...), wide...)
	return m.BroadcastTo(weights, shape...), m.Err
}
