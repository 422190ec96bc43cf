package chart

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

// caption says what a point stands for.
func caption(perPoint int) string {
	if perPoint <= 1 {
		return ""
	}
	return fmt.Sprintf("Of every %s samples the least and the greatest are drawn.", units.Count(int64(perPoint)))
}

// limit is a level to compare with.
type limit struct {
	name  string
	bytes int64
	color string
	line  stroke
	spans []span // where it holds, each at a level of its own; none: everywhere
}

// level is the limit as a line up to an end. Where it is above a top it is left out, and its name says so.
func (l *limit) level(end, top float64) series {
	s := series{key: key{l.name + " " + units.Bytes(l.bytes), l.color, l.line}, width: 1.5}
	if float64(l.bytes) > top {
		s.name += " (off scale)"
	}
	spans := l.spans
	if len(spans) == 0 {
		spans = []span{{To: end, predicted: l.bytes}}
	}
	for _, sp := range spans {
		if v := float64(sp.predicted); v > 0 && v <= top {
			s.x, s.y = append(s.x, sp.From, sp.To, sp.To), append(s.y, v, v, math.NaN())
		}
	}
	return s
}

// topOf chooses the top of a value axis: above all that is drawn, and above
// the limits too unless they would squeeze the rest into its lower quarter.
func topOf(most float64, limits []limit) (top float64) {
	top = most
	for _, l := range limits {
		if v := float64(l.bytes); v > top && v <= 4*most {
			top = v
		}
	}
	if top <= 0 {
		for _, l := range limits {
			top = max(top, float64(l.bytes))
		}
	}
	return max(top*1.04, 1)
}

// memoryOverTime draws f: areas, which are stacked, and lines, of all of which the limits are levels. Spans are
// named above it.
func memoryOverTime(f *figure, end float64, all []series, limits []limit, spans []span) *figure {
	for _, s := range all {
		end = max(end, s.x[len(s.x)-1])
	}
	limits = slices.DeleteFunc(limits, func(l limit) bool { return l.bytes <= 0 })
	top := topOf(highest(all), limits)
	for i := range limits {
		all = append(all, limits[i].level(end, top))
	}
	g := graph{base: timeAxis(end), value: byteAxis(top), series: all, legend: true, spans: spans, tooltip: "gonbext:overTime"}
	return g.draw(f)
}

// moments are when samples were taken, in seconds.
func moments(samples []record.Sample) []float64 {
	at := make([]float64, len(samples))
	for i := range samples {
		at[i] = samples[i].At.Seconds()
	}
	return at
}

// seriesFigure draws figures that an algorithm noted, one after the other; nil where there
// are none that a line could show.
func seriesFigure(s record.Series) *figure {
	if len(s.Values) < 2 {
		return nil
	}
	name := plain(s.Name)
	values := append(record.Floats{math.NaN()}, s.Values...) // the first has the number 1
	for i, v := range values {
		if math.IsInf(v, 0) {
			values[i] = math.NaN()
		}
	}
	said := fmt.Sprintf("first %.6g, last %.6g, of %d.", s.Values[0], s.Values[len(s.Values)-1], len(s.Values))
	f := plotDrawing(&record.Figure{Curves: []record.Curve{{Name: name, Length: len(values), Step: 1, Mean: values}}}, said)
	if f != nil {
		f.Title, f.Caption = strings.ToUpper(name[:1])+name[1:], strings.ToUpper(said[:1])+said[1:]
	}
	return f
}

// seriesText is the same for a terminal.
func seriesText(s record.Series) string {
	if len(s.Values) == 0 {
		return ""
	}
	parts := []string{}
	for i, v := range s.Values {
		if len(s.Values) > 12 && i >= 6 && i < len(s.Values)-5 {
			if i == 6 {
				parts = append(parts, "…")
			}
			continue
		}
		parts = append(parts, strconv.FormatFloat(v, 'g', 5, 64))
	}
	return fmt.Sprintf("%s: %s\n", plain(s.Name), strings.Join(parts, " "))
}
