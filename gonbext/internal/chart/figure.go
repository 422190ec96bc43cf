package chart

import (
	"fmt"
	"math"
	"strconv"

	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

// dataFigure draws a figure of a cell's data.
func dataFigure(c *record.Card, o Options) (Output, error) {
	s, drawn := figureSheet(c)
	if drawn != nil {
		s.Figures = []figure{*drawn}
	}
	out, err := s.output(o)
	out.Text = plainLines(c.Text)
	return out, err
}

// figureSheet says what a figure shows, and draws it: nil where there is nothing to draw.
func figureSheet(c *record.Card) (s *sheet, drawn *figure) {
	f := c.Figure
	s = &sheet{Title: plain(c.Title), Quiet: true}
	s.Head = plain(f.Title)
	switch f.Kind {
	case record.PlotFigure:
		s.Verdict = curvesLine(f)
		drawn = plotDrawing(f, s.Verdict+trends(f))
	case record.PanelsFigure:
		s.Verdict, drawn = panelsLine(f)
	case record.HistFigure:
		s.Verdict = histLine(c)
		drawn = histDrawing(f, s.Verdict)
	case record.FacetsFigure:
		s.Verdict = cellsLine(c)
		drawn = facetsDrawing(c, s.Verdict)
	case record.HeatMapFigure, record.ContourFigure, record.ScatterFigure, record.ImageFigure:
		s.Verdict = cellsLine(c)
		drawn = cellsDrawing(c, s.Verdict+where(f))
	default:
		s.Verdict = fmt.Sprintf("A %s, which this version of gonbext does not draw", plain(f.Kind))
	}
	if f.Missing > 0 {
		s.Note = units.Count(f.Missing) + " elements are not finite and left out."
	}
	return s, drawn
}

// finite returns the least and the greatest finite value of several lists; ok is false where there is none.
func finite(lists ...record.Floats) (low, high float64, ok bool) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, list := range lists {
		for _, v := range list {
			if !math.IsNaN(v) && !math.IsInf(v, 0) {
				low, high, ok = min(low, v), max(high, v), true
			}
		}
	}
	return low, high, ok
}

// numberAxis is an axis of values: round, a little wider than they are.
func numberAxis(low, high float64) (bottom, top, step float64) {
	const least = 1e-300 // no step divides less
	if size := math.Abs(low); high-low < least && size < least {
		high++
	} else if high-low < least {
		widen := max(min(1, size), size/1000)
		low, high = max(low-widen, -math.MaxFloat64), min(high+widen, math.MaxFloat64)
	}
	step = roundStep(high-low, 5)
	return max(math.Floor(low/step)*step, -math.MaxFloat64), min(math.Ceil(high/step)*step, math.MaxFloat64), step
}

// ticksAt returns the ticks at the multiples of a step from low to high.
func ticksAt(low, high, step float64, label func(float64) string) (all []tick) {
	for i := math.Ceil(low/step - 1e-6); i <= high/step+1e-6 && len(all) < mostTicks; i++ {
		v := min(max(i*step, low), high) // where rounding left it
		text := label(i * step)
		if math.IsInf(i*step, 0) {
			text = label(v)
		}
		all = append(all, tick{v, text})
	}
	return all
}

// roundTicks returns at most n + 1 ticks at round values from low to high, which are least apart or more.
func roundTicks(low, high float64, n int, least float64, label func(float64) string) []tick {
	if high <= low {
		return nil
	}
	return ticksAt(low, high, max(roundStep(high-low, n), least), label)
}

// mostTicks bounds the ticks of an axis.
const mostTicks = 20

func numberLabel(v float64) string {
	if math.Abs(v) < 1e-300 { // what rounding left
		v = 0
	}
	return fmt.Sprintf("%.6g", v)
}

func countLabel(v float64) string { return units.Count(int64(v)) }

// digits rounds v to n significant digits.
func digits(v float64, n int) float64 {
	if short, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', n, 64), 64); err == nil { // else it is the largest of all
		return short
	}
	return v
}

// nothingFinite says why there is no picture.
func nothingFinite(c *record.Card) string {
	if product(c.Shape) == 0 {
		return units.Shape(c.Shape) + " " + plain(c.DType) + ": there is no element to draw"
	}
	return units.Shape(c.Shape) + " " + plain(c.DType) + ": no element is finite, so there is nothing to draw"
}

// maxImage is how many bytes a picture has at most.
const maxImage = 300_000
