package chart

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/record"
)

// panelsLine says what panels show, and draws them.
func panelsLine(f *record.Figure) (line string, drawn *figure) {
	var lines, alts []string
	for i := range f.Panels {
		p := &f.Panels[i]
		lines = append(lines, curvesLine(p))
		alts = append(alts, strings.TrimPrefix(plain(p.Title)+": ", ": ")+curvesLine(p)+trends(p))
	}
	return strings.Join(slices.Compact(lines), " · "), panelsDrawing(f, strings.Join(alts, "; "))
}

// trends says how curves go, for those who do not see them.
func trends(f *record.Figure) string {
	said := ""
	for i := range f.Curves {
		c := &f.Curves[i]
		values := c.Mean
		if len(values) == 0 {
			values = c.High
		}
		if t := trend(c, values, f.Across); t != "" {
			said += " · " + strings.TrimPrefix(clip(plain(c.Name), 30)+" ", " ") + t
		}
	}
	return said
}

// straight is how much of what values do a line has to say, for them to rise or fall.
const straight = 0.75

// trend says whether values rise, fall or repeat, and where they are greatest.
func trend(c *record.Curve, values []float64, across *record.Axis) string {
	var n, sum, sumX, most float64
	at := -1
	for i, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			continue
		}
		if n, sum, sumX = n+1, sum+v, sumX+float64(i); at < 0 || v > most {
			at, most = i, v
		}
	}
	if n < 3 || c.Points {
		return ""
	}
	places := record.Axis{At: c.X}
	if across != nil {
		places.Time, places.Texts = across.Time, across.Texts
	}
	mean, meanX := sum/n, sumX/n
	var xx, xy, yy float64
	crossings := []int{}
	above, begun := false, false
	for i, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			continue
		}
		xx, xy, yy = xx+(float64(i)-meanX)*(float64(i)-meanX), xy+(float64(i)-meanX)*(v-mean), yy+(v-mean)*(v-mean)
		if up := v > mean; begun && up && !above {
			crossings = append(crossings, i)
		}
		above, begun = v > mean, true
	}
	how := "goes up and down"
	switch {
	case yy == 0 || math.IsInf(yy, 0) || math.IsNaN(yy):
		return "is constant"
	case xy*xy/(xx*yy) > straight && xy > 0:
		how = "rises"
	case xy*xy/(xx*yy) > straight:
		how = "falls"
	case len(crossings) >= 4: // alike steps between upward crossings of the mean
		each := float64(crossings[len(crossings)-1]-crossings[0]) / float64(len(crossings)-1)
		even := true
		for i := 1; i < len(crossings); i++ {
			even = even && math.Abs(float64(crossings[i]-crossings[i-1])-each) <= max(1.5, each/4)
		}
		if even && each > 2 {
			unit := each * float64(max(c.Step, 1)) // in indices
			if last := len(values) - 1; len(c.X) > last {
				unit = math.Abs(each * (c.X[last] - c.X[0]) / float64(last))
			}
			if how = fmt.Sprintf("repeats about every %.3g", unit); places.Time {
				how = fmt.Sprintf("repeats about every %.3g days", unit/86400)
			}
		}
	}
	return how + ", greatest at " + placeLabel(&places, at, c.Step)
}
