package gonbext

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/host"
	"github.com/gonbext/gonbext/oocore/record"
)

// Figure says how a figure is labelled, what its axes are, which values it shows and where it is saved. What
// is not given follows from the arrays' attributes long_name, standard_name and units and from the names of their
// dimensions:
//
//	Figure{Title: "losses", Log: "y"}.Plot(x)
//	Figure{Coords: []any{lat, lon}, File: "map.pdf"}.HeatMap(x)
//	Figure{Series: []Series{{Name: "mean", X: dates, Y: m}, {Name: "10–90 %", X: dates, Low: q10, High: q90}}}.Show()
type Figure struct {
	Title string
	X, Y  string     // what the axes are
	Label string     // what the colours are
	Range [2]float64 // of a plot's values, a histogram's bins, the colours of all else; none: of all values
	Log   string     // the axes of a plot that are logarithmic: "x", "y" or "xy"
	// Coords says where the elements are along each dimension: an array or a slice of numbers, []time.Time or
	// []string. Where it does not, they are at the labels of the dimension, else at their indices. Labels or an array
	// whose units are such as "days since 1850-01-01" are dates.
	Coords []any
	Series []Series // what Show draws
	// File is where the figure is saved too, as SVG, PNG or PDF by the ending of its name: whole or not at all. It
	// takes the gonbext command.
	File string
}

// Series is a line, points or a band of a plot. Its arrays have one dimension, and the same length.
type Series struct {
	Name string        // in the legend; none: Y's long_name or its expression
	X    any           // as one of Figure.Coords; nil: that of the figure
	Y    *oocore.Array // nil: the band alone
	Low  *oocore.Array // of a band from Low to High, such as quantiles
	High *oocore.Array
	// Points leaves them without a line. Of more than 5,000 their density is shown.
	Points bool
	Color  *oocore.Array // the value of each point, which its colour shows
	Size   *oocore.Array // likewise its area
}

// Plot draws one-dimensional arrays of real numbers against their indices or coordinates, up to eight in
// one chart. Arrays of any length are reduced within the budget: of more than 1,000 elements a point of the chart
// is a block, and shows the least, the mean and the greatest of them. What is
// not finite is left out. It reads each array once. Under %%footprint it draws nothing.
func Plot(arrays ...*oocore.Array) { Figure{}.Plot(arrays...) }

// Scatter draws the points of two arrays of one length, coloured by the values of the first of by and with
// areas by those of the second, where they are given and not nil. It reads each array once; of more than 5,000 points it
// shows how many there are at each place, or the mean of their colours, and reads the arrays twice.
func Scatter(x, y *oocore.Array, by ...*oocore.Array) { Figure{}.Scatter(x, y, by...) }

// Hist draws the histogram of all elements of an array of real numbers, in 60 equal bins
// from the least to the greatest; integers of few values have a bin each. What is not
// finite is left out. It reads the array twice.
func Hist(a *oocore.Array) { Figure{}.Hist(a) }

// HeatMap draws a matrix of real numbers in colours, one pixel an element. Of one with more than 1,000 rows or columns each
// pixel is the mean of a block, without what is not finite; one without a finite element is grey. Values of both
// signs have a scale whose middle is 0. It reads the array once.
func HeatMap(a *oocore.Array) { Figure{}.HeatMap(a) }

// Contour draws lines of equal value, labelled, over the picture of HeatMap: of blocks where a
// matrix has more than 250 rows or columns. It reads the array once.
func Contour(a *oocore.Array) { Figure{}.Contour(a) }

// Facets draws a heat map for each index of the first of three dimensions, up to 24, with one scale of colours. It
// reads the array once.
func Facets(a *oocore.Array) { Figure{}.Facets(a) }

// Image shows an array as a picture: rows × columns, or rows × columns × 3 or 4 of red,
// green, blue and opacity. uint8 is 0 to 255, bool black and white, and floats of several
// channels are 0 to 1; other greys reach from the least to the greatest. Of a large array
// each pixel is the mean of a block; one without a finite element is transparent. It reads the array once.
func Image(a *oocore.Array) { Figure{}.Image(a) }

// Panels draws the series of figures below each other, up to eight. Their horizontal axes are shared. Title
// and File are those of the first figure that has them.
func Panels(figures ...Figure) {
	var all Figure
	var arrays []*oocore.Array
	for _, l := range figures {
		all.Title, all.File = cmp.Or(all.Title, l.Title), cmp.Or(all.File, l.File)
		arrays = append(arrays, l.arrays()...)
	}
	all.draw("Panels", arrays, func(c collector) (*record.Figure, error) {
		if len(figures) == 0 || len(figures) > maxCurves {
			return nil, fmt.Errorf("it draws one figure to %d, and got %d", maxCurves, len(figures))
		}
		f := &record.Figure{Kind: record.PanelsFigure}
		for i, l := range figures {
			one, err := plotFigure(c, l)
			if err != nil {
				return nil, fmt.Errorf("figure %d: %w", i, err)
			}
			if one.Kind != record.PlotFigure {
				return nil, fmt.Errorf("figure %d has too many points for a panel: draw it alone", i)
			}
			if one.Title, one.Low, one.High = l.Title, l.Range[0], l.Range[1]; one.Title == all.Title {
				one.Title = ""
			}
			f.Missing, one.Missing = f.Missing+one.Missing, 0
			f.Panels = append(f.Panels, *one)
		}
		return f, nil
	})
}

// Show draws the figure's series, up to eight.
func (l Figure) Show() {
	l.draw("Show", l.arrays(), func(c collector) (*record.Figure, error) { return plotFigure(c, l) })
}

