package gonbext

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/record"
)

// The most that a figure shows.
const (
	maxRaw     = 1000 // elements that are points of curves, together; of more they are blocks
	maxPoints  = 400  // blocks of curves, together
	maxDots    = 5000 // points of a scatter plot
	maxCurves  = 8
	maxBins    = 60
	maxSide    = 1000 // of a heat map and an image, in pixels
	maxContour = 250  // of what contours are drawn of
	maxFacets  = 24
	maxFacet   = 240 // side of each
)

// The bins of a scatter plot of many points.
const denseRows, denseCols = 150, 300

// plotFigure is the figure of series, in one chart.
func plotFigure(collect collector, l Figure) (*record.Figure, error) {
	if n := len(l.Series); n == 0 || n > maxCurves {
		return nil, fmt.Errorf("it draws one array to %d, and got %d", maxCurves, n)
	}
	if strings.Trim(l.Log, "xy") != "" {
		return nil, fmt.Errorf("the logarithmic axes %q: Log is \"x\", \"y\" or \"xy\"", l.Log)
	}
	f := &record.Figure{Kind: record.PlotFigure, Log: l.Log, X: l.X, Y: l.Y, Label: l.Label}
	if s := l.Series[0]; len(l.Series) == 1 && s.Y != nil {
		f.Y = cmp.Or(f.Y, attributesOf(s.Y).label())
	}
	for i, s := range l.Series {
		n, err := checkSeries(s)
		if err != nil {
			return nil, err
		}
		if s.X == nil {
			s.X = labelsOf(l.Coords, cmp.Or(s.Y, s.Low), 0)
		}
		if s.Points && n > maxDots {
			if len(l.Series) > 1 {
				return nil, fmt.Errorf("%v are %d points: more than %d are drawn alone, by their density", nameOf(s.Y), n, maxDots)
			}
			return denseFigure(collect, f, s)
		}
		c, axis, err := curve(collect, s, n, len(l.Series), f)
		if err != nil {
			return nil, err
		}
		if axis == nil {
			axis = &record.Axis{}
		}
		axis.At = nil // which are the curve's
		if i > 0 && (f.Across.Time != axis.Time || !slices.Equal(f.Across.Texts, axis.Texts)) {
			return nil, fmt.Errorf("series %q is along dates, names or numbers where the first is not: they share one axis", c.Name)
		}
		f.Across = axis
		f.Curves = append(f.Curves, *c)
	}
	return f, nil
}

// checkSeries returns how many points a series has.
func checkSeries(s Series) (n int, err error) {
	if (s.Low == nil) != (s.High == nil) || s.Y == nil && (s.Low == nil || s.Points) {
		return 0, fmt.Errorf("series %q: it has Y, or Low and High, or all three", s.Name)
	}
	n = -1
	for _, a := range []*oocore.Array{s.Y, s.Low, s.High, s.Color, s.Size} {
		if a == nil {
			continue
		}
		if err := checkDrawable(a); err != nil {
			return 0, err
		}
		if a.Dims() > 1 && !s.Points {
			return 0, fmt.Errorf("%v has %d dimensions, and a plot is of one: take a row, as x.Slice(\"0\") does, or x.Ravel(); HeatMap draws two dimensions", nameOf(a), a.Dims())
		}
		if n >= 0 && a.Size() != n {
			return 0, fmt.Errorf("%v has %d elements, and another array of the series has %d", nameOf(a), a.Size(), n)
		}
		n = a.Size()
	}
	return n, nil
}

