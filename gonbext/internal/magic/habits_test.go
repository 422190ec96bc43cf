package magic

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/gonbext/internal/relay"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// fromPython is a session in which earlier cells have left arrays and other values.
func fromPython() *Session {
	s := newSession()
	s.ReadAPI("../../..")
	for name, typ := range map[string]string{"xs": "[]float64", "text": "string", "counts": "map[string]int", "ds": "*oocore.Collection", "n": "int"} {
		e, _ := parser.ParseExpr(typ)
		s.carried[name] = variable{expr: e, cell: "cell [1]", typ: typ}
	}
	for _, name := range []string{"b", "c", "mask"} {
		s.carried[name] = variable{expr: arrayType, cell: "cell [1]"}
	}
	return s
}

const valuesFromPython = `
var (
	b, c, mask *oocore.Array
	xs         []float64
	text       string
	counts     map[string]int
	ds         *oocore.Collection
	n          int
)
`

// compiled are the faults that the compiler finds in cells, each in a function of its own, by the cells.
func compiled(t *testing.T, cells []string) map[int][]relay.Fault {
	t.Helper()
	dir := t.TempDir()
	var b strings.Builder
	b.WriteString("package habits\n" + `import (
	"fmt"; "math"; "os"; "slices"; "strings"; "maps"; "strconv"; "time"
	"github.com/gonbext/gonbext/oocore"; "github.com/gonbext/gonbext/oocore/linalg"; "github.com/gonbext/gonbext/oocore/fft"
	"github.com/gonbext/gonbext/gonbext"
)
var _ = []any{fmt.Print, math.Pi, os.Open, slices.Max[[]int], strings.Fields, maps.Keys[map[int]int], strconv.Atoi, time.Now, oocore.Open, linalg.SVD, fft.FFT, gonbext.Show}
` + valuesFromPython)
	for i, code := range cells {
		fmt.Fprintf(&b, "func _() {\n//line cell%d:1:1\n%s\n}\n", i, code)
	}
	file := filepath.Join(dir, "cells.go")
	testcases.WriteFile(t, file, []byte(b.String()), 0o600)
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	overlay, _ := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(root, "gonbext", "internal", "habitcells", "cells.go"): file}})
	testcases.WriteFile(t, filepath.Join(dir, "overlay.json"), overlay, 0o600)
	cmd := exec.Command("go", "build", "-gcflags=-e", "-overlay", filepath.Join(dir, "overlay.json"), "./gonbext/internal/habitcells")
	cmd.Dir = root
	out, _ := cmd.CombinedOutput() // it fails
	faults := map[int][]relay.Fault{}
	for _, m := range regexp.MustCompile(`(?m)^\S*?cell(\d+):(\d+):(\d+): (.*)$`).FindAllStringSubmatch(string(out), -1) {
		cell, _ := strconv.Atoi(m[1])
		line, _ := strconv.Atoi(m[2])
		column, _ := strconv.Atoi(m[3])
		faults[cell] = append(faults[cell], relay.Fault{Line: line, Column: column, Text: m[4]})
	}
	if len(faults) == 0 && len(out) > 0 {
		t.Fatalf("%s", out)
	}
	return faults
}

