package magic

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/gonbext/carry"
	"github.com/gonbext/gonbext/gonbext/internal/relay"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// notebooks are cells whose statements, one after the other, are one Go program.
var notebooks = [][]string{
	{"x := 3", "x++\nx *= 2", "fmt.Println(x)"},
	{"b, i8, u, f, c, s, r := true, int8(-3), uint64(1)<<63, float32(.5), complex(1, 2), \"é\\x00\", 'x'", "fmt.Println(b, i8, u, f, c, s, r)"},
	{"a := [3]int{1, 2, 3}\ns := a[:2]", "s[0] = 9\ns = append(s, 8)", "fmt.Println(a, s, len(s), cap(s))"},
	{"s := []int{1, 2, 3, 4}\nt := s[1:3:3]", "t[0] = 20", "t = append(t, 5)\nt[0] = 21", "fmt.Println(s, t)"},
	{"s := make([]int, 0, 10)", "s = append(s, 1)\nt := append(s, 2)", "u := append(s, 3)", "fmt.Println(s, t, u)"},
	{"var n []int\nvar m map[string]int\nvar p *int\nvar e error\nvar a any", "fmt.Println(n == nil, m == nil, p == nil, e == nil, a == nil)"},
	{"e := []string{}", "fmt.Println(e == nil, len(e))"},
	{"m := map[string][]int{\"a\": {1}}\nn := m", "n[\"b\"] = append(m[\"a\"], 2)", "delete(m, \"a\")\nfmt.Println(m, n, len(n))"},
	{"m := map[[2]int]map[string]bool{{1, 2}: {\"x\": true}}", "m[[2]int{1, 2}][\"y\"] = true", "fmt.Println(m)"},
	{"x := 1\np := &x\npp := &p", "**pp = 5", "fmt.Println(x, *p, *pp == p, p == &x)"},
	{"type point struct{ X, y float64 }\np := point{1, 2}", "p.y = 7\nq := &p", "q.X = 3\nfmt.Println(p, *q, q == &p)"},
	{"type point struct{ X, y float64 }\nfunc (p *point) move(by float64) { p.X += by; p.y += by }\nfunc (p point) sum() float64 { return p.X + p.y }\np := point{1, 2}", "p.move(2)", "fmt.Println(p.sum())", "f := p.sum()\nfmt.Println(f)"},
	{"type node struct{ name string; next *node }\na := &node{name: \"a\"}\na.next = &node{\"b\", a}", "a.next.next.name = \"c\"", "fmt.Println(a.name, a.next.name, a.next.next == a)"},
	{"type tree struct{ left, right *tree; n int }\nfunc (t *tree) add(n int) *tree { if t == nil { return &tree{n: n} }; if n < t.n { t.left = t.left.add(n) } else { t.right = t.right.add(n) }; return t }\nfunc (t *tree) walk(f func(int)) { if t != nil { t.left.walk(f); f(t.n); t.right.walk(f) } }\nvar root *tree\nfor _, n := range []int{5, 2, 8, 1} { root = root.add(n) }", "root = root.add(4)", "root.walk(func(n int) { fmt.Print(n, \" \") })\nfmt.Println()"},
	{"type base struct{ id int }\nfunc (b *base) ID() int { return b.id }\ntype derived struct { base; tags []string }\nd := derived{base{1}, []string{\"t\"}}", "d.id = 4\nd.tags = append(d.tags, \"u\")", "fmt.Println(d.ID(), d.tags, d)"},
	{"type shape interface{ area() float64 }\ntype square struct{ side float64 }\nfunc (s square) area() float64 { return s.side * s.side }\ntype circle struct{ r float64 }\nfunc (c *circle) area() float64 { return 3 * c.r * c.r }\nshapes := []shape{square{2}, &circle{1}}", "shapes = append(shapes, square{3})\nshapes[1].(*circle).r = 2", "for _, s := range shapes { fmt.Println(s.area()) }"},
	{"type pair[K comparable, V any] struct { key K; value V }\nfunc (p pair[K, V]) String() string { return fmt.Sprint(p.key, \"→\", p.value) }\np := pair[string, []int]{\"a\", []int{1}}\nq := []pair[int, pair[string, bool]]{{1, pair[string, bool]{\"x\", true}}}", "p.value[0] = 9", "fmt.Println(p, q)"},
	{"type stack[T any] struct{ items []T }\nfunc (s *stack[T]) push(v T) { s.items = append(s.items, v) }\ns := stack[time.Duration]{}", "s.push(time.Second)\ns.push(3)", "fmt.Println(s.items)"},
	{"var count int\nfunc next() int { count++; return count }\nfmt.Println(next())", "fmt.Println(next(), next())", "fmt.Println(count)\ncount = 40", "fmt.Println(next())"},
	{"var (\n\ta, b = 1, 2\n\tc int\n)\nfmt.Println(a + b)", "c = a * 10\nb++", "fmt.Println(a, b, c)"},
	{"x, err := strconv.Atoi(\"12\")", "y, err := strconv.Atoi(\"30\")\nfmt.Println(y, err)", "fmt.Println(x, y, err)"},
	{"x := 1\nif x := 5; x > 2 { fmt.Println(x) }", "for x := range 3 { fmt.Print(x) }\nfunc() { x := \"inner\"; _ = x }()", "fmt.Println(x)"},
	{"x := 1\nfunc() { x = 5 }()", "f := 0\nfor i := range 3 { func() { f += i }() }", "fmt.Println(x, f)"},
	{"t := time.Date(2001, 2, 3, 4, 5, 6, 7, time.UTC)\nd := 90 * time.Minute", "t = t.Add(d)", "fmt.Println(t, d, t.Weekday())"},
	{"n := new(big.Int).Exp(big.NewInt(3), big.NewInt(100), nil)", "n.Add(n, big.NewInt(1))", "fmt.Println(n)"},
	{"var b strings.Builder\nb.WriteString(\"one\")", "fmt.Fprint(&b, \" two\")", "fmt.Println(b.String(), b.Len())"},
	{"b := bytes.NewBufferString(\"lines\\nof text\\n\")", "line, err := b.ReadString('\\n')\nfmt.Printf(\"%q %v\\n\", line, err)", "fmt.Printf(\"%q\\n\", b.String())"},
	{"l := list.New()\nl.PushBack(1)\nl.PushFront(\"zero\")", "l.PushBack(2.5)", "for e := l.Front(); e != nil; e = e.Next() { fmt.Println(e.Value) }"},
	{"h := []any{1, \"two\", 3.5, nil, []int{4}, map[string]any{\"k\": true}}", "h[3] = struct{}{}\nh = append(h, h[4])", "h[6].([]int)[0] = 44", "fmt.Println(h)"},
	{"re := regexp.MustCompile(`(\\w+)@(\\w+)`)", "fmt.Println(re.FindStringSubmatch(\"a@b\"))"},
	{"w := os.Stdout", "fmt.Fprintln(w, \"out\")"},
	{"type weekday int\nconst (\n\tmonday weekday = iota\n\ttuesday\n)\nfunc (d weekday) String() string { return []string{\"Mo\", \"Tu\"}[d] }\nd := tuesday", "e := d - 1\nfmt.Println(d, e)", "fmt.Println(map[weekday]int{d: 1, e: 2}[tuesday])"},
	{"type alias = map[string]int\nm := alias{\"a\": 1}", "m[\"b\"] = 2", "fmt.Println(m)"},
	{"s := struct { A int `json:\"a\"`; b []string }{1, []string{\"x\"}}", "s.b = append(s.b, \"y\")", "fmt.Printf(\"%+v\\n\", s)"},
	{"var grid [3][4]int\ngrid[1][2] = 5\nrow := &grid[1]", "row[3] = 7", "fmt.Println(grid, row[2])"},
	{"x := 2\nif x > 1 {\n\ty := x\n\t_ = y\n}\nz := x * 3", "fmt.Println(z)"},
	{"m := map[string]*int{}\nfor i, k := range []string{\"a\", \"b\"} { m[k] = &i }", "*m[\"a\"] = 9", "fmt.Println(*m[\"a\"], *m[\"b\"])"},
	{"var mu sync.Mutex\nvar n int\nmu.Lock()\nn++\nmu.Unlock()", "mu.Lock()\nn++\nmu.Unlock()", "fmt.Println(n)"},
	{"var once sync.Once\nonce.Do(func() { fmt.Println(\"once\") })", "once.Do(func() { fmt.Println(\"twice\") })\nfmt.Println(\"end\")"},
	{"rng := rand.NewPCG(1, 2)\nfmt.Println(rng.Uint64())", "fmt.Println(rng.Uint64())"},
	{"x := 1\n/* a comment */ y := x + 1 // another\n", "fmt.Println(x, y) // at the end"},
	{"text := `raw\n%budget\ntext`", "fmt.Println(text)"},
	{"x := 5\nlabel:\nfor i := range 3 {\n\tfor {\n\t\tif i == 1 { break label }\n\t\tcontinue label\n\t}\n}\nx++", "fmt.Println(x)"},
	{"done := make(chan int)\ngo func() { done <- 7 }()\nn := <-done", "fmt.Println(n)"},
	{"a, b := []byte(\"abc\"), \"abc\"\nc := a[:0]", "c = append(c, 'X')", "fmt.Println(string(a), b)"},
	{"var iface fmt.Stringer = time.Second\nvar any1 any = &iface", "fmt.Println(iface, *any1.(*fmt.Stringer))"},
	{"u := uintptr(7)\nvar z [0]int\nvar e struct{}\npe := &e", "fmt.Println(u, z, e, pe != nil)"},
	{"fns := 0\napply := func(n int) int { return n + 1 }\nfns = apply(fns)", "fmt.Println(fns)"},
	{"matrix := [][]float64{{1, 2}, {3, 4}}\nfirst := matrix[0]", "first[1] = 20\nmatrix[1] = first", "matrix[1][0] = 9\nfmt.Println(matrix)"},
	{"json := 3", "json++", "fmt.Println(json)"},
	{"import \"bytes\"\nfunc text() string { var b bytes.Buffer; b.WriteString(\"t\"); return b.String() }\nbytes := 5\nfmt.Println(bytes)", "fmt.Println(text(), bytes+1)", "bytes++\nfmt.Println(text(), bytes)"},
	{"func first() string { return strings.ToUpper(\"a\") }\nstrings := []int{1}", "strings[0]++\nfmt.Println(first(), strings)"},
	{"ID, carry, gonbext := 1, 2, 3", "fmt.Println(ID, carry, gonbext)"},
}

