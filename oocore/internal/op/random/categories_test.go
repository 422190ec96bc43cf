package random_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/op/random"
	"github.com/gonbext/gonbext/oocore/internal/testkit/blockwisetest"
)

// categories draws rows that are all alike.
func categories(t *testing.T, d random.Distribution, n int, draws float64, parameters []float64) ([]int64, error) {
	t.Helper()
	shape := []int{n, len(parameters)}
	o := random.Categories{Distribution: d, Seed: 3, Shape: shape}
	raw, err := blockwisetest.Try(t, o, shape, dtype.Int64, repeated(shape, draws), repeated(shape, parameters...))
	return dtype.Slice[int64](raw), err
}

// repeated is an array of values that come again and again.
func repeated(shape []int, values ...float64) blockwisetest.Array {
	all := slices.Repeat(values, grid.Size(shape)/len(values))
	return blockwisetest.Array{Shape: shape, DType: dtype.Float64, Data: dtype.Bytes(all)}
}

// Each row sums to what is drawn, and the means of categories are those of the formulas, within five
// of their standard deviations, of which those of what is drawn at once are smaller.
func TestCategoriesSumToWhatIsDrawnAndHaveTheirMeans(t *testing.T) {
	const n, draws = 20_000, 50
	for d, parameters := range map[random.Distribution][]float64{
		random.Multinomial:                {0.1, 0, 0.25, 0.65},
		random.MultivariateHypergeometric: {10, 0, 25, 65},
	} {
		got, err := categories(t, d, n, draws, parameters)
		if err != nil {
			t.Fatal(err)
		}
		all := parameters[0] + parameters[2] + parameters[3]
		var sums [4]float64
		for row := range slices.Chunk(got, 4) {
			if row[0]+row[1]+row[2]+row[3] != draws || row[1] != 0 || slices.Min(row) < 0 {
				t.Fatalf("distribution %d: %v of %d draws", d, row, draws)
			}
			for i, v := range row {
				sums[i] += float64(v)
			}
		}
		for i, sum := range sums {
			p := parameters[i] / all
			if off := sum/n - draws*p; math.Abs(off) > 5*math.Sqrt(draws*p*(1-p)/n) {
				t.Errorf("distribution %d: the mean of category %d is off by %v", d, i, off)
			}
		}
	}
}

func TestCategoriesOfAnyBoxAreThoseOfTheWhole(t *testing.T) {
	shape := []int{3, 7, 5}
	sizes, chances := repeated(shape, 9, 1, 30, 0, 20), repeated(shape, 0.1, 0.3, 0, 0.4, 0.2)
	blockwisetest.Same(t, random.Categories{Distribution: random.MultivariateHypergeometric, Seed: 3, Shape: shape}, shape, dtype.Int64, repeated(shape, 33), sizes)
	blockwisetest.Same(t, random.Categories{Distribution: random.Multinomial, Seed: 3, Shape: shape}, shape, dtype.Int64, repeated(shape, 33), chances)
}

func TestCategoriesRejectWhatNoRowCanHave(t *testing.T) {
	for _, c := range []struct {
		d          random.Distribution
		draws      float64
		parameters []float64
		says       string
	}{
		{random.Multinomial, 2.5, []float64{0.5, 0.5}, "row 0: the number of trials must be a whole number"},
		{random.Multinomial, 2, []float64{0.5, math.NaN()}, "the chance of category 1 must be from 0 to 1"},
		{random.Multinomial, 2, []float64{0.7, 0.6, 0}, "must sum to at most 1, not 1.2999"},
		{random.MultivariateHypergeometric, 6, []float64{2, 3}, "from 0 to the 5 that there are, not 6"},
		{random.MultivariateHypergeometric, 1, []float64{6e8, 6e8}, "at most 10**9 together"},
	} {
		if _, err := categories(t, c.d, 1, c.draws, c.parameters); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v of %v: %v, want %q", c.draws, c.parameters, err, c.says)
		}
	}
}
