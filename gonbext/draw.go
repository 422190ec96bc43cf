package gonbext

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/host"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

// Figure says how a figure is labelled, and which values it shows: Figure{Title: "losses"}.Plot(x).
type Figure struct {
	Title string
	X, Y  string     // what the axes are
	Range [2]float64 // of a plot's axis, a histogram's bins, an image's and a heat map's colours; none: of all values
}

// Plot draws one-dimensional arrays of real numbers against their indices, up to eight in
// one chart. Arrays of any length are reduced within the budget: a point of the chart is
// then a block of elements, and shows the least, the mean and the greatest of them. What is
// not finite is left out. Under %%footprint it draws nothing.
func Plot(arrays ...*oocore.Array) { Figure{}.Plot(arrays...) }

// Hist draws the histogram of all elements of an array of real numbers, in 60 equal bins
// from the least to the greatest; integers of few values have a bin each. What is not
// finite is left out. It reads the array twice.
func Hist(a *oocore.Array) { Figure{}.Hist(a) }

// HeatMap draws a matrix of real numbers in colours, of which dark is less. Of a large one each
// cell is the mean of a block, without what is not finite; a block without a finite element is
// grey.
func HeatMap(a *oocore.Array) { Figure{}.HeatMap(a) }

// Image shows an array as a picture: rows × columns, or rows × columns × 3 or 4 of red,
// green, blue and opacity. uint8 is 0 to 255, bool black and white, and floats of several
// channels are 0 to 1; other greys reach from the least to the greatest. Of a large array
// each pixel is the mean of a block; one without a finite element is transparent.
func Image(a *oocore.Array) { Figure{}.Image(a) }

// Plot is the function Plot with labels.
func (l Figure) Plot(arrays ...*oocore.Array) {
	l.draw("Plot", arrays, func(c collector) (*record.Figure, error) { return plotFigure(c, arrays...) })
}

// Hist is the function Hist with labels.
func (l Figure) Hist(a *oocore.Array) {
	l.draw("Hist", []*oocore.Array{a}, func(c collector) (*record.Figure, error) { return histFigure(c, a, l.Range) })
}

// HeatMap is the function HeatMap with labels.
func (l Figure) HeatMap(a *oocore.Array) {
	l.draw("HeatMap", []*oocore.Array{a}, func(c collector) (*record.Figure, error) { return heatMapFigure(c, a) })
}

// Image is the function Image with labels.
func (l Figure) Image(a *oocore.Array) {
	l.draw("Image", []*oocore.Array{a}, func(c collector) (*record.Figure, error) { return imageFigure(c, a, l.Range) })
}

// draw computes a figure and shows it.
func (l Figure) draw(op string, arrays []*oocore.Array, figureOf func(collector) (*record.Figure, error)) {
	names := make([]string, len(arrays))
	for i, a := range arrays {
		names[i] = nameOf(a)
	}
	title := strings.Join(names, ", ")
	if current.planOnly {
		fmt.Printf("%s of %s: a footprint computes nothing, so there is nothing to draw\n", op, title)
		return
	}
	if low, high := l.Range[0], l.Range[1]; l.Range != [2]float64{} && !(low < high && !math.IsInf(high-low, 0)) {
		fail(op, fmt.Errorf("a range from %g to %g: it has to be from a number to a larger one", low, high))
	}
	f, err := figureOf(func(a *oocore.Array) ([]float64, error) {
		ctx, stop := during()
		defer stop()
		return oocore.Collect[float64](ctx, a, host.Shown(op))
	})
	if err != nil {
		fail(op, err)
	}
	f.Title, f.X, f.Y = l.Title, l.X, l.Y
	if f.Kind == record.PlotFigure || f.Kind == record.HeatMapFigure {
		f.Low, f.High = l.Range[0], l.Range[1]
	}
	card := &record.Card{Title: title, Figure: f}
	if len(arrays) == 1 {
		a := arrays[0]
		card.Shape, card.DType, card.Bytes = a.Shape(), a.DType().String(), a.Bytes()
	}
	card.Text = title + "\n" + figureText(f)
	display(card)
}

// figureText returns a figure as text for a terminal.
func figureText(f *record.Figure) string {
	var b strings.Builder
	switch f.Kind {
	case record.PlotFigure:
		for _, c := range f.Curves {
			fmt.Fprintf(&b, "%s\n", shades([]rune("▁▂▃▄▅▆▇█"), c.Mean, len(c.Mean), 60))
			if low, high, ok := extremes(c.Mean, c.Low, c.High); ok {
				fmt.Fprintf(&b, "%s elements from %.6g to %.6g\n", units.Count(int64(c.Length)), low, high)
			} else {
				fmt.Fprintf(&b, "%s elements, none of them finite\n", units.Count(int64(c.Length)))
			}
		}
	case record.HistFigure:
		if len(f.Counts) == 0 {
			b.WriteString("no finite elements\n")
			break
		}
		counts := make([]float64, len(f.Counts))
		for i, n := range f.Counts {
			counts[i] = float64(n)
		}
		fmt.Fprintf(&b, "%s\n%d bins from %.6g to %.6g, up to %s elements in one\n",
			shades([]rune("▁▂▃▄▅▆▇█"), counts, len(counts), 60), len(counts), f.Edges[0], f.Edges[len(f.Edges)-1], units.Count(slices.Max(f.Counts)))
	case record.HeatMapFigure:
		if low, high, ok := extremes(f.Means); ok {
			fmt.Fprintf(&b, "%s\nmeans of blocks from %.6g to %.6g\n", shades([]rune("░▒▓█"), f.Means, f.Cols, 60), low, high)
		} else {
			b.WriteString("no finite elements\n")
		}
	default:
		fmt.Fprintf(&b, "a picture of %d × %d pixels\n", f.Rows, f.Cols)
	}
	if f.Missing > 0 {
		fmt.Fprintf(&b, "%s elements are not finite and left out\n", units.Count(int64(f.Missing)))
	}
	return b.String()
}

// shades writes rows of values as characters, from the least to the greatest; of rows
// longer than width only some, evenly spaced.
func shades(marks []rune, values []float64, columns, width int) string {
	if columns == 0 {
		return ""
	}
	low, high, _ := extremes(values)
	var lines []string
	step := (columns + width - 1) / width
	for row := 0; row < len(values); row += columns * step {
		var line strings.Builder
		for i := row; i < row+columns; i += step {
			switch v := values[i]; {
			case math.IsNaN(v):
				line.WriteByte(' ')
			case high > low && !math.IsInf(high-low, 0):
				line.WriteRune(marks[min(len(marks)-1, int(float64(len(marks))*((v-low)/(high-low))))])
			default:
				line.WriteRune(marks[0])
			}
		}
		lines = append(lines, strings.TrimRight(line.String(), " "))
	}
	return strings.Join(lines, "\n")
}