// curve computes one of so many series; its label of the horizontal axis goes to the figure, where that has none.
func curve(collect collector, s Series, n, series int, f *record.Figure) (c *record.Curve, axis *record.Axis, err error) {
	named := cmp.Or(s.Y, s.Low)
	m := attributesOf(named)
	c = &record.Curve{Name: cmp.Or(s.Name, m.longName, nameOf(named)), Length: n, Step: 1, Points: s.Points, Band: s.Low != nil}
	if n == 0 {
		return c, nil, nil
	}
	if n > maxRaw/series && !s.Points {
		c.Step = blockLengths([]int{n}, maxPoints/series)[0]
	}
	values := func(a *oocore.Array) (b *blocks) {
		if b = (&blocks{}); a != nil && err == nil {
			b, err = reduceBlocks(a.Ravel(), []int{c.Step}, true, collect)
		}
		if err == nil {
			f.Missing += b.missing
		}
		return b
	}
	y := values(s.Y)
	low, high, color, size := values(s.Low), values(s.High), values(s.Color), values(s.Size)
	if err != nil {
		return nil, nil, err
	}
	if s.Points && s.X != nil { // in any order
		axis, _, err = coordinate(collect, s.X, n, 1)
	} else {
		axis, _, err = coordinate(collect, s.X, n, c.Step)
	}
	if err != nil {
		return nil, nil, err
	}
	if c.Mean, c.Low, c.High, c.Color, c.Size = y.mean, low.mean, high.mean, color.mean, size.mean; c.Step > 1 && !c.Band {
		c.Low, c.High = y.low, y.high
	}
	switch x, is := s.X.(*oocore.Array); {
	case is && x != nil && s.Points:
		f.X = cmp.Or(f.X, labelOf(x))
	case is && x != nil:
		f.X = cmp.Or(f.X, attributesOf(x).label())
	}
	if names := named.DimNames(); len(names) == 1 {
		f.X = cmp.Or(f.X, names[0])
	}
	if axis != nil && axis.At != nil {
		c.X = axis.At
		for i, x := range c.X { // JSON has no such number
			if math.IsNaN(x) || math.IsInf(x, 0) {
				c.X[i] = 0
				for _, list := range []record.Floats{c.Mean, c.Low, c.High} {
					if i < len(list) {
						list[i] = math.NaN()
					}
				}
				f.Missing++
			}
		}
	}
	return c, axis, nil
}

// denseFigure is the figure of more points than are drawn one by one: how many there are in each bin, or the mean of their colours.
// One pass finds the axes' ends, and one counts.
func denseFigure(collect collector, f *record.Figure, s Series) (*record.Figure, error) {
	x, is := s.X.(*oocore.Array)
	if !is || x == nil {
		return nil, fmt.Errorf("more than %d points have coordinates in an array: X is %T", maxDots, s.X)
	}
	if err := checkDrawable(x); err != nil {
		return nil, err
	}
	if x.Size() != s.Y.Size() {
		return nil, fmt.Errorf("%v has %d elements, and %v %d", nameOf(x), x.Size(), nameOf(s.Y), s.Y.Size())
	}
	f.Kind, f.Rows, f.Cols, f.Log = record.ScatterFigure, denseRows, denseCols, f.Log+"c"
	f.X, f.Y, f.Label = cmp.Or(f.X, labelOf(x)), cmp.Or(f.Y, labelOf(s.Y)), cmp.Or(f.Label, "points")
	values := [2]*oocore.Array{x.Ravel().AsType(oocore.Float64), s.Y.Ravel().AsType(oocore.Float64)}
	axes := [2]*record.Axis{{}, {}}
	bins := [2]oocore.Bins{{Count: f.Cols}, {Count: f.Rows}}
	finite := values[0].IsFinite().LogicalAnd(values[1].IsFinite())
	for i, log := range []string{"x", "y"} {
		if strings.Contains(f.Log, log) {
			finite = finite.LogicalAnd(values[i].Greater(0))
		}
	}
	for i, log := range []string{"x", "y"} {
		if values[i] = oocore.Where(finite, values[i], math.NaN()); strings.Contains(f.Log, log) {
			values[i] = values[i].Log10()
		}
	}
	both := oocore.Stack(0, values[0], values[1])
	b, err := reduceBlocks(both, []int{1, x.Size()}, true, collect)
	if err != nil {
		return nil, err
	}
	f.Missing = b.missing / 2
	for i := range bins {
		low, high := b.low[i], b.high[i]
		if math.IsNaN(low) {
			f.Rows, f.Cols = 0, 0
			return f, nil
		}
		if low == high {
			low, high = low-0.5, high+0.5
		}
		bins[i].Range = []float64{low, high}
		for k := range bins[i].Count {
			at := low + (high-low)*((float64(k)+0.5)/float64(bins[i].Count))
			if strings.Contains(f.Log, string("xy"[i])) {
				at = math.Pow(10, at)
			}
			axes[i].At = append(axes[i].At, at)
		}
	}
	f.Across, f.Down = axes[0], axes[1]
	counts, _, _ := values[0].Histogram2D(values[1], bins[0], bins[1], oocore.HistogramOptions{})
	counts = counts.Transpose()
	if s.Color != nil {
		c := s.Color.Ravel().AsType(oocore.Float64)
		known := c.IsFinite()
		inside := oocore.Where(known, values[0], math.NaN())
		sums, _, _ := inside.Histogram2D(values[1], bins[0], bins[1], oocore.HistogramOptions{Weights: oocore.Where(known, c, 0.0)})
		of, _, _ := inside.Histogram2D(values[1], bins[0], bins[1], oocore.HistogramOptions{})
		counts = sums.Transpose().Div(of.Transpose()) // 0/0, of no point, is NaN
		f.Log = strings.TrimSuffix(f.Log, "c")
	}
	cells, err := collect(counts.Ravel())
	if err != nil {
		return nil, err
	}
	for i, n := range cells {
		if n == 0 && s.Color == nil {
			cells[i] = math.NaN()
		} else if s.Color == nil {
			cells[i] = math.Log10(n)
		}
	}
	f.SetLevels(cells)
	return f, nil
}

