package elements

import (
	"context"
	"fmt"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

func init() { blockwise.Register("divisors", Divisors{}, blockwise.Exact, blockwise.KeepsAxes) }

// DivisorArgs are the arguments of gcd, and of lcm, which is of multiples.
type DivisorArgs struct {
	A, B     *graph.Node
	Multiple bool `usage:"-"`
}

// Common is NumPy's gcd of integers, or its lcm: not negative.
func Common(site graph.Site, a DivisorArgs) (_ *graph.Node, err error) {
	name := map[bool]string{false: "gcd", true: "lcm"}[a.Multiple]
	defer graph.Renamed(&err, site, name, a.A, a.B)
	m := &graph.Maker{Site: site}
	met := m.Apply(kernel.Add, a.A, a.B)
	if m.Err == nil && !met.DType.Integer() {
		return nil, fmt.Errorf("takes integers, not %s", met.DType)
	}
	wide := dtype.Int64
	if met.DType.Kind() == dtype.KindUint {
		wide = dtype.Uint64
	}
	out := m.BroadcastTo(m.Cast(a.A, wide), met.Shape...)
	if grid.Size(met.Shape) > 0 {
		out = m.Blockwise(name, Divisors{Pairs{wide}, a.Multiple}, met.Shape, wide, []*graph.Node{out, m.BroadcastTo(m.Cast(a.B, wide), met.Shape...)})
	}
	return m.Cast(out, met.DType), m.Err
}

// Divisors are greatest common divisors of int64 or uint64, or least common multiples.
type Divisors struct {
	Pairs
	Multiple bool
}

// Fill divides by turns (Euclid's algorithm). Magnitudes are unsigned: the smallest number has none of its own.
func (o Divisors) Fill(ctx context.Context, t *blockwise.Task) error {
	return o.each(ctx, t, func(second []byte) error {
		a, b := dtype.Slice[uint64](t.Dst), dtype.Slice[uint64](second)
		for i, x := range a {
			y := b[i]
			if o.Type == dtype.Int64 {
				x, y = uint64(max(int64(x), -int64(x))), uint64(max(int64(y), -int64(y)))
			}
			d, rest := x, y
			for rest != 0 {
				d, rest = rest, d%rest
			}
			if o.Multiple && d != 0 {
				d = x / d * y
			}
			a[i] = d
		}
		return nil
	})
}
