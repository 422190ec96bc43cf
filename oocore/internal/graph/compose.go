package graph

import (
	"fmt"
	"math"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

// Clip is NumPy's: not below low and not above high, each of which may be nil.
// Weak bounds beyond the range of an integer type bound nothing on their side.
func Clip(site Site, n, low, high *Node) (*Node, error) {
	for i, bound := range []*Node{low, high} {
		if bound == nil {
			continue
		}
		if bound.Weak && bound.DType.Integer() && n.DType.Integer() && !n.DType.Fits(bound.Value.Int()) {
			// The nearest value that the type has clips as the bound would.
			sign := +1
			if bound.Value.Int() < 0 {
				sign = -1
			}
			v := extremeOf(n.DType, sign)
			bound = &Node{Kind: Constant, Shape: []int{}, DType: v.Type, Value: v, Site: site}
		}
		var err error
		if n, err = Apply(site, [2]kernel.Op{kernel.Maximum, kernel.Minimum}[i], n, bound); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// maxDecimals is the exponent of the largest power of ten that is a float64.
const maxDecimals = 308

// Round returns NumPy's round: to nearest, ties to even, after scaling by a power of
// ten. Integers are rejected a negative number of decimals. Complex numbers have it in
// op/elements.
func Round(site Site, n *Node, decimals int) (*Node, error) {
	if n.DType.Integer() && decimals >= 0 {
		return n, nil
	}
	if n.DType.Kind() <= dtype.KindInt && decimals < 0 {
		return nil, reject(site, "round", fmt.Errorf("%s has no decimals to round: AsType first", n.DType), n)
	}
	if decimals == 0 {
		return Apply(site, kernel.Rint, n)
	}
	if decimals < -maxDecimals || decimals > maxDecimals {
		return nil, reject(site, "round", fmt.Errorf("%d decimals are beyond what floats have: give %d to %d", decimals, -maxDecimals, maxDecimals), n)
	}
	// Powers of ten are exact in float64, and NumPy divides by that of a negative.
	scale, there, back := math.Pow(10, math.Abs(float64(decimals))), kernel.Multiply, kernel.Divide
	if decimals < 0 {
		there, back = back, there
	}
	m := Maker{Site: site}
	by := m.Number(scale)
	scaled := m.Apply(there, n, by)
	return m.Apply(back, m.Apply(kernel.Rint, scaled), by), m.Err
}