// histFigure is the histogram of the elements of an array that are within limits, or of all.
func histFigure(collect collector, a *oocore.Array, limits [2]float64) (*record.Figure, error) {
	if err := checkDrawable(a); err != nil {
		return nil, err
	}
	f := &record.Figure{Kind: record.HistFigure}
	if a.Size() == 0 {
		return f, nil
	}
	whole, err := reduceBlocks(a.Ravel(), []int{a.Size()}, true, collect)
	if err != nil {
		return nil, err
	}
	f.Missing = whole.missing
	low, high, ok := extremes(whole.low, whole.high)
	if !ok {
		return f, nil
	}
	if limits != [2]float64{} {
		low, high = limits[0], limits[1]
	}
	greatest := max(math.Abs(low), math.Abs(high))
	step := 2 * (greatest - math.Nextafter(greatest, 0)) // no bin is narrower than what float64 tells apart
	half := max(0.5, step)
	bins := maxBins
	switch {
	case limits == [2]float64{} && !canBeMissing(a.DType()) && high-low < maxBins: // a bin for each integer
		bins = int(high-low) + 1
		low, high = low-half, high+half
	case low == high:
		bins, low, high = 1, low-half, high+half
	case math.IsInf(high-low, 0):
		return nil, fmt.Errorf("the elements of %v reach from %g to %g, further apart than float64 can tell: divide them first", nameOf(a), low, high)
	}
	if wide := (high - low) / step; wide < float64(bins) {
		bins = max(1, int(wide))
	}
	counts, _ := a.AsType(oocore.Float64).Histogram(oocore.Bins{Count: bins, Range: []float64{low, high}}, oocore.HistogramOptions{})
	values, err := collect(counts.AsType(oocore.Float64))
	if err != nil {
		return nil, err
	}
	for _, v := range values {
		f.Counts = append(f.Counts, int64(v))
	}
	for i := range bins + 1 {
		f.Edges = append(f.Edges, low+(high-low)*(float64(i)/float64(bins)))
	}
	return f, nil
}

