package random_test

import (
	"context"
	"math"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/op/random"
)

// constant is a parameter that is the same for all elements.
type constant float64

func (c constant) Read(_ context.Context, _ grid.Box, dst []byte) error {
	for i := range dtype.Slice[float64](dst) {
		dtype.Slice[float64](dst)[i] = float64(c)
	}
	return nil
}

// samples draws whole numbers from a distribution.
func samples(t *testing.T, d random.Distribution, n int, parameters ...float64) []int64 {
	t.Helper()
	return dtype.Slice[int64](drawn(t, d, n, parameters...))
}

func drawn(t *testing.T, d random.Distribution, n int, parameters ...float64) []byte {
	t.Helper()
	o := random.Sampled{Distribution: d, Seed: 3, Shape: []int{n}}
	task := &blockwise.Task{Box: grid.Entire(o.Shape), Dst: make([]byte, 8*n), Do: func(f func() error) error { return f() }}
	task.Scratch = make([]byte, o.Requirements(o.Shape).Scratch)
	for _, p := range parameters {
		task.In = append(task.In, constant(p))
	}
	if err := o.Fill(context.Background(), task); err != nil {
		t.Fatal(err)
	}
	return task.Dst
}

// Means and variances are those of the distributions, by their formulas, within five of their own
// standard deviations, of which those of variances are those of a normal distribution, doubled.
func TestSampledMeansAndVariancesAreThoseOfTheFormulas(t *testing.T) {
	const n = 50_000
	zeta := func(a float64) (sum float64) {
		for k := 1e6; k >= 1; k-- {
			sum += math.Pow(k, -a)
		}
		return sum
	}
	log := -1 / math.Log1p(-0.6)
	for _, c := range []struct {
		name           string
		d              random.Distribution
		parameters     []float64
		mean, variance float64
	}{
		{"beta", random.Beta, []float64{0.4, 0.8}, 1. / 3, 0.32 / (1.44 * 2.2)},
		{"beta", random.Beta, []float64{2, 6}, 0.25, 12. / (64 * 9)},
		{"triangular", random.Triangular, []float64{-1, 1, 5}, 5. / 3, (1 + 1 + 25 + 1 + 5 - 5) / 18.},
		{"wald", random.Wald, []float64{2, 10}, 2, 0.8},
		{"geometric", random.Geometric, []float64{0.2}, 5, 20},
		{"hypergeometric of few", random.Hypergeometric, []float64{5, 15, 4}, 1, 4 * 0.25 * 0.75 * 16 / 19},
		{"hypergeometric of many", random.Hypergeometric, []float64{300, 100, 320}, 240, 320 * 0.75 * 0.25 * 80 / 399},
		{"logseries", random.LogSeries, []float64{0.6}, log * 1.5, (log*0.6 - log*log*0.36) / 0.16},
		{"negative binomial", random.NegativeBinomial, []float64{2.5, 0.2}, 10, 50},
		{"zipf", random.Zipf, []float64{6}, zeta(5) / zeta(6), zeta(4)/zeta(6) - math.Pow(zeta(5)/zeta(6), 2)},
	} {
		raw, sum, squares := drawn(t, c.d, n, c.parameters...), 0.0, 0.0
		for i := range n {
			v := dtype.Slice[float64](raw)[i]
			if c.d >= random.Geometric {
				v = float64(dtype.Slice[int64](raw)[i])
			}
			sum += v
			squares += (v - c.mean) * (v - c.mean)
		}
		if off := sum/n - c.mean; math.Abs(off) > 5*math.Sqrt(c.variance/n) {
			t.Errorf("%s%v: the mean is off by %v", c.name, c.parameters, off)
		}
		if ratio := squares / n / c.variance; math.Abs(ratio-1) > 10*math.Sqrt(2./n) && c.d != random.Zipf || math.Abs(ratio-1) > 0.3 { // zipf's fourth moment is infinite
			t.Errorf("%s%v: the variance is %v of what it should be", c.name, c.parameters, ratio)
		}
	}
}

