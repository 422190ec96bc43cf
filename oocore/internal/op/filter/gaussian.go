package filter

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/op/window"
)

// Gaussian is scipy.ndimage.gaussian_filter: along each axis in turn, the sum with
// weights of a normal distribution of standard deviation sigma, or of its order-th
// derivative, out to truncate standard deviations. Axes of sigma zero are left as they
// are. Lists of one number hold for all axes.
func Gaussian(site graph.Site, a GaussianArgs) (_ *graph.Node, err error) {
	x, sigma, order, truncate, b := a.X, a.Sigmas, a.Orders, cmp.Or(a.Truncate, 4), a.Border
	if order == nil {
		order = []int{0}
	}
	defer graph.Named(&err, site, "gaussian_filter", x)
	if err := summable(x); err != nil {
		return nil, err
	}
	if b.Origin != nil {
		return nil, errors.New("has no origin: its window is symmetric")
	}
	sigma, err = window.Each("sigmas", sigma, len(x.Shape))
	if err != nil {
		return nil, err
	}
	if order, err = window.Each("orders", order, len(x.Shape)); err != nil {
		return nil, err
	}
	if _, err := b.Mode.Parse(); err != nil {
		return nil, err
	}
	for d, s := range sigma {
		radius := truncate*s + 0.5
		switch {
		case !(s >= 0) || !(truncate >= 0):
			return nil, fmt.Errorf("a sigma of %v out to %v of them along axis %d is not a distance", s, truncate, d)
		case order[d] < 0:
			return nil, fmt.Errorf("the order %d along axis %d is negative", order[d], d)
		case order[d] > maxOrder:
			return nil, fmt.Errorf("the order %d along axis %d is more than %d, beyond which float64 has no digits of the weights", order[d], d, maxOrder)
		case s <= 1e-15:
			continue
		case radius > maxRadius:
			return nil, fmt.Errorf("a sigma of %v along axis %d has weights out to %.0f elements, and %d are possible", s, d, radius, maxRadius)
		}
		weights := gaussianWeights(s, order[d], int(radius))
		lo, hi := make([]int, len(x.Shape)), make([]int, len(x.Shape))
		lo[d], hi[d] = int(radius), int(radius)
		w, err := window.Around(x.Shape, x.DType, lo, hi, b)
		if err != nil {
			return nil, err
		}
		args := append([]string{fmt.Sprint(s), fmt.Sprintf("axis %d", d)}, args(b)...)
		if x, err = graph.NewBlockwise(site, "gaussian_filter", DirectConv{Window: w, Weights: weights}, x.Shape, x.DType, []*graph.Node{x}, args...); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// maxRadius bounds the weights of one axis, which are part of a plan.
const maxRadius = 1 << 16

// maxOrder bounds derivatives: the coefficients of the polynomials grow as factorials do.
const maxOrder = 64

// gaussianWeights are those of a correlation. The derivatives of a normal density are
// polynomials times it: each has the one before times -x/σ², and its derivative.
func gaussianWeights(sigma float64, order, radius int) []float64 {
	weights := make([]float64, 2*radius+1)
	total := 0.0
	for i := range weights {
		x := float64(i - radius)
		weights[i] = math.Exp(-0.5 / (sigma * sigma) * x * x)
		total += weights[i]
	}
	polynomial := []float64{1}
	for range order {
		next := make([]float64, len(polynomial)+1)
		for k, c := range polynomial {
			if k > 0 {
				next[k-1] += float64(k) * c
			}
			next[k+1] -= c / (sigma * sigma)
		}
		polynomial = next
	}
	for i := range weights {
		x := float64(radius - i) // a convolution's weights, reversed
		q := 0.0
		for k := len(polynomial) - 1; k >= 0; k-- {
			q = q*x + polynomial[k]
		}
		weights[i] *= q / total
	}
	return weights
}