// heatMapFigure is the figure of a matrix, in colours and contours: of at most so many cells along an axis.
func heatMapFigure(collect collector, l Figure, a *oocore.Array, kind string, most int) (*record.Figure, error) {
	if err := checkDrawable(a); err != nil {
		return nil, err
	}
	if a.Dims() != 2 {
		return nil, fmt.Errorf("%v has %d dimensions, and a heat map is of two: x.Slice takes a matrix out of it, Facets draws the matrices of three, Plot a line", nameOf(a), a.Dims())
	}
	f := &record.Figure{Kind: kind, Label: attributesOf(a).label()}
	if a.Size() == 0 {
		return f, nil
	}
	f.Block = blockLengths(a.Shape(), most, most)
	if err := place(collect, f, l.Coords, a, 0); err != nil {
		return nil, err
	}
	b, err := reduceBlocks(a, f.Block, false, collect)
	if err != nil {
		return nil, err
	}
	f.Rows, f.Cols, f.Missing = blockCount(a.Shape()[0], f.Block[0]), blockCount(a.Shape()[1], f.Block[1]), b.missing
	f.SetLevels(b.mean)
	return f, nil
}

// facetsFigure is a heat map for each index of the first of three dimensions.
func facetsFigure(collect collector, l Figure, a *oocore.Array) (*record.Figure, error) {
	if err := checkDrawable(a); err != nil {
		return nil, err
	}
	shape := a.Shape()
	if len(shape) != 3 || shape[0] > maxFacets {
		return nil, fmt.Errorf("%v is %v: facets are of three dimensions, the first of at most %d: x.Slice(\"::10\") takes every tenth", nameOf(a), shape, maxFacets)
	}
	f := &record.Figure{Kind: record.FacetsFigure, Label: attributesOf(a).label()}
	if a.Size() == 0 {
		return f, nil
	}
	var names *record.Axis
	var err error
	if names, _, err = coordinate(collect, labelsOf(l.Coords, a, 0), shape[0], 1); err != nil {
		return nil, err
	}
	one := record.Figure{Kind: record.HeatMapFigure, Block: blockLengths(shape[1:], maxFacet, maxFacet)}
	one.Rows, one.Cols = blockCount(shape[1], one.Block[0]), blockCount(shape[2], one.Block[1])
	if err := place(collect, &one, l.Coords, a, 1); err != nil {
		return nil, err
	}
	b, err := reduceBlocks(a, slices.Concat([]int{1}, one.Block), false, collect)
	if err != nil {
		return nil, err
	}
	f.SetLevels(b.mean)
	f.Missing, f.Levels = b.missing, nil
	f.Across, f.Down, f.Equal, f.X, f.Y = one.Across, one.Down, one.Equal, one.X, one.Y
	one.Across, one.Down, one.Least, one.Most = nil, nil, f.Least, f.Most
	dimension := ""
	if all := a.DimNames(); all != nil {
		dimension = all[0] + " "
	}
	for i := range shape[0] {
		one := one
		one.SetLevels(b.mean[i*one.Rows*one.Cols : (i+1)*one.Rows*one.Cols])
		switch one.Title = dimension + strconv.Itoa(i); {
		case names == nil:
		case names.Texts != nil:
			one.Title = names.Texts[i]
		case names.Time:
			one.Title = placeText(names, i)
		default:
			one.Title = dimension + placeText(names, i)
		}
		f.Panels = append(f.Panels, one)
	}
	return f, nil
}

// place says where a figure's rows and columns are: coords from the dimension first on.
func place(collect collector, f *record.Figure, coords []any, a *oocore.Array, first int) error {
	if n := a.Dims(); len(coords) > n {
		return fmt.Errorf("%d coordinates for the %d dimensions of %v", len(coords), n, nameOf(a))
	}
	axes, labels, units := [2]*record.Axis{}, [2]string{}, [2]string{}
	for i := range axes {
		x := labelsOf(coords, a, first+i)
		var err error
		if axes[i], labels[i], err = coordinate(collect, x, a.Shape()[first+i], f.Block[i]); err != nil {
			return err
		}
		if x, is := x.(*oocore.Array); is {
			units[i], _, _ = strings.Cut(attributesOf(x).units, "_") // degrees_north, degrees_east
		}
	}
	if names := a.DimNames(); names != nil {
		labels[0], labels[1] = cmp.Or(labels[0], names[first]), cmp.Or(labels[1], names[first+1])
	}
	f.Down, f.Across, f.Y, f.X = axes[0], axes[1], labels[0], labels[1]
	f.Equal = axes[0] == nil && axes[1] == nil || axes[0] != nil && axes[1] != nil && units[0] == units[1] && (units[0] != "" || sameStep(axes[0].At, axes[1].At))
	return nil
}

