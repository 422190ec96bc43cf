// Package random has random numbers of distributions other than the uniform one, random
// choices, and permutations. An element depends on the seed and its position
// alone, so that neither chunks nor budgets nor workers change it, and takes no memory:
// it is made of a block of Philox4x32-10 (J. Salmon, M. Moraes, R. Dror and D. Shaw,
// Parallel random numbers: as easy as 1, 2, 3, SC11, 2011), whose counter is the position
// in its lower half and the distribution in its upper one.
package random

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

func init() { blockwise.Register("draws", Draws{}, blockwise.Exact) }

// Distribution is what numbers are drawn from.
type Distribution uint32

// The distributions, by the number that the counter has for each.
const (
	Normal                     Distribution = iota + 1 // of mean 0 and variance 1, as float64
	Integer                                            // from Low on, Count of them alike, as int64
	Word                                               // 64 bits, as uint64
	Gamma                                              // of a shape, and scale 1, as float64
	Poisson                                            // of a mean, as int64
	Binomial                                           // of a number of trials and the chance of each, as int64
	Beta                                               // of two shapes, as float64
	Triangular                                         // of the left end, the mode and the right end, as float64
	VonMises                                           // of a mean direction and a concentration, as float64
	Wald                                               // of a mean and a scale, as float64
	Geometric                                          // of the chance of a trial, as int64
	Hypergeometric                                     // of the numbers of good ones, bad ones and those drawn, as int64
	LogSeries                                          // of a chance, as int64
	NegativeBinomial                                   // of a number of successes and the chance of each, as int64
	Zipf                                               // of an exponent, as int64
	Multinomial                                        // of the chance of each category, as int64
	MultivariateHypergeometric                         // of the size of each category, as int64
)

// Draws are numbers of one distribution.
type Draws struct {
	Distribution Distribution
	Seed         uint64
	Shape        []int
	Low          int64  // of Integer
	Count        uint64 // of Integer; 0: 2 to the power of 64
}

// Requirements is nothing: only the result takes memory.
func (o Draws) Requirements([]int) blockwise.Requirements { return blockwise.Requirements{} }

// Fill draws what follows each other in C order at once.
func (o Draws) Fill(_ context.Context, t *blockwise.Task) error {
	return t.Compute(func() error {
		last := len(o.Shape) - 1
		n := t.Box.Shape[last]
		for last > 0 && t.Box.Shape[last] == o.Shape[last] {
			last--
			n *= t.Box.Shape[last]
		}
		var work normalWork
		first, whole := 0, grid.Strides(o.Shape)
		for d, i := range t.Box.Start {
			first += i * whole[d]
		}
		for at, row := range grid.Places(t.Box.Shape[:last], whole, grid.Strides(t.Box.Shape)) {
			o.row(t.Dst[8*row:8*(row+n)], uint64(first+at), &work)
		}
		return nil
	})
}

// row draws the numbers at positions from one on.
func (o Draws) row(dst []byte, at uint64, work *normalWork) {
	switch o.Distribution {
	case Normal:
		o.normals(dtype.Slice[float64](dst), at, work)
	case Integer:
		for i := range dtype.Slice[int64](dst) {
			dtype.Slice[int64](dst)[i] = o.Low + int64(o.below(at+uint64(i)))
		}
	default:
		for i := range dtype.Slice[uint64](dst) {
			dtype.Slice[uint64](dst)[i] = o.word(at+uint64(i), 0)
		}
	}
}

// pair is the two words of 64 bits of a block.
func (o Draws) pair(block uint64, attempt uint32) (a, b uint64) {
	w := kernel.Philox(block, uint64(attempt)<<32|uint64(o.Distribution), o.Seed)
	return uint64(w[1])<<32 | uint64(w[0]), uint64(w[3])<<32 | uint64(w[2])
}

// word is that of a position.
func (o Draws) word(at uint64, attempt uint32) uint64 {
	a, b := o.pair(at/2, attempt)
	if at%2 == 0 {
		return a
	}
	return b
}

// normalWork is what up to 256 normal numbers are made of.
type normalWork struct{ radius, sin, cos [256]float64 }

