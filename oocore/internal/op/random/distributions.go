package random

import (
	"fmt"
	"math"
	"strings"
)

// sampler is how numbers of a distribution are drawn.
type sampler struct {
	parameters []string
	valid      func(p []float64) bool
	wants      string // of parameters, for people
	float      bool   // the numbers are float64, else int64
	draw       func(s *stream, p []float64) float64
}

var samplers = map[Distribution]sampler{
	Gamma: {[]string{"shape"}, func(p []float64) bool { return p[0] >= 0 && p[0] <= math.MaxFloat64 },
		"0 or more", true, func(s *stream, p []float64) float64 { return s.gamma(p[0]) }},
	Poisson: {[]string{"mean"}, func(p []float64) bool { return p[0] >= 0 && p[0] <= most },
		"from 0 to 2**62", false, func(s *stream, p []float64) float64 { return s.poisson(p[0]) }},
	Binomial: {[]string{"number of trials", "chance"}, func(p []float64) bool { return count(p[0], most) && p[1] >= 0 && p[1] <= 1 },
		"a whole number from 0 to 2**62, and from 0 to 1", false, func(s *stream, p []float64) float64 { return s.binomial(p[0], p[1]) }},
	Beta: {[]string{"first shape", "second shape"}, func(p []float64) bool { return positive(p[0]) && positive(p[1]) },
		"finite and above 0", true, func(s *stream, p []float64) float64 { return s.beta(p[0], p[1]) }},
	Triangular: {[]string{"left end", "mode", "right end"}, func(p []float64) bool {
		return p[0] <= p[1] && p[1] <= p[2] && positive(p[2]-p[0])
	}, "finite and in this order, with the ends apart", true, func(s *stream, p []float64) float64 { return s.triangular(p[0], p[1], p[2]) }},
	VonMises: {[]string{"mean direction", "concentration"}, func(p []float64) bool {
		return math.Abs(p[0]) <= math.MaxFloat64 && p[1] >= 0 && p[1] <= math.MaxFloat64
	}, "finite, and 0 or more", true, func(s *stream, p []float64) float64 { return s.vonMises(p[0], p[1]) }},
	Wald: {[]string{"mean", "scale"}, func(p []float64) bool { return positive(p[0]) && positive(p[1]) },
		"finite and above 0", true, func(s *stream, p []float64) float64 { return s.wald(p[0], p[1]) }},
	Geometric: {[]string{"chance"}, func(p []float64) bool { return p[0] >= 0x1p-56 && p[0] <= 1 },
		"from 2**-56 to 1", false, func(s *stream, p []float64) float64 { return s.geometric(p[0]) }},
	Hypergeometric: {[]string{"number of good ones", "number of bad ones", "number drawn"}, func(p []float64) bool {
		return count(p[0], mostDrawn) && count(p[1], mostDrawn) && count(p[2], p[0]+p[1])
	}, "whole numbers up to 10**9, of which no more are drawn than there are", false, func(s *stream, p []float64) float64 { return s.hypergeometric(p[0], p[1], p[2]) }},
	LogSeries: {[]string{"chance"}, func(p []float64) bool { return p[0] >= 0 && p[0] < 1 },
		"from 0 to below 1", false, func(s *stream, p []float64) float64 { return s.logSeries(p[0]) }},
	NegativeBinomial: {[]string{"number of successes", "chance"}, func(p []float64) bool {
		return positive(p[0]) && p[1] > 0 && p[1] <= 1 && (1-p[1])/p[1]*(p[0]+10*math.Sqrt(p[0])+40) <= most
	}, "above 0, and from above 0 to 1, with a mean below 2**62", false, func(s *stream, p []float64) float64 { return s.negativeBinomial(p[0], p[1]) }},
	Zipf: {[]string{"exponent"}, func(p []float64) bool { return p[0] > 1 && p[0] <= math.MaxFloat64 },
		"finite and above 1", false, func(s *stream, p []float64) float64 { return s.zipf(p[0]) }},
}

const (
	most      = 1 << 62 // the largest whole number that is drawn, mean, and number of trials
	mostDrawn = 1e9     // the most of either kind that hypergeometric draws from, as in NumPy
)

func positive(v float64) bool { return v > 0 && v <= math.MaxFloat64 }

func count(v, most float64) bool { return v >= 0 && v <= most && v == math.Floor(v) }

// list is of one thing, or of several.
func list[T any](things []T) string {
	text := make([]string, len(things))
	for i, v := range things {
		text[i] = fmt.Sprint(v)
	}
	if last := len(text) - 1; last > 0 {
		return strings.Join(text[:last], ", ") + " and " + text[last]
	}
	return text[0]
}

// stream is the random numbers that one element is made of.
type stream struct {
	draws   Draws
	at      uint64
	attempt uint32
}

// uniforms are two numbers from 0 to below 1.
func (s *stream) uniforms() (u, v float64) {
	a, b := s.draws.pair(s.at, s.attempt)
	s.attempt++
	return float64(a>>11) * 0x1p-53, float64(b>>11) * 0x1p-53
}

// normal is by Box and Muller's method.
func (s *stream) normal() float64 {
	a, b := s.uniforms()
	return math.Sqrt(-2*math.Log(1-a)) * math.Cos(2*math.Pi*b)
}
