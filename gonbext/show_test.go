package gonbext_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/gonbext/internal/chart"
	"github.com/gonbext/gonbext/oocore/record"
)

func TestLastValueBecomesACard(t *testing.T) {
	r := run(t, "card")
	r.expect(t, 0)
	if r.stdout != "" {
		t.Errorf("said %q", r.stdout)
	}
	cards := r.cards(t)
	if len(cards) != 1 {
		t.Fatalf("cards %+v", cards)
	}
	c := cards[0] // arange(80) as 8 × 10: integers so few are shown whole
	for i, row := range c.Sample {
		for k, text := range row {
			if text != fmt.Sprint(10*i+k) {
				t.Errorf("element %d, %d is %q", i, k, text)
			}
		}
	}
	if !slices.Equal(c.Shape, []int{8, 10}) || c.DType != "int64" || c.Bytes != 640 || len(c.Sample) != 8 || len(c.Sample[0]) != 10 || !slices.Equal(c.Stats, []string{"0", "39.5", "79"}) {
		t.Errorf("card %+v", c)
	}
}

// Of floats, and of more than 20 rows or columns, the ends are shown.
func TestCardShowsTheEndsOfALargeArray(t *testing.T) {
	r := run(t, "large cards")
	r.expect(t, 0)
	for _, c := range r.cards(t) {
		if !slices.EqualFunc(c.Sample[:2], [][]string{{"0", "1", "2", "…", "18", "19", "20"}, {"21", "22", "23", "…", "39", "40", "41"}}, slices.Equal) || len(c.Sample) != 7 || c.Sample[3][0] != "⋮" {
			t.Errorf("card %+v", c)
		}
	}
}

func TestCardSaysThatNumbersArePacked(t *testing.T) {
	r := run(t, "packed card")
	r.expect(t, 0)
	c := r.cards(t)[0]
	if len(c.Notes) != 1 || !strings.Contains(c.Notes[0], "packed.zarr holds packed numbers (add_offset 0.5), which are used as they are stored: decode_cf(x) decodes them") || !strings.Contains(c.Text, c.Notes[0]) {
		t.Errorf("card %+v", c)
	}
	out, err := chart.Card(c, chart.Options{})
	if err != nil || !strings.Contains(out.HTML, "add_offset 0.5") {
		t.Errorf("%s, %v", out.HTML, err)
	}
}

// NaN hide no figure, and are counted.
func TestFiguresOfACardLeaveNaNOut(t *testing.T) {
	r := run(t, "card with NaN")
	r.expect(t, 0)
	var stats [][]string
	for _, c := range r.cards(t) {
		stats = append(stats, c.Stats)
	}
	if !slices.EqualFunc(stats, [][]string{{"1500", "1749.5", "1999", "1,500"}, {"NaN", "NaN", "NaN", "2,000"}, {"0", "999.5", "1999"}}, slices.Equal) {
		t.Errorf("%q", stats)
	}
}

// A collection is shown by its first and last arrays, and by what those of each type have
// together.
func TestCollectionBecomesACard(t *testing.T) {
	r := run(t, "collection")
	r.expect(t, 0)
	cards := r.cards(t)
	if len(cards) != 1 || r.stdout != "" {
		t.Fatalf("said %q, cards %+v", r.stdout, cards)
	}
	c := cards[0] // w0 to w29 have one to 30 float32, ten layers five float16 each, b one int8
	if c.Title != "41 arrays, 1,961 bytes, 1.92 KiB · 30 of float32, 1.82 KiB · 10 of float16, 100 bytes · 1 of int8, 1 byte" || c.Bytes != 30*31/2*4+10*5*2+1 {
		t.Errorf("title %q, %d bytes", c.Title, c.Bytes)
	}
	if n := len(c.Arrays); n != 25 || !slices.Equal(c.Arrays[0], []string{"w0", "1", "float32", "4 bytes"}) || c.Arrays[12][0] != "… 8 more" ||
		!slices.Equal(c.Arrays[23], []string{"layers.{0–9}.w", "5", "float16", "10 × 10 bytes"}) || c.Arrays[24][0] != "b\ufffd[31m "+strings.Repeat("x", 192)+"…" {
		t.Errorf("arrays %q", c.Arrays)
	}
	r = run(t, "collection as text")
	r.expect(t, 0)
	if !strings.HasPrefix(r.stdout, c.Title+"\n  w0") {
		t.Errorf("said %q", r.stdout)
	}
}

