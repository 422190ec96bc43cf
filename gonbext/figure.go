package gonbext

import (
	"fmt"
	"math"
	"strings"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/record"
)

// The most that a figure shows.
const (
	maxPoints = 400 // of a curve
	maxCurves = 8
	maxBins   = 60
	maxRows   = 50 // of a heat map
	maxCols   = 80
	maxSide   = 360 // of an image, in pixels
)

// plotFigure is the figure of one-dimensional arrays against their indices.
func plotFigure(collect collector, arrays ...*oocore.Array) (*record.Figure, error) {
	if len(arrays) == 0 || len(arrays) > maxCurves {
		return nil, fmt.Errorf("it draws one array to %d, and got %d", maxCurves, len(arrays))
	}
	f := &record.Figure{Kind: record.PlotFigure}
	for _, a := range arrays {
		if err := checkDrawable(a); err != nil {
			return nil, err
		}
		if a.Dims() > 1 {
			return nil, fmt.Errorf("%v has %d dimensions, and a plot is of one: take a row, as x.Slice(\"0\") does, or x.Ravel(); HeatMap draws two dimensions", nameOf(a), a.Dims())
		}
		a = a.Ravel()
		n := a.Shape()[0]
		c := record.Curve{Name: nameOf(a), Length: n, Step: 1}
		if n > 0 {
			length := blockLengths(a.Shape(), maxPoints)
			b, err := reduceBlocks(a, length, collect)
			if err != nil {
				return nil, err
			}
			c.Step, c.Mean, f.Missing = length[0], b.mean, f.Missing+b.missing
			if c.Step > 1 {
				c.Low, c.High = b.low, b.high
			}
		}
		f.Curves = append(f.Curves, c)
	}
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
	whole, err := reduceBlocks(a.Ravel(), []int{a.Size()}, collect)
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

// heatMapFigure is the figure of a matrix, in colours.
func heatMapFigure(collect collector, a *oocore.Array) (*record.Figure, error) {
	if err := checkDrawable(a); err != nil {
		return nil, err
	}
	if a.Dims() != 2 {
		return nil, fmt.Errorf("%v has %d dimensions, and a heat map is of two: x.Slice takes a matrix out of it, Plot draws a line", nameOf(a), a.Dims())
	}
	f := &record.Figure{Kind: record.HeatMapFigure}
	if a.Size() == 0 {
		return f, nil
	}
	f.Block = blockLengths(a.Shape(), maxRows, maxCols)
	b, err := reduceBlocks(a, f.Block, collect)
	if err != nil {
		return nil, err
	}
	f.Rows, f.Cols, f.Means, f.Missing = b.counts[0], b.counts[1], b.mean, b.missing
	return f, nil
}

// imageFigure is a picture of an array of rows × columns, or of rows × columns × 3 or 4 of red,
// green, blue and opacity. Limits are what is black and white in it.
func imageFigure(collect collector, a *oocore.Array, limits [2]float64) (*record.Figure, error) {
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
	step := max(1, (max(shape[0], shape[1])+maxSide-1)/maxSide) // equal along both: a picture is not distorted
	f.Block = []int{step, step}
	lengths := f.Block
	if channels > 1 {
		lengths = []int{step, step, 1}
	}
	b, err := reduceBlocks(a, lengths, collect)
	if err != nil {
		return nil, err
	}
	f.Rows, f.Cols, f.Missing = b.counts[0], b.counts[1], b.missing
	f.Low, f.High = 0, 255
	switch {
	case limits != [2]float64{}:
		f.Low, f.High = limits[0], limits[1]
	case a.DType() == oocore.Uint8:
	case a.DType() == oocore.Bool, channels > 1 && canBeMissing(a.DType()):
		f.High = 1
	case channels == 1:
		if low, high, ok := extremes(b.mean); ok {
			f.Low, f.High = low, high
			break
		}
		f.High = 0
		return f, nil
	}
	f.Pixels = pixels(f, b.mean, channels)
	return f, nil
}

// pixels colours values from Low to High; what is not finite is transparent.
func pixels(f *record.Figure, values []float64, channels int) (picture []byte) {
	for i := range f.Rows * f.Cols {
		v := values[i*channels : (i+1)*channels]
		rgba := [4]uint8{3: 255}
		for k, x := range v {
			if math.IsNaN(x) {
				rgba = [4]uint8{}
				break
			}
			level := uint8(255) // of one value alone
			if f.High > f.Low {
				level = uint8(math.Round(255 * min(max((x-f.Low)/(f.High-f.Low), 0), 1)))
			}
			if rgba[k] = level; channels == 1 {
				rgba[1], rgba[2] = level, level
			}
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
