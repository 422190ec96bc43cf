package fft

import (
	"fmt"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

// Frequencies is NumPy's fftfreq: those of the n coefficients of a signal that is
// sampled every d, in cycles by the unit of d, float64; computed where it is read.
func Frequencies(site graph.Site, a FreqArgs) (*graph.Node, error) {
	n := a.N
	return frequencies(site, "fftfreq", n, n, (n-1)/2+1, a.D)
}

// RealFrequencies is NumPy's rfftfreq: those of the n/2+1 coefficients that rfft gives.
func RealFrequencies(site graph.Site, a FreqArgs) (*graph.Node, error) {
	n := a.N
	return frequencies(site, "rfftfreq", n, n/2+1, n/2+1, a.D)
}

// frequencies are count of them, of which the first ones, so many, are not negative.
func frequencies(site graph.Site, name string, n, count, first int, d float64) (*graph.Node, error) {
	if n < 1 {
		return nil, graph.Reject(site, name, fmt.Errorf("a transform has at least one element, not %d", n))
	}
	m := &graph.Maker{Site: site}
	at := m.Arange(count)
	if first < count {
		number := func(v int) *graph.Node { return m.Full(dtype.ValueOf(int64(v))) }
		at = m.Apply(kernel.Where, m.Apply(kernel.Less, at, number(first)), at, m.Apply(kernel.Subtract, at, number(n)))
	}
	return m.Apply(kernel.Multiply, at, m.Number(1/(float64(n)*d))), m.Err
}
