package order

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
)

// Method is how a quantile that lies between two elements is taken of them: NumPy's
// names. See R. J. Hyndman and Y. Fan, Sample Quantiles in Statistical Packages, The
// American Statistician 50(4), 1996.
type Method string

// middle is the median: the middle element, or the mean of the middle two.
const middle Method = "median"

// continuous are those methods that are given by two numbers, alpha and beta.
var continuous = map[Method][2]float64{
	"interpolated_inverted_cdf": {0, 1}, "hazen": {0.5, 0.5}, "weibull": {0, 0},
	"median_unbiased": {1 / 3.0, 1 / 3.0}, "normal_unbiased": {3 / 8.0, 3 / 8.0},
}

var otherMethods = []Method{"linear", "lower", "higher", "nearest", "midpoint", "inverted_cdf", "averaged_inverted_cdf", "closest_observation"}

// check rejects a method that there is not.
func (m Method) check() error {
	if _, ok := continuous[m]; ok || m == middle || slices.Contains(otherMethods, m) {
		return nil
	}
	names := []string{}
	for _, o := range otherMethods {
		names = append(names, string(o))
	}
	for o := range continuous {
		names = append(names, string(o))
	}
	slices.Sort(names)
	return fmt.Errorf("the method %q is unknown: use one of %s", m, strings.Join(names, ", "))
}

// discrete reports a method that gives one of the elements.
func (m Method) discrete() bool {
	switch m {
	case "lower", "higher", "nearest", "inverted_cdf", "closest_observation":
		return true
	}
	return false
}

// at is which elements of n in their order the quantile is taken of, and how far it is
// from the first of them to the second.
func (m Method) at(n int64, q float64) (low, high int64, part float64) {
	last := float64(n - 1)
	count := float64(n)
	one := func(f float64) (int64, int64, float64) {
		i := int64(min(max(f, 0), last))
		return i, i, 0
	}
	var at float64
	switch m {
	case middle:
		return (n - 1) / 2, n / 2, 0.5
	case "lower":
		return one(math.Floor(last * q))
	case "higher":
		return one(math.Ceil(last * q))
	case "nearest":
		return one(math.RoundToEven(last * q))
	case "inverted_cdf":
		return one(math.Ceil(count*q - 1))
	case "closest_observation":
		at = count*q - 1.5
		if f := math.Floor(at); at == f && math.Mod(math.Abs(f), 2) == 1 {
			return one(f)
		}
		return one(math.Floor(at) + 1)
	case "linear":
		at = last * q
		part = at - math.Floor(at)
	case "midpoint":
		at = 0.5 * (math.Floor(last*q) + math.Ceil(last*q))
		if at != math.Floor(at) {
			part = 0.5
		}
	case "averaged_inverted_cdf":
		at = count*q - 1
		if part = 1; at == math.Floor(at) {
			part = 0.5
		}
	default:
		c := continuous[m]
		at = count*q + (c[0] + q*(1-c[0]-c[1])) - 1
		part = at - math.Floor(at)
	}
	switch {
	case at >= last:
		return n - 1, n - 1, 0
	case at < 0:
		return 0, 0, 0
	}
	low = int64(math.Floor(at))
	return low, low + 1, part
}

// between is the value at a part of the way from a to b. From one number to an equal
// one there is no way, also where they are infinite.
func (m Method) between(a, b, part float64) float64 {
	switch {
	case a == b:
		return a
	case m == middle:
		if mean := (a + b) / 2; !math.IsInf(mean, 0) {
			return mean
		}
		return a/2 + b/2
	}
	d := b - a
	if part >= 0.5 {
		return b - d*(1-part)
	}
	return a + d*part
}

// result is the type of quantiles of elements of type t. A list of them is NumPy's of
// float64, and so not of a shorter float.
func (m Method) result(t dtype.Type, list bool) dtype.Type {
	switch {
	case m.discrete():
		return t
	case t.Kind() != dtype.KindFloat || list:
		return dtype.Float64
	}
	return t
}
