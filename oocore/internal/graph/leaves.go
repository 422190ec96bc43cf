package graph

import (
	"fmt"
	"math"
	"math/big"
	"path/filepath"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/store"
)

// Open returns a stored array. name is what titles call it; "" takes the
// file's. The array of a Fortran file is the transpose of what is stored.
func Open(site Site, info store.Info, name string) (*Node, error) {
	if err := grid.Check(info.Shape, info.DType.Size()); err != nil {
		return nil, reject(site, "open", fmt.Errorf("%s: %w", info.Path, err))
	}
	if name == "" {
		name = filepath.Base(info.Path)
	}
	n := &Node{Kind: Source, Shape: info.Shape, DType: info.DType, Name: name, Site: site,
		Stored: &Stored{Info: info, Shape: info.Shape}}
	if info.Fortran {
		return Transpose(site, n)
	}
	return n, nil
}

// Full returns one value, everywhere in a shape.
func Full(site Site, v dtype.Value, shape ...int) (*Node, error) {
	if err := grid.Check(shape, v.Type.Size()); err != nil {
		return nil, reject(site, "full", err)
	}
	return &Node{Kind: Constant, Shape: slices.Clone(shape), DType: v.Type, Value: v, Site: site}, nil
}

// Scalar returns a number of the program: an int, float64 or complex128 is weak and
// takes the type of the array that it meets, others keep theirs. The error, of
// what is no number, does not name an operation yet.
func Scalar(site Site, v any) (*Node, error) {
	value, weak, err := dtype.Scalar(v)
	if err != nil {
		return nil, err
	}
	return &Node{Kind: Constant, Shape: []int{}, DType: value.Type, Value: value, Weak: weak, Site: site}, nil
}

// FromBytes returns an array of the program's own memory: dense, in C order. The bytes
// must not change any more.
func FromBytes(site Site, data []byte, t dtype.Type, shape ...int) (*Node, error) {
	var err error
	if slices.Contains(shape, -1) && t.Size() > 0 {
		shape, err = inferred([]int{len(data) / t.Size()}, shape)
	}
	if err == nil {
		err = grid.Check(shape, t.Size())
	}
	if err == nil && grid.Size(shape)*t.Size() != len(data) {
		err = fmt.Errorf("%d elements do not fill the shape %s", len(data)/t.Size(), grid.Format(shape))
	}
	if err != nil {
		return nil, reject(site, "array", err)
	}
	return &Node{Kind: Inline, Shape: slices.Clone(shape), DType: t, Data: data, Site: site}, nil
}

// Arange counts from start by step up to but not including stop, as NumPy's
// arange. Its type is the one in which the numbers and int64 meet; with a type
// given, the first two elements are of that type, and those after count on.
func Arange(site Site, start, stop, step *Node, as ...dtype.Type) (*Node, error) {
	in := []*Node{start, stop, step}
	t := dtype.PromoteAll(dtype.Int64, start.DType, stop.DType, step.DType)
	if t == dtype.Bool || t.Kind() == dtype.KindComplex {
		return nil, reject(site, "arange", fmt.Errorf("takes integers or floats, not %s", t), in...)
	}
	for _, n := range in {
		if n.Kind != Constant {
			return nil, reject(site, "arange", fmt.Errorf("takes numbers, not arrays"), in...)
		}
	}
	length, ok := countSteps(t, start.Value, stop.Value, step.Value)
	if !ok {
		return nil, reject(site, "arange", fmt.Errorf("from %v to %v by %v has no finite length", start.Value, stop.Value, step.Value))
	}
	first, delta := start.Value, step.Value
	if len(as) > 0 {
		return arangeAs(site, first, delta, length, t, as[0])
	}
	if t.Integer() {
		first, delta = dtype.FromInt(t, first.Int()), dtype.FromInt(t, delta.Int())
	} else {
		// NumPy's step is the difference of the first two elements.
		f := first.Float()
		first, delta = dtype.FromFloat(t, f), dtype.FromFloat(t, f+delta.Float()-f)
	}
	return counting(site, "arange", first, delta, []int{length})
}

// arangeAs counts in a type that the numbers themselves do not have.
func arangeAs(site Site, start, step dtype.Value, length int, from, t dtype.Type) (*Node, error) {
	if !t.Known() || t == dtype.Bool || t.Kind() == dtype.KindComplex || t.StorageOnly() {
		return nil, reject(site, "arange", fmt.Errorf("counts in integers or floats, not in %s", t))
	}
	if from.Integer() && t.Integer() {
		return counting(site, "arange", dtype.FromInt(t, start.Int()), dtype.FromInt(t, step.Int()), []int{length})
	}
	first, second := start.Float(), start.Float()+step.Float()
	if t.Integer() {
		return counting(site, "arange", dtype.FromInt(t, int64(first)), dtype.FromInt(t, int64(second)-int64(first)), []int{length})
	}
	a, b := dtype.FromFloat(t, first), dtype.FromFloat(t, second)
	return counting(site, "arange", a, dtype.FromFloat(t, b.Float()-a.Float()), []int{length})
}

