package magic

import (
	"fmt"
	"strings"
	"testing"
)

// shownBy returns what the last of a session's cells shows, "" where that is nothing. The
// cells before it have run, and have compiled.
func shownBy(t *testing.T, cells ...string) string {
	t.Helper()
	s, ids := newSession(), 0
	s.newID = func() string { ids++; return fmt.Sprint(ids) }
	for _, code := range cells[:len(cells)-1] {
		cell, err := s.Rewrite(code)
		if err != nil {
			t.Fatal(err)
		}
		s.Compiled(cell.ID, 0, true)
	}
	return shown(t, s, cells[len(cells)-1])
}

func shown(t *testing.T, s *Session, code string) string {
	t.Helper()
	cell, err := s.Rewrite(code)
	if err != nil {
		t.Fatal(err)
	}
	before := strings.Split(code, "\n")
	for i, line := range strings.Split(cell.Code, "\n")[:len(before)] {
		if _, value, ok := strings.Cut(line, "gonbext.Last = "); ok {
			return value
		}
		for _, call := range []string{"gonbext.Show(", "fmt.Println("} {
			if _, value, ok := strings.Cut(line, call); ok && line != before[i] {
				return strings.TrimSuffix(value, ")")
			}
		}
	}
	return ""
}

const centred = "func centred(x *oocore.Array) *oocore.Array { return x.Sub(x.Mean(0)) }"

// opened is the beginning of main.
const opened = "%%\nx := oocore.Open(\"a.npy\")\n"

func TestResultOfUsersFunctionIsShown(t *testing.T) {
	for _, c := range []struct {
		declared string
		body     string
		want     string
	}{
		{centred, "centred(x)", "centred(x)"},
		{"", "oocore.OpenAll(\"a.npz\").Match(\"*.w\")", "oocore.OpenAll(\"a.npz\").Match(\"*.w\")"},
		{"", "c := x.Pyramid(3)\nc", "c"},
		{"", "c := x.Pyramid(3)\nc.Get(\"0\").Sqrt()", "c.Get(\"0\").Sqrt()"},
		{"", "c := x.Pyramid(3)\nc.Len()", "c.Len()"},
		{"", "c := x.Pyramid(3)\nc.Save(gonbext.Context(), \"a.zarr\")", ""},
		{"func half(c *oocore.Collection) *oocore.Collection { return c }", "half(oocore.OpenAll(\"a.npz\")).Without(\"b\")", "half(oocore.OpenAll(\"a.npz\")).Without(\"b\")"},
		{centred, "y := centred(x)\ny", "y"},
		{centred, "y := centred(x)\ny.Sqrt()", "y.Sqrt()"},
		{centred, "centred(x).Sqrt()", "centred(x).Sqrt()"},
		{centred, "centred(x)\n// and that is all", "centred(x)"},
		{centred, "centred(x); // shown", "centred(x)); // shown"},
		{centred, "//line other.go:1000\ncentred(x)", "centred(x)"},
		{centred, "y := x.Sqrt() /*line other.go:1:1*/; centred(y)", "centred(y)"},
		{centred, "var y = centred(x)\ny.Sqrt()", "y.Sqrt()"},
		{centred, "ys := []*oocore.Array{x}\ncentred(ys[0]).Sqrt()", "centred(ys[0]).Sqrt()"},
		{centred, "ys := []*oocore.Array{x}\nys[0].Sqrt()", "ys[0].Sqrt()"},
		{centred, "f := centred\nf(x)", "f(x)"},
		{centred, "f := func(a *oocore.Array) *oocore.Array { return a }\nf(x)", "f(x)"},
		{centred, "centred", ""},
		{centred, "centred := func(a *oocore.Array) {}\ncentred(x)", ""},
		{centred, "centred, err := load()\ncentred(x)", ""},
		{centred, "{\ncentred(x)\n}", ""},
		{"func show(x *oocore.Array) {}", "show(x)", ""},
		{"func mean(x *oocore.Array) float64 { return 0 }", "mean(x)", "mean(x)"},
		{"func mean(x *oocore.Array) float64 { return 0 }", "m := mean(x)\nm", "m"},
		{"func both(x *oocore.Array) (*oocore.Array, error) { return x, nil }", "both(x)", ""},
		{"func both(x *oocore.Array) (*oocore.Array, error) { return x, nil }", "y, err := both(x)\ny.Sqrt()", "y.Sqrt()"},
		{"func both(x *oocore.Array) (a, b *oocore.Array) { return x, x }", "both(x)", ""},
		{"func both(x *oocore.Array) (a, b *oocore.Array) { return x, x }", "a, b := both(x)\nb.Add(a)", "b.Add(a)"},
		{"func named(x *oocore.Array) (y *oocore.Array) { return x }", "named(x)", "named(x)"},
		{"func halves(x *oocore.Array) []*oocore.Array { return nil }", "halves(x)[0].Sqrt()", "halves(x)[0].Sqrt()"},
		{"func named(x *oocore.Array) map[string]*oocore.Array { return nil }", "named(x)[\"a\"].Sqrt()", "named(x)[\"a\"].Sqrt()"},
		{"func over[T any](x T) *oocore.Array { return nil }", "over(x)", "over(x)"},
		{"func over[T any](x T) *oocore.Array { return nil }", "over[*oocore.Array](x)", "over[*oocore.Array](x)"},
		{"func same[T any](x T) T { return x }", "same(x)", "same(x)"},
		{"func double(n int) int { return 2 * n }", "double(21)", "double(21)"},
		{"func adder(y *oocore.Array) func(*oocore.Array) *oocore.Array { return y.Add }", "adder(x)(x)", "adder(x)(x)"},
		{"type op func(*oocore.Array) *oocore.Array\nvar f op", "f(x)", "f(x)"},
		{"type image = *oocore.Array\nfunc load() image { return nil }", "load()", "load()"},
		{"var y = oocore.Open(\"b.npy\")", "y.Sqrt()", "y.Sqrt()"},
		{"var y, z *oocore.Array", "z.Sqrt()", "z.Sqrt()"},
		{"var y = centred(nil)\n" + centred, "y.Sqrt()", "y.Sqrt()"},
		{"const n = 3", "n", "n"},
		{"type model struct{ w *oocore.Array }\nfunc (m *model) run(x *oocore.Array) *oocore.Array { return x }\nfunc (m model) log() {}", "m := &model{x}\nm.run(x)", "m.run(x)"},
		{"type model struct{ w *oocore.Array }\nfunc (m *model) run(x *oocore.Array) *oocore.Array { return x }", "m := model{w: x}\nm.w.Sqrt()", "m.w.Sqrt()"},
		{"type model struct{ w *oocore.Array }\nfunc (m *model) log() {}", "m := model{w: x}\nm.log()", ""},
		{"type model struct{}\nfunc (m model) run() *oocore.Array { return nil }", "type model struct{ run func() }\nmodel{}.run()", ""},
		{"type pair[T any] struct{ a T }\nfunc (p *pair[T]) sum() *oocore.Array { return nil }", "p := pair[int]{}\np.sum()", "p.sum()"},
		{"type a b\ntype b a\nvar v a", "v.run()", ""},
		{"func linalg() {}", "linalg()", ""},
		{"type thing struct{}\nfunc (thing) Inv() {}\nvar linalg thing", "linalg.Inv()", ""},
		{"import . \"example.com/dsp\"", "Load(x)", ""},
		{"import \"example.com/dsp/filter\"", "filter.Run()", ""},
		{"import filter \"example.com/dsp\"", "filter.Run()", ""},
		{"func f() *other.Array { return nil }", "f()", "f()"},
	} {
		if got := shownBy(t, c.declared, opened+c.body); got != c.want {
			t.Errorf("an earlier cell has %q: %q shows %q, want %q", c.declared, c.body, got, c.want)
		}
		if got := shownBy(t, c.declared+"\n"+opened+c.body); got != c.want {
			t.Errorf("%q above %q shows %q, want %q", c.declared, c.body, got, c.want)
		}
	}
}

