package magic

import (
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gonbext/gonbext/gonbext/internal/relay"
)

// Cells of statements, with what Go prints when it runs what they become.
func TestStatementsRunAsTheyStandThere(t *testing.T) {
	cells := map[string]string{
		"println(1)": "1\n",
		"x := 3":     "",
		"x, err := 3, error(nil)\nvar y, z = 4, 5\nprintln(x)":                                                                     "3\n",
		"const a = iota\nconst b = 7\nvar v = a + b\nprintln(v)":                                                                   "7\n",
		"println(f(2))\nfunc f(n int) int { return n * 2 }":                                                                        "4\n",
		"x := 2\nfunc f(n int) int { return n * 2 }\ny := f(x); func g() int { return 5 }\nprintln(x, y, g())":                     "2 4 5\n",
		"println(max2(3, 4))\nfunc max2[T int | float64](a, b T) T { if a > b { return a }; return b }":                            "4\n",
		"p := pair[int]{1, 2}\nprintln(p.sum())\ntype pair[T int] struct{ a, b T }\nfunc (p pair[T]) sum() T { return p.a + p.b }": "3\n",
		"outer:\nfor i := 0; ; i++ {\n\tfor {\n\t\tif i == 2 { break outer }\n\t\tcontinue outer\n\t}\n}\nprintln(\"out\")":        "out\n",
		"goto end\nend:\nprintln(\"end\")":                                                                                         "end\n",
		"const (\n\ta = iota\n\tb\n)\nprintln(a, b)":                                                                               "0 1\n",
		"println(a, b)\nconst (\n\ta = iota\n\tb\n)":                                                                               "0 1\n",
		"func() { println(1) }()":                                               "1\n",
		"func(a int) (b int) { println(a); return a }(3)":                       "3\n3\n",
		"s := `\nfunc f() {}\n`\nprintln(len(s))\nfunc f() {}":                  "13\n",
		"s := \"func f() { ` \"; println(len(s)) // func g() {":                 "13\n",
		"/* func f() {\n*/ println(1) /*\n%%memory\n*/":                         "1\n",
		"type t struct{}\nfunc (t) m() int { return 1 }\nprintln(t{}.m())":      "1\n",
		"if x := 1; x > 0 {\n\tprintln(x)\n} else {\n\tprintln(0)\n}":           "1\n",
		"type_ := 1\nfunc_ := 2\nvariable := type_ + func_\nprintln(variable)":  "3\n",
		"n := 2\nvar m = n * 2\nprintln(m)":                                     "4\n",
		"println(1)\nvar x = 2\nfunc f() int { return x }\nprintln(f())":        "1\n2\n",
		"println(1)\nvar x = func() int { println(2); return 3 }()\nprintln(x)": "1\n2\n3\n",
		"println(\"\u00fc\"); func f() {}; println(\"\u20ac\")":                 "\u00fc\n\u20ac\n",
		"import \"strings\"\nprintln(strings.ToUpper(\"a\"))":                   "A\n",
		"println(strings.ToUpper(\"a\"))\nimport \"strings\"":                   "A\n",
		"return\nprintln(1)":                           "",
		"//line other.go:100\nprintln(1)\nfunc f() {}": "1\n",
		"var x = 1; println(x)":                        "1\n",
		"!ls\nprintln(1)\nfunc f() {}\n!echo {":        "1\n",
		"x := []int{1,\n\t2}\nprintln(len(x),\n\tf(\n\t\t2))\nfunc f(n int) int {\n\treturn n\n}": "2 2\n",
		"package main\nprintln(1)":                                    "1\n",
		"import \"strings\"\nstrings.Repeat(\"ab\", 2)":               "abab\n",
		"import m \"math\"\nx := 4.0\nm.Sqrt(x)":                      "2\n",
		"import \"os\"\nos.Getwd()":                                   "",
		"import \"os\"\nos.Stdout.WriteString(\"once\\n\")":           "once\n",
		"import \"unicode/utf8\"\nutf8.RuneCountInString(\"\u00fc\")": "1\n",
	}
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module cells\n\ngo 1.26\n")
	var codes []string
	for code := range cells {
		cell, err := newSession().Rewrite(code)
		if err != nil {
			t.Fatalf("%q: %v", code, err)
		}
		program := asGoNB(cell.Code)
		if _, err := parser.ParseFile(token.NewFileSet(), "main.go", program, parser.AllErrors); err != nil {
			t.Fatalf("%q became\n%s\n%v", code, program, err)
		}
		program = strings.ReplaceAll(program, "import \"strings\"\n", "\n")
		for _, name := range []string{"fmt", "strings"} { // as GoNB puts imports together
			if strings.Contains(program, name+".") {
				program = strings.Replace(program, "package main", "package main;import \""+name+"\"", 1)
			}
		}
		write(fmt.Sprintf("c%d/main.go", len(codes)), program)
		codes = append(codes, code)
	}
	build := exec.Command("go", "build", "-o", "bin/", "./...")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for i, code := range codes {
		if out, err := exec.Command(filepath.Join(dir, "bin", fmt.Sprintf("c%d", i))).CombinedOutput(); err != nil || string(out) != cells[code] {
			t.Errorf("%q prints %q, want %q: %v", code, out, cells[code], err)
		}
	}
}

