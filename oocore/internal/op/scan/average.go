package scan

import (
	"math"

	"github.com/gonbext/gonbext/oocore/dtype"
)

// average is pandas' ewm(adjust=False).mean() of the elements of a line from somewhere on. The mean at an element
// is (f·before + alpha·element) / (f + alpha), where f is 1 - alpha to the power of how many elements ago the last number
// was. So a line's mean is factor·first + rest, where first is the mean at its first number, which is that number
// itself unless there were numbers before; place is how many elements that was in, and gap how many the last is ago.
type average []float64

const (
	firstAt = iota
	factorAt
	restAt
	placeAt
	gapAt
	averageWords
)

// noAverage is the state before the first number.
var noAverage = [averageWords]float64{math.NaN(), 1, 0, nothing, 0}

// mean is NaN before the first number. An infinite one stays, also where its factor has become 0.
func (a average) mean() float64 {
	if math.IsInf(a[firstAt], 0) {
		return a[firstAt] + a[restAt]
	}
	return a[factorAt]*a[firstAt] + a[restAt]
}

// weights are those of the mean before and of a number so many elements after its last one.
func (s Scan) weights(gap float64) (before, number float64) {
	alpha := s.Numbers[0]
	f := 1 - alpha
	if gap != 1 {
		f = math.Pow(f, gap)
	}
	return f / (f + alpha), alpha / (f + alpha)
}

// passAverage has a go on through what b says of the elements after it.
func (s Scan) passAverage(a, b average) {
	if b[placeAt] == nothing {
		a[gapAt] += b[gapAt]
		return
	}
	if a[placeAt] < nothing {
		before, number := s.weights(a[gapAt] + b[placeAt])
		b[firstAt] = before*a.mean() + number*b[firstAt]
	}
	copy(a, b)
}

func runAverage[T dtype.Element](s Scan, dst, src []byte, cols, skip int, state []byte, wide func(T) float64, narrow func(float64) T) {
	states := dtype.Slice[float64](state)
	rows(dtype.Slice[T](dst), dtype.Slice[T](src), cols, skip, func(dst, src []T) {
		for c, x := range src {
			a, v := average(states[c*averageWords:][:averageWords]), wide(x)
			if a[gapAt]++; v == v {
				if a[placeAt] == nothing {
					a[firstAt], a[placeAt] = v, a[gapAt]
				} else {
					before, number := s.weights(a[gapAt])
					a[factorAt], a[restAt] = before*a[factorAt], before*a[restAt]+number*v
				}
				a[gapAt] = 0
			}
			if dst != nil {
				dst[c] = narrow(a.mean())
			}
		}
	})
}
