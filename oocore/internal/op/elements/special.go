package elements

import (
	"context"
	"fmt"
	"math"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op"
)

func init() {
	blockwise.Register("special", Special{}, blockwise.KeepsAxes)
	blockwise.Register("ldexp", Scaled{}, blockwise.Exact, blockwise.KeepsAxes)
}

// Special is a function of float64 numbers that the kernels do not have.
type Special struct{ Function string }

// special are the functions of Special.
var special = map[string]func(float64) float64{
	"mantissa": func(x float64) float64 { m, _ := math.Frexp(x); return m },
	"exponent": func(x float64) float64 {
		if math.IsInf(x, 0) || x != x {
			return 0
		}
		_, e := math.Frexp(x)
		return float64(e)
	},
	"i0":       besselI0,
	"erfc":     math.Erfc,
	"gammaln":  func(x float64) float64 { y, _ := math.Lgamma(x); return y },
	"ndtr":     func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 },
	"log_ndtr": logNdtr,
}

// Requirements is the box, which is computed where it is read.
func (o Special) Requirements(box []int) blockwise.Requirements {
	return blockwise.Requirements{Reads: [][]int{box}, DisjointReads: true}
}

// Fill computes the function of each element.
func (o Special) Fill(ctx context.Context, t *blockwise.Task) error {
	f, ok := special[o.Function]
	if !ok {
		return fmt.Errorf("there is no function %q", o.Function)
	}
	return t.ComputeFrom(ctx, 0, t.Box, t.Dst, func() error {
		x := dtype.Slice[float64](t.Dst)
		for i, v := range x {
			x[i] = f(v)
		}
		return nil
	})
}

// of applies a function to real numbers, computed in float64.
func (o Special) of(m *graph.Maker, n *graph.Node) *graph.Node {
	n = m.Cast(n, dtype.Float64)
	return m.Make(func() (*graph.Node, error) {
		if grid.Size(n.Shape) == 0 {
			return n, nil
		}
		return graph.NewBlockwise(m.Site, o.Function, o, n.Shape, dtype.Float64, []*graph.Node{n})
	})
}

// logNdtr is log(ndtr(x)); far below zero by ndtr's series (M. Abramowitz and I. Stegun, Handbook of Mathematical Functions, 26.2.12).
func logNdtr(x float64) float64 {
	switch y := 1 / (x * x); {
	case x > -1:
		return math.Log1p(-math.Erfc(x/math.Sqrt2) / 2)
	case x > -37:
		return math.Log(math.Erfc(-x/math.Sqrt2) / 2)
	default:
		return -x/2*x - math.Log(-x) - math.Log(2*math.Pi)/2 + math.Log1p(-y*(1-y*(3-y*(15-y*105))))
	}
}

// Frexp is NumPy's frexp: mantissas from a half to one, and exponents of two, as int32.
// The exponent of what is not finite is 0.
func Frexp(site graph.Site, a op.Unary) (mantissa, exponent *graph.Node, err error) {
	n := a.X
	if n.DType.Kind() == dtype.KindComplex {
		return nil, nil, graph.Reject(site, "frexp", errComplex, n)
	}
	m := &graph.Maker{Site: site}
	mantissa = m.Cast(Special{"mantissa"}.of(m, n), n.DType.Float())
	exponent = m.Cast(Special{"exponent"}.of(m, n), dtype.Int32)
	return mantissa, exponent, m.Err
}

// Scaled is numbers times two to the power of others.
type Scaled struct{}

// Requirements is the box of both inputs.
func (Scaled) Requirements(box []int) blockwise.Requirements {
	return Pairs{dtype.Float64}.Requirements(box)
}

// Fill scales each element.
func (Scaled) Fill(ctx context.Context, t *blockwise.Task) error {
	return Pairs{}.each(ctx, t, func(by []byte) error {
		x, e := dtype.Slice[float64](t.Dst), dtype.Slice[float64](by)
		for i := range x {
			x[i] = math.Ldexp(x[i], int(e[i]))
		}
		return nil
	})
}