// Cells that are Go by their syntax, with what the compiler says of them, and the line that does what is meant. A line
// that ends in an ellipsis is an example and not the whole.
var habitsThatCompilerFinds = [][2]string{
	{"b+1", "b.Add(1)"},
	{"b*2", "b.Mul(2)"},
	{"2*b", "b.Mul(2)"},
	{"b-c", "b.Sub(c)"},
	{"1 - b", "b.Neg().Add(1)"},
	{"b/c", "b.Div(c)"},
	{"1 / b", "b.Reciprocal()"},
	{"-b", "b.Neg()"},
	{"b % 2", "b.Mod(2)"},
	{"b > 0", "b.Greater(0)"},
	{"0 < b", "b.Greater(0)"},
	{"b <= c", "b.LessEqual(c)"},
	{"b == c", "b.Equal(c)"},
	{"b != 0", "b.NotEqual(0)"},
	{"b*2 + c", "b.Mul(2).Add(c)"},
	{"y := (b - b.mean(0)) / b.std(0)", "y := b.Sub(b.Mean(0)).Div(b.Std(0))"},
	{"z := (b > 0) && (c < 1)", "z := b.Greater(0).LogicalAnd(c.Less(1))"},
	{"z := gonbext.Collect[float64](b + 1)", "z := gonbext.Collect[float64](b.Add(1))"},
	{"for i := range 3 {\n\tfmt.Println(b * i)\n}", "fmt.Println(b.Mul(i))"},
	{"b[0]", `b.Slice("0")`},
	{"b[1:3]", `b.Slice("1:3")`},
	{"b[-1]", `b.Slice("-1")`},
	{"b[n]", `b.Slice(fmt.Sprintf("%d", n))`},
	{"b[b > 0]", "b.Mask(gonbext.Context(), b.Greater(0))"},
	{"b[mask]", "b.Mask(gonbext.Context(), mask)"},
	{"b[0] = 3", `b = b.Set("0", 3)`},
	{"b.shape", "b.Shape()"},
	{"k := b.shape[0]", "k := b.Shape()[0]"},
	{"x := b.T + 1", "x := b.T().Add(1)"},
	{"b.dtype", "b.DType()"},
	{"b.ndim", "b.Dims()"},
	{"len(b)", "b.Shape()[0]"},
	{"len(b.shape)", "b.Dims()"},
	{"abs(b)", "b.Abs()"},
	{"b.mean()", "b.Mean()"},
	{"b.astype(np.float32)", "b.AsType(oocore.Float32)"},
	{`b.astype("float32")`, "b.AsType(oocore.Float32)"},
	{"b.compute()", "gonbext.Collect[float64](b)"},
	{"np.sin(b)", "b.Sin()"},
	{"np.log10(b+1)", "b.Add(1).Log10()"},
	{"np.mean(b, 0)", "b.Mean(0)"},
	{"np.power(b, 2)", "b.Pow(2)"},
	{"np.zeros(3)", "oocore.Zeros(oocore.Float64, 3)"},
	{`np.load("x.npy")`, `oocore.Open("x.npy")`},
	{`np.save("x.npy", b)`, `gonbext.Save(b, "x.npy")`},
	{"np.where(b > 0, b, 0)", "oocore.Where(b.Greater(0), b, 0)"},
	{"np.linalg.svd(b)", "linalg.SVD(b)"},
	{"np.fft.fft(b)", "fft.FFT(b)"},
	{"y := np.sqrt(2.0)", "y := math.Sqrt(2.0)"},
	{"y := np.pi * 2", "y := math.Pi * 2"},
	{"da.from_array(b)", "b"},
	{`xr.open_dataset("x.nc")`, `oocore.OpenAll("x.nc")`},
	{`t := ds["temp"]`, `t := ds.Get("temp")`},
	{"np.frobnicate(b)", "oocore.Open…"},
	{"np.coss(b)", "b.Cos()…"},
	{"x = 3", "x := 3"},
	{"x = np.sin(b)", "x := b.Sin()"},
	{"u, v = 1, 2", "u, v := 1, 2"},
	{"y := n ** 2", "y := n * n"},
	{"b ** 2", "b.Square()"},
	{"x := True", "x := true"},
	{"if n == None {\n}", "if n == nil {"},
	{"plt.plot(b)", "gonbext.Plot(b)"},
	{"plt.imshow(b[0])", `gonbext.Image(b.Slice("0"))`},
	{"plt.hist(b)", "gonbext.Hist(b)"},
	{"help(b)", "b?…"},
	{"k := str(n)", "k := fmt.Sprint(n)"},
	{`k := int("3")`, "n, err := strconv.Atoi(\"3\")…"},
	{"y := abs(-2.5)", "y := math.Abs(-2.5)"},
	{"xs.append(4)", "xs = append(xs, 4)"},
	{"x := xs[-1]", "x := xs[len(xs)-1]"},
	{"total := sum(xs)", "total := 0.0; for _, v := range xs { total += v }…"},
	{"k := text.upper()", "k := strings.ToUpper(text)"},
	{`k := "%d of 3" % n`, `k := fmt.Sprintf("%d of 3", n)`},
	{`k := ",".join(text)`, `strings.Join(text, ",")…`},
	{"counts.keys()", "maps.Keys(counts)"},
	{"b.meen()", "…"},
}

