package gonbext

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

// figureText returns a figure as text for a terminal.
func figureText(f *record.Figure) string {
	var b strings.Builder
	switch f.Kind {
	case record.PanelsFigure, record.FacetsFigure:
		for i := range f.Panels {
			one := &f.Panels[i]
			if one.Title != "" {
				fmt.Fprintf(&b, "%s\n", one.Title)
			}
			if f.Kind == record.PanelsFigure {
				b.WriteString(figureText(one))
			} else {
				fmt.Fprintf(&b, "%s\n", shades([]rune("░▒▓█"), one.Values(), one.Cols, 16))
			}
		}
		if f.Kind == record.FacetsFigure {
			fmt.Fprintf(&b, "from %.6g to %.6g\n", f.Least, f.Most)
		}
	case record.PlotFigure:
		for _, c := range f.Curves {
			if len(f.Curves) > 1 {
				fmt.Fprintf(&b, "%s\n", c.Name)
			}
			line := c.Mean
			if len(line) == 0 { // a band alone
				line = c.High
			}
			fmt.Fprintf(&b, "%s\n", shades([]rune("▁▂▃▄▅▆▇█"), line, len(line), 60))
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
	case record.ScatterFigure, record.HeatMapFigure, record.ContourFigure:
		values := f.Values()
		if _, _, ok := extremes(values); !ok {
			b.WriteString("no finite elements\n")
			break
		}
		if f.Down != nil && len(f.Down.At) > 1 && f.Down.At[0] < f.Down.At[1] { // which rise upwards
			for i := range f.Rows / 2 {
				for k := range f.Cols {
					x, y := i*f.Cols+k, (f.Rows-1-i)*f.Cols+k
					values[x], values[y] = values[y], values[x]
				}
			}
		}
		what, low, high := "values", f.Least, f.Most
		if strings.Contains(f.Log, "c") {
			what, low, high = "points at a place", math.Pow(10, low), math.Pow(10, high)
		} else if len(f.Block) == 2 && f.Block[0]*f.Block[1] > 1 {
			what = "means of blocks"
		}
		fmt.Fprintf(&b, "%s\n%s from %.6g to %.6g\n", shades([]rune("░▒▓█"), values, f.Cols, 60), what, low, high)
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