// shared is a notebook whose functions use a statement's variable, which functions of one program cannot.
var shared, sharedPrints = []string{"total := 10.5", "func twice() float64 { return total * 2 }\nfmt.Println(twice())", "total = 3\nfmt.Println(twice())", "total := twice()\nfmt.Println(total)", "fmt.Println(twice())"}, "21\n6\n6\n12\n"

// asOneProgram is the Go program that the cells of a notebook are together.
func asOneProgram(t *testing.T, cells []string) string {
	cell, err := newSession().Rewrite(strings.Join(cells, "\n"))
	if err != nil {
		t.Fatalf("%q: %v", cells, err)
	}
	return imported(asGoNB(cell.Code))
}

var libraries = map[string]string{"list": "container/list", "big": "math/big", "rand": "math/rand/v2"}

// imported adds imports as goimports does.
func imported(program string) string {
	for _, name := range []string{"fmt", "strings", "time", "big", "bytes", "list", "regexp", "os", "strconv", "sync", "rand"} {
		if strings.Contains(program, name+".") && !strings.Contains(program, "import "+name) && !strings.Contains(program, fmt.Sprintf("import %q", name)) {
			program = strings.Replace(program, "package main", fmt.Sprintf("package main;import %q", cmp.Or(libraries[name], name)), 1)
		}
	}
	return program
}

