package chart

import (
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// wave is a curve of blocks, with a gap.
func wave(name string, phase float64) record.Curve {
	c := record.Curve{Name: name, Length: 1_000_000, Step: 2500}
	for i := range 400 {
		v := math.Sin(float64(i)/40 + phase)
		if i > 200 && i < 230 {
			v = math.NaN()
		}
		c.Mean, c.Low, c.High = append(c.Mean, v), append(c.Low, v-0.3), append(c.High, v+0.1+0.3*math.Abs(v))
	}
	return c
}

func dataCards() map[string]*record.Card {
	nan := math.NaN()
	bell := &record.Figure{Kind: record.HistFigure, Edges: record.Floats{-3}, Missing: 3}
	for i := range 60 {
		x := -3 + 0.1*float64(i+1)
		bell.Edges = append(bell.Edges, x)
		bell.Counts = append(bell.Counts, int64(1e6*math.Exp(-x*x/2)))
	}
	heat := &record.Figure{Kind: record.HeatMapFigure, Rows: 50, Cols: 80, Block: []int{200, 125}}
	for i := range 4000 {
		v := math.Sin(float64(i%80)/12) * math.Cos(float64(i/80)/9)
		if i%80 > 70 && i/80 > 44 {
			v = nan
		}
		heat.Means = append(heat.Means, v)
	}
	photo := &record.Figure{Kind: record.ImageFigure, Rows: 60, Cols: 90, Block: []int{4, 4}, High: 255}
	for i := range 60 * 90 {
		photo.Pixels = append(photo.Pixels, byte(i%90*2), byte(i/90*4), 128, 255)
	}
	card := func(f *record.Figure, shape ...int) *record.Card {
		return &record.Card{Title: "x" + hostile, Shape: shape, DType: "float32", Figure: f, Text: "text\n"}
	}
	plot := func(curves ...record.Curve) *record.Card {
		return card(&record.Figure{Kind: record.PlotFigure, Curves: curves}, 1)
	}
	points := func(name string, values ...float64) record.Curve {
		return record.Curve{Name: name, Length: len(values), Step: 1, Mean: values}
	}
	lone := make([]float64, 101) // points without neighbours
	var many []record.Curve
	for i := range lone {
		lone[i] = [2]float64{nan, float64(i)}[i%2]
	}
	for i := range 40 {
		many = append(many, points(strings.Repeat("curve ", i%5+1), float64(i), float64(-i), 0.5))
	}
	seconds := func(n int) (at []float64) {
		for i := range n {
			at = append(at, 315532800+float64(i)*30.4*86400)
		}
		return at
	}
	dated := &record.Figure{Kind: record.PlotFigure, Across: &record.Axis{Time: true}, Curves: []record.Curve{
		{Name: "10–90 %", Length: 60, Step: 1, X: seconds(60), Low: make(record.Floats, 60), High: slices.Repeat(record.Floats{1, 2}, 30), Band: true},
		{Name: "mean" + hostile, Length: 60, Step: 1, X: seconds(60), Mean: slices.Repeat(record.Floats{0.5, 1}, 30)},
	}}
	logs := &record.Figure{Kind: record.PlotFigure, Log: "xy", Across: &record.Axis{}, Curves: []record.Curve{{Name: "x", Length: 4, Step: 1, X: []float64{1, 10, 100, 1000}, Mean: record.Floats{1e-3, 0, 5, 1e6}, Points: true}}}
	named := &record.Figure{Kind: record.PlotFigure, Across: &record.Axis{Texts: []string{"Jan", hostile, "Mar"}}, Curves: []record.Curve{{Name: "x", Length: 3, Step: 1, Mean: record.Floats{1, 3, 2}}}}
	coloured := &record.Figure{Kind: record.PlotFigure, Label: hostile, Curves: []record.Curve{{Name: "x", Length: 3, Step: 1, X: []float64{3, 1, 2}, Mean: record.Floats{1, 3, 2}, Points: true, Color: record.Floats{-1, nan, 1}, Size: record.Floats{1, 2, nan}}}}
	cells := func(kind, log string, down, across *record.Axis) *record.Figure {
		f := &record.Figure{Kind: kind, Log: log, Rows: 20, Cols: 30, Block: []int{1, 1}, Down: down, Across: across, Label: hostile, X: hostile, Y: hostile}
		values := make([]float64, f.Rows*f.Cols)
		for i := range values {
			values[i] = math.Hypot(float64(i/30-10), float64(i%30-15)) - 3
			if i%97 == 0 {
				values[i] = nan
			}
		}
		f.SetLevels(values)
		return f
	}
	places := func(n int, by float64) (a record.Axis) {
		for i := range n {
			a.At = append(a.At, 90-by*float64(i))
		}
		return a
	}
	lat, lon, uneven, words := places(20, 9), places(30, -12), record.Axis{}, record.Axis{}
	for i := range 30 {
		uneven.At, words.Texts = append(uneven.At, math.Pow(1.2, float64(i))), append(words.Texts, hostile)
	}
	dates := record.Axis{At: seconds(30), Time: true}
	facets := &record.Figure{Kind: record.FacetsFigure, Least: -3, Most: 15, Across: &lon, Down: &lat}
	for range 5 {
		one := cells(record.HeatMapFigure, "", nil, nil)
		one.Title = hostile
		facets.Panels = append(facets.Panels, *one)
	}
	return map[string]*record.Card{
		"plot-dates":        card(dated, 60),
		"plot-log":          card(logs, 4),
		"plot-texts":        card(named, 3),
		"scatter-colours":   card(coloured, 3),
		"panels":            card(&record.Figure{Kind: record.PanelsFigure, Panels: []record.Figure{*dated, {Kind: record.PlotFigure, Title: hostile, Across: &record.Axis{Time: true}, Curves: dated.Curves[1:]}, *logs}}, 60),
		"panels-nothing":    card(&record.Figure{Kind: record.PanelsFigure, Panels: []record.Figure{{Kind: record.PlotFigure}}}, 0),
		"facets":            card(facets, 5, 20, 30),
		"facets-nothing":    card(&record.Figure{Kind: record.FacetsFigure}, 0, 3, 3),
		"heatmap-places":    card(cells(record.HeatMapFigure, "", &lat, &lon), 20, 30),
		"heatmap-uneven":    card(cells(record.HeatMapFigure, "", &lat, &uneven), 20, 30),
		"heatmap-texts":     card(cells(record.HeatMapFigure, "", nil, &words), 20, 30),
		"contour":           card(cells(record.ContourFigure, "", &lat, &dates), 20, 30),
		"contour-of-broken": card(&record.Figure{Kind: record.ContourFigure, Rows: 2, Cols: -2, Levels: make([]byte, 8)}, 2, 2),
		"scatter-dense":     card(cells(record.ScatterFigure, "xc", nil, &uneven), 600),
		"image-grey":        card(cells(record.ImageFigure, "", nil, nil), 20, 30),

		"plot-lone":      plot(points("x", lone...)),
		"plot-many":      plot(many...),
		"plot-names":     plot(points("toString", 1, 2), points("toString", 3, 4), points("constructor", -1, -2), points(strings.Repeat("שלום", 9), 5, 6), points("", 7, 8)),
		"heatmap-most":   card(&record.Figure{Kind: record.HeatMapFigure, Rows: 1, Cols: 2, Block: []int{1, 1}, Means: record.Floats{math.MaxFloat64, math.MaxFloat64}}, 1, 2),
		"heatmap-least":  card(&record.Figure{Kind: record.HeatMapFigure, Rows: 1, Cols: 1, Block: []int{1, 1}, Means: record.Floats{-1e300}}, 1, 1),
		"heatmap-minus":  card(&record.Figure{Kind: record.HeatMapFigure, Rows: 1, Cols: 3, Block: []int{1, 1}, Means: record.Floats{-5, nan, -5}}, 1, 3),
		"hist-large":     card(&record.Figure{Kind: record.HistFigure, Edges: record.Floats{-1e300, 0, 1e-300, 1e300}, Counts: []int64{0, 1 << 62, 1}}, 3),
		"plot":           plot(wave("sin(x)", 0)),
		"plots":          plot(wave("sin(x)", 0), wave(hostile, 1), wave("c", 2)),
		"plot-one":       plot(record.Curve{Name: "x", Length: 1, Step: 1, Mean: record.Floats{7}}),
		"plot-few":       plot(record.Curve{Name: "x", Length: 5, Step: 1, Mean: record.Floats{1e20, nan, 1e20, nan, nan}}),
		"plot-tiny":      plot(record.Curve{Name: "x", Length: 2, Step: 1, Mean: record.Floats{5e-324, 1e-323}}),
		"plot-most":      plot(points("x", math.MaxFloat64, math.MaxFloat64)),
		"plot-least":     plot(points("x", -math.MaxFloat64)),
		"plot-too-wide":  plot(points("x", -1e308, 0.7e308)), // not itself, but the round axis around it
		"plot-nothing":   plot(record.Curve{Name: "x", Length: 0, Step: 1}),
		"plot-nan":       plot(record.Curve{Name: "x", Length: 2, Step: 1, Mean: record.Floats{nan, nan}}),
		"plot-wide":      plot(record.Curve{Name: "x", Length: 2, Step: 1, Mean: record.Floats{-1.7e308, 1.7e308}}),
		"hist":           card(bell, 10_000, 10_000),
		"hist-one":       card(&record.Figure{Kind: record.HistFigure, Edges: record.Floats{1.5, 2.5}, Counts: []int64{2}}, 2),
		"hist-nothing":   card(&record.Figure{Kind: record.HistFigure}, 0),
		"heatmap":        card(heat, 10_000, 10_000),
		"heatmap-one":    card(&record.Figure{Kind: record.HeatMapFigure, Rows: 1, Cols: 1, Block: []int{1, 1}, Means: record.Floats{1e300}}, 1, 1),
		"heatmap-nan":    card(&record.Figure{Kind: record.HeatMapFigure, Rows: 1, Cols: 2, Block: []int{1, 1}, Means: record.Floats{nan, nan}}, 1, 2),
		"heatmap-broken": card(&record.Figure{Kind: record.HeatMapFigure, Rows: 7, Cols: 2, Means: record.Floats{1}}, 7, 2),
		"image":          card(photo, 240, 360, 3),
		"image-nothing":  card(&record.Figure{Kind: record.ImageFigure}, 0, 3),
		"image-broken":   card(&record.Figure{Kind: record.ImageFigure, Rows: 2, Cols: 2, Pixels: []byte{1}}, 2, 2),
		"unknown":        card(&record.Figure{Kind: hostile}, 2, 2),
	}
}

func TestDataFiguresDrawOrSayWhyNot(t *testing.T) {
	for name, c := range dataCards() {
		c.Figure.Title, c.Figure.X, c.Figure.Y = hostile, hostile, hostile
		out, err := Card(c, Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		empty := strings.Contains(name, "nothing") || strings.Contains(name, "nan") || strings.Contains(name, "wide") || strings.Contains(name, "broken") || name == "unknown"
		if drawn := strings.Contains(out.HTML, `src="data:`); drawn == empty {
			t.Errorf("%s: a picture is %t", name, drawn)
		}
		live := strings.HasPrefix(name, "plot") || strings.HasPrefix(name, "hist")
		if script := strings.Contains(out.HTML, "<script>"); script != (!empty && live) {
			t.Errorf("%s: a script is %t", name, script)
		}
		if strings.Contains(out.HTML, "<img src=x") || strings.ContainsAny(out.HTML+out.Text, "\x1b\u202e") || !empty && strings.Contains(string(options(t, out.HTML)), "Na"+"N") {
			t.Errorf("%s: not escaped, or no number", name)
		}
		for _, s := range svgs(t, out.HTML) {
			d := xml.NewDecoder(strings.NewReader(s))
			for {
				_, err := d.Token()
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatalf("%s: %v in %s", name, err, s)
				}
			}
			if strings.Contains(s, " NaN") || strings.Contains(s, "Inf ") || strings.Contains(s, "%!") {
				t.Errorf("%s: a picture holds what is no number", name)
			}
		}
		if len(out.HTML) > 150_000 {
			t.Errorf("%s: %d bytes", name, len(out.HTML))
		}
		if still, _ := Card(c, Options{Mode: SVG}); strings.Contains(still.HTML, "<script>") {
			t.Errorf("%s: scripts in a still picture", name)
		}
	}
}

// TestWriteFigures writes pages of the figures to $GONBEXT_PAGES, to be looked at.
func TestWriteFigures(t *testing.T) {
	dir := os.Getenv("GONBEXT_PAGES")
	if dir == "" {
		dir = t.TempDir()
	}
	var all, still strings.Builder
	cards := dataCards()
	for i, name := range slices.Sorted(maps.Keys(cards)) {
		out, err := Card(cards[name], Options{Library: i == 0})
		if err != nil {
			t.Fatal(err)
		}
		all.WriteString(out.HTML)
		out, _ = Card(cards[name], Options{Mode: SVG})
		still.WriteString(out.HTML)
	}
	for name, html := range map[string]string{"figures": all.String(), "figures-still": still.String()} {
		testcases.WriteFile(t, filepath.Join(dir, name+".html"), []byte(`<!doctype html><html lang="en"><meta charset=utf-8><title>x</title><meta name="color-scheme" content="light dark"><style>@media(prefers-color-scheme:dark){body{background:#141414}}</style><body><h1>x</h1>`+html), 0o644)
	}
}

// The axis of a constant is round it, however small that is.
func TestAxisOfAConstantIsOfItsSize(t *testing.T) {
	for v, want := range map[float64][2]float64{0: {0, 1}, 1e-310: {0, 1}, 1e-30: {0, 2e-30}, -1e-30: {-2e-30, 0}, 0.5: {0, 1}, 7: {6, 8}, -7: {-8, -6}, 4e6: {3.996e6, 4.004e6},
		math.MaxFloat64: {1.7955e308, 1.79769313e308}, -math.MaxFloat64: {-1.79769313e308, -1.7955e308}} {
		bottom, top, step := numberAxis(v, v)
		if digits(bottom, 9) != want[0] || digits(top, 9) != want[1] || bottom > v || top < v || (top-bottom)/step < 2 || (top-bottom)/step > 10 {
			t.Errorf("the axis of %g goes from %g to %g by %g, want %g to %g", v, bottom, top, step, want[0], want[1])
		}
	}
}

func TestRoundTicksAreRoundAndInside(t *testing.T) {
	for _, c := range []struct {
		low, high, least float64
		n                int
		want             []float64
	}{
		{-3.1, 2.9, 0, 8, []float64{-3, -2, -1, 0, 1, 2}},
		{0.12, 0.47, 0, 8, []float64{0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45}},
		{0, 3, 1, 6, []float64{0, 1, 2, 3}},
		{0, 10_000, 1, 6, []float64{0, 2000, 4000, 6000, 8000, 10_000}},
		{5, 5, 0, 8, nil},
	} {
		var got []float64
		for _, tick := range roundTicks(c.low, c.high, c.n, c.least, numberLabel) {
			got = append(got, digits(tick.at, 9))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%g to %g: %v, not %v", c.low, c.high, got, c.want)
		}
	}
}

// A matrix is drawn to scale, whatever the shape of the blocks behind its cells.
func TestHeatMapHasTheAspectOfTheMatrix(t *testing.T) {
	for _, block := range [][]int{{10, 10}, {20, 5}} {
		rows, cols := 200/block[0], 400/block[1]
		c := &record.Card{Shape: []int{200, 400}, DType: "float32", Figure: &record.Figure{Kind: record.HeatMapFigure, Rows: rows, Cols: cols, Block: block, Means: make(record.Floats, rows*cols)}}
		svg := svgOf(t, cellsDrawing(c, ""))
		var x, y, w, h float64
		image := svg[strings.Index(svg, "<image "):]
		if _, err := fmt.Sscanf(image, `<image x="%f" y="%f" width="%f" height="%f"`, &x, &y, &w, &h); err != nil || math.Abs(w/h-2) > 0.01 {
			t.Errorf("blocks of %v: %g × %g, %v", block, w, h, err)
		}
		if !strings.Contains(svg, ">150</text>") || !strings.Contains(svg, ">300</text>") {
			t.Errorf("blocks of %v: no ticks in %s", block, svg[strings.Index(svg, "</image>")+1:])
		}
	}
}

// On light grounds and on dark ones less is darker: lightness grows along the whole scale.
func TestDarkMeansLess(t *testing.T) {
	last := -1.0
	for i := range 101 {
		c := shade(float64(i)/100, 256)
		if l := 0.2126*float64(c.R) + 0.7152*float64(c.G) + 0.0722*float64(c.B); l < last {
			t.Errorf("at %d %% the scale is darker than before", i)
		} else {
			last = l
		}
	}
}

// Below a notebook's first, a figure of lines takes 26 kB at most, whatever it is of, and one of pixels 300.
func TestFiguresAreOfBoundedSize(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	curves := func(n, points, step int) *record.Card {
		f := &record.Figure{Kind: record.PlotFigure}
		for range n {
			c := record.Curve{Name: "x", Length: points * step, Step: step}
			for range points {
				v := random.NormFloat64()
				c.Mean = append(c.Mean, v)
				if step > 1 {
					c.Low, c.High = append(c.Low, v-3-random.Float64()), append(c.High, v+3+random.Float64())
				}
			}
			f.Curves = append(f.Curves, c)
		}
		return &record.Card{Title: "x", Shape: []int{points * step}, DType: "float32", Figure: f}
	}
	heat := &record.Figure{Kind: record.HeatMapFigure, Rows: 50, Cols: 80, Block: []int{200, 125}}
	for range heat.Rows * heat.Cols {
		heat.Means = append(heat.Means, random.NormFloat64())
	}
	large := &record.Figure{Kind: record.HeatMapFigure, Rows: 1000, Cols: 1000, Block: []int{10, 10}}
	values := make([]float64, large.Rows*large.Cols)
	for i := range values {
		values[i] = random.NormFloat64()
	}
	large.SetLevels(values)
	photo := func(pixel func() [4]byte) *record.Card {
		f := &record.Figure{Kind: record.ImageFigure, Rows: 360, Cols: 300, Block: []int{1, 1}, High: 255}
		for range f.Rows * f.Cols {
			p := pixel()
			f.Pixels = append(f.Pixels, p[:]...)
		}
		return &record.Card{Title: "x", Shape: []int{360, 300, 4}, DType: "uint8", Figure: f}
	}
	noise := func() byte { return byte(random.IntN(256)) }
	cards := dataCards()
	for name, c := range map[string]*record.Card{
		"blocks": curves(1, 400, 2500), "8 of blocks": curves(8, 50, 2500),
		"points": curves(1, 400, 1), "8 of points": curves(8, 60, 1), "8 of many points": curves(8, 125, 1),
		"noise in a heat map": {Title: "x", Shape: []int{10_000, 10_000}, DType: "float32", Figure: heat},
		"noise of a million":  {Title: "x", Shape: []int{10_000, 10_000}, DType: "float32", Figure: large},
		"grey noise":          photo(func() [4]byte { g := noise(); return [4]byte{g, g, g, 255} }),
		"noise":               photo(func() [4]byte { return [4]byte{noise(), noise(), noise(), 255} }),
		"transparent noise":   photo(func() [4]byte { return [4]byte{noise(), noise(), noise(), noise()} }),
	} {
		cards[name] = c
	}
	for name, c := range cards {
		out, err := Card(c, Options{})
		if err != nil {
			t.Fatal(err)
		}
		most := 26_000
		if name == "plots" { // of an earlier version
			most = 50_000
		}
		if strings.Contains(name, "noise") || strings.HasPrefix(name, "heat") || strings.HasPrefix(name, "image") {
			most = maxImage + 10_000
		}
		if len(out.HTML) > most {
			t.Errorf("%s: %d bytes", name, len(out.HTML))
		}
		if name == "noise of a million" && !strings.Contains(out.HTML, "Drawn as") {
			t.Errorf("%s: it is not said what is drawn", name)
		}
	}
}