// Directions have the mean cosine I1(2)/I0(2), about their mean, and are as often on one side of it as on
// the other.
func TestVonMisesDirectionsAreAboutTheirMean(t *testing.T) {
	const n = 50_000
	bessel := func(order int) (sum float64) {
		for k, term := 0, math.Pow(1, float64(order)); k < 40; k++ { // (2/2)^(2k+order) / (k! (k+order)!)
			sum += term
			term /= float64((k + 1) * (k + 1 + order))
		}
		return sum
	}
	cos, above := 0.0, 0
	for _, v := range dtype.Slice[float64](drawn(t, random.VonMises, n, 3, 2)) {
		if math.Abs(v) > math.Pi {
			t.Fatalf("%v is no angle from -pi to pi", v)
		}
		cos += math.Cos(v - 3)
		if math.Sin(v-3) > 0 {
			above++
		}
	}
	if want := bessel(1) / bessel(0); math.Abs(cos/n-want) > 5/math.Sqrt(n) || math.Abs(float64(above)/n-0.5) > 2.5/math.Sqrt(n) {
		t.Errorf("the mean cosine is %v, want %v, and %d of %d are on one side", cos/n, want, above, n)
	}
}

// Parameters at the ends of what distributions take give numbers of their range, in bounded time.
func TestSampledParametersAtTheirEndsGiveNumbersOfTheRange(t *testing.T) {
	const n = 300
	tiny, large := math.SmallestNonzeroFloat64, math.MaxFloat64
	for _, c := range []struct {
		d          random.Distribution
		least      float64
		most       float64
		parameters [][]float64
	}{
		{random.Beta, 0, 1, [][]float64{{tiny, tiny}, {1e-103, 1e-100}, {tiny, 1}, {1, tiny}, {1e-300, 1e300}, {large, large}, {large, 0.5}}},
		{random.Triangular, -1e308, 1e308, [][]float64{{-1e307, 0, 1e307}, {0, tiny, 2 * tiny}, {1e300, 1e300, 1e307}}},
		{random.VonMises, -math.Pi, math.Pi, [][]float64{{0, 0}, {1e300, 1e-8}, {-5, 1e-5}, {4, 9.9e-6}, {9, 1e6}, {-9, 1.1e6}, {0, large}}},
		{random.Wald, 0, large, [][]float64{{tiny, 1}, {1, tiny}, {1e-300, 1e300}, {1e150, 1e100}}},
		{random.Geometric, 1, 1 << 62, [][]float64{{0x1p-56}, {1}, {1 - 0x1p-53}}},
		{random.Hypergeometric, 0, 1e9, [][]float64{{0, 0, 0}, {1e9, 1e9, 1e9}, {1e9, 1e9, 1999999990}, {1, 1e9, 5e8}, {1e9, 1, 5e8}, {10, 10, 10}, {0, 20, 10}, {20, 0, 10}}},
		{random.LogSeries, 1, 1 << 62, [][]float64{{0}, {tiny}, {1 - 0x1p-53}}},
		{random.NegativeBinomial, 0, 1 << 62, [][]float64{{tiny, 0.5}, {1e300, 1}, {1, 0x1p-55}, {1e18, 0.5}, {0.1, 1 - 0x1p-53}}},
		{random.Zipf, 1, 1 << 62, [][]float64{{1 + 0x1p-52}, {1.001}, {1024.9}, {1025}, {large}}},
	} {
		for _, p := range c.parameters {
			raw := drawn(t, c.d, n, p...)
			for i := range n {
				v := dtype.Slice[float64](raw)[i]
				if c.d >= random.Geometric {
					v = float64(dtype.Slice[int64](raw)[i])
				}
				if !(v >= c.least && v <= c.most) {
					t.Errorf("distribution %d of %v: number %d is %v, and not from %v to %v", c.d, p, i, v, c.least, c.most)
					break
				}
			}
		}
	}
}