func TestHabitsThatTheCompilerFindsAreSaidInGo(t *testing.T) {
	s := fromPython()
	var cells, lines []string
	for _, c := range habitsThatCompilerFinds {
		cells = append(cells, c[0])
	}
	found := compiled(t, cells)
	for i, c := range habitsThatCompilerFinds {
		want, example := strings.CutSuffix(c[1], "…")
		said := ""
		for _, f := range found[i] {
			_, hint := s.Explain(c[0], f.Line, f.Column, f.Text)
			said += f.Text + "\n" + hint + "\n"
			if _, line, ok := strings.Cut(hint, ": "); ok && said != "" && line == want {
				said = ""
				break
			}
		}
		if said != "" && !(example && strings.Contains(said, want)) || len(found[i]) == 0 {
			t.Errorf("%s: %d faults\n%swant %s", c[0], len(found[i]), said, want)
		}
		if example || strings.HasSuffix(want, "{") {
			want = ""
		} else if _, err := parser.ParseExpr(want); err == nil && !strings.HasPrefix(want, "gonbext.") && !strings.HasPrefix(want, "fmt.P") {
			want = "_ = " + want
		}
		lines = append(lines, strings.ReplaceAll(want, "Mul(i)", "Mul(n)"))
	}
	for i, faults := range compiled(t, lines) { // what is said is Go
		for _, f := range faults {
			if !strings.HasPrefix(f.Text, "declared and not used") && !strings.Contains(lines[i], "SVD") && !strings.Contains(lines[i], "FFT") {
				t.Errorf("%s: %s", lines[i], f.Text)
			}
		}
	}
}

// Cells that are not Go, with the line that is said first, and the whole cell where several lines change.
func TestCellsOfPythonAreSaidInGo(t *testing.T) {
	for code, want := range map[string]string{
		"b[:, 0]":                                   "b.Slice(\":, 0\")",
		"b[0:10, ::2]":                              "b.Slice(\"0:10, ::2\")",
		"b[..., None]":                              "b.Slice(\"..., newaxis\")",
		"b.sum(axis=1)":                             "b.Sum(1)",
		"b.mean(axis=(0, 1))":                       "b.Mean(0, 1)",
		"b.reshape((3, 4))":                         "b.Reshape(3, 4)",
		"np.zeros((3, 4))":                          "oocore.Zeros(oocore.Float64, 3, 4)",
		"np.nanmean(b, axis=0)":                     "b.Reduce(oocore.ReduceMean, oocore.ReduceOptions{Axes: []int{0}, SkipNaN: true})",
		"b.std(axis=0, keepdims=True)":              "b.Reduce(oocore.ReduceStd, oocore.ReduceOptions{Axes: []int{0}, KeepDims: true})",
		"a = b.groupby('time.month') - c":           "a := b.Sub(b.GroupByLabel(\"time.month\").Spread(c))",
		"for i in range(n):\n    n += i":            "for i := range n {|for i := range n {\n    n += i\n}",
		"np.std(b, ddof=1)":                         "b.Reduce(oocore.ReduceStd, oocore.ReduceOptions{DDof: 1})",
		"np.array([[1, 2], [3, 4]])":                "oocore.FromSlice([]float64{1, 2, 3, 4}, 2, 2)",
		"x = np.ones((2, 3), dtype=np.float32)":     "x := oocore.Ones(oocore.Float32, 2, 3)",
		"plt.plot(b, label='x')":                    "gonbext.Plot(b)",
		"b.sel(time='2001')":                        "b.Sel(\"time\", \"2001\")",
		"b.groupby('time.month').mean()":            "b.GroupByLabel(\"time.month\").Mean()",
		"import numpy as np":                        "x := oocore.Open(\"x.npy\")",
		"from math import sqrt":                     "import \"gonum.org/v1/gonum/mat\"",
		"import os":                                 "import \"gonum.org/v1/gonum/mat\"",
		"for i in range(3):\n    print(i)":          "for i := range 3 {|for i := range 3 {\n    fmt.Println(i)\n}",
		"for i in range(2, n): print(i)":            "for i := 2; i < n; i++ { fmt.Println(i) }",
		"for x in xs:\n  fmt.Println(x)":            "for _, x := range xs {",
		"for i, x in enumerate(xs):\n  print(i, x)": "for i, x := range xs {|for i, x := range xs {\n  fmt.Println(i, x)\n}",
		"for k, v in counts.items():\n  pass":       "for k, v := range counts {|for k, v := range counts {\n}",
		"if n > 3:\n    x = 1\nelif n:\n    x = 2\nelse:\n    x = 3":               "if n > 3 {|if n > 3 {\n    x := 1\n} else if n {\n    x = 2\n} else {\n    x = 3\n}",
		"while True:\n    n += 1":                                                  "for {",
		"def f(x):\n    return x**2\n\nprint(f(3))":                                "func f(x float64) float64 {|func f(x float64) float64 {\n    return x * x\n}\n\nfmt.Println(f(3))",
		"def hello():\n    print('hi')":                                            "func hello() float64 {|func hello() {\n    fmt.Println(\"hi\")\n}",
		"f = lambda x: x + 1":                                                      "f := func(x float64) float64 { return x + 1 }",
		"total = 0\nfor x in xs:\n    if x > 1:\n        total += x\nprint(total)": "for _, x := range xs {|total := 0\nfor _, x := range xs {\n    if x > 1 {\n        total += x\n    }\n}\nfmt.Println(total)",
		"x = 'hello'":                "x := \"hello\"",
		"x = f\"{n:.2f} of {text}\"": "x := fmt.Sprintf(\"%.2f of %v\", n, text)",
		"print('hello')":             "fmt.Println(\"hello\")",
		"print 'x'":                  "fmt.Println(\"x\")",
		"# comment\nx := 3":          "// comment",
		"x := 3 # three":             "x := 3 // three",
		"'''a\nb'''\nx = 3":          "`a\nb`|`a\nb`\nx := 3",
		"with open('f.txt') as f:\n  data = f.read()": "f, err := os.Open(\"f.txt\"); defer f.Close()",
		"try:\n  f()\nexcept ValueError:\n  pass":     "if err != nil { fmt.Println(err) }",
		"x = n if n > 3 else 4":                       "x := 4; if n > 3 { x = n }",
		"ys = [x*2 for x in xs]":                      "ys := []float64{}; for _, x := range xs { ys = append(ys, x*2) }",
		"d = {'a': 1, 'b': 2.5}":                      "d := map[string]float64{\"a\": 1, \"b\": 2.5}",
		"xs = [1, 2]":                                 "xs = []int{1, 2}",
		"n > 3 and not text == 'a'":                   "n > 3 && !(text == \"a\")",
		"if n in xs:\n    n = 3":                      "if slices.Contains(xs, n) {",
		"assert n > 3":                                "if !(n > 3) { panic(\"assertion failed\") }",
		"type(b)":                                     "fmt.Printf(\"%T\\n\", b)",
		"~mask":                                       "mask.LogicalNot()",
		"b @ c":                                       "b.MatMul(c)",
		"class A:\n  pass":                            "type A struct { x float64 }; func (s *A) method() {}",
		"lambda x, y: x + y":                          "func(x, y float64) float64 { return x + y }",
		"a = np.arange(10)\nb2 = a[1:3, None]":        "b2 := a.Slice(\"1:3, newaxis\")|a := oocore.Arange(0, 10, 1)\nb2 := a.Slice(\"1:3, newaxis\")",
	} {
		_, err := fromPython().Rewrite(code)
		faults, ok := errors.AsType[relay.Faults](err)
		want, whole, several := strings.Cut(want, "|")
		if !ok || !strings.HasSuffix(faults[0].Text, want) || several && faults[0].Hint != "The cell in Go:\n    "+strings.ReplaceAll(whole, "\n", "\n    ") {
			t.Errorf("%s\n%v\nwant %s", code, err, want)
			if several && ok {
				t.Errorf("%s\nwant %s", faults[0].Hint, whole)
			}
		}
	}
}

