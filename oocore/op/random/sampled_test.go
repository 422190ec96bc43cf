package random_test

import (
	"context"
	"math"
	"testing"

	"github.com/gonbext/gonbext/oocore/blockwise"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/op/random"
)

// constant is a parameter that is the same for all elements.
type constant float64

func (c constant) Read(_ context.Context, _ grid.Box, dst []byte) error {
	for i := range dtype.Slice[float64](dst) {
		dtype.Slice[float64](dst)[i] = float64(c)
	}
	return nil
}

// samples draws from a distribution.
func samples(t *testing.T, d random.Distribution, n int, parameters ...float64) []int64 {
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
	return dtype.Slice[int64](task.Dst)
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