func TestValueOfUsersFunctionIsShownByMemory(t *testing.T) {
	for body, want := range map[string]string{
		"mean(x)":                   "mean(x)",
		"m := mean(x)\nm":           "m",
		"same(x)":                   "same(x)",
		"show(x)":                   "",
		"both(x)":                   "",
		"x.Shape":                   "",
		"mean":                      "",
		"x.Sqrt().Bytes()":          "x.Sqrt().Bytes()",
		"x := 1; x":                 "x",
		"func() int { return 1 }()": "func() int { return 1 }()",
	} {
		declared := "func mean(x *oocore.Array) float64 { return 0 }\nfunc show(x *oocore.Array) {}\nfunc both(x *oocore.Array) (a, b int) { return 1, 2 }\nfunc same[T any](x T) T { return x }"
		if got := shownBy(t, declared, "%%memory\nx := oocore.Open(\"a.npy\")\n"+body); got != want {
			t.Errorf("%q shows %q, want %q", body, got, want)
		}
	}
}

// GoNB keeps the latest declaration of a name, until a command takes it away.
func TestDeclarationsOfEarlierCells(t *testing.T) {
	const nothing = "func centred(x *oocore.Array) {}"
	for _, c := range []struct {
		cells []string
		want  string
	}{
		{[]string{opened + "centred(x)"}, ""},
		{[]string{centred, opened + "centred(x)"}, "centred(x)"},
		{[]string{"%%\nprintln(1)", centred + "\n%%\nprintln(2)", opened + "centred(x)"}, "centred(x)"},
		{[]string{centred, nothing, opened + "centred(x)"}, ""},
		{[]string{nothing, centred, opened + "centred(x)"}, "centred(x)"},
		{[]string{centred, nothing + "\n" + opened + "centred(x)"}, ""},
		{[]string{centred, "%reset", opened + "centred(x)"}, ""},
		{[]string{centred, "%reset\n" + opened + "centred(x)"}, ""},
		{[]string{centred, "%reset go.mod", opened + "centred(x)"}, "centred(x)"},
		{[]string{centred, "%rm centred", opened + "centred(x)"}, ""},
		{[]string{"type m struct{}\nfunc (m) run() *oocore.Array { return nil }", "%rm m~run", "%%\nm{}.run()"}, ""},
		{[]string{centred, "%reset\n" + centred, opened + "centred(x)"}, "centred(x)"},
		{[]string{"%%\nfunc() {}()\nvar y *oocore.Array", opened + "y.Sqrt()"}, ""},
		{[]string{centred + "\nfunc main() {}", opened + "main()"}, ""},
		{[]string{"%%writefile a.go\n" + centred, opened + "centred(x)"}, ""},
		{[]string{"s := `\n" + centred + "\n`", opened + "centred(x)"}, ""},
		{[]string{"println(1)\n" + centred, opened + "centred(x)"}, "centred(x)"},
		{[]string{centred + "\nprintln(2)", opened + "centred(x)"}, "centred(x)"},
		{[]string{centred + "\n%%memory --help", opened + "centred(x)"}, ""},
		{[]string{"package main\n" + centred, opened + "centred(x)"}, "centred(x)"},
		{[]string{centred + "\n%%memory\nprintln(1)", opened + "centred(x)"}, "centred(x)"},
		{[]string{centred + "\n%test", opened + "centred(x)"}, "centred(x)"},
	} {
		if got := shownBy(t, c.cells...); got != c.want {
			t.Errorf("%q show %q, want %q", c.cells, got, c.want)
		}
	}
}