// The lines of a cell of statements are where they were, or as many further down as the cell
// has.
func TestStatementsKeepTheirLines(t *testing.T) {
	for _, code := range []string{"\nx := 1\n\nprintln(x)", "func f() {}\n// text\nx := 1\nprintln(x)", "x := 1\nfunc f() {}\n\tprintln(x)", "import \"os\"\nx := 1\ntype t int\nprintln(x)\nos.Exit(x)"} {
		cell, err := newSession().Rewrite(code)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(cell.Code, "\n")
		for i, line := range strings.Split(code, "\n") {
			if line = strings.TrimSpace(line); !strings.Contains(lines[i], line) && (cell.Lines == 0 || !strings.Contains(lines[i+cell.Lines], line)) {
				t.Errorf("line %d, %q, is elsewhere in\n%s", i+1, line, cell.Code)
			}
		}
	}
}

// What is not Go is rejected by the user's own line, and nothing runs.
func TestCellThatIsNotGoIsRejected(t *testing.T) {
	for code, want := range map[string]relay.Fault{
		"x := 1\nprintln(x":                      {Line: 2, Column: 8, Text: "syntax error: ( is not closed"},
		"x := 1\nif x > 0 {\n\tprintln(x)":       {Line: 2, Column: 10, Text: "syntax error: { is not closed"},
		"println(1)}\nprintln(2)":                {Line: 1, Column: 11, Text: "syntax error: } closes nothing"},
		"x := 1\ny = = 2":                        {Line: 2, Column: 5, Text: "syntax error: expected operand, found '='"},
		"x +":                                    {Line: 1, Column: 3, Text: "syntax error: expected operand, found '}'"},
		"func f( {":                              {Line: 1, Column: 9, Text: "syntax error: { is not closed"},
		"f(\n}":                                  {Line: 1, Column: 2, Text: "syntax error: ( is not closed"},
		"s := \"a":                               {Line: 1, Column: 6, Text: "syntax error: string literal not terminated"},
		"%%memory\nx := 1\ny = = 2":              {Line: 3, Column: 5, Text: "syntax error: expected operand, found '='"},
		"%%\ny = = 2":                            {Line: 2, Column: 5, Text: "syntax error: expected operand, found '='"},
		"println(1)\nfunc f() {}\nprintln(1 2)":  {Line: 3, Column: 11, Text: "syntax error: missing ',' in argument list"},
		"println(1)\nfunc main() { println(2) }": {Line: 1, Column: 1, Text: "a statement beside func main: move it there, or leave func main out, which a cell of statements needs none of"},
		"// int f(void) { return 1; }\nimport \"C\"\nprintln(C.f())": {Line: 2, Column: 8, Text: "GoNB drops the comment above an import, and import \"C\" finds no C code without it: put the code into a package of a Go module, and import that below %env CGO_ENABLED 1"},
		"fun f() {}": {Line: 1, Column: 5, Text: "syntax error: expected ';', found f"},
	} {
		_, err := newSession().Rewrite(code)
		var faults relay.Faults
		if !errors.As(err, &faults) || len(faults) != 1 {
			t.Errorf("%q: %v", code, err)
			continue
		}
		if f := faults[0]; f.Line != want.Line || f.Column != want.Column || f.Text != want.Text {
			t.Errorf("%q: %d:%d %s, want %d:%d %s", code, f.Line, f.Column, f.Text, want.Line, want.Column, want.Text)
		}
	}
}

