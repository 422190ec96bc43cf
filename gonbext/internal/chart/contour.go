package chart

import (
	"fmt"
	"math"

	"github.com/gonbext/gonbext/oocore/record"
)

// contours adds lines of equal value to a plot of cells, each with its value in its longest part.
func (of *graph) contours(g *grid, scale *colourScale) {
	centre := func(edges []float64, i int) float64 { return edges[i]/2 + edges[i+1]/2 }
	xs, ys := make([]float64, g.cols), make([]float64, g.rows)
	for i := range xs {
		xs[i] = centre(g.x, i)
	}
	for i := range ys {
		ys[i] = centre(g.y, i)
	}
	low, high, _ := finite(g.values)
	if scale.low > low || scale.high < high { // of a range
		low, high = scale.low, scale.high
	}
	if !(low < high) {
		return
	}
	for n, t := range roundTicks(low, high, 10, 0, numberLabel) {
		lines := contourLines(g.values, xs, ys, t.at)
		s := series{kind: asLine, key: key{name: t.label, color: "#fff"}, width: 1}
		if c := scale.at(t.at); 0.2126*float64(c.R)+0.7152*float64(c.G)+0.0722*float64(c.B) > 110 {
			s.color = "#000"
		}
		longest := 0
		for i, l := range lines {
			if len(l) > len(lines[longest]) {
				longest = i
			}
			for _, p := range l {
				s.x, s.y = append(s.x, p[0]), append(s.y, p[1])
			}
			s.x, s.y = append(s.x, 0), append(s.y, math.NaN())
		}
		if len(lines) == 0 {
			continue
		}
		of.series = append(of.series, s)
		if l := lines[longest]; len(l) > 6 {
			at := l[len(l)*(2+n%3)/6] // not all above each other
			of.notes = append(of.notes, note{at[0], at[1], t.label})
		}
	}
}

// contourLines returns the lines along which values at xs and ys, row by row, are a level: marching squares, with a saddle
// cut by the mean of its corners. Where a corner is NaN there is no line.
func contourLines(values, xs, ys []float64, level float64) (lines [][][2]float64) {
	cols, rows := len(xs), len(ys)
	// A point is on the edge between two neighbours: that to the right of cell i is 2i, that below it 2i + 1.
	point := func(edge int) [2]float64 {
		i := edge / 2
		j, r, c := i+1, i/cols, i%cols
		if edge%2 == 1 {
			j = i + cols
		}
		t := (level - values[i]) / (values[j] - values[i])
		return [2]float64{xs[c] + t*(xs[j%cols]-xs[c]), ys[r] + t*(ys[j/cols]-ys[r])}
	}
	joined := map[int][]int{} // the ends of each edge's pieces
	var order []int
	join := func(a, b int) {
		joined[a], joined[b] = append(joined[a], b), append(joined[b], a)
		order = append(order, a, b)
	}
	for r := range rows - 1 {
		for c := range cols - 1 {
			i := r*cols + c
			corners := [4]float64{values[i], values[i+1], values[i+cols+1], values[i+cols]}
			edges := [4]int{2 * i, 2*(i+1) + 1, 2 * (i + cols), 2*i + 1} // top, right, bottom, left
			var cut []int
			nan, mean := false, 0.0
			for k, v := range corners {
				nan, mean = nan || math.IsNaN(v), mean+v/4
				if (v >= level) != (corners[(k+1)%4] >= level) {
					cut = append(cut, edges[k])
				}
			}
			switch {
			case nan:
			case len(cut) == 2:
				join(cut[0], cut[1])
			case len(cut) == 4 && (mean >= level) == (corners[0] >= level):
				join(cut[0], cut[1])
				join(cut[2], cut[3])
			case len(cut) == 4:
				join(cut[0], cut[3])
				join(cut[1], cut[2])
			}
		}
	}
	walk := func(from int) {
		line := [][2]float64{point(from)}
		for at := from; len(joined[at]) > 0; {
			next := joined[at][0]
			joined[at] = joined[at][1:]
			for k, back := range joined[next] {
				if back == at {
					joined[next] = append(joined[next][:k:k], joined[next][k+1:]...)
					break
				}
			}
			line = append(line, point(next))
			at = next
		}
		lines = append(lines, line)
	}
	for _, open := range []bool{true, false} { // lines with ends before closed ones
		for _, edge := range order {
			if n := len(joined[edge]); n == 1 && open || n > 0 && !open {
				walk(edge)
			}
		}
	}
	return lines
}

// lone draws the few points far from others of a density as points, which a pixel each would be too faint for.
func (of *graph) lone(g *grid) {
	const most, few = 800, 3
	s := series{kind: asPoints, width: 3}
	s.color = hexOf(of.scale.at(math.Inf(-1)))
	for i, v := range g.values {
		if math.IsNaN(v) {
			continue
		}
		r, c, near := i/g.cols, i%g.cols, 0
		for y := max(r-1, 0); y <= min(r+1, g.rows-1); y++ {
			for x := max(c-1, 0); x <= min(c+1, g.cols-1); x++ {
				if !math.IsNaN(g.values[y*g.cols+x]) {
					near++
				}
			}
		}
		if near <= few {
			s.x, s.y = append(s.x, g.x[c]/2+g.x[c+1]/2), append(s.y, g.y[r]/2+g.y[r+1]/2)
			s.colors = append(s.colors, hexOf(of.scale.at(v)))
		}
	}
	if len(s.x) <= most {
		of.series = append(of.series, s)
	}
}

// where says where a figure of cells has its least and its greatest value.
func where(f *record.Figure) string {
	values := f.Values()
	least, most := -1, -1
	for i, v := range values {
		if math.IsNaN(v) {
			continue
		}
		if least < 0 || v < values[least] {
			least = i
		}
		if most < 0 || v > values[most] {
			most = i
		}
	}
	if most < 0 || f.Cols < 1 || least == most {
		return ""
	}
	block := [2]int{1, 1}
	copy(block[:], f.Block)
	at := func(i int) string {
		return placeLabel(f.Down, i/f.Cols, block[0]) + ", " + placeLabel(f.Across, i%f.Cols, block[1])
	}
	return fmt.Sprintf(" · least at %s, greatest at %s (down, across)", at(least), at(most))
}
