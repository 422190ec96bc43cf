package signal

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// cosines are windows that are sums of cosines, by SciPy's names.
var cosines = map[string][]float64{
	"boxcar":         {1},
	"hann":           {0.5, 0.5},
	"hamming":        {0.54, 0.46},
	"blackman":       {0.42, 0.5, 0.08},
	"nuttall":        {0.3635819, 0.4891775, 0.1365995, 0.0106411},
	"blackmanharris": {0.35875, 0.48829, 0.14128, 0.01168},
	"flattop":        {0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368},
}

// shaped is SciPy's get_window: the weights of a symmetric window of n elements by its name.
func shaped(name string, n int) ([]float64, error) {
	beta, is := strings.CutPrefix(name, "kaiser,")
	factors := cosines[name]
	var shape float64
	var err error
	if is {
		shape, err = strconv.ParseFloat(strings.TrimSpace(beta), 64)
	}
	if err != nil || !is && factors == nil || math.IsNaN(shape) || math.Abs(shape) > 700 {
		return nil, fmt.Errorf("the window %q is unknown: use %s or, with its beta, %q", name, strings.Join(slices.Sorted(maps.Keys(cosines)), ", "), "kaiser,5.0")
	}
	last := float64(n - 1)
	weights := make([]float64, n)
	for i := range weights {
		at := 0.0 // from the middle, the ends being -1 and 1
		if last > 0 {
			at = 2*float64(i)/last - 1
		}
		if is {
			weights[i] = bessel(shape*math.Sqrt(max(1-at*at, 0))) / bessel(shape)
		}
		for k, a := range factors {
			weights[i] += a * math.Cos(float64(k)*math.Pi*at)
		}
	}
	return weights, nil
}

// bessel is the modified Bessel function of order zero by its power series, all of whose terms are positive.
func bessel(x float64) float64 {
	sum, term := 1.0, 1.0
	for k := 1.0; term > sum*0x1p-54; k++ {
		term *= x / (2 * k) * x / (2 * k)
		sum += term
	}
	return sum
}