// normals are by G. Box and M. Muller, A Note on the Generation of Random Normal Deviates,
// Annals of Mathematical Statistics 29, 1958: of two uniform numbers, of a block each, two
// neighbours are made.
func (o Draws) normals(dst []float64, at uint64, work *normalWork) {
	radius, sin, cos := work.radius[:], work.sin[:], work.cos[:]
	var a, b uint64
	for ; len(dst) > 0; at += uint64(len(radius)) {
		n := min(len(radius), len(dst))
		for i := range n {
			if place := at + uint64(i); i == 0 || place%2 == 0 {
				a, b = o.pair(place/2, 0)
			}
			radius[i] = 1 - float64(a>>11)*0x1p-53 // above zero
			cos[i] = 2 * math.Pi * (float64(b>>11) * 0x1p-53)
		}
		apply(kernel.Log, radius[:n], radius[:n])
		for i := range n {
			radius[i] *= -2
		}
		apply(kernel.Sqrt, radius[:n], radius[:n])
		apply(kernel.Sin, sin[:n], cos[:n])
		apply(kernel.Cos, cos[:n], cos[:n])
		for i := range n {
			if (at+uint64(i))%2 == 0 {
				dst[i] = radius[i] * cos[i]
			} else {
				dst[i] = radius[i] * sin[i]
			}
		}
		dst = dst[n:]
	}
}

// apply computes a function.
func apply(op kernel.Op, dst, x []float64) {
	f, _ := kernel.Lookup(op, dtype.Float64)
	f(len(dst), dtype.Bytes(dst), dtype.Bytes(x), nil, nil)
}

// below is an integer below Count, all alike, by D. Lemire, Fast Random Integer Generation
// in an Interval, ACM TOMACS 29, 2019: a word that would favour some is drawn again.
func (o Draws) below(at uint64) uint64 {
	if o.Count == 0 {
		return o.word(at, 0)
	}
	for attempt := uint32(0); ; attempt++ {
		high, low := bits.Mul64(o.word(at, attempt), o.Count)
		if low >= o.Count || low >= -o.Count%o.Count {
			return high
		}
	}
}

func (o Draws) node(site graph.Site, name string, t dtype.Type, args ...string) (*graph.Node, error) {
	if err := grid.Check(o.Shape, t.Size()); err != nil {
		return nil, graph.Reject(site, name, err)
	}
	if grid.Size(o.Shape) == 0 {
		return graph.Full(site, dtype.FromInt(t, 0), o.Shape...)
	}
	if len(o.Shape) == 0 {
		o.Shape = []int{1}
		n, err := graph.NewBlockwise(site, name, o, o.Shape, t, nil, args...)
		if err != nil {
			return nil, err
		}
		return graph.Reshape(site, n)
	}
	return graph.NewBlockwise(site, name, o, o.Shape, t, nil, args...)
}

// Normals are numbers of the normal distribution of mean 0 and variance 1, in a type of
// floats.
func Normals(site graph.Site, t dtype.Type, seed uint64, shape ...int) (*graph.Node, error) {
	if err := graph.CheckType(t, "oocore.RandomNormal(oocore.Float64, 1", seed, shape); err != nil {
		return nil, graph.Reject(site, "normal", err)
	}
	if t.Kind() != dtype.KindFloat {
		return nil, graph.Reject(site, "normal", fmt.Errorf("gives floats, not %s", t))
	}
	n, err := Draws{Distribution: Normal, Seed: seed, Shape: slices.Clone(shape)}.node(site, "normal", dtype.Float64, fmt.Sprint(seed))
	if err == nil {
		n, err = graph.AsType(site, n, t)
	}
	if err != nil {
		return nil, err
	}
	return graph.WriteAs(n, "normal", nil, strings.Trim(grid.Format(shape), "(),")), nil
}

// Integers are integers from low up to but not including high, all alike, in a type.
func Integers(site graph.Site, t dtype.Type, seed uint64, low, high int64, shape ...int) (*graph.Node, error) {
	if err := graph.CheckType(t, "oocore.RandomIntegers(oocore.Int64, 1", seed, low, high, shape); err != nil {
		return nil, graph.Reject(site, "integers", err)
	}
	switch {
	case !t.Integer():
		return nil, graph.Reject(site, "integers", fmt.Errorf("gives integers, not %s", t))
	case low >= high:
		return nil, graph.Reject(site, "integers", fmt.Errorf("low %d is not below high %d", low, high))
	case !t.Fits(low) || !t.Fits(high-1):
		return nil, graph.Reject(site, "integers", fmt.Errorf("%s does not have all integers from %d to %d", t, low, high-1))
	}
	o := Draws{Distribution: Integer, Seed: seed, Shape: slices.Clone(shape), Low: low, Count: uint64(high) - uint64(low)}
	n, err := o.node(site, "integers", dtype.Int64, fmt.Sprint(seed), fmt.Sprint(low), fmt.Sprint(high))
	if err != nil {
		return nil, err
	}
	return graph.AsType(site, n, t)
}

// words are 64 random bits each.
func words(site graph.Site, seed uint64, shape []int) (*graph.Node, error) {
	return Draws{Distribution: Word, Seed: seed, Shape: shape}.node(site, "words", dtype.Uint64, fmt.Sprint(seed))
}

var errCount = errors.New("a number of elements is negative")