// Plot is the function Plot with labels; the figure's series are drawn first.
func (l Figure) Plot(arrays ...*oocore.Array) {
	l.Series = slices.Clone(l.Series)
	for _, a := range arrays {
		l.Series = append(l.Series, Series{Y: a})
	}
	l.draw("Plot", l.arrays(), func(c collector) (*record.Figure, error) { return plotFigure(c, l) })
}

// Scatter is the function Scatter with labels.
func (l Figure) Scatter(x, y *oocore.Array, by ...*oocore.Array) {
	some := append(slices.Clone(by), nil, nil)
	s := Series{X: x, Y: y, Points: true, Color: some[0], Size: some[1]}
	l.Series = []Series{s}
	l.draw("Scatter", []*oocore.Array{y}, func(c collector) (*record.Figure, error) {
		if len(by) > 2 {
			return nil, fmt.Errorf("points have a colour and a size, and got %d arrays beside their places", len(by))
		}
		l.Label, l.Y = cmp.Or(l.Label, labelOf(s.Color)), cmp.Or(l.Y, labelOf(y))
		return plotFigure(c, l)
	})
}

// Hist is the function Hist with labels.
func (l Figure) Hist(a *oocore.Array) {
	l.X, l.Y = cmp.Or(l.X, attributesOf(a).label()), cmp.Or(l.Y, "elements")
	l.draw("Hist", []*oocore.Array{a}, func(c collector) (*record.Figure, error) { return histFigure(c, a, l.Range) })
}

// HeatMap is the function HeatMap with labels.
func (l Figure) HeatMap(a *oocore.Array) {
	l.draw("HeatMap", []*oocore.Array{a}, func(c collector) (*record.Figure, error) {
		return heatMapFigure(c, l, a, record.HeatMapFigure, maxSide)
	})
}

// Contour is the function Contour with labels.
func (l Figure) Contour(a *oocore.Array) {
	l.draw("Contour", []*oocore.Array{a}, func(c collector) (*record.Figure, error) {
		return heatMapFigure(c, l, a, record.ContourFigure, maxContour)
	})
}

// Facets is the function Facets with labels.
func (l Figure) Facets(a *oocore.Array) {
	l.draw("Facets", []*oocore.Array{a}, func(c collector) (*record.Figure, error) { return facetsFigure(c, l, a) })
}

// Image is the function Image with labels.
func (l Figure) Image(a *oocore.Array) {
	l.draw("Image", []*oocore.Array{a}, func(c collector) (*record.Figure, error) { return imageFigure(c, l, a) })
}

// arrays returns what the figure's series show.
func (l Figure) arrays() (all []*oocore.Array) {
	for _, s := range l.Series {
		if s.Y != nil || s.Low != nil {
			all = append(all, cmp.Or(s.Y, s.Low))
		}
	}
	return all
}

// labelOf returns what an array is called beside its values: its attributes' name and unit, else its expression.
func labelOf(a *oocore.Array) string {
	if a == nil {
		return ""
	}
	return cmp.Or(attributesOf(a).label(), nameOf(a))
}

// draw computes a figure and shows it.
func (l Figure) draw(op string, arrays []*oocore.Array, figureOf func(collector) (*record.Figure, error)) {
	names := make([]string, len(arrays))
	for i, a := range arrays {
		names[i] = nameOf(a)
	}
	if current.planOnly {
		fmt.Printf("%s of %s: a footprint computes nothing, so there is nothing to draw\n", op, strings.Join(names, ", "))
		return
	}
	title := l.Title
	if title == "" && len(names) == 1 {
		title = names[0]
	}
	if low, high := l.Range[0], l.Range[1]; l.Range != [2]float64{} && !(low < high && !math.IsInf(high-low, 0)) {
		fail(op, fmt.Errorf("a range from %g to %g: it has to be from a number to a larger one", low, high))
	}
	if ending := strings.ToLower(filepath.Ext(l.File)); l.File != "" && !slices.Contains([]string{".svg", ".png", ".pdf"}, ending) {
		fail(op, fmt.Errorf("%s: figures are saved as .svg, .png or .pdf", l.File))
	}
	f, err := figureOf(func(a *oocore.Array) ([]float64, error) {
		ctx, stop := during()
		defer stop()
		return oocore.Collect[float64](ctx, a, host.Shown(op))
	})
	if err != nil {
		fail(op, err)
	}
	f.Title, f.X, f.Y, f.Label = l.Title, cmp.Or(l.X, f.X), cmp.Or(l.Y, f.Y), cmp.Or(l.Label, f.Label)
	if f.Kind != record.HistFigure && f.Kind != record.ImageFigure {
		f.Low, f.High = l.Range[0], l.Range[1]
	}
	card := &record.Card{Title: cmp.Or(title, op), Figure: f}
	if len(arrays) == 1 {
		a := arrays[0]
		card.Shape, card.DType, card.Bytes = a.Shape(), a.DType().String(), a.Bytes()
	}
	card.Text = card.Title + "\n" + figureText(f)
	if l.File != "" {
		if err := save(card, l.File); err != nil {
			fail(op, err)
		}
	}
	display(card)
}

// DrawCommand is the hidden subcommand of the gonbext command that saves the picture of a card.
const DrawCommand = "_draw"

// save has the command draw a card into a file.
func save(card *record.Card, file string) error {
	command, err := exec.LookPath("gonbext")
	if err != nil {
		return fmt.Errorf("%s: figures are saved by the gonbext command, which is not found: go install it, or leave File out", file)
	}
	dir, err := os.MkdirTemp("", "gonbext-figure-*")
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	defer os.RemoveAll(dir)
	path, err := record.WriteCard(dir, card)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	ctx, stop := during()
	defer stop()
	if out, err := exec.CommandContext(ctx, command, DrawCommand, path, file).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %s", file, cmp.Or(strings.TrimSpace(string(out)), err.Error()))
	}
	return nil
}