// Faults of Go's are said as they are.
func TestFaultsOfGoAreNotCalledPython(t *testing.T) {
	s := fromPython()
	cells := []string{
		"x := 3\nx = \"a\"", "fmt.Println(undefinedName)", "var y int = \"s\"", "for i := range 3 {\n}\nreturn 3", "b.Add(1, 2)", "xs[0] = \"a\"",
		"k := counts[3]", "if n {\n}", "q := []int{1, 2}\nq.Len()", "x := b.Sum() + 0.5 + wrong", "print(missing)", "len(3)",
		"f := func(a int) int { return a }\nf(\"x\")", "type T struct{ A int }\nT{B: 3}",
	}
	for i, faults := range compiled(t, cells) {
		for _, f := range faults {
			if _, hint := s.Explain(cells[i], f.Line, f.Column, f.Text); strings.Contains(hint, ": ") && !strings.HasPrefix(cells[i], "x := b.Sum()") {
				t.Errorf("%s: %s\n%s", cells[i], f.Text, hint)
			}
		}
	}
	for _, code := range []string{
		"x := []int{1, 2", "fmt.Println(3", "if x == 3 {\n  print(x)\n", "x := 3 +", "for i := 0; i < 3; i++ \n{\n}", "x := 'abc\n", "switch x {\ncase 1: print(2)\n", "func f( {\n}", "x := := 3",
	} {
		_, err := s.Rewrite(code)
		faults, ok := errors.AsType[relay.Faults](err)
		if !ok || !strings.HasPrefix(faults[0].Text, "syntax error: ") {
			t.Errorf("%q: %v", code, err)
		}
	}
}

