package random

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gonbext/gonbext/oocore/blockwise"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/op/compose"
)

func init() { blockwise.Register("sampled", Sampled{}) }

// Sampled are numbers of a distribution whose parameters are arrays of float64, of the
// result's shape. An element is drawn again until one is accepted, each time of the blocks
// of Philox that have its position and the number of the attempt.
type Sampled struct {
	Distribution Distribution
	Seed         uint64
	Shape        []int
}

// sampler is how numbers of a distribution are drawn.
type sampler struct {
	parameters []string
	valid      func(p []float64) bool
	wants      string // of parameters, for people
	float      bool   // the numbers are float64, else int64
	draw       func(s *stream, p []float64) float64
}

var samplers = map[Distribution]sampler{
	Gamma:   {[]string{"shape"}, func(p []float64) bool { return p[0] >= 0 && p[0] <= math.MaxFloat64 }, "0 or more", true, func(s *stream, p []float64) float64 { return s.gamma(p[0]) }},
	Poisson: {[]string{"mean"}, func(p []float64) bool { return p[0] >= 0 && p[0] <= most }, "from 0 to 2**62", false, func(s *stream, p []float64) float64 { return s.poisson(p[0]) }},
	Binomial: {[]string{"number of trials", "chance"}, func(p []float64) bool {
		return p[0] >= 0 && p[0] <= most && p[0] == math.Floor(p[0]) && p[1] >= 0 && p[1] <= 1
	}, "a whole number from 0 to 2**62, and from 0 to 1", false, func(s *stream, p []float64) float64 { return s.binomial(p[0], p[1]) }},
}

// most is the largest mean, and number of trials, of whole numbers that int64 has.
const most = 1 << 62

// Chunks takes any box.
func (o Sampled) Chunks() []int { return nil }

// Rounding is that of logarithms.
func (o Sampled) Rounding() blockwise.Rounding { return blockwise.Loops }

// Requirements is the box of each parameter: the first one lies where the result will.
func (o Sampled) Requirements(box []int) blockwise.Requirements {
	n := len(samplers[o.Distribution].parameters)
	need := blockwise.Requirements{Reads: make([][]int, n), Scratch: int64(8 * (n - 1) * grid.Size(box))}
	for i := range need.Reads {
		need.Reads[i] = slices.Clone(box)
	}
	return need
}

// Fill draws element by element.
func (o Sampled) Fill(ctx context.Context, t *blockwise.Task) error {
	size := 8 * t.Box.Size()
	columns := [][]float64{dtype.Slice[float64](t.Dst)}
	if err := t.In[0].Read(ctx, t.Box, t.Dst); err != nil {
		return err
	}
	for i, in := range t.In[1:] {
		raw := t.Scratch[i*size : (i+1)*size]
		if err := in.Read(ctx, t.Box, raw); err != nil {
			return err
		}
		columns = append(columns, dtype.Slice[float64](raw))
	}
	return t.Compute(func() error {
		by, whole, p := samplers[o.Distribution], dtype.Slice[int64](t.Dst), make([]float64, len(columns))
		s := stream{draws: Draws{Distribution: o.Distribution, Seed: o.Seed}}
		strides, index := grid.Strides(o.Shape), make([]int, len(o.Shape))
		for i := range columns[0] {
			at := 0
			for d, rest := len(index)-1, i; d >= 0; d-- {
				at += (t.Box.Start[d] + rest%t.Box.Shape[d]) * strides[d]
				rest /= t.Box.Shape[d]
			}
			for k, c := range columns {
				p[k] = c[i]
			}
			if !by.valid(p) {
				return fmt.Errorf("the %s of element %d is %v, and has to be %s", and(by.parameters), at, and(p), by.wants)
			}
			s.at, s.attempt = uint64(at), 0
			if v := by.draw(&s, p); by.float {
				columns[0][i] = v
			} else {
				whole[i] = int64(v)
			}
		}
		return nil
	})
}