// Ldexp is NumPy's ldexp: numbers times two to the power of integers.
func Ldexp(site graph.Site, a op.Binary) (*graph.Node, error) {
	n, exponent := a.A, a.B
	m := &graph.Maker{Site: site}
	switch {
	case n.DType.Kind() == dtype.KindComplex:
		return nil, graph.Reject(site, "ldexp", errComplex, n, exponent)
	case exponent.DType.Kind() >= dtype.KindFloat || exponent.DType == dtype.Uint64:
		return nil, graph.Reject(site, "ldexp", fmt.Errorf("takes integers up to int64 as exponents, not %s", exponent.DType), n, exponent)
	}
	const most = 5000 // beyond the exponents of all floats
	shape, err := grid.Broadcast(n.Shape, exponent.Shape)
	if err != nil {
		return nil, graph.Reject(site, "ldexp", err, n, exponent)
	}
	by := m.Cast(m.Apply(kernel.Maximum, m.Apply(kernel.Minimum, m.Cast(exponent, dtype.Int64), m.Number(most)), m.Number(-most)), dtype.Float64)
	x, by := m.BroadcastTo(m.Cast(n, dtype.Float64), shape...), m.BroadcastTo(by, shape...)
	out := m.Make(func() (*graph.Node, error) {
		if grid.Size(shape) == 0 {
			return x, nil
		}
		return graph.NewBlockwise(site, "ldexp", Scaled{}, shape, dtype.Float64, []*graph.Node{x, by})
	})
	t := n.DType.Float()
	if n.Weak && !exponent.Weak && n.DType.Kind() < dtype.KindFloat { // the smallest, as NumPy has it
		t = dtype.Float16
	}
	return m.Cast(out, t), m.Err
}

// I0 is NumPy's i0: the modified Bessel function of the first kind and order zero. Floats
// keep their type, of others it is float64.
func I0(site graph.Site, a op.Unary) (*graph.Node, error) {
	n := a.X
	m := &graph.Maker{Site: site}
	t := dtype.Float64
	switch n.DType.Kind() {
	case dtype.KindComplex:
		return nil, graph.Reject(site, "i0", errComplex, n)
	case dtype.KindFloat:
		t = n.DType
	}
	return m.Cast(Special{"i0"}.of(m, n), t), m.Err
}

// besselI0 sums Chebyshev series up to 8 and beyond: C. W. Clenshaw, Chebyshev Series for
// Mathematical Functions, National Physical Laboratory, 1962, with the coefficients of S.
// Moshier's Cephes.
func besselI0(x float64) float64 {
	x = math.Abs(x)
	if x <= 8 {
		return math.Exp(x) * chebyshev(x/2-2, i0Small[:])
	}
	return math.Exp(x) * chebyshev(32/x-2, i0Large[:]) / math.Sqrt(x)
}

func chebyshev(x float64, c []float64) float64 {
	b0, b1, b2 := c[0], 0.0, 0.0
	for _, v := range c[1:] {
		b0, b1, b2 = x*b0-b1+v, b0, b1
	}
	return 0.5 * (b0 - b2)
}

var i0Small = [...]float64{
	-4.4153416464793395e-18, 3.3307945188222384e-17, -2.431279846547955e-16,
	1.715391285555133e-15, -1.1685332877993451e-14, 7.676185498604936e-14,
	-4.856446783111929e-13, 2.95505266312964e-12, -1.726826291441556e-11,
	9.675809035373237e-11, -5.189795601635263e-10, 2.6598237246823866e-09,
	-1.300025009986248e-08, 6.046995022541919e-08, -2.670793853940612e-07,
	1.1173875391201037e-06, -4.4167383584587505e-06, 1.6448448070728896e-05,
	-5.754195010082104e-05, 0.00018850288509584165, -0.0005763755745385824,
	0.0016394756169413357, -0.004324309995050576, 0.010546460394594998,
	-0.02373741480589947, 0.04930528423967071, -0.09490109704804764,
	0.17162090152220877, -0.3046826723431984, 0.6767952744094761,
}

var i0Large = [...]float64{
	-7.233180487874754e-18, -4.830504485944182e-18, 4.46562142029676e-17,
	3.461222867697461e-17, -2.8276239805165836e-16, -3.425485619677219e-16,
	1.7725601330565263e-15, 3.8116806693526224e-15, -9.554846698828307e-15,
	-4.150569347287222e-14, 1.54008621752141e-14, 3.8527783827421426e-13,
	7.180124451383666e-13, -1.7941785315068062e-12, -1.3215811840447713e-11,
	-3.1499165279632416e-11, 1.1889147107846439e-11, 4.94060238822497e-10,
	3.3962320257083865e-09, 2.266668990498178e-08, 2.0489185894690638e-07,
	2.8913705208347567e-06, 6.889758346916825e-05, 0.0033691164782556943,
	0.8044904110141088,
}

// Power is NumPy's power. A negative exponent of integers is an error, which for an array
// of exponents comes when it is computed.
func Power(site graph.Site, a, b *graph.Node) (*graph.Node, error) {
	if dtype.Promote(a.DType, b.DType).Integer() && b.DType.Kind() == dtype.KindInt && b.Kind != graph.Constant {
		m := &graph.Maker{Site: site}
		if b = m.FailIf(m.Apply(kernel.Less, b, m.Number(0)), b, "integers have no negative integer powers: bring either side to float64 with AsType"); m.Err != nil {
			return nil, m.Err
		}
	}
	return graph.Apply(site, kernel.Power, a, b)
}