// IPython's magics name what does the same here, and the shell's pip says what it does not do.
func TestMagicsOfIPythonAreSaid(t *testing.T) {
	for code, want := range map[string]string{
		"%timeit b.Sum()": "%%time", "%%timeit\nb.Sum()": "%%time", "%matplotlib inline": "gonbext.Plot(b)", "%load_ext autoreload": "import ",
		"%pip install x": "!*go get MODULE", "%run x.ipynb": "gonbext run", "%pwd": "!COMMAND", "%%html\n<b>": "DisplayHTML", "%prun f()": "%%memory",
	} {
		if _, err := fromPython().Rewrite(code); err == nil || !strings.Contains(err.Error(), "there is no magic %") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", code, err, want)
		}
	}
	cell, err := fromPython().Rewrite("!pip install numpy")
	if err != nil || len(cell.Displays) != 1 || !strings.Contains(fmt.Sprint(cell.Displays[0].Data["text/plain"]), "!*go get MODULE") {
		t.Errorf("%v, %v", cell.Displays, err)
	}
}

// Names are nearest where neighbours are swapped, in packages that are imported or not, of methods and of the cell.
func TestMisspelledNamesAreFound(t *testing.T) {
	s := fromPython()
	s.goSource = newSession().goSource
	for _, c := range []struct{ code, fault, text, want string }{
		{"oocore.Opne(\"x\")", "undefined: oocore.Opne", "", "Did you mean Open("},
		{"fmt.Printl(3)", "undefined: fmt", "undefined: fmt.Printl", "Did you mean Println("},
		{"import \"fmt\"\nfmt.Printl(3)", "undefined: fmt.Printl", "", "Did you mean Println("},
		{"strngs.Fields(text)", "undefined: strngs", "", "Did you mean strings?"},
		{"strings.upper(text)", "undefined: strings.upper", "", "Did you mean ToUpper("},
		{"b.Maen()", "b.Maen undefined (type *oocore.Array has no field or method Maen)", "", "Did you mean Mean("},
		{"w.WriteStrin()", "w.WriteStrin undefined (type strings.Builder has no field or method WriteStrin)", "", "Did you mean WriteString("},
		{"o := oocore.ReduceOptions{Axis: 1}", "unknown field Axis in struct literal of type oocore.ReduceOptions", "", "Did you mean Axes?"},
		{"threshold := 3\nfmt.Println(treshold)", "undefined: treshold", "", "Did you mean threshold?"},
		{"fmt.Println(conuts)", "undefined: conuts", "", "Did you mean counts?"},
		{"b[0, 1]", "syntax error: unexpected literal 1, expected ]", "", "an array has methods for its elements, in place of brackets: b.Slice(\"0, 1\")"},
		{"fmt.Println(other)", "undefined: other", "", ""},
		{"x()", "go: module a.b/c: reading https://x: 404", "", "!*go get a.b/c@VERSION asks for"},
		{"import \"rsc.io/x\"", "no required module provides package rsc.io/x; to add it:\n\tgo get rsc.io/x", "no required module provides package rsc.io/x", "!*go get rsc.io/x fetches it"},
	} {
		line := strings.Count(c.code, "\n") + 1
		text, hint := s.Explain(c.code, line, 1, c.fault)
		if c.text == "" {
			c.text = c.fault
		}
		if text != c.text || !strings.HasPrefix(hint, c.want) || c.want == "" && hint != "" {
			t.Errorf("%s: %s\n%s\nwant %s", c.code, text, hint, c.want)
		}
	}
}

// No text makes the reader of Python fail, and what is Go stays as it is.
func FuzzPython(f *testing.F) {
	for _, seed := range []string{"b + 1", "for i in range(3):\n  print(i)", "x = 'a", "\"\"\"", "f\"{", "b[", "}{", "# x\n\n", "lambda:", "%x\n*", "[[[", "x if", "$*"} {
		f.Add(seed)
	}
	s := fromPython()
	f.Fuzz(func(t *testing.T, code string) {
		if len(code) > 200 {
			return
		}
		s.python(code, "")
		_ = s.inGo(code, relay.Faults{{Line: 1, Text: "x"}})
	})
}
