package chart

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/ascii85"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

var (
	//go:embed report.css
	reportStyle string
	// What unpacks the library, the script and the figures in a page.
	//
	//go:embed boot.js
	bootScript string
	//go:embed report.js
	reportScript string
	//go:embed progress.js
	progressScript string

	// The parts of Apache ECharts that charts are made of: see echarts/build.sh, and
	// echarts/LICENSE for what applies to them.
	//
	//go:embed echarts/echarts.min.js.gz
	library []byte
)

// unbroken keeps a figure and its unit on one line, also where the style sheet
// is stripped.
func unbroken(s string) string { return strings.ReplaceAll(s, " ", "\u00a0") }

// wrapped is the style of a text that is longer than a column should be. JupyterLab drops overflow-wrap:anywhere where
// a notebook is not trusted, and a path has nothing else to break it at, or spaces in some of its folders only.
func wrapped(text string) markup {
	const most = 40
	if len(text) <= most {
		return ""
	}
	style := markup(";white-space:normal;min-width:20em")
	if slices.ContainsFunc(strings.Fields(text), func(word string) bool { return len(word) > most }) {
		style += ";word-break:break-all"
	}
	return style
}

// sizeOrDash is n rounded; a negative n is a figure that is not known.
func sizeOrDash(n int64) string {
	if n < 0 {
		return "unknown"
	}
	return dashIfNone(n, units.Bytes(n))
}

func countOrUnknown(n int64) string {
	if n < 0 {
		return "unknown"
	}
	return units.Count(n)
}

func dashIfNone(n int64, s string) string {
	if n == 0 {
		return "–"
	}
	return s
}

// live is a figure as the script takes it.
type live struct {
	ID     string     `json:"id"`               // "" of one that stays a picture
	Height int        `json:"height"`           // in pixels
	Unit   float64    `json:"unit,omitempty"`   // seconds that one step of a time axis stands for
	Option any        `json:"option,omitempty"` // nil where there is only the picture
	Switch []choice   `json:"choices,omitempty"`
	Cells  *columns   `json:"cells,omitempty"`  // of a heat map
	Points *points    `json:"points,omitempty"` // of the first series, where the option has none
	Brush  float64    `json:"brush,omitempty"`  // seconds of a timeline, in which a window of time can be chosen
	Spans  []span     `json:"spans,omitempty"`  // that it names
	Flame  []leaf     `json:"flame,omitempty"`  // of a flame view, which is of the timeline before it
	Moment int        `json:"moment,omitempty"` // the point that its picture is of
	Tasks  *liveTasks `json:"tasks,omitempty"`
}

// points are the values of a figure's first series as the script takes them: what they
// have in common is said once.
type points struct {
	At     []float64   `json:"at,omitempty"` // where all of them have their points
	Values [][]float64 `json:"values"`       // by series
}

// renderReport is the report's HTML, and whether it carries the library.
func renderReport(views []*view, o Options) (html string, carries bool, err error) {
	var figures []figure
	for _, v := range views {
		name(v.Figures, o, v.s.h.Run+" "+v.s.run.Path)
		figures = append(figures, v.Figures...)
	}
	s, err := scriptOf(figures, o)
	if err != nil {
		return "", false, err
	}
	return reportPage(views, s), s.carries(), nil
}

// script is what makes pictures live: nothing where there are none. The style sheet, of what
// no report needs to be read, travels with the library, from which the script takes it for
// the page.
type script struct {
	Live    markup // the figures as JSON, packed
	Library markup
	Styled  bool
}

// name gives IDs to the figures that the script draws. A figure has the same ID in every output; a figure of another
// run or array, which of names, has another.
func name(figures []figure, o Options, of string) {
	for i := range figures {
		f := &figures[i]
		if o.Mode == Auto && (f.Option != nil || f.Flame != nil || f.Tasks != nil) {
			h := fnv.New64a()
			fmt.Fprintf(h, "%s %q %q %s", of, f.Title, f.Alt, f.Picture)
			f.ID = "gonbext-" + strconv.FormatUint(h.Sum64(), 36)
		}
	}
}

func scriptOf(figures []figure, o Options) (s script, err error) {
	s.Styled = o.Library
	var all []live
	for _, f := range figures {
		if f.ID != "" {
			all = append(all, f.live)
		}
	}
	if len(all) == 0 {
		return s, nil
	}
	text, err := json.Marshal(all)
	if err != nil {
		return s, err
	}
	var set any
	if err := json.Unmarshal(text, &set); err != nil {
		return s, err
	}
	if text, err = json.Marshal(dropUnset(set)); err != nil {
		return s, err
	}
	s.Live = packed(text)
	if o.Library {
		s.Library = quoted(library)
	}
	return s, nil
}

// dropUnset is a JSON value without the members of options that say nothing: null, and
// empty objects. Elements of lists stay.
func dropUnset(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = dropUnset(v[i])
		}
	case map[string]any:
		for k, e := range v {
			e = dropUnset(e)
			if m, ok := e.(map[string]any); e == nil || ok && len(m) == 0 {
				delete(v, k)
			} else {
				v[k] = e
			}
		}
	}
	return v
}

// packedScript is report.js as boot.js takes it.
var packedScript = sync.OnceValue(func() markup { return packed([]byte(compact(reportScript))) })

// compact is a script without indentation and lines of comments.
func compact(script string) string {
	var b strings.Builder
	for line := range strings.Lines(script) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
			b.WriteString(line)
			b.WriteByte('\n')
		}
	}
	return strings.TrimSpace(b.String())
}

func packed(text []byte) markup {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
	_, _ = w.Write(text) // into memory
	w.Close()
	return quoted(b.Bytes())
}

// quoted is bytes as a string of JavaScript: in base 85, a sixteenth shorter than in 64, with
// the characters that mean something there or in HTML replaced.
func quoted(b []byte) markup {
	text := make([]byte, ascii85.MaxEncodedLen(len(b)))
	return markup(`"` + safe.Replace(string(text[:ascii85.Encode(text, b)])) + `"`)
}

var safe = strings.NewReplacer(`"`, "v", `\`, "w", "<", "x", "&", "y", "'", "{", "`", "|", ">", "}")

func (s script) carries() bool { return s.Library != "" }

// Standalone is a page of its own with the report of runs, which needs nothing
// else to show: what --report writes.
func Standalone(title string, runs []*record.Run) ([]byte, error) {
	out, err := Report(runs, Options{Mode: Auto, Library: true})
	if err != nil {
		return nil, err
	}
	return []byte(standalonePage(plain(title), markup(out.HTML))), nil
}