// countSteps is the number of steps from start that stop short of stop.
func countSteps(t dtype.Type, start, stop, step dtype.Value) (int, bool) {
	if !t.Integer() {
		distance := stop.Float() - start.Float()
		if start.Type.Integer() && stop.Type.Integer() { // exact, as Python's integers are
			distance, _ = new(big.Float).Sub(integer(stop), integer(start)).Float64()
		}
		n := math.Ceil(distance / step.Float())
		return int(max(n, 0)), n == n && n < 1<<62 // false also for a step of zero
	}
	a, b, stride := start.Int(), stop.Int(), step.Int()
	rises := a < b
	if t.Kind() == dtype.KindUint {
		rises = uint64(a) < uint64(b)
	}
	distance, by := uint64(b)-uint64(a), uint64(stride)
	if t.Kind() == dtype.KindInt && stride < 0 {
		rises, distance, by = b < a, -distance, -by
	}
	if stride == 0 || !rises {
		return 0, stride != 0
	}
	n := (distance-1)/by + 1
	return int(n), n <= math.MaxInt64
}

// integer is an integer's value.
func integer(v dtype.Value) *big.Float {
	if v.Type == dtype.Uint64 {
		return new(big.Float).SetUint64(v.Lo)
	}
	return new(big.Float).SetInt64(v.Int())
}

// Linspace returns count float64 numbers from start to stop, both included, at equal
// distances.
func Linspace(site Site, start, stop float64, count int) (*Node, error) {
	if count < 0 {
		return nil, reject(site, "linspace", fmt.Errorf("a count of %d is negative", count))
	}
	step := 0.0
	if count > 1 {
		step = (stop - start) / float64(count-1)
	}
	n, err := counting(site, "linspace", dtype.ValueOf(start), dtype.ValueOf(step), []int{count})
	if err != nil || count < 2 || float64(float64(count-1)*step)+start == stop {
		return n, err
	}
	// Rounding missed the end, which is promised to be there.
	m := Maker{Site: site}
	at := m.of(counting(site, "linspace", dtype.ValueOf(int64(0)), dtype.ValueOf(int64(1)), []int{count}))
	last := &Node{Kind: Constant, Shape: []int{}, DType: dtype.Int64, Value: dtype.ValueOf(int64(count - 1)), Site: site}
	end := &Node{Kind: Constant, Shape: []int{}, DType: dtype.Float64, Value: dtype.ValueOf(stop), Site: site}
	return m.Apply(kernel.Where, m.Apply(kernel.Equal, at, last), end, n), m.Err
}

func counting(site Site, op string, first, delta dtype.Value, shape []int) (*Node, error) {
	if err := grid.Check(shape, first.Type.Size()); err != nil {
		return nil, reject(site, op, err)
	}
	return &Node{Kind: Iota, Shape: shape, DType: first.Type, First: first, Delta: delta, Site: site}, nil
}

// Uniform returns random numbers, uniform in [0, 1): an element depends on the seed and its linear
// position alone. The type is float32 or float64: a shorter one would round some to 1.
func Uniform(site Site, t dtype.Type, seed uint64, shape ...int) (*Node, error) {
	if err := CheckType(t, "oocore.Random(oocore.Float64, 1", seed, shape); err != nil {
		return nil, reject(site, "random", err)
	}
	if t.Kind() != dtype.KindFloat {
		return nil, reject(site, "random", fmt.Errorf("gives floats, not %s", t))
	}
	if t.Short() || t.StorageOnly() {
		return nil, reject(site, "random", fmt.Errorf("draws float32 or float64, not %s: call AsType on the result", t))
	}
	if err := grid.Check(shape, t.Size()); err != nil {
		return nil, reject(site, "random", err)
	}
	return &Node{Kind: Random, Shape: slices.Clone(shape), DType: t, Seed: seed, Site: site}, nil
}

// StoredChunks returns the lengths, along the axes of a node, of the chunks of the largest stored
// array that it is computed of element by element; nil where that lies open, or where a view begins
// inside a chunk.
func StoredChunks(root *Node) []int {
	type chunks struct {
		lengths []int
		bytes   int // of the array
	}
	all := map[*Node]chunks{}
	for n := range Nodes(root) {
		var of chunks
		switch n.Kind {
		case Source:
			of.bytes = grid.Size(n.Shape) * n.DType.Size()
			if slices.Equal(n.Shape, n.Stored.Shape) && n.Stored.Info.Chunks != nil {
				of.lengths = grid.Clip(n.Stored.Info.Chunks, n.Shape)
			}
		case Cast, Elementwise:
			for _, in := range n.In {
				if c := all[in]; c.bytes > of.bytes {
					of = c
				}
			}
		case View:
			if of = all[n.In[0]]; of.lengths != nil {
				of.lengths = chunksSeen(n, of.lengths)
			}
		}
		all[n] = of
	}
	return all[root].lengths
}

// chunksSeen are the lengths of chunks through a view; nil where it begins inside of one.
func chunksSeen(n *Node, chunks []int) []int {
	lengths := slices.Clone(n.Shape)
	for d, a := range n.View.Axis {
		if n.View.Step[d] != 1 || n.View.Start[d]%chunks[d] != 0 {
			return nil
		}
		if a >= 0 {
			lengths[a] = min(chunks[d], n.Shape[a])
		}
	}
	return lengths
}