// sameStep reports whether the coordinates of two axes that say no unit are as far apart.
func sameStep(a, b []float64) bool {
	if len(a) < 2 || len(b) < 2 {
		return false
	}
	return math.Abs(math.Abs(a[1]-a[0])/math.Abs(b[1]-b[0])-1) < 0.01
}

// imageFigure is a picture of an array of rows × columns, or of rows × columns × 3 or 4 of red,
// green, blue and opacity. The figure's range is what is black and white in it.
func imageFigure(collect collector, l Figure, a *oocore.Array) (*record.Figure, error) {
	if err := checkDrawable(a); err != nil {
		return nil, err
	}
	shape, channels := a.Shape(), 1
	if len(shape) == 3 {
		channels = shape[2]
	}
	if len(shape) < 2 || len(shape) > 3 || len(shape) == 3 && channels != 3 && channels != 4 {
		return nil, fmt.Errorf("%v is %v: an image has rows × columns, or rows × columns × 3 or 4 of red, green, blue and opacity", nameOf(a), shape)
	}
	f := &record.Figure{Kind: record.ImageFigure}
	if a.Size() == 0 {
		return f, nil
	}
	step := max(1, blockCount(max(shape[0], shape[1]), maxSide)) // equal along both: a picture is not distorted
	f.Block = []int{step, step}
	if err := place(collect, f, l.Coords, a, 0); err != nil {
		return nil, err
	}
	lengths := f.Block
	if channels > 1 {
		lengths = []int{step, step, 1}
	}
	b, err := reduceBlocks(a, lengths, false, collect)
	if err != nil {
		return nil, err
	}
	values := b.mean
	f.Rows, f.Cols, f.Missing = blockCount(shape[0], step), blockCount(shape[1], step), b.missing
	f.Low, f.High = 0, 255
	switch {
	case l.Range != [2]float64{}:
		f.Low, f.High = l.Range[0], l.Range[1]
	case a.DType() == oocore.Uint8:
	case a.DType() == oocore.Bool, channels > 1 && canBeMissing(a.DType()):
		f.High = 1
	case channels == 1:
		if low, high, ok := extremes(values); ok {
			f.Low, f.High = low, high
			break
		}
		f.High = 0
		return f, nil
	}
	if channels == 1 { // a shade of grey a pixel
		f.SetLevels(values)
	} else {
		f.Pixels = pixels(f, values, channels)
	}
	return f, nil
}

// pixels colours values from Low to High; what is not finite is transparent.
func pixels(f *record.Figure, values []float64, channels int) []byte {
	picture := make([]byte, 0, 4*f.Rows*f.Cols)
	for i := range f.Rows * f.Cols {
		rgba := [4]uint8{3: 255}
		for k, x := range values[i*channels : (i+1)*channels] {
			if math.IsNaN(x) {
				rgba = [4]uint8{}
				break
			}
			rgba[k] = uint8(math.Round(255 * min(max((x-f.Low)/(f.High-f.Low), 0), 1)))
		}
		picture = append(picture, rgba[:]...)
	}
	return picture
}

// nameOf returns an array's expression, without its shape and type.
func nameOf(a *oocore.Array) string {
	text := a.String()
	if at := strings.LastIndex(text, ": "); at > 0 {
		return text[:at]
	}
	return text
}

// checkDrawable returns the error of an array that cannot be drawn.
func checkDrawable(a *oocore.Array) error {
	if a.Err() != nil {
		return a.Err()
	}
	if t := a.DType(); t == oocore.Complex64 || t == oocore.Complex128 {
		return fmt.Errorf("%v is %v, and a picture has no place for complex numbers: draw x.Abs(), x.Real() or x.Imag()", nameOf(a), t)
	}
	return nil
}
