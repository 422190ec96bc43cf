package chart

import (
	"fmt"
	"strings"

	"github.com/gonbext/gonbext/oocore/units"
)

// sheet is what is shown that is no report of a run: a line that says it all,
// figures and tables.
type sheet struct {
	Title, Verdict string // an expression or a name, and a line
	Head           string // a title that someone has written, in its place
	Quiet          bool   // the verdict is only a caption
	Figures        []figure
	Tables         []Table
	Note           string
	cells          string // what stands for the figures in text
}

// Table is rows below a head. Its first Texts columns are texts, the others
// figures.
type Table struct {
	Caption string
	Head    []string
	Rows    [][]string
	Texts   int
	note    string // below it, not in texts
}

// Tables are a line that says it all, and tables below it.
func Tables(title, verdict, note string, tables ...Table) (Output, error) {
	s := sheet{Title: title, Verdict: verdict, Note: note, Tables: tables}
	return s.output(Options{Mode: None, Library: true})
}

// output renders the sheet in both forms.
func (s *sheet) output(o Options) (Output, error) {
	if o.Mode == "" {
		o.Mode = Auto
	}
	name(s.Figures, o, s.Title)
	sc, err := scriptOf(s.Figures, o)
	if err != nil {
		return Output{}, err
	}
	return Output{HTML: sheetPage(s, sc), Text: s.text(), Library: sc.carries()}, nil
}

func (s *sheet) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n", s.Title, s.Verdict)
	if s.cells != "" {
		fmt.Fprintf(&b, "\n%s", s.cells)
	}
	for _, t := range s.Tables {
		b.WriteByte('\n')
		if t.Caption != "" {
			fmt.Fprintf(&b, "%s\n", t.Caption)
		}
		b.WriteString(t.text())
	}
	if s.Note != "" {
		fmt.Fprintf(&b, "\n%s\n", s.Note)
	}
	return b.String()
}

// picture is an SVG as the src of an img. As text it is shorter than in base64, which has
// four characters for three.
func picture(svg string) markup {
	return source("data:image/svg+xml," + inAddress.Replace(svg))
}

// inAddress escapes what neither an address nor an attribute in quotes may have, and the end
// tags of styles, for which some pages drop an attribute.
var inAddress = strings.NewReplacer(`"`, "'", "%", "%25", "#", "%23", "&", "%26", "</style", "%3C/style")

// source is an address without quotes as the attribute of an img.
func source(address string) markup { return markup(`src="` + address + `"`) }

// Kept is a file or folder that gonbext keeps on disk.
type Kept struct {
	What, Path string
	Bytes      int64
	Count      int    // of files or folders in it; 0 where they are not counted
	Clean      string // the line that removes it
}

// Disk lists what gonbext keeps. Where something was cleaned it says what, and how many bytes were removed.
func Disk(all []Kept, cleaned string, removed int64) (Output, error) {
	total := int64(0)
	t := Table{Head: []string{"what", "where", "bytes", "removed by"}, Texts: 2}
	for _, k := range all {
		total += k.Bytes
		what := k.What
		if k.Count > 0 {
			what = units.Count(int64(k.Count)) + " " + what
		}
		t.Rows = append(t.Rows, []string{plain(what), plain(k.Path), sizeOrDash(k.Bytes), k.Clean})
	}
	verdict := units.Bytes(total) + " kept by gonbext"
	if cleaned != "" {
		verdict = fmt.Sprintf("%s removed (%s) · %s", units.Bytes(removed), cleaned, verdict)
	}
	return Tables("Disk", verdict, "GONBEXT_RUNS=off keeps no records of runs. What Go has compiled is in a cache of its own, which go clean -cache empties.", t)
}