// What a cell declares holds while it runs, and afterwards where it compiles.
func TestDeclarationsOfCellsThatRunOrFail(t *testing.T) {
	const nothing = "func centred(x *oocore.Array) {}"
	for _, c := range []struct {
		kept, running, then string
		want                string
	}{
		{"", centred, "", "centred(x)"},
		{"", centred, "fails", ""},
		{centred, nothing, "", ""},
		{centred, nothing, "fails", "centred(x)"},
		{centred, nothing, "compiles", ""},
		{nothing, centred, "compiles", "centred(x)"},
		{centred, "%reset", "", ""},
		{centred, "%reset\nfunc f() { g() }", "fails", ""},
	} {
		s := newSession()
		s.newID = func() string { return "earlier" }
		if _, err := s.Rewrite(c.kept); err != nil {
			t.Fatal(err)
		}
		s.Compiled("earlier", 0, true)
		s.newID = func() string { return "later" }
		if _, err := s.Rewrite(c.running); err != nil {
			t.Fatal(err)
		}
		if c.then != "" {
			s.Compiled("later", 0, c.then == "compiles")
		}
		if got := shown(t, s, opened+"centred(x)"); got != c.want {
			t.Errorf("%+v: shows %q", c, got)
		}
	}
}

// A cell that declares is left as it is, and has an ID by which its compilation is told.
func TestCellThatDeclaresHasAnID(t *testing.T) {
	for code, id := range map[string]string{centred: "ID", "%reset": "ID", "%%\nprintln(1)": "", "%ls": ""} {
		cell, err := newSession().Rewrite(code)
		if err != nil || cell.Code != code || cell.ID != id {
			t.Errorf("%q: %+v, %v", code, cell, err)
		}
	}
}

// Each of a chain's calls is read once.
func TestLongChainIsReadAtOnce(t *testing.T) {
	code := opened + "y := b" + strings.Repeat(".with(1)", 20000) + "\ny" + strings.Repeat(".Sqrt()", 20000)
	if got := shownBy(t, code); got != "" {
		t.Errorf("shows %.40s", got)
	}
}

// Calls of Go's library are shown by a cell of statements where they have one value, of whatever type, and are
// left alone elsewhere.
func TestValueOfGosLibraryIsShown(t *testing.T) {
	for code, want := range map[string]string{
		"time.Now()":                            "time.Now()",
		"slices.Max(x)":                         "slices.Max(x)",
		"strings.Fields(a)[0]":                  "strings.Fields(a)[0]",
		"errors.New(\"why\")":                   "errors.New(\"why\")",
		"fmt.Fprintln(os.Stdout, 1)":            "",
		"time.Sleep(1)":                         "",
		"strings.Unknown(1)":                    "",
		"strings := f()\nstrings.Repeat(1)":     "",
		"%%\nstrings.Repeat(\"a\", 2)":          "",
		"%%memory\nstrings.Repeat(\"a\", 2)":    "",
		"func f() {}\nstrings.Repeat(\"a\", 2)": "strings.Repeat(\"a\", 2)",
	} {
		if got := strings.TrimSuffix(shown(t, newSession(), code), "}}"); strings.TrimRight(got, ")\n") != strings.TrimRight(want, ")") {
			t.Errorf("%q shows %q, not %q", code, got, want)
		}
	}
}