// memory is what GoNB keeps of cells: their declarations, by their names.
type memory map[string]string

// program is what GoNB compiles of a cell, whose declarations it keeps.
func (m memory) program(t *testing.T, code string) string {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", asGoNB(code), 0)
	if err != nil {
		t.Fatalf("%v\n%s", err, code)
	}
	main := "func main() {}"
	text := func(n ast.Node) string {
		var b bytes.Buffer
		_ = printer.Fprint(&b, files, n) // to memory
		return b.String()
	}
	imports := ""
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.Name == "main" && d.Recv == nil {
				main = text(d)
			} else {
				m[functionName(d)] = text(d)
			}
		case *ast.GenDecl:
			for i, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.ImportSpec:
					imports += "import " + text(spec) + "\n"
				case *ast.TypeSpec:
					m[spec.Name.Name] = "type " + text(spec)
				case *ast.ValueSpec:
					if d.Tok == token.CONST {
						m[spec.Names[0].Name] = text(d)
						break
					}
					delete(m, spec.Names[0].Name)
					m[spec.Names[0].Name] = "var " + text(d.Specs[i])
				}
			}
		}
	}
	all := slices.Compact(slices.Sorted(maps.Values(m)))
	return imported("package main\n" + imports + strings.Join(all, "\n") + "\n" + main)
}