func TestTimeIsSaidAfterTheValue(t *testing.T) {
	r := run(t, "time")
	r.expect(t, 0)
	var wall float64
	var unit string
	cards := r.cards(t)
	if len(cards) != 1 || cards[0].Title != "" || r.stdout != "2.5\n" {
		t.Fatalf("said %q, cards %+v", r.stdout, cards)
	}
	if _, err := fmt.Sscanf(cards[0].Text, "Wall time %f %s · CPU time ", &wall, &unit); err != nil || unit == "ms" && wall < 20 {
		t.Errorf("said %q: %v", cards[0].Text, err)
	}
}

func TestFiguresAreLeftForTheKernel(t *testing.T) {
	r := run(t, "figures")
	r.expect(t, 1)
	if r.stdout != "" || !strings.Contains(r.stderr, "Plot: ") || !strings.Contains(r.stderr, "x.Abs()") || !strings.Contains(r.stderr, "(cell:7)") {
		t.Errorf("said %q and %q", r.stdout, r.stderr)
	}
	var kinds []string
	for _, s := range r.runs(t) {
		// Each is of the cell, whose timeline has its memory, and says what it is for.
		if h := &s.Header; !h.Process && (h.Cell == "" || h.Cell == record.Unreported || !slices.Contains([]string{"Plot", "Hist", "HeatMap", "Image"}, h.Shown)) {
			t.Errorf("a run %q of cell %q shows %q", h.Title, h.Cell, h.Shown)
		}
	}
	for _, c := range r.cards(t) {
		kinds = append(kinds, c.Figure.Kind)
	}
	if want := []string{record.PlotFigure, record.HistFigure, record.HeatMapFigure, record.ImageFigure}; !slices.Equal(kinds, want) {
		t.Errorf("figures %q", kinds)
	}
}

func TestFigureIsTextWithoutANotebook(t *testing.T) {
	r := run(t, "figures as text")
	r.expect(t, 0)
	if !strings.Contains(r.stdout, "▁▂▃▄▅▆▇█") || !strings.Contains(r.stdout, "8 elements from 0 to 7") {
		t.Errorf("said %q", r.stdout)
	}
	r = run(t, "figures planned")
	r.expect(t, 0)
	if !strings.Contains(r.stdout, "nothing to draw") {
		t.Errorf("under a footprint: %q", r.stdout)
	}
}

func TestShow(t *testing.T) {
	r := run(t, "show")
	r.expect(t, 0)
	for _, part := range []string{
		"8 × 10 int64",
		"   0   1   2   3   4   5   6   7   8   9\n", "  70  71  72  73  74  75  76  77  78  79\nminimum 0, mean 39.5, maximum 79\n",
		"\n2.5\n", // no dimensions
		"true  true\narray",
		"  1      -22.5  \n  0.125      NaN\nminimum -22.5, mean -7.125, maximum 1, without 1 NaN\n", // points below each other
		"  1.00000e-09  3.00000e+00\nminimum 1e-09, mean 1.5, maximum 3\n",
		"[0]:\n     0     1     2  …   997   998   999\n  1000  1001  1002  …  1997  1998  1999\n",
		"\n0.1\n", // as float32 tells it apart
		"59 × 2 int8, 118 bytes\ntime 2001-01-01 … 2001-02-28, lat 60 … 7.5\n",
	} {
		if !strings.Contains(r.stdout, part) {
			t.Errorf("no %q in\n%s", part, r.stdout)
		}
	}
}

func TestShowPrintsWhatIsNoArray(t *testing.T) {
	r := run(t, "values")
	r.expect(t, 0)
	want := "[8 10]\n[0" + strings.Repeat(" 0", 999) + "]\n[0 0 0 0 0 0] … [0 0 0 0 0 0]: 1,001 values\ntext\nfunc(string) string\n"
	if r.stdout != want {
		t.Errorf("%s", r.stdout)
	}
}
