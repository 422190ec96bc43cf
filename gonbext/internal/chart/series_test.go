package chart

import (
	"math"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/record"
)

// A line has a point for each figure that is a number, and a gap for another; what has no line has no figure.
func TestSeries(t *testing.T) {
	f := seriesFigure(record.Series{Name: "relative error by iteration", Values: []float64{0.5, 0.25, math.NaN(), 0.2}})
	if f == nil || f.Title != "Relative error by iteration" {
		t.Fatalf("%+v", f)
	}
	svg := svgOf(t, f)
	at := strings.Index(svg, `fill="none" stroke="`+curveColors[0])
	if at < 0 || strings.Contains(svg, "NaN") {
		t.Fatal(svg)
	}
	path := svg[strings.LastIndex(svg[:at], "<path"):at]
	if strings.Count(path, "M") != 2 || strings.Count(path, "l") != 1 { // a line of two, a gap, and one by itself
		t.Errorf("the line is %s", path)
	}
	for _, none := range [][]float64{nil, {1}, {math.NaN(), math.NaN()}} {
		if f := seriesFigure(record.Series{Name: "x", Values: none}); f != nil {
			t.Errorf("%v has a figure", none)
		}
	}
	if got := seriesText(record.Series{Name: "relative error by iteration", Values: []float64{0.5, 0.25}}); got != "relative error by iteration: 0.5 0.25\n" {
		t.Errorf("%q", got)
	}
}
