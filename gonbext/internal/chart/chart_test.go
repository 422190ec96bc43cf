package chart

import (
	"bytes"
	"compress/gzip"
	"encoding/ascii85"
	"encoding/json"
	"encoding/xml"
	"flag"
	"io"
	"maps"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/testcases"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func open(t testing.TB, path string) *record.Run {
	t.Helper()
	r, err := record.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Run = "20260801-120000.000000-1-0001" // golden files know no clock
	return r
}

// cutEnd takes the End off a record, as a killed process leaves it.
func cutEnd(t testing.TB, path string) *record.Run {
	t.Helper()
	b := testcases.ReadFile(t, path)
	b = b[:len(b)-1] // an End is whole or there is none
	testcases.WriteFile(t, path, b, 0o600)
	return open(t, path)
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		testcases.WriteFile(t, path, []byte(got), 0o644)
		return
	}
	want := testcases.ReadFile(t, path)
	if got != string(want) {
		t.Errorf("%s is not what it was; look at the difference, and run with -update if it is meant.\n%s", name, got)
	}
}

func report(t testing.TB, o Options, runs ...*record.Run) Output {
	t.Helper()
	out, err := Report(runs, o)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

var pictures = regexp.MustCompile(`src="data:image/svg\+xml,([^"]+)"`)

// svgs are the pictures in a report.
func svgs(t testing.TB, html string) []string {
	t.Helper()
	var all []string
	for _, m := range pictures.FindAllStringSubmatch(html, -1) {
		svg, err := url.PathUnescape(m[1])
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, strings.ReplaceAll(svg, "'", `"`))
	}
	return all
}

// svgOf is the picture of a figure.
func svgOf(t testing.TB, f *figure) string {
	t.Helper()
	if f == nil {
		t.Fatal("no figure")
		return ""
	}
	return svgs(t, string(f.Picture))[0]
}

var pushed = regexp.MustCompile(`\.push\("([^"]+)"\);</script>`)

