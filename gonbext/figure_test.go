package gonbext

import (
	"context"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/host"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/testcases"
)

func inBudget(a *oocore.Array) ([]float64, error) {
	return oocore.Collect[float64](context.Background(), a, oocore.Memory("64MiB"), host.Cell(record.Unreported))
}

// plotOf is what Plot draws.
func plotOf(arrays ...*oocore.Array) (l Figure) {
	for _, a := range arrays {
		l.Series = append(l.Series, Series{Y: a})
	}
	return l
}

var nan, inf = math.NaN(), math.Inf(1)

// like compares with NaN equal to itself.
func like(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return x == y || math.IsNaN(x) && math.IsNaN(y) })
}

func TestPlotReducesBlocksToLeastMeanAndGreatest(t *testing.T) {
	f, err := plotFigure(inBudget, plotOf(oocore.Arange(0, 1001, 1))) // 333 blocks of 3 and one of 2
	if err != nil {
		t.Fatal(err)
	}
	c := f.Curves[0]
	if c.Length != 1001 || c.Step != 3 || len(c.Mean) != 334 || f.Missing != 0 {
		t.Fatalf("%d elements, %d a point, %d points", c.Length, c.Step, len(c.Mean))
	}
	for i := range 333 {
		if x := float64(3 * i); c.Low[i] != x || c.Mean[i] != x+1 || c.High[i] != x+2 {
			t.Fatalf("block %d: %g, %g, %g", i, c.Low[i], c.Mean[i], c.High[i])
		}
	}
	if c.Low[333] != 999 || c.Mean[333] != 999.5 || c.High[333] != 1000 {
		t.Errorf("the last block: %g, %g, %g", c.Low[333], c.Mean[333], c.High[333])
	}
}

func TestPlotOfFewMissingAndNoElements(t *testing.T) {
	for _, c := range []struct {
		name    string
		a       *oocore.Array
		mean    []float64
		missing int64
	}{
		{"one point", oocore.FromSlice([]float32{7}, 1), []float64{7}, 0},
		{"a scalar", oocore.Full(3.0), []float64{3}, 0},
		{"nothing", oocore.FromSlice([]float32{}, 0), nil, 0},
		{"NaN only", oocore.FromSlice([]float64{nan, nan}, 2), []float64{nan, nan}, 2},
		{"gaps", oocore.FromSlice([]float64{1, nan, inf, -inf, 5}, 5), []float64{1, nan, nan, nan, 5}, 3},
		{"bool", oocore.FromSlice([]bool{true, false}, 2), []float64{1, 0}, 0},
	} {
		f, err := plotFigure(inBudget, plotOf(c.a))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := f.Curves[0]; !like(got.Mean, c.mean) || f.Missing != c.missing {
			t.Errorf("%s: %v, %d missing", c.name, got.Mean, f.Missing)
		}
		if text := figureText(f); strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
			t.Errorf("%s: %s", c.name, text)
		}
	}
}

