package graph

import (
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

// Product returns NumPy's matmul: of matrices in the last two axes, the others
// broadcast together; a vector is a row on the left and a column on the right,
// and its axis is gone from the result. Bools give bools: whether any of the
// products is true.
func Product(site Site, a, b *Node) (*Node, error) {
	a, b = Computable(site, a), Computable(site, b)
	return ProductAs(site, a, b, dtype.Promote(a.DType, b.DType))
}

// ProductAs returns the product of both matrices in type t, as NumPy's matmul with a dtype:
// of what AsType makes of them. Elements that a product adds up in a wider type than
// their own, as kernel.GemmWidens says, stay as they are until they are multiplied.
func ProductAs(site Site, a, b *Node, t dtype.Type) (*Node, error) {
	out, err := product(site, a, b, t, 0)
	if err != nil {
		return nil, reject(site, "matmul", err, a, b)
	}
	return out, nil
}

// SumOfProducts is ProductAs, summed along so many axes before the last two, which have
// the same lengths in both.
func SumOfProducts(site Site, a, b *Node, t dtype.Type, summed int) (*Node, error) {
	out, err := product(site, a, b, t, summed)
	if err != nil {
		return nil, reject(site, "matmul", err, a, b)
	}
	return out, nil
}

func product(site Site, a, b *Node, result dtype.Type, summed int) (*Node, error) {
	if len(a.Shape) == 0 || len(b.Shape) == 0 {
		return nil, fmt.Errorf("shapes %s and %s: a scalar is no matrix, multiply it with Mul", grid.Format(a.Shape), grid.Format(b.Shape))
	}
	if result.StorageOnly() {
		return nil, errStorageOnly(result)
	}
	a, b = Computable(site, a), Computable(site, b)
	left, right := a, b
	var err error
	if len(a.Shape) == 1 {
		if left, err = ExpandDims(site, a, 0); err != nil {
			return nil, err
		}
	}
	if len(b.Shape) == 1 {
		if right, err = ExpandDims(site, b, 1); err != nil {
			return nil, err
		}
	}
	l, r := left.Shape, right.Shape
	if k, rows := l[len(l)-1], r[len(r)-2]; k != rows {
		return nil, fmt.Errorf("shapes %s and %s do not align: %d columns meet %d rows", grid.Format(a.Shape), grid.Format(b.Shape), k, rows)
	}
	stackL, stackR := len(l)-2-summed, len(r)-2-summed
	if stackL < 0 || stackR < 0 || !slices.Equal(l[stackL:len(l)-2], r[stackR:len(r)-2]) {
		return nil, fmt.Errorf("shapes %s and %s are not alike in %d axes before the last two", grid.Format(a.Shape), grid.Format(b.Shape), summed)
	}
	shape, err := grid.Broadcast(l[:stackL], r[:stackR])
	if err != nil {
		return nil, fmt.Errorf("shapes %s and %s: their stacks do not broadcast together", grid.Format(a.Shape), grid.Format(b.Shape))
	}
	shape = append(slices.Clone(shape), l[len(l)-2], r[len(r)-1])
	switch t := dtype.Promote(a.DType, b.DType); {
	case !result.Known():
		return nil, checkType(result)
	case dtype.Promote(t, result) != result:
		return nil, fmt.Errorf("a product of %s %s and %s %s in %s may lose what they hold: convert them with AsType first, where that is meant",
			a.DType, grid.Format(a.Shape), b.DType, grid.Format(b.Shape), result)
	}
	if err := grid.Check(shape, result.Size()); err != nil {
		return nil, err
	}
	computed := result
	if result == dtype.Bool {
		computed = dtype.Int64 // counts the true products
	}
	if left, right, err = factors(site, left, right, computed); err != nil {
		return nil, err
	}
	var out = &Node{Kind: MatMul, Shape: shape, DType: computed, In: []*Node{left, right}, Summed: summed, Site: site}
	if out, err = cast(site, out, result); err != nil {
		return nil, err
	}
	var drop []int
	if len(a.Shape) == 1 {
		drop = append(drop, len(shape)-2)
	}
	if len(b.Shape) == 1 {
		drop = append(drop, len(shape)-1)
	}
	if len(drop) == 0 {
		return out, nil
	}
	return Squeeze(site, out, drop...)
}

// factors are both sides of a product in one type: that of the result, or the narrower
// one in which they are read where the kernel adds up in the result's.
func factors(site Site, a, b *Node, result dtype.Type) (*Node, *Node, error) {
	of := func(n *Node) *Node {
		if n.Kind == Cast && n.DType == result {
			return n.In[0]
		}
		return n
	}
	t := result
	x, y := of(a), of(b)
	if p := dtype.Promote(x.DType, y.DType); kernel.GemmWidens(p, result) && (p.Integer() || x.DType == y.DType) {
		a, b, t = x, y, p
	}
	a, err := cast(site, a, t)
	if err != nil {
		return nil, nil, err
	}
	b, err = cast(site, b, t)
	return a, b, err
}