// and lists one thing, or two.
func and[T any](list []T) string {
	if len(list) == 1 {
		return fmt.Sprint(list[0])
	}
	return fmt.Sprintf("%v and %v", list[0], list[1])
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

// gamma is by G. Marsaglia and W. Tsang, A Simple Method for Generating Gamma Variables, ACM
// TOMS 26, 2000.
func (s *stream) gamma(shape float64) float64 {
	if shape == 0 {
		return 0
	}
	less := 1.0
	if shape < 1 {
		u, _ := s.uniforms()
		less = math.Pow(1-u, 1/shape)
		shape++
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		a, b := s.uniforms()
		x := math.Sqrt(-2*math.Log(1-a)) * math.Cos(2*math.Pi*b)
		u, _ := s.uniforms()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v = v * v * v
		if math.Log(1-u) < x*x/2+d-d*v+d*math.Log(v) {
			return d * v * less
		}
	}
}

// poisson is by multiplication of uniform numbers where the mean is small, and else by
// W. Hörmann, The transformed rejection method for generating Poisson random variables,
// Insurance: Mathematics and Economics 12, 1993.
func (s *stream) poisson(mean float64) float64 {
	if mean < 10 {
		low, product := math.Exp(-mean), 1.0
		for k := 0.0; ; k += 2 {
			u, v := s.uniforms()
			if product *= 1 - u; product <= low {
				return k
			}
			if product *= 1 - v; product <= low {
				return k + 1
			}
		}
	}
	log := math.Log(mean)
	b := 0.931 + 2.53*math.Sqrt(mean)
	a := -0.059 + 0.02483*b
	scale, bound := 1.1239+1.1328/(b-3.4), 0.9277-3.6224/(b-2)
	for {
		u, v := s.uniforms()
		u, v = u-0.5, 1-v
		us := 0.5 - math.Abs(u)
		k := math.Floor((2*a/us+b)*u + mean + 0.43)
		if us >= 0.07 && v <= bound {
			return k
		}
		if k < 0 || us < 0.013 && v > us {
			continue
		}
		if math.Log(v*scale/(a/(us*us)+b)) <= logPoisson(k, mean, log) {
			return k
		}
	}
}

// binomial is by inversion where few trials succeed, and else by W. Hörmann, The generation
// of binomial random variates, Journal of Statistical Computation and Simulation 46, 1993.
func (s *stream) binomial(n, p float64) float64 {
	if p > 0.5 {
		return n - s.binomial(n, 1-p)
	}
	q := 1 - p
	if n*p < 10 {
		first := math.Exp(n * math.Log1p(-p))
		for {
			u, _ := s.uniforms()
			for k, px := 0.0, first; k <= min(n, 200); k++ { // beyond 200 there is nothing left of 1
				if u < px {
					return k
				}
				u -= px
				px *= (n - k) * p / ((k + 1) * q)
			}
		}
	}
	spread := math.Sqrt(n * p * q)
	b := 1.15 + 2.53*spread
	a := -0.0873 + 0.0248*b + 0.01*p
	bound, alpha := 0.92-4.2/b, (2.83+5.1/b)*spread
	odds, mode := math.Log(p/q), math.Floor((n+1)*p)
	for {
		u, v := s.uniforms()
		u, v = u-0.5, 1-v
		us := 0.5 - math.Abs(u)
		k := math.Floor((2*a/us+b)*u + n*p + 0.5)
		if us >= 0.07 && v <= bound {
			return k
		}
		if k < 0 || k > n {
			continue
		}
		if math.Log(v*alpha/(a/(us*us)+b)) <= (k-mode)*odds-logRatio(mode, k-mode)-logRatio(n-mode, mode-k) {
			return k
		}
	}
}

// manyTerms is from where on the logarithm of a factorial has too few digits to be subtracted
// from another.
const manyTerms = 1e9

// logPoisson is the logarithm of the chance of k where the mean, of that logarithm, is given.
func logPoisson(k, mean, log float64) float64 {
	if k < manyTerms {
		return k*log - mean - logFactorial(k)
	}
	return k*math.Log1p((mean-k)/k) + (k - mean) - math.Log(2*math.Pi*k)/2 - 1/(12*k)
}

// logRatio is the logarithm of (m+more)!/m!, by the terms of Stirling's series where both are
// large. more has digits that sums with m have not.
func logRatio(m, more float64) float64 {
	k := m + more
	if min(k, m) < manyTerms {
		return logFactorial(k) - logFactorial(m)
	}
	return more*(math.Log(m)-1) + (k+0.5)*math.Log1p(more/m) + (1/k-1/m)/12
}

// logFactorial is the logarithm of 1·2·…·k.
func logFactorial(k float64) float64 {
	log, _ := math.Lgamma(k + 1)
	return log
}

// Sample are numbers of a distribution, float64 of Gamma and int64 of others, in a shape that
// its parameters broadcast to; without lengths in the one that these broadcast to. A
// parameter that the distribution does not take is an error when it is computed.
func Sample(site graph.Site, name string, d Distribution, seed uint64, parameters []*graph.Node, shape ...int) (*graph.Node, error) {
	out, err := sample(&compose.Maker{Site: site}, name, d, seed, parameters, shape)
	if err != nil {
		return nil, graph.Reject(site, name, err, parameters...)
	}
	return out, nil
}

func sample(m *compose.Maker, name string, d Distribution, seed uint64, parameters []*graph.Node, shape []int) (*graph.Node, error) {
	by := samplers[d]
	shapes := make([][]int, len(parameters))
	for i, p := range parameters {
		if p.DType.Kind() == dtype.KindComplex {
			return nil, fmt.Errorf("the %s is a real number, not %s", by.parameters[i], p.DType)
		}
		shapes[i] = p.Shape
	}
	common, err := grid.Broadcast(shapes...)
	if err != nil {
		return nil, err
	}
	if len(shape) == 0 {
		shape = common
	}
	if err := grid.Check(shape, 8); err != nil {
		return nil, err
	}
	if _, err := grid.BroadcastTo(common, shape); err != nil {
		return nil, fmt.Errorf("parameters of shape %s do not broadcast to shape %s", grid.Format(common), grid.Format(shape))
	}
	t := dtype.Int64
	if by.float {
		t = dtype.Float64
	}
	if grid.Size(shape) == 0 {
		return m.Full(dtype.FromInt(t, 0), shape...), m.Err
	}
	long := shape
	if len(shape) == 0 {
		long = []int{1}
	}
	in := make([]*graph.Node, len(parameters))
	for i, p := range parameters {
		in[i] = m.BroadcastTo(m.Cast(p, dtype.Float64), long...)
	}
	o := Sampled{Distribution: d, Seed: seed, Shape: slices.Clone(long)}
	out := m.Make(func() (*graph.Node, error) {
		return graph.NewBlockwise(m.Site, name, o, long, t, in, fmt.Sprint(seed))
	})
	return m.Reshape(out, shape...), m.Err
}