// The parameters that a distribution does not take are named, with what it does.
func TestSampledParametersOutOfRangeAreErrors(t *testing.T) {
	o := random.Sampled{Distribution: random.Hypergeometric, Seed: 3, Shape: []int{1}}
	task := &blockwise.Task{Box: grid.Entire(o.Shape), Dst: make([]byte, 8), Do: func(f func() error) error { return f() }, In: []blockwise.Input{constant(2), constant(3), constant(6)}}
	task.Scratch = make([]byte, o.Requirements(o.Shape).Scratch)
	err := o.Fill(context.Background(), task)
	const want = "the number of good ones, number of bad ones and number drawn of element 0 must be whole numbers up to 10**9, of which no more are drawn than there are, not 2, 3 and 6"
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// Counts of many trials are about normal: as many of them are within one and two standard
// deviations, none is far out, and the mean is theirs. The logarithms of factorials that
// are compared for that have more than 1e18 in common.
func TestCountsOfManyTrialsAreAboutNormal(t *testing.T) {
	const n = 100_000
	for _, c := range []struct {
		name     string
		all      []int64
		mean, sd float64
	}{
		{"poisson(1e6)", samples(t, random.Poisson, n, 1e6), 1e6, 1e3},
		{"poisson(1e10)", samples(t, random.Poisson, n, 1e10), 1e10, 1e5},
		{"poisson(1e18)", samples(t, random.Poisson, n, 1e18), 1e18, 1e9},
		{"binomial(1e6, 0.3)", samples(t, random.Binomial, n, 1e6, 0.3), 3e5, math.Sqrt(2.1e5)},
		{"binomial(2**62, 0.5)", samples(t, random.Binomial, n, 1<<62, 0.5), 1 << 61, 1 << 30},
		{"binomial(2**62, 1e-10)", samples(t, random.Binomial, n, 1<<62, 1e-10), (1 << 62) * 1e-10, math.Sqrt((1 << 62) * 1e-10)},
		{"binomial(2**62, 1-2**-20)", samples(t, random.Binomial, n, 1<<62, 1-0x1p-20), (1 << 62) * (1 - 0x1p-20), math.Sqrt((1 << 42) * (1 - 0x1p-20))},
	} {
		var within [7]int
		sum := 0.0
		for _, v := range c.all {
			z := (float64(v) - c.mean) / c.sd
			sum += z
			for k := range within {
				if math.Abs(z) <= float64(k) {
					within[k]++
				}
			}
		}
		one, two := float64(within[1])/n, float64(within[2])/n
		if math.Abs(one-0.6827) > 0.008 || math.Abs(two-0.9545) > 0.004 || within[6] < n || math.Abs(sum/n) > 0.02 {
			t.Errorf("%s: %.4f are within one standard deviation, %.4f within two, %d of %d within six, and the mean is off by %.4f", c.name, one, two, within[6], n, sum/n)
		}
	}
}

// Few successes of ever so many trials are Poisson numbers.
func TestFewSuccessesOfManyTrialsArePoisson(t *testing.T) {
	const n = 100_000
	for _, c := range []struct {
		name string
		mean float64
		all  []int64
	}{
		{"poisson(3)", 3, samples(t, random.Poisson, n, 3)},
		{"poisson(12)", 12, samples(t, random.Poisson, n, 12)},
		{"binomial(2**60, 3*2**-60)", 3, samples(t, random.Binomial, n, 1<<60, 3*0x1p-60)},
		{"binomial(2**60, 12*2**-60)", 12, samples(t, random.Binomial, n, 1<<60, 12*0x1p-60)},
	} {
		var seen [41]float64
		for _, v := range c.all {
			seen[min(v, 40)]++
		}
		chi, free := 0.0, -1
		chance := math.Exp(-c.mean)
		for k := range 40 {
			if want := n * chance; want >= 10 {
				chi += (seen[k] - want) * (seen[k] - want) / want
				free++
			}
			chance *= c.mean / float64(k+1)
		}
		if limit := float64(free) + 5*math.Sqrt(2*float64(free)); chi > limit || seen[40] > 5 {
			t.Errorf("%s: chi squared is %.1f of %d degrees of freedom, and %v are 40 or more", c.name, chi, free, seen[40])
		}
	}
}
