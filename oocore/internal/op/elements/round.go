package elements

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/op"
)

func init() { blockwise.Register("round", Rounded{}, blockwise.KeepsAxes) }

// Round is graph.Round, of complex numbers too: both parts are rounded by themselves, so
// that an infinite one leaves the other as it is.
func Round(site graph.Site, a op.Shifted) (*graph.Node, error) {
	n, decimals := a.X, a.Offset
	if n.DType.Kind() != dtype.KindComplex || decimals == 0 {
		return graph.Round(site, n, decimals)
	}
	if decimals < -308 || decimals > 308 {
		return nil, graph.Reject(site, "round", fmt.Errorf("%d decimals are beyond what floats have: give -308 to 308", decimals), n)
	}
	n, err := graph.AsType(site, n, n.DType)
	if err != nil || grid.Size(n.Shape) == 0 {
		return n, err
	}
	return graph.NewBlockwise(site, "round", Rounded{Type: n.DType, Decimals: decimals}, n.Shape, n.DType, []*graph.Node{n}, strconv.Itoa(decimals))
}

// Rounded rounds the parts of complex numbers.
type Rounded struct {
	Type     dtype.Type
	Decimals int
}

// Requirements is the box of the input, read into the result.
func (o Rounded) Requirements(box []int) blockwise.Requirements {
	return blockwise.Requirements{Reads: [][]int{box}, DisjointReads: true}
}

// Fill rounds each part.
func (o Rounded) Fill(ctx context.Context, t *blockwise.Task) error {
	return t.ComputeFrom(ctx, 0, t.Box, t.Dst, func() error {
		if o.Type == dtype.Complex64 {
			roundParts(dtype.Slice[float32](t.Dst), o.Decimals)
		} else {
			roundParts(dtype.Slice[float64](t.Dst), o.Decimals)
		}
		return nil
	})
}

func roundParts[F float32 | float64](x []F, decimals int) {
	scale := F(math.Pow(10, math.Abs(float64(decimals))))
	for i, v := range x {
		if decimals > 0 {
			x[i] = F(math.RoundToEven(float64(v*scale))) / scale
		} else {
			x[i] = F(math.RoundToEven(float64(v/scale))) * scale
		}
	}
}
