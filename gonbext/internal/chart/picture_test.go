package chart

import (
	"bytes"
	"encoding/xml"
	"image/color"
	"image/png"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/record"
)

// The values are those of matplotlib 3.10: colormaps["viridis"](x).
func TestScaleIsViridis(t *testing.T) {
	s := newColourScale(0, 255, false, "")
	for v, want := range map[float64]color.NRGBA{0: {68, 1, 84, 255}, 64: {59, 82, 139, 255}, 128: {33, 145, 140, 255}, 200: {112, 207, 87, 255}, 255: {253, 231, 37, 255}} {
		if got := s.at(v); math.Abs(float64(got.R)-float64(want.R)) > 2 || math.Abs(float64(got.G)-float64(want.G)) > 2 || math.Abs(float64(got.B)-float64(want.B)) > 2 {
			t.Errorf("at %g: %v, want %v", v, got, want)
		}
	}
}

// Values of both signs are blue and red, and white at 0; the more, the darker, by the same lightness on both sides.
func TestScaleOfBothSignsIsWhiteAtZero(t *testing.T) {
	s := newColourScale(-2, 4, false, "")
	light := func(v float64) float64 {
		c := s.at(v)
		return 0.2126*float64(c.R) + 0.7152*float64(c.G) + 0.0722*float64(c.B)
	}
	if c := s.at(0); c.R < 235 || c.G < 235 || c.B < 235 {
		t.Errorf("0 is %v", c)
	}
	if low, high := s.at(-2), s.at(4); low.B <= low.R || high.R <= high.B || math.Abs(light(-2)-light(2)) > 12 {
		t.Errorf("-2 is %v, 4 is %v; lightness %g and %g", low, high, light(-2), light(2))
	}
	for v := 0.5; v <= 4; v += 0.5 {
		if light(v) >= light(v-0.5) {
			t.Errorf("%g is not darker than before", v)
		}
	}
	if one := newColourScale(-0.01, 4, false, ""); one.at(0) == s.at(0) {
		t.Error("a trace of the other sign makes the scale one of both")
	}
}

// Lines of equal distance from a point are circles, whose lengths are known.
func TestContoursOfDistanceAreCircles(t *testing.T) {
	const n = 101
	values, at := make([]float64, n*n), make([]float64, n)
	for i := range at {
		at[i] = float64(i-50) / 10
	}
	for i := range values {
		values[i] = math.Hypot(at[i%n], at[i/n])
	}
	for _, radius := range []float64{1, 2.55, 4.9} {
		lines := contourLines(values, at, at, radius)
		if len(lines) != 1 {
			t.Fatalf("%d lines at %g", len(lines), radius)
		}
		length := 0.0
		for i, p := range lines[0] {
			if off := math.Abs(math.Hypot(p[0], p[1]) - radius); off > 0.002 {
				t.Errorf("%v is %g from the circle of %g", p, off, radius)
			}
			if i > 0 {
				length += math.Hypot(p[0]-lines[0][i-1][0], p[1]-lines[0][i-1][1])
			}
		}
		if want := 2 * math.Pi * radius; lines[0][0] != lines[0][len(lines[0])-1] || math.Abs(length/want-1) > 0.005 {
			t.Errorf("the circle of %g is %g long, want %g", radius, length, want)
		}
	}
	if lines := contourLines(values, at, at, 6); len(lines) != 4 { // the corners, each with two ends
		t.Errorf("%d corners", len(lines))
	}
	values[50*n+60] = math.NaN() // at 1, 0
	if lines := contourLines(values, at, at, 1); len(lines) != 1 || lines[0][0] == lines[0][len(lines[0])-1] {
		t.Errorf("a line crosses what is missing: %d", len(lines))
	}
}

// A cell is where its coordinates are, in the colour of its value: pixels of a saved picture.
func TestSavedPixelsAreThoseOfTheData(t *testing.T) {
	f := &record.Figure{Kind: record.HeatMapFigure, Rows: 2, Cols: 3, Block: []int{1, 1}, Down: &record.Axis{At: []float64{10, 20}}, Across: &record.Axis{At: []float64{1, 2, 4}}}
	f.SetLevels([]float64{0, 1, 2, 3, 4, math.NaN()}) // 10 is below, 20 above
	c := &record.Card{Title: "x", Shape: []int{2, 3}, DType: "float64", Figure: f}
	b, err := Picture(c, ".png")
	if err != nil {
		t.Fatal(err)
	}
	m, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	svg, err := Picture(c, ".svg")
	if err != nil {
		t.Fatal(err)
	}
	var x, y, w, h float64
	for i, name := range []*float64{&x, &y, &w, &h} {
		*name, _ = strconv.ParseFloat(regexp.MustCompile(`<image x=.([\d.]+). y=.([\d.]+). width=.([\d.]+). height=.([\d.]+)`).FindStringSubmatch(string(svg))[i+1], 64)
	}
	s := newColourScale(0, 4, false, "")
	for _, cell := range []struct{ across, up, value float64 }{{0.6, 15, 0}, {1.4, 14, 0}, {1.6, 5, 1}, {2.9, 14, 1}, {3.1, 6, 2}, {4.9, 14, 2}, {1, 16, 3}, {2, 24, 4}} {
		// Edges are 0.5, 1.5, 3, 5 across, and 5, 15, 25 up.
		px, py := x+w*(cell.across-0.5)/4.5, y+h*(25-max(cell.up, 5.5))/20
		if got, want := m.At(int(3*px), int(3*py)), s.at(cell.value); color.NRGBAModel.Convert(got) != color.NRGBA(want) {
			t.Errorf("at %g, %g: %v, want %v", cell.across, cell.up, got, want)
		}
	}
}

