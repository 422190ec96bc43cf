package kernel

import "math"

// pow is x to the power of y. math.Pow multiplies repeatedly, and loses digits
// in proportion to y; here the logarithm has twice the digits of a float64, so
// that as many of the result are right as the exponential has.
func pow(x, y float64) float64 {
	switch {
	case y == 2:
		return x * x
	case x == 0, x == 1, y == 0, x-x != 0, y-y != 0:
		return math.Pow(x, y) // by definition, not by computation
	}
	sign := 1.0
	if x < 0 {
		if y != math.Trunc(y) {
			return math.NaN()
		}
		if math.Abs(y) < 1<<53 && int64(y)&1 != 0 {
			sign = -1
		}
	}
	l := logarithm(math.Abs(x))
	hi := l.hi * y
	switch {
	case hi > 710:
		return sign * math.Inf(1)
	case hi < -746:
		return sign * 0
	}
	lo := math.FMA(l.hi, y, -hi) + l.lo*y
	if math.Abs(hi) < 700 {
		e := math.Exp(hi)
		return sign * (e + e*lo)
	}
	// Neither a large nor a subnormal result is to be rounded on the way.
	e := math.Exp(hi / 2)
	return sign * (e * (e + e*lo))
}

// double is a number of two float64, hi + lo, with |lo| at most half a unit in
// the last place of hi.
type double struct{ hi, lo float64 }

// sum adds exactly but for the low parts; the larger is first.
func (x double) sum(y double) double {
	s := x.hi + y.hi
	return renormal(s, y.hi-(s-x.hi)+x.lo+y.lo)
}

func (x double) product(y double) double {
	p := x.hi * y.hi
	return renormal(p, math.FMA(x.hi, y.hi, -p)+x.hi*y.lo+x.lo*y.hi)
}

func renormal(hi, lo float64) double {
	s := hi + lo
	return double{s, lo - (s - hi)}
}

var (
	ln2   = double{math.Ln2, 2.3190468138462996e-17}
	third = double{1.0 / 3, 1.850371707708594e-17}
)

// logarithm is ln of a positive number: with s = (m-1)/(m+1), ln m is
// 2·(s + s³/3 + s⁵/5 + …), of which the first two terms need both parts.
func logarithm(x float64) double {
	m, e := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, e = 2*m, e-1
	}
	n := m - 1 // exact
	d := renormal(1, m)
	if m > 1 {
		d = renormal(m, 1)
	}
	q := n / d.hi
	s := double{q, (math.FMA(-q, d.hi, n) - q*d.lo) / d.hi}
	square := s.product(s)
	z, tail := square.hi, 0.0
	for k := 29.0; k > 3; k -= 2 {
		tail = tail*z + 1/k
	}
	cube := square.product(s)
	series := s.sum(cube.product(third).sum(double{cube.hi * z * tail, 0}))
	series = double{2 * series.hi, 2 * series.lo}
	if e == 0 {
		return series
	}
	f := float64(e)
	return double{ln2.hi, ln2.lo}.product(double{f, 0}).sum(series)
}