// What is printed by cells, each compiled into a process of its own, is what the one Go program prints that they are.
func TestCellsAreOneProgram(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		name = filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	write("go.mod", "module cells\n\ngo 1.26\n")
	write("go.work", fmt.Sprintf("go 1.26.0\n\nuse .\nuse %q\n", root))
	n := 5
	if testcases.Full() {
		n = 16
	}
	cases := append([][]string{shared}, testcases.Sample(t, notebooks, n, func([]string) []string { return []string{"notebook"} })...)
	sessions, memories, printed, wanted := map[int]*Session{}, map[int]memory{}, map[int]string{}, map[int]string{}
	folder := func(i int) string { return filepath.Join(dir, fmt.Sprintf("values%d", i)) }
	build := func(step string) {
		t.Helper()
		c := exec.Command("go", "build", "-o", step+"bin/", "./"+step+"/...")
		c.Dir = dir
		c.Env = append(os.Environ(), "GOWORK="+filepath.Join(dir, "go.work"), "GOFLAGS=")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	run := func(step string, i int) string {
		c := exec.Command(filepath.Join(dir, step+"bin", fmt.Sprint("n", i)))
		c.Env = append(os.Environ(), carry.Folder+"="+folder(i))
		out, err := c.CombinedOutput()
		if err != nil {
			t.Errorf("%q: %v\n%s", cases[i], err, out)
		}
		return string(out)
	}
	for i, cells := range cases {
		sessions[i], memories[i] = newSession(), memory{}
		n := 0
		sessions[i].newID = func() string { n++; return strconv.Itoa(n) }
		sessions[i].CarryIn(folder(i))
		if err := os.Mkdir(folder(i), 0o700); err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			write(fmt.Sprintf("one/n%d/main.go", i), asOneProgram(t, cells))
		}
	}
	build("one")
	wanted[0] = sharedPrints
	for i := range cases[1:] {
		wanted[i+1] = run("one", i+1)
	}
	for step := 0; ; step++ {
		name, any := fmt.Sprint("step", step), false
		ids := map[int]string{}
		for i, cells := range cases {
			if step >= len(cells) {
				continue
			}
			cell, err := sessions[i].Rewrite(cells[step])
			if err != nil {
				t.Errorf("%q: %v", cells[step], err)
				continue
			}
			any, ids[i] = true, cell.ID
			write(fmt.Sprintf("%s/n%d/main.go", name, i), memories[i].program(t, cell.Code))
		}
		if !any {
			break
		}
		build(name)
		for i := range ids {
			printed[i] += run(name, i)
			sessions[i].Compiled(ids[i], int64(step+1), true)
		}
	}
	for i := range cases {
		files, err := os.ReadDir(folder(i))
		if err != nil || len(files) > len(cases[i]) {
			t.Errorf("%q leaves %d files, %v", cases[i], len(files), err)
		}
		if printed[i] != wanted[i] {
			t.Errorf("%q prints\n%swant\n%s", cases[i], printed[i], wanted[i])
		}
	}
}