// Each kind of figure is a whole file of each format.
func TestFiguresAreSavedAsWholeFiles(t *testing.T) {
	for name, c := range dataCards() {
		c.Figure.Title = "Title " + hostile
		svg, err := Picture(c, ".svg")
		if _, drawn := figureSheet(c); drawn == nil {
			if err == nil || strings.Contains(err.Error(), "%!") {
				t.Errorf("%s: a picture of nothing: %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		d := xml.NewDecoder(bytes.NewReader(svg))
		for err == nil {
			_, err = d.Token()
		}
		if err != io.EOF || !strings.Contains(string(svg), "Title") || strings.Contains(string(svg), "prefers-color") {
			t.Errorf("%s: %v", name, err)
		}
		if !slices.Contains([]string{"plot-dates", "scatter-colours", "contour", "facets", "image"}, name) {
			continue
		}
		b, err := Picture(c, ".png")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if m, err := png.Decode(bytes.NewReader(b)); err != nil || m.Bounds().Dx() != 2280 {
			t.Errorf("%s: %v", name, err)
		}
		b, err = Picture(c, ".pdf")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		checkPDF(t, name, b)
	}
	if _, err := Picture(dataCards()["plot"], ".gif"); err == nil || !strings.Contains(err.Error(), ".svg, .png or .pdf") {
		t.Error(err)
	}
}

// checkPDF follows the table of a PDF's objects.
func checkPDF(t *testing.T, name string, b []byte) {
	t.Helper()
	end := regexp.MustCompile(`startxref\n(\d+)\n%%EOF\n?$`).FindSubmatch(b)
	if end == nil || !bytes.HasPrefix(b, []byte("%PDF-1.")) {
		t.Errorf("%s: no PDF", name)
		return
	}
	at, _ := strconv.Atoi(string(end[1]))
	entries := regexp.MustCompile(`(\d{10}) 00000 n`).FindAllSubmatch(b[at:], -1)
	if len(entries) < 5 {
		t.Errorf("%s: %d objects", name, len(entries))
	}
	for i, e := range entries {
		at, _ := strconv.Atoi(string(e[1]))
		if !bytes.HasPrefix(b[at:], []byte(strconv.Itoa(i+1)+" 0 obj")) {
			t.Errorf("%s: object %d is not at %d", name, i+1, at)
		}
	}
}

func TestDatesHaveTicksWhereTheirUnitsBegin(t *testing.T) {
	const day = 86400.0
	for _, c := range []struct {
		low, high float64
		want      string
	}{
		{0, 39 * 365.25 * day, "1970 1975 1980 1985 1990 1995 2000 2005"},
		{0, 300 * day, "Jan 1970 Mar 1970 May 1970 Jul 1970 Sep 1970"},
		{-31 * day, 20 * day, "Dec 1, 1969 Dec 11 Dec 21 Jan 1 Jan 11 Jan 21"},
		{18 * 3600, 30 * 3600, "18:00 Jan 1, 1970 20:00 22:00 Jan 2 02:00 04:00 06:00"},
		{5, 65, "00:00:10 Jan 1, 1970 00:00:20 00:00:30 00:00:40 00:00:50 00:01:00"},
	} {
		var got []string
		for _, tick := range dateTicks(c.low, c.high, 8) {
			got = append(got, tick.label)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%g to %g: %q, want %q", c.low, c.high, strings.Join(got, " "), c.want)
		}
	}
}

func TestAltTextSaysHowACurveGoes(t *testing.T) {
	made := func(of func(i float64) float64) *record.Figure {
		c := record.Curve{Name: "x", Length: 100, Step: 1}
		for i := range 100 {
			c.Mean = append(c.Mean, of(float64(i)))
		}
		return &record.Figure{Kind: record.PlotFigure, Curves: []record.Curve{c}}
	}
	for want, of := range map[string]func(i float64) float64{
		"x rises, greatest at 96":                   func(i float64) float64 { return i + 3*math.Sin(i) },
		"x falls, greatest at 0":                    func(i float64) float64 { return -i },
		"x is constant":                             func(float64) float64 { return 7 },
		"x goes up and down, greatest at 40":        func(i float64) float64 { return -math.Abs(i - 40) },
		"x repeats about every 12.5, greatest at 3": func(i float64) float64 { return math.Sin(2*math.Pi*i/12.5) - i/1e4 },
	} {
		if got := trends(made(of)); got != " · "+want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