func TestFiguresRejectWhatTheyCannotDraw(t *testing.T) {
	line, matrix := oocore.Arange(0, 6, 1), oocore.Arange(0, 6, 1).Reshape(2, 3)
	complexes := oocore.FromSlice([]complex128{1, 2}, 2)
	for name, c := range map[string]struct {
		err  func() error
		want string
	}{
		"plot of complex":  {func() error { _, err := plotFigure(inBudget, plotOf(complexes)); return err }, "x.Abs(), x.Real() or x.Imag()"},
		"plot of a matrix": {func() error { _, err := plotFigure(inBudget, plotOf(matrix)); return err }, "x.Ravel()"},
		"plot of nothing":  {func() error { _, err := plotFigure(inBudget, Figure{}); return err }, "one array to 8"},
		"hist of complex":  {func() error { _, err := histFigure(inBudget, complexes, [2]float64{}); return err }, "complex numbers"},
		"heat map of a line": {func() error {
			_, err := heatMapFigure(inBudget, Figure{}, line, record.HeatMapFigure, maxSide)
			return err
		}, "of two"},
		"image of a line": {func() error { _, err := imageFigure(inBudget, Figure{Range: [2]float64{}}, line); return err }, "rows × columns"},
		"image of 2 colours": {func() error {
			_, err := imageFigure(inBudget, Figure{Range: [2]float64{}}, line.Reshape(1, 3, 2))
			return err
		}, "3 or 4"},
		"a failed array": {func() error { _, err := histFigure(inBudget, line.Reshape(5), [2]float64{}); return err }, "reshape"},
		"hist too wide": {func() error {
			_, err := histFigure(inBudget, oocore.FromSlice([]float64{-1e308, 1e308}, 2), [2]float64{})
			return err
		}, "divide"},
	} {
		if err := c.err(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestHistCountsEveryFiniteElement(t *testing.T) {
	f, err := histFigure(inBudget, oocore.Arange(0.0, 6000.0, 1.0).Reshape(60, 100), [2]float64{})
	if err != nil {
		t.Fatal(err)
	}
	// bins of 5999/60 = 99.98: each has 100 elements
	if len(f.Counts) != 60 || len(f.Edges) != 61 || slices.Min(f.Counts) != 100 || slices.Max(f.Counts) != 100 || f.Edges[0] != 0 || f.Edges[60] != 5999 {
		t.Errorf("counts %v, edges %v", f.Counts, f.Edges)
	}
	for _, c := range []struct {
		name    string
		a       *oocore.Array
		counts  []int64
		missing int64
	}{
		{"a bin for each integer", oocore.FromSlice([]int8{3, 5, 5, -1}, 4), []int64{1, 0, 0, 0, 1, 0, 2}, 0},
		{"one value", oocore.FromSlice([]float32{2, 2, float32(nan)}, 3), []int64{2}, 1},
		{"neighbours", oocore.FromSlice([]float64{5e-324, 1e-323}, 2), []int64{2}, 0},
		{"few numbers apart", oocore.FromSlice([]float64{1e16, 1e16 + 8, 1e16 + 8}, 3), []int64{1, 2}, 0},
		{"great integers", oocore.Full(uint64(1<<64-1), 4), []int64{4}, 0},
		{"nothing finite", oocore.FromSlice([]float32{float32(nan), float32(inf)}, 2), nil, 2},
		{"nothing", oocore.FromSlice([]float32{}, 0, 3), nil, 0},
	} {
		f, err := histFigure(inBudget, c.a, [2]float64{})
		if err != nil || !slices.Equal(f.Counts, c.counts) || f.Missing != c.missing {
			t.Errorf("%s: %v, %d missing, %v", c.name, f.Counts, f.Missing, err)
		}
	}
}

// 101 × 161 elements make blocks of 2 × 3, of which the last ones are shorter; without the
// one NaN, each mean is that of rows and columns, to a 65,000th of the range.
func TestHeatMapAveragesBlocks(t *testing.T) {
	const rows, cols = 101, 161
	values := make([]float64, rows*cols)
	for i := range values {
		values[i] = float64(i/cols)*1000 + float64(i%cols)
	}
	values[0] = nan
	f, err := heatMapFigure(inBudget, Figure{}, oocore.FromSlice(values, rows, cols), record.HeatMapFigure, 54)
	if err != nil {
		t.Fatal(err)
	}
	if f.Rows != 51 || f.Cols != 54 || !slices.Equal(f.Block, []int{2, 3}) || f.Missing != 1 {
		t.Fatalf("%d × %d blocks of %v, %d missing", f.Rows, f.Cols, f.Block, f.Missing)
	}
	for r := range f.Rows {
		for c := range f.Cols {
			var sum, n float64
			for i := 2 * r; i < min(2*r+2, rows); i++ {
				for j := 3 * c; j < min(3*c+3, cols); j++ {
					if v := values[i*cols+j]; v == v {
						sum, n = sum+v, n+1
					}
				}
			}
			if got := f.Values()[r*f.Cols+c]; math.Abs(got-sum/n) > 100e3/65e3/2 {
				t.Fatalf("block %d, %d: %g, not %g", r, c, got, sum/n)
			}
		}
	}
}

func TestImagePixels(t *testing.T) {
	for _, c := range []struct {
		name      string
		a         *oocore.Array
		grey      []float64
		low, high float64
		colours   []byte
	}{
		{"bytes", oocore.FromSlice([]uint8{0, 100, 255}, 1, 3), []float64{0, 100, 255}, 0, 255, nil},
		{"stretched greys", oocore.FromSlice([]float64{-1, nan, 1}, 1, 3), []float64{-1, nan, 1}, -1, 1, nil},
		{"black and white", oocore.FromSlice([]bool{false, true}, 2, 1), []float64{0, 1}, 0, 1, nil},
		{"colours", oocore.FromSlice([]float32{0, 0.5, 7}, 1, 1, 3), nil, 0, 1, []byte{0, 128, 255, 255}},
		{"opacity", oocore.FromSlice([]uint8{1, 2, 3, 4}, 1, 1, 4), nil, 0, 255, []byte{1, 2, 3, 4}},
		{"nothing finite", oocore.FromSlice([]float64{nan}, 1, 1), nil, 0, 0, nil},
		{"nothing", oocore.FromSlice([]uint8{}, 0, 5), nil, 0, 0, nil},
	} {
		f, err := imageFigure(inBudget, Figure{}, c.a)
		if err != nil || !slices.Equal(f.Pixels, c.colours) || f.Low != c.low || f.High != c.high {
			t.Errorf("%s: %v from %g to %g, %v", c.name, f.Pixels, f.Low, f.High, err)
			continue
		}
		for i, v := range f.Values() {
			if !(math.Abs(v-c.grey[i]) < 0.005) && !(math.IsNaN(v) && math.IsNaN(c.grey[i])) {
				t.Errorf("%s: pixel %d is %g, not %g", c.name, i, v, c.grey[i])
			}
		}
	}
	f, err := imageFigure(inBudget, Figure{}, oocore.Random(oocore.Float32, 1, 3000, 1500))
	if err != nil || f.Rows != 1000 || f.Cols != 500 || len(f.Levels) != 2*1000*500 {
		t.Errorf("%d × %d of %d bytes: %v", f.Rows, f.Cols, len(f.Levels), err)
	}
}

// A thousand million points, and a matrix of as many, in 64 MiB.
func TestFiguresOfManyPointsStayWithinBudget(t *testing.T) {
	n := 20_000_000
	if testcases.Full() {
		n = 1_000_000_000
	}
	f, err := plotFigure(inBudget, plotOf(oocore.Arange(0, n, 1)))
	if err != nil {
		t.Fatal(err)
	}
	c := f.Curves[0]
	if len(c.Mean) != 400 || c.Low[0] != 0 || c.High[399] != float64(n-1) || c.Mean[0] != float64(c.Step-1)/2 {
		t.Errorf("%d points from %g to %g, the first mean %g", len(c.Mean), c.Low[0], c.High[399], c.Mean[0])
	}
	h, err := heatMapFigure(inBudget, Figure{}, oocore.Random(oocore.Float32, 1, n/20_000, 20_000), record.HeatMapFigure, maxSide)
	if err != nil || h.Rows != 1000 || h.Cols != 1000 {
		t.Errorf("%d × %d: %v", h.Rows, h.Cols, err)
	}
}

// A range cuts a histogram, and says what is black and white; what is out of it is at its end.
func TestRangeOfFigures(t *testing.T) {
	x := oocore.Arange(0.0, 100.0, 1.0)
	f, err := histFigure(inBudget, x, [2]float64{10, 70})
	if err != nil || len(f.Counts) != 60 || f.Edges[0] != 10 || f.Edges[60] != 70 || f.Counts[0] != 1 || f.Counts[59] != 2 { // 69 and 70
		t.Errorf("%+v, %v", f, err)
	}
	f, err = imageFigure(inBudget, Figure{Range: [2]float64{0, 51}}, x.Reshape(10, 10))
	if err != nil || f.Low != 0 || f.High != 51 || math.Abs(f.Values()[99]-99) > 0.01 {
		t.Errorf("%+v, %v", f, err)
	}
}

// The labels of a dimension say where its elements are: dates where their units count from one.
func TestFiguresHaveTheLabelsOfDimensions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "time.zarr")
	days, err := oocore.FromSlice([]float64{0, 31, 59}, 3).Save(t.Context(), path, oocore.Attributes(map[string]any{"units": "days since 2001-01-01 06:00", "long_name": "month"}))
	if err != nil {
		t.Fatal(err)
	}
	lat := oocore.FromSlice([]float64{60, 30}, 2)
	x := oocore.Arange(0, 6, 1).Reshape(3, 2).WithCoord("time", days).WithCoord("lat", lat)
	f, err := heatMapFigure(inBudget, Figure{}, x, record.HeatMapFigure, maxSide)
	if err != nil {
		t.Fatal(err)
	}
	first := time.Date(2001, 1, 1, 6, 0, 0, 0, time.UTC)
	if !f.Down.Time || !slices.Equal(f.Down.At, []float64{float64(first.Unix()), float64(first.AddDate(0, 1, 0).Unix()), float64(first.AddDate(0, 2, 0).Unix())}) || f.Y != "month" {
		t.Errorf("down: %+v, %q", f.Down, f.Y)
	}
	if f.Across.Time || !slices.Equal(f.Across.At, []float64{60, 30}) || f.X != "lat" {
		t.Errorf("across: %+v, %q", f.Across, f.X)
	}
	f, err = plotFigure(inBudget, plotOf(x.Slice(":, 1")))
	if err != nil || !f.Across.Time || f.Curves[0].X[1] != float64(first.AddDate(0, 1, 0).Unix()) || f.X != "month" {
		t.Errorf("%+v, %v", f, err)
	}
	dates := []time.Time{first, first.Add(90 * time.Minute), first.Add(3 * time.Hour)}
	if f, err = plotFigure(inBudget, Figure{Coords: []any{dates}, Series: []Series{{Y: x.Slice(":, 0")}}}); err != nil || f.Curves[0].X[1] != float64(first.Unix()+5400) {
		t.Errorf("%+v, %v", f, err)
	}
}

func TestCoordinatesThatDoNotFitAreErrors(t *testing.T) {
	x := oocore.Arange(0, 3000, 1)
	jumps := make([]float64, 3000)
	for i := range jumps {
		jumps[i] = float64(i * 7 % 3000)
	}
	for want, l := range map[string]Figure{
		"2 coordinates for 3000":   {Coords: []any{[]int{1, 2}}},
		"1 coordinates for 3000":   {Coords: []any{[]string{"a"}}},
		"and not map":              {Coords: []any{map[string]int{}}},
		"arange(5) has 5":          {Coords: []any{oocore.Arange(0, 5, 1)}},
		"sort them first":          {Coords: []any{jumps}},
		"\"x\", \"y\" or \"xy\"":   {Log: "z"},
		"has no place for complex": {Coords: []any{oocore.FromSlice(make([]complex64, 3000), 3000)}},
	} {
		l.Series = []Series{{Y: x}}
		if _, err := plotFigure(inBudget, l); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	for want, s := range map[string]Series{
		"Low and High":              {Low: x},
		"it has Y":                  {},
		"another array of the":      {Y: x, Low: x.Slice(":5"), High: x.Slice(":5")},
		"has 3000 elements, and ar": {Y: oocore.Arange(0, 9000, 1), X: x, Points: true},
		"X is <nil>":                {Y: oocore.Arange(0, 9000, 1), Points: true},
	} {
		if _, err := plotFigure(inBudget, Figure{Series: []Series{s}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// Each bin has the points that lie in it: the counts of NumPy's histogram2d, by its definition.
func TestDensityCountsThePointsOfEachBin(t *testing.T) {
	const n = 20_000
	random := rand.New(rand.NewPCG(3, 4))
	x, y, c := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range x {
		x[i], y[i] = random.NormFloat64(), random.NormFloat64()*random.Float64()
		c[i] = x[i] * y[i]
	}
	x[0], y[1] = nan, inf
	lowX, highX, _ := extremes(x[2:])
	lowY, highY, _ := extremes(y[2:])
	counts, sums := make([]float64, denseRows*denseCols), make([]float64, denseRows*denseCols)
	for i := 2; i < n; i++ {
		k := min(int((x[i]-lowX)/(highX-lowX)*denseCols), denseCols-1)
		r := min(int((y[i]-lowY)/(highY-lowY)*denseRows), denseRows-1)
		counts[r*denseCols+k]++
		sums[r*denseCols+k] += c[i]
	}
	a := func(v []float64) *oocore.Array { return oocore.FromSlice(v, n) }
	f, err := plotFigure(inBudget, Figure{Series: []Series{{X: a(x), Y: a(y), Points: true}}})
	if err != nil || f.Kind != record.ScatterFigure || f.Missing != 2 {
		t.Fatalf("%+v, %v", f, err)
	}
	off := 0
	for i, v := range f.Values() {
		if math.IsNaN(v) != (counts[i] == 0) || counts[i] > 0 && math.Abs(math.Pow(10, v)-counts[i]) > 0.01 {
			off++
		}
	}
	if off > 4 { // edges, which rounding moves
		t.Errorf("%d bins of %d differ", off, len(counts))
	}
	if f, err = plotFigure(inBudget, Figure{Series: []Series{{X: a(x), Y: a(y), Points: true, Color: a(c)}}}); err != nil {
		t.Fatal(err)
	}
	off = 0
	for i, v := range f.Values() {
		if math.IsNaN(v) != (counts[i] == 0) || counts[i] > 0 && math.Abs(v-sums[i]/counts[i]) > (f.Most-f.Least)/1e4 {
			off++
		}
	}
	if off > 4 {
		t.Errorf("%d means of %d differ", off, len(counts))
	}
}

func TestFacetsHaveOneScale(t *testing.T) {
	x := oocore.Arange(0, 24, 1).Reshape(2, 3, 4)
	f, err := facetsFigure(inBudget, Figure{Coords: []any{[]string{"first", "second"}}}, x)
	if err != nil || len(f.Panels) != 2 || f.Least != 0 || f.Most != 23 {
		t.Fatalf("%+v, %v", f, err)
	}
	for i, p := range f.Panels {
		if p.Title != []string{"first", "second"}[i] || p.Least != 0 || p.Most != 23 {
			t.Errorf("panel %d: %q from %g to %g", i, p.Title, p.Least, p.Most)
		}
		for k, v := range p.Values() {
			if math.Abs(v-float64(12*i+k)) > 0.001 {
				t.Errorf("panel %d: cell %d is %g", i, k, v)
			}
		}
	}
	if _, err := facetsFigure(inBudget, Figure{}, oocore.Arange(0, 100, 1).Reshape(25, 2, 2)); err == nil || !strings.Contains(err.Error(), "at most 24") {
		t.Error(err)
	}
}
