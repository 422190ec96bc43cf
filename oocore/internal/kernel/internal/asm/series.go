package main

import (
	"math"
	"math/big"
	"sync"
)

// real is a number of high precision.
type real = *big.Float

func newReal() real              { return new(big.Float).SetPrec(precision) }
func realOf(f float64) real      { return newReal().SetFloat64(f) }
func fractionOf(a, b int64) real { return newReal().Quo(newReal().SetInt64(a), newReal().SetInt64(b)) }

// series is a power series: its coefficients, lowest power first.
type series func(k int64) real

const seriesTerms = 400

// economize is the polynomial of a degree that interpolates a power series
// between low and high at Chebyshev's points: its greatest error is within a
// small factor of the least possible one. The coefficients are rounded to
// float64 at the end.
func economize(s series, low, high float64, degree int) []float64 {
	return economizeAt(s, 0, low, high, degree)
}

// economizeAt is of a series in powers of x less a centre.
func economizeAt(s series, centre, low, high float64, degree int) []float64 {
	var out []float64
	for _, v := range interpolate(s.at(centre), low, high, degree, 1) {
		out = append(out, float(v))
	}
	return out
}

// at is the series' value, of powers of x less a centre.
func (s series) at(centre float64) func(x real) real {
	coefficients := make([]real, seriesTerms)
	for k := range coefficients {
		coefficients[k] = s(int64(k))
	}
	return func(x real) real {
		y, d := newReal(), newReal().Sub(x, realOf(centre))
		for k := seriesTerms - 1; k >= 0; k-- {
			y.Add(y.Mul(y, d), coefficients[k])
		}
		return y
	}
}

// interpolate is the polynomial that is f at Chebyshev's points between low and high,
// which a power above one draws towards low.
func interpolate(f func(x real) real, low, high float64, degree int, power float64) []real {
	n := degree + 1
	points, divided := make([]real, n), make([]real, n)
	for i := range n {
		c := math.Cos(math.Pi * (float64(i) + 0.5) / float64(n))
		// Rounded, so that no machine's cosine shows.
		points[i] = realOf(float64(float32(low + (high-low)*math.Pow((1+c)/2, power))))
		divided[i] = f(points[i])
	}
	for j := 1; j < n; j++ { // Newton's divided differences
		for i := n - 1; i >= j; i-- {
			divided[i] = newReal().Quo(newReal().Sub(divided[i], divided[i-1]), newReal().Sub(points[i], points[i-j]))
		}
	}
	out := make([]real, n)
	for i := range out {
		out[i] = newReal()
	}
	for i := n - 1; i >= 0; i-- { // out = out·(x - point) + divided
		for k := n - 1; k >= 0; k-- {
			v := newReal().Neg(newReal().Mul(out[k], points[i]))
			if k > 0 {
				v.Add(v, out[k-1])
			}
			out[k] = v
		}
		out[0].Add(out[0], divided[i])
	}
	return out
}

// inverseFactorial is 1/n!.
func inverseFactorial(n int64) real {
	if inverseFactorials[n] == nil {
		inverseFactorials[n] = newReal().Quo(realOf(1), newReal().SetInt(new(big.Int).MulRange(1, n)))
	}
	return newReal().Set(inverseFactorials[n])
}

var inverseFactorials = map[int64]real{}

func alternating(k int64, x real) real {
	if k%2 == 1 {
		return newReal().Neg(x)
	}
	return x
}

// ln is of a number from ½ to 2, by the series of artanh.
func ln(x real) real {
	s := newReal().Quo(newReal().Sub(x, realOf(1)), newReal().Add(x, realOf(1)))
	square, power, y := newReal().Mul(s, s), newReal().Mul(s, realOf(2)), newReal()
	for k := int64(0); k < seriesTerms; k++ {
		y.Add(y, newReal().Quo(power, newReal().SetInt64(2*k+1)))
		power.Mul(power, square)
	}
	return y
}

// ln2 and ln10 are natural logarithms.
func ln2() real { return newReal().Set(knownLn2()) }

var knownLn2 = sync.OnceValue(func() real { return ln(realOf(2)) })

func ln10() real {
	return newReal().Add(newReal().Mul(realOf(3), ln2()), ln(realOf(1.25)))
}

func inverse(x real) real { return newReal().Quo(realOf(1), x) }

// precision of numbers suffices for the bits of 2/π that float64 reaches.
const precision = 1400

// pi is Machin's formula: 16·arctan(1/5) - 4·arctan(1/239).
func pi() *big.Float { return new(big.Float).Set(knownPi()) }

var knownPi = sync.OnceValue(func() *big.Float {
	arctan := func(n int64) *big.Float {
		power := new(big.Float).SetPrec(precision).Quo(big.NewFloat(1).SetPrec(precision), new(big.Float).SetInt64(n))
		sum := new(big.Float).SetPrec(precision)
		for k := int64(0); k < precision; k++ {
			term := new(big.Float).Quo(power, new(big.Float).SetInt64(2*k+1))
			if k%2 == 1 {
				term.Neg(term)
			}
			sum.Add(sum, term)
			power.Quo(power, new(big.Float).SetInt64(n*n))
		}
		return sum
	}
	a := new(big.Float).Mul(big.NewFloat(16), arctan(5))
	return a.Sub(a, new(big.Float).Mul(big.NewFloat(4), arctan(239)))
})

func twoOverPi() *big.Float {
	return new(big.Float).SetPrec(precision).Quo(big.NewFloat(2).SetPrec(precision), pi())
}

func float(x *big.Float) float64 {
	f, _ := x.Float64()
	return f
}

// quotientOf is the series of one series over another that begins with one.
func quotientOf(a, b series) series {
	var terms []real
	return func(k int64) real {
		for n := int64(len(terms)); n <= k; n++ {
			c := newReal().Set(a(n))
			for j := range n {
				c.Sub(c, newReal().Mul(terms[j], b(n-j)))
			}
			terms = append(terms, c)
		}
		return terms[k]
	}
}
