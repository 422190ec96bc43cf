package random_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/blockwise"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/op/random"
)

// lasting is a parameter whose rows are all alike.
type lasting []float64

func (l lasting) Read(_ context.Context, box grid.Box, dst []byte) error {
	last := len(box.Start) - 1
	row := l[box.Start[last]:][:box.Shape[last]]
	for i := range dtype.Slice[float64](dst) {
		dtype.Slice[float64](dst)[i] = row[i%len(row)]
	}
	return nil
}

func categories(t *testing.T, d random.Distribution, shape []int, box grid.Box, draws float64, parameters []float64) ([]int64, error) {
	t.Helper()
	o := random.Categories{Distribution: d, Seed: 3, Shape: shape}
	task := &blockwise.Task{Box: box, Dst: make([]byte, 8*box.Size()), Do: func(f func() error) error { return f() }, In: []blockwise.Input{constant(draws), lasting(parameters)}}
	task.Scratch = make([]byte, o.Requirements(box.Shape).Scratch)
	err := o.Fill(context.Background(), task)
	return dtype.Slice[int64](task.Dst), err
}

// Each row sums to what is drawn, and the means of categories are those of the formulas, within five
// of their standard deviations, of which those of what is drawn at once are smaller.
func TestCategoriesSumToWhatIsDrawnAndHaveTheirMeans(t *testing.T) {
	const n, draws = 20_000, 50
	for d, parameters := range map[random.Distribution][]float64{
		random.Multinomial:                {0.1, 0, 0.25, 0.65},
		random.MultivariateHypergeometric: {10, 0, 25, 65},
	} {
		got, err := categories(t, d, []int{n, 4}, grid.Entire([]int{n, 4}), draws, parameters)
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
	shape, parameters := []int{3, 7, 5}, []float64{9, 1, 30, 0, 20}
	whole, err := categories(t, random.MultivariateHypergeometric, shape, grid.Entire(shape), 33, parameters)
	if err != nil {
		t.Fatal(err)
	}
	box := grid.Box{Start: []int{1, 2, 1}, Shape: []int{2, 4, 3}}
	part, err := categories(t, random.MultivariateHypergeometric, shape, box, 33, parameters)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range part {
		at := ((1+i/12)*7+2+i/3%4)*5 + 1 + i%3
		if v != whole[at] {
			t.Fatalf("element %d of the box is %d, and %d in the whole", i, v, whole[at])
		}
	}
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
		shape := []int{1, len(c.parameters)}
		if _, err := categories(t, c.d, shape, grid.Entire(shape), c.draws, c.parameters); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v of %v: %v, want %q", c.draws, c.parameters, err, c.says)
		}
	}
}