// A cell that mentions what was not kept is rejected, at that place, with the type and the reason.
func TestWhatWasNotKeptIsSaid(t *testing.T) {
	s, n := newSession(), 0
	s.newID = func() string { n++; return strconv.Itoa(n) }
	s.CarryIn(t.TempDir())
	left := func(code, index string) {
		t.Helper()
		cell, err := s.Rewrite(code)
		if err != nil {
			t.Fatal(err)
		}
		if index != "" {
			testcases.WriteFile(t, filepath.Join(s.folder, cell.ID+".index"), []byte(index), 0o600)
			defer os.Remove(filepath.Join(s.folder, cell.ID+".index"))
		}
		s.Compiled(cell.ID, 3, true)
	}
	left("ch := make(chan int)", `lost "ch" "chan int" "a chan int has no meaning in another process"`+"\n")
	left("failed := 1\npanic(failed)", "")
	left("%%memory\ntype local struct{}\nv := []local{{}}", "section 0 24\nvar \"v\" \"[]local\" \"1\" 24\n")
	left("b := 1", "section 0 24\nvar \"b\" \"*\\\"github.com/gonbext/gonbext/oocore\\\".Array\" \"2 × 2\" 32\n")
	for code, want := range map[string]string{
		"x := 1\nfmt.Println(x, ch)":                    "2:16 ch of type chan int is not carried over from cell [3]: a chan int has no meaning in another process",
		"failed++":                                      "1:1 failed is not carried over from cell [3]: it did not run to its end",
		"func f() { close(ch) }\nprintln(1)\nf()":       "1:18 ch of type chan int is not carried over from cell [3]: a chan int has no meaning in another process",
		"println(len(v))":                               "1:13 v of type []local is not carried over from cell [3]: its type local is declared within its program: declare types above the statements",
		"var y = b":                                     "1:9 b is a value of cell [3], and a variable outside of statements is set before it is there: write it as a statement, with :=",
		"ch := 5\nfmt.Println(ch)":                      "",
		"func ch() {}\nch()":                            "",
		"type t struct{ ch int }\nprintln(t{ch: 1}.ch)": "",
		"println(b)":                                    "",
	} {
		cell, err := s.Rewrite(code)
		s.Compiled(cell.ID, 0, false)
		got := ""
		var faults relay.Faults
		if errors.As(err, &faults) {
			got = fmt.Sprintf("%d:%d %s", faults[0].Line, faults[0].Column, faults[0].Text)
		} else if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: %s\nwant %s", code, got, want)
		}
	}
	if cell, err := s.Rewrite("println(1)"); err != nil || strings.Contains(cell.Code, "gonbext") {
		t.Errorf("a cell that mentions nothing has %s, %v", cell.Code, err)
	}
	left("%rm b\nprintln(2)", "")
	if cell, err := s.Rewrite("println(b)"); err != nil || strings.Contains(cell.Code, "Load") {
		t.Error("%rm leaves a value")
	}
	left("%reset\nprintln(3)", "")
	if _, err := s.Rewrite("println(ch)"); err != nil {
		t.Error("%reset leaves what was lost:", err)
	}
}