func TestFaultsAreExplained(t *testing.T) {
	s := newSession()
	s.ReadAPI("../../..")
	for fault, want := range map[string]string{
		"undefined: other": "",
		"x.Sqr undefined (type *oocore.Array has no field or method Sqr)":   "Did you mean Sqrt() *Array?",
		"x.Meen undefined (type *oocore.Array has no field or method Meen)": "Did you mean Mean(axes ...int) *Array?",
		"undefined: oocore.Opn":    "Did you mean Open(",
		"undefined: linalg.Invers": "Did you mean Inv",
		"x.Frobnicate undefined (type *oocore.Array has no field or method Frobnicate)": "",
		"undefined: strings.Foo":        "Package strings has no Foo.",
		"undefined: strings.Feilds":     "Did you mean Fields(",
		"undefined: nothing.Foo":        "",
		"undefined: linalg.NormOptions": "Package linalg has no NormOptions.",
	} {
		if _, got := s.Explain("", 0, 0, fault); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s: %q, want %q", fault, got, want)
		}
	}
}

// What stands behind a package of this module's or an array is completed without gopls.
func TestCallsAreCompleted(t *testing.T) {
	s := newSession()
	s.ReadAPI("../../..")
	for _, code := range []string{"var kept = oocore.Open(\"a.npy\")", "func load() *oocore.Array { return nil }"} {
		cell, err := s.Rewrite(code)
		if err != nil {
			t.Fatal(err)
		}
		s.Compiled(cell.ID, 0, true)
	}
	for code, want := range map[string]string{
		"oocore.Ope": "Open", "oocore.Float3": "Float32", "linalg.": "SVD", "gonbext.Sa": "SaveAll", "oocore.Reduce": "ReduceOptions",
		"x := oocore.Open(\"a.npy\")\nx.Sq": "Sqrt", "oocore.Open(\"a.npy\").\n\tMean(0, 1).Rs": "", "oocore.Open(\"a.npy\").\n\tMean(0, 1).Re": "Reshape",
		"kept.Me": "Mean", "oocore.OpenAll(\"a.npz\").Mat": "Match", "m := oocore.OpenAll(\"a.npz\")\nm.Get(\"w\").Sq": "Sqrt", "load().Slice(\"0:3\").Ma": "MatMul", "%%memory --budget 1GiB\nx := load()\ngonbext.Save(x.Sub(x.Mea": "Mean",
		"strings.Re": "Repeat", "import r \"math/rand\"\nr.In": "Intn", "oo": "oocore", "func total() {}\ntot": "total", "kep": "kept", "amount := 3\nprintln(am": "amount", "swi": "switch",
		"y := 3\ny.": "", "x := f()\nx.Me": "", "func f(x *oocore.Array) {\n\tx.Me": "", "zzz": "", "a.b.": "", "strings := 3\nstrings.": "",
		"strings.Titl": "", // deprecated
	} {
		c, ok := s.Complete(code, len(code), "")
		if want == "" && ok || want != "" && !slices.Contains(c.Matches, want) {
			t.Errorf("%q: %v", code, c.Matches)
		}
		if at := strings.LastIndexAny(code, ".\n( ") + 1; ok && (c.Start != at || c.End != len(code)) {
			t.Errorf("%q: from %d to %d", code, c.Start, c.End)
		}
	}
}

// What Tab offers without gopls, in the longest of the ways: 95 of a hundred answers are to come
// within 0.8 s.
func BenchmarkComplete(b *testing.B) {
	s := newSession()
	s.ReadAPI("../../..")
	cell := strings.Repeat("a := oocore.Open(\"a.npy\").Sqrt()\nprintln(a)\n", 20)
	var took []time.Duration
	for b.Loop() {
		for _, code := range []string{"oocore.Op", "linalg.", "a.Me", "strings.", "fmt.Pr", "pri", "oocore.Open(\"a.npy\").Mean(0)."} {
			begun := time.Now()
			if c, ok := s.Complete(cell+code, len(cell+code), ""); !ok || len(c.Matches) == 0 {
				b.Fatalf("%s: nothing", code)
			}
			took = append(took, time.Since(begun))
		}
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "ms/95%")
}

// Cells that are damaged in ways that misplace tokens are rejected, and nothing ends for them.
func TestDamagedCellsAreRejected(t *testing.T) {
	for _, code := range []string{
		"x := 2\nfunc f(n\r\n int) int { return n * 2 }\ny] := f(x); func g() int { return 5 }\nprintln(x)",
		"x := 1\nfunc f() {}\ns := `open\n\n",
		"x := 1\r\ny = x \xbc\r\nfunc f() {}\r\n",
		"x := 1\nvar y\ufeff = x\nfunc f() {}", "}", ")\nx", "func", "var", "x :=", ".",
	} {
		if cell, err := newSession().Rewrite(code); err == nil {
			t.Errorf("%q became %q", code, cell.Code)
		}
		newSession().Complete(code, len([]rune(code)), "")
		newSession().Inspect(code, 3)
	}
}
