package fft

import (
	"fmt"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/kernel"
)

// Frequencies is NumPy's fftfreq: those of the n coefficients of a signal that is
// sampled every d, in cycles by the unit of d, float64; computed where it is read.
func Frequencies(site graph.Site, n int, d float64) (*graph.Node, error) {
	at, err := indices(site, "fftfreq", n, n)
	if err != nil {
		return nil, err
	}
	number := func(v int) *graph.Node {
		return &graph.Node{Kind: graph.Constant, Shape: []int{}, DType: dtype.Int64, Value: dtype.ValueOf(int64(v)), Site: site}
	}
	below, err := graph.Apply(site, kernel.Subtract, at, number(n))
	if err != nil {
		return nil, err
	}
	rising, err := graph.Apply(site, kernel.Less, at, number((n-1)/2+1))
	if err != nil {
		return nil, err
	}
	if at, err = graph.Apply(site, kernel.Where, rising, at, below); err != nil {
		return nil, err
	}
	return scaled(site, at, n, d)
}

// RealFrequencies is NumPy's rfftfreq: those of the n/2+1 coefficients that rfft gives.
func RealFrequencies(site graph.Site, n int, d float64) (*graph.Node, error) {
	at, err := indices(site, "rfftfreq", n, n/2+1)
	if err != nil {
		return nil, err
	}
	return scaled(site, at, n, d)
}

func indices(site graph.Site, name string, n, count int) (*graph.Node, error) {
	if n < 1 {
		return nil, graph.Reject(site, name, fmt.Errorf("a transform has at least one element, not %d", n))
	}
	constant := func(v int64) *graph.Node {
		return &graph.Node{Kind: graph.Constant, Shape: []int{}, DType: dtype.Int64, Value: dtype.ValueOf(v), Site: site}
	}
	return graph.Arange(site, constant(0), constant(int64(count)), constant(1))
}

func scaled(site graph.Site, at *graph.Node, n int, d float64) (*graph.Node, error) {
	step, err := graph.Scalar(site, 1/(float64(n)*d))
	if err != nil {
		return nil, err
	}
	return graph.Apply(site, kernel.Multiply, at, step)
}
