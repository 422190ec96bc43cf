package kernel

import "math"

// power is x to the power of y.
func power(x, y float64) float64 {
	v, rare := formulaPowerFloat64(x, y)
	switch {
	case !rare:
		return v
	case x == 0, x == 1, y == 0, x-x != 0, y-y != 0:
		return math.Pow(x, y) // by definition, not by computation
	case x > 0:
		return formulaPowerWide(x, y)
	case y != math.Trunc(y):
		return math.NaN()
	case math.Abs(y) < 1<<53 && int64(y)&1 != 0:
		return -formulaPowerWide(-x, y)
	}
	return formulaPowerWide(-x, y)
}