// options are the live figures in a report, as JSON.
func options(t testing.TB, html string) []byte {
	t.Helper()
	m := pushed.FindStringSubmatch(html)
	if m == nil {
		return nil
	}
	r, err := gzip.NewReader(ascii85.NewDecoder(strings.NewReader(strings.NewReplacer("v", `"`, "w", `\`, "x", "<", "y", "&", "{", "'", "|", "`", "}", ">").Replace(m[1]))))
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestGolden(t *testing.T) {
	for name, r := range cases(t) {
		out := report(t, Options{}, r)
		golden(t, name+".txt", out.Text)
		if name == "done" || name == "device" || name == "planned" {
			for i, s := range svgs(t, out.HTML) {
				golden(t, name+"-"+string(rune('0'+i))+".svg", s)
			}
		}
	}
}

// Pictures are well-formed XML, options are JSON, whatever the record holds.
func TestEveryPictureAndOptionParses(t *testing.T) {
	for name, r := range cases(t) {
		out := report(t, Options{}, r)
		n := strings.Count(out.HTML, "<img ")
		if got := len(svgs(t, out.HTML)); got != n {
			t.Errorf("%s: %d of %d pictures", name, got, n)
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
			if strings.Contains(s, "NaN") || strings.Contains(s, "Inf") || strings.Contains(s, "%!") {
				t.Errorf("%s: a picture holds what is no number: %s", name, s)
			}
		}
		if !strings.Contains(out.HTML, `<div id="gonbext-`) {
			continue
		}
		var figures []map[string]any
		if err := json.Unmarshal(options(t, out.HTML), &figures); err != nil || len(figures) != strings.Count(out.HTML, `<div id="gonbext-`) {
			t.Errorf("%s: %d live figures of %d: %v", name, len(figures), n, err)
		}
	}
}

func TestHostileText(t *testing.T) {
	runs := cases(t)
	out := report(t, Options{Library: true}, runs["hostile"])
	page, err := Standalone(hostile, []*record.Run{runs["hostile"]})
	if err != nil {
		t.Fatal(err)
	}
	progress := Progress(&runs["hostile"].Header, &record.Progress{Tasks: []int64{1, 0}}, time.Second, nil, Place{})
	for _, html := range append(svgs(t, out.HTML), out.HTML, string(page), progress.HTML) {
		if strings.Contains(html, "<img src=x") || strings.Contains(html, "alert(1)>") || strings.Contains(html, "\x1b") || strings.Contains(html, "\u202e") {
			t.Errorf("not escaped: %.2000s", html)
		}
	}
	if n := strings.Count(out.HTML, "</script>"); n != 1 {
		t.Errorf("%d ends of scripts", n)
	}
	for _, text := range []string{out.Text, progress.Text} {
		if strings.ContainsAny(text, "\x1b\u202e") {
			t.Errorf("a terminal would be steered: %q", text)
		}
	}
}

func TestVerdicts(t *testing.T) {
	runs := cases(t)
	for name, want := range map[string]string{
		"done":      "Peak 431 MiB of 512 MiB · predicted 438 MiB · 420 MB read in 2 passes, 210 MB written · ",
		"killed":    "Killed: the process ended after 5 of 12 chunks of sqrt(acts) - mean, without an error of its own · peak ",
		"cancelled": "Cancelled after 5 of 12 chunks of sqrt(acts) - mean · peak 300 MiB of 512 MiB",
		"skipped":   "Nothing to do: centred.npy holds this result already",
		"huge":      "Failed after 40 of 9,223,372,036,854,775,807 chunks of mean(sqrt(acts), 0): disk full · peak 8 EiB of 8 EiB",
		"empty":     "Peak 431 MiB of 64 MiB",
		"over":      "the process took 600 MiB, 88 MiB over the budget",
		"planned":   "Would peak at 438 MiB of 512 MiB · 12.6 GB read in 2 passes, 6.3 GB written · nothing was run",
		"toosmall":  "Does not fit in 16 MiB: it needs 24 MiB at least",
		"device":    "model 64 MiB: peak 62 MiB of 64 MiB, out of memory 2 times",
	} {
		if got := summarize(runs[name], 1).verdict(); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want in it %q", name, got, want)
		}
	}

	merged := rootsHeader()
	merged.Stages[0].Runs = 6
	if got := summarize(made(t, merged, 24, &record.End{Status: record.Done}), 1).verdict(); !strings.Contains(got, " read in 7 passes") {
		t.Errorf("a stage of six runs: %q", got)
	}
}

func TestRunning(t *testing.T) {
	w, err := record.Create(t.TempDir(), rootsHeader())
	if err != nil {
		t.Fatal(err)
	}
	defer w.End(record.End{})
	r := open(t, w.Path())
	if got := summarize(r, 1).verdict(); !strings.HasPrefix(got, "Still running, before its first chunk was done") {
		t.Error(got)
	}
}

func TestModes(t *testing.T) {
	r := cases(t)["done"]
	auto, svg, none := report(t, Options{}, r), report(t, Options{Mode: SVG, Library: true}, r), report(t, Options{Mode: None}, r)
	if !strings.Contains(auto.HTML, "<script>") || auto.Library {
		t.Error("auto: no script, or a library that was not asked for")
	}
	if strings.Contains(svg.HTML, "<script>") || !strings.Contains(svg.HTML, "<img ") || svg.Library {
		t.Error("svg: scripts, or no pictures")
	}
	if strings.Contains(none.HTML, "<script>") || strings.Contains(none.HTML, "<img ") || !strings.Contains(none.HTML, "Peak 431 MiB") {
		t.Error("none: charts, or no verdict")
	}
	if full := report(t, Options{Library: true}, r); !full.Library || !strings.Contains(full.HTML, string(quoted(library))) {
		t.Error("the library is missing")
	}
	if out := report(t, Options{}); out != (Output{}) {
		t.Error("a report of no runs")
	}
	for s, want := range map[string]Mode{"": Auto, "auto": Auto, "svg": SVG, "none": None} {
		if m, err := ParseMode(s); err != nil || m != want {
			t.Errorf("ParseMode(%q) = %q, %v", s, m, err)
		}
	}
	if _, err := ParseMode("png"); err == nil {
		t.Error("png is no mode")
	}
}

// A hundred thousand chunks in one stage, and in a grid of many axes: what the report of
// any number of runs takes is bounded, and little where another report of the notebook has
// the library.
func TestReportSizeOfManyChunks(t *testing.T) {
	h := rootsHeader()
	h.Stages[0].Tasks, h.Stages[0].Shape, h.Stages[0].Chunks = 100_000, []int{3_200_000, 512}, []int{32, 512}
	h.Stages[1].Tasks, h.Stages[1].Shape, h.Stages[1].Chunks = 100_000, []int{10, 10, 200, 50}, []int{1, 1, 2, 5}
	r := made(t, h, math.MaxInt, doneEnd())
	for n := 1; n <= 6; n++ {
		out := report(t, Options{}, slices.Repeat([]*record.Run{r}, n)...)
		if len(out.HTML) > 68_000 || len(out.Text) > 20_000 {
			t.Errorf("%d runs: %d bytes of HTML, %d of text", n, len(out.HTML), len(out.Text))
		}
		if n == 1 {
			if first := report(t, Options{Library: true}, r); len(first.HTML) > 260_000 {
				t.Errorf("with the library: %d bytes of HTML", len(first.HTML))
			}
			for _, want := range []string{"tasks after each other", "samples the least and the greatest", "A cell is "} {
				if !strings.Contains(out.HTML, want) {
					t.Errorf("%q is not said", want)
				}
			}
		}
		t.Logf("%d runs: %d bytes of HTML", n, len(out.HTML))
	}
}

// Each further report of a notebook is small, that of several stages of hundreds of chunks
// as well.
func TestFurtherReportIsSmall(t *testing.T) {
	for name, c := range map[string]struct {
		run  *record.Run
		most int
	}{
		"two stages of 12":  {cases(t)["done"], 19_900},
		"with a device":     {cases(t)["device"], 26_700},
		"two stages of 376": {made(t, rootsHeader(), math.MaxInt, doneEnd()), 25_200},
		"376 with a device": {made(t, onDevice(rootsHeader()), math.MaxInt, doneEnd()), 26_300},
	} {
		out := report(t, Options{}, c.run)
		script := len(pushed.FindString(out.HTML))
		drawn := 0
		for _, m := range pictures.FindAllString(out.HTML, -1) {
			drawn += len(m)
		}
		t.Logf("%s: %d bytes: pictures %d, live %d, the rest %d", name, len(out.HTML), drawn, script, len(out.HTML)-drawn-script)
		if len(out.HTML) > c.most {
			t.Errorf("%s: a further report has %d bytes, want %d at most", name, len(out.HTML), c.most)
		}
	}
}

func TestEveryChunkHasACell(t *testing.T) {
	for _, shape := range [][]int{{1}, {7}, {1000}, {123457}, {3, 5}, {1000, 3}, {3, 1000}, {400, 300}, {7, 1, 11, 13}, {2, 3, 4, 5, 6, 7}} {
		n := 1
		chunks := make([]int, len(shape))
		for i, s := range shape {
			n *= s
			chunks[i] = 1
		}
		for _, limit := range []int{maxCells, maxCells / 16} {
			g := newGridMap(&record.Stage{Shape: shape, Chunks: chunks, Tasks: n}, limit)
			if len(g.cells) > limit || g.rows*g.cols < len(g.cells) {
				t.Errorf("%v: %d cells, limit %d", shape, len(g.cells), limit)
			}
			for i := range n {
				g.add(&record.Task{Chunk: int64(i), Duration: 1}, -1)
			}
			var sum int64
			for i, c := range g.cells {
				sum += c.done
				if c.done == 0 {
					t.Fatalf("%v: cell %d is of no chunk", shape, i)
				}
			}
			if sum != int64(n) {
				t.Errorf("%v: %d of %d chunks", shape, sum, n)
			}
		}
	}
}

// However many samples, the peak and the end of time are among the points.
func TestThinnerKeepsPeaks(t *testing.T) {
	for _, n := range []int{1, 2, 99, 100, 101, 5000, 12345} {
		line := thinner{limit: 100, per: 1}
		for i := range n {
			m := record.Sample{At: time.Duration(i), Arena: record.Bytes{int64(100 + i%7)}}
			if i == n*2/3 {
				m.Arena[0] = 1 << 40
			}
			line.add(&m)
		}
		points, per := line.points()
		if len(points) > 200 || per*100 < n {
			t.Errorf("%d samples: %d points of %d", n, len(points), per)
		}
		if !slices.ContainsFunc(points, func(s record.Sample) bool { return s.Arena[0] == 1<<40 }) {
			t.Errorf("%d samples: the peak is lost", n)
		}
		if !slices.IsSortedFunc(points, func(a, b record.Sample) int { return int(a.At - b.At) }) {
			t.Errorf("%d samples: not in the order of time", n)
		}
	}
}

// Every prefix of a record gives a report.
func TestReportOfACutRecord(t *testing.T) {
	whole := testcases.ReadFile(t, cases(t)["device"].Path)
	path := filepath.Join(t.TempDir(), "cut.gonbrun")
	for n := len(whole); n > 0; n -= 97 {
		testcases.WriteFile(t, path, whole[:n], 0o600)
		r, err := record.Read(path)
		if record.IsTorn(err) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if out := report(t, Options{}, r); out.Text == "" {
			t.Fatalf("cut at %d: no report", n)
		}
	}
}

func TestProgress(t *testing.T) {
	h := rootsHeader()
	h.Stages[0].Skipped = 0
	p := &record.Progress{Tasks: []int64{376, 94}, Read: 8e9, Written: 1.5e9, Sample: record.Sample{Arena: record.Bytes{200 * mib}}}
	out := Progress(&h, p, 10*time.Second, nil, Place{})
	// Bytes done: 6.3 + 12.6/4 of 18.9 GB, half; what took 10 s takes 10 s more.
	want := "[████████████░░░░░░░░░░░░] 50 % · 470 of 752 chunks · 8 GB read, 1.5 GB written · 950 MB/s · holds 200 MiB · 10 s left"
	if out.Text != want || !strings.Contains(out.HTML, "width:50.0%") {
		t.Errorf("got  %s\nwant %s\n%s", out.Text, want, out.HTML)
	}
	h.Stages[0].Skipped = 376 // an earlier run's: its time says nothing of what is left
	p.Tasks[0] = 0
	if out := Progress(&h, p, 10*time.Second, nil, Place{}); !strings.Contains(out.Text, "50 % · 470 of 752 chunks") || !strings.Contains(out.Text, "30 s left") {
		t.Error(out.Text)
	}
	for _, tasks := range [][]int64{nil, {0}, {1 << 60, -5}, {376, 376, 9}} {
		if out := Progress(&h, &record.Progress{Tasks: tasks}, 0, nil, Place{}); strings.Contains(out.Text, "NaN") || strings.Contains(out.Text, "Inf") {
			t.Error(out.Text)
		}
	}
	if out := Progress(&record.Header{}, &record.Progress{}, time.Second, nil, Place{}); !strings.Contains(out.Text, "0 of 0 chunks") {
		t.Error(out.Text)
	}
}

func TestStandaloneNeedsNothing(t *testing.T) {
	page, err := Standalone("a run", []*record.Run{cases(t)["done"]})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(page, []byte("<!doctype html>")) || !bytes.Contains(page, []byte(quoted(library))) {
		t.Error("no page, or no library in it")
	}
	for _, fetch := range []string{`src="http`, `src="//`, `href="http`, "@import", "url("} {
		if bytes.Contains(page, []byte(fetch)) {
			t.Errorf("the page fetches: %s", fetch)
		}
	}
}

// hundredThousand is a run of as many chunks.
func hundredThousand(t testing.TB) *record.Run {
	h := rootsHeader()
	h.Stages = h.Stages[1:]
	h.Stages[0].From = nil
	h.Stages[0].Tasks, h.Stages[0].Shape, h.Stages[0].Chunks = 100_000, []int{3_200_000, 512}, []int{32, 512}
	return made(t, h, math.MaxInt, doneEnd())
}

// BenchmarkReport draws a hundred thousand chunks.
func BenchmarkReport(b *testing.B) {
	r := hundredThousand(b)
	b.ReportAllocs()
	for b.Loop() {
		report(b, Options{}, r)
	}
}

// TestWritePages writes the pages of the cases to $GONBEXT_PAGES, to be looked at.
func TestWritePages(t *testing.T) {
	dir := os.Getenv("GONBEXT_PAGES")
	if dir == "" {
		dir = t.TempDir()
	}
	all := cases(t)
	all["large"] = made(t, rootsHeader(), math.MaxInt, doneEnd())
	all["hundred-thousand"] = hundredThousand(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		page, err := Standalone(name, []*record.Run{all[name]})
		if err != nil {
			t.Fatal(err)
		}
		testcases.WriteFile(t, filepath.Join(dir, name+".html"), page, 0o644)
	}
}

// What decoding and encoding takes is a part of its own.
func TestCodecHasALine(t *testing.T) {
	h := rootsHeader()
	for i := range h.Stages {
		h.Stages[i].Tasks, h.Stages[i].Shape = 12, []int{12 * 8192, 512}
	}
	if text := report(t, Options{}, made(t, h, 24, doneEnd())).Text; strings.Contains(text, "decode") {
		t.Errorf("without codecs: %s", text)
	}
	h.Stages[0].Predicted[record.Codec] = 12 * mib
	out := report(t, Options{}, made(t, h, 24, doneEnd()))
	if !strings.Contains(out.Text, "decode and encode") || !strings.Contains(out.Text, "12 MiB") || !strings.Contains(out.HTML, classColors[record.Codec]) {
		t.Errorf("%s", out.Text)
	}
}

// The style sheet is 5 kB, of which a page needs one: that of the output with the library.
func TestStyleSheetIsInOneOutputOfANotebook(t *testing.T) {
	runs := cases(t)
	for _, mode := range []Mode{Auto, SVG, None} {
		first, further := report(t, Options{Mode: mode, Library: true}, runs["done"]), report(t, Options{Mode: mode}, runs["done"])
		if !strings.Contains(first.HTML, reportStyle) || strings.Contains(further.HTML, "</style>") {
			t.Errorf("%s: the style sheet is not in the first report alone", mode)
		}
	}
}
