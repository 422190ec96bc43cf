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
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

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
	{"type set map[string]struct{}\nfunc (s set) has(k string) bool { _, ok := s[k]; return ok }\ns := set{\"a\": {}}", "s[\"b\"] = struct{}{}", "fmt.Println(s.has(\"b\"), s.has(\"c\"), len(s))"},
	{"nan, inf, zero := math.NaN(), math.Inf(-1), math.Copysign(0, -1)", "fmt.Println(nan == nan, inf, 1/zero, math.Signbit(zero))"},
	{"c64, r, u := complex64(1+2i), []rune(\"héß\"), []uint16{1, 65535}", "r[0] = 'H'\nfmt.Println(c64*c64, string(r), u)"},
	{"names := [...]string{2: \"b\", 0: \"a\"}", "other := names\nother[1] = \"c\"", "fmt.Println(len(names), names, other, names == other)"},
	{"type leaf struct{ parent *branch; n int }\ntype branch struct{ leaves []*leaf }\nb := &branch{}\nfor i := range 3 { b.leaves = append(b.leaves, &leaf{b, i}) }", "b.leaves[1].n = 10", "fmt.Println(b.leaves[1].parent.leaves[1].n, b.leaves[2].parent == b)"},
	{"type inner struct{ n int }\nfunc (i *inner) add() { i.n++ }\ntype outer struct{ *inner; name string }\no := outer{&inner{1}, \"o\"}\nsame := o.inner", "o.add()", "same.add()\nfmt.Println(o.n, same.n, o.name)"},
	{"type speaker interface{ speak() string }\ntype dog struct{ name string }\nfunc (d dog) speak() string { return d.name }\ntype owner struct{ speaker; age int }\no := owner{dog{\"rex\"}, 3}", "o.speaker = dog{\"bo\"}", "fmt.Println(o.speak(), o.age)"},
	{"type op struct{ f func(int) int; ch chan int; n int }\no := op{n: 1}", "o.n++", "fmt.Println(o.f == nil, o.ch == nil, o.n)"},
	{"r := big.NewRat(1, 3)\nf := big.NewFloat(1.5)", "r.Add(r, big.NewRat(1, 6))\nf.Mul(f, f)", "fmt.Println(r, f)"},
	{"u, err := url.Parse(\"https://a:b@host/p?q=1#f\")", "u.Path = \"/other\"\nfmt.Println(err)", "fmt.Println(u, u.Query()[\"q\"], u.User.Username())"},
	{"r := ring.New(3)\nfor i := range 3 { r.Value = i; r = r.Next() }", "r.Value = \"first\"", "r.Do(func(v any) { fmt.Print(v, \" \") })\nfmt.Println()"},
	{"r := strings.NewReader(\"some text\")", "b := make([]byte, 4)\nn, err := r.Read(b)", "rest, err := io.ReadAll(r)\nfmt.Printf(\"%d %s %q %v\\n\", n, b, rest, err)"},
	{"var count atomic.Int64\ncount.Add(2)", "var wg sync.WaitGroup\nfor range 10 { wg.Go(func() { count.Add(1) }) }\nwg.Wait()", "fmt.Println(count.Load())"},
	{"rng := rand.New(rand.NewPCG(3, 4))\nfmt.Println(rng.IntN(1000))", "fmt.Println(rng.IntN(1000))\nperm := rng.Perm(5)", "fmt.Println(perm, rng.Float64())"},
	{"days := map[time.Month][]time.Time{time.May: {time.Date(2020, 5, 1, 0, 0, 0, 0, time.UTC)}}", "days[time.May] = append(days[time.May], days[time.May][0].AddDate(0, 0, 2))", "fmt.Println(days[time.May][1].Format(time.DateOnly), len(days))"},
	{"raw := json.RawMessage(`{\"a\": [1, 2]}`)\nvar v map[string]any", "err := json.Unmarshal(raw, &v)", "v[\"b\"] = v[\"a\"].([]any)[1]\nout, _ := json.Marshal(v)\nfmt.Println(string(out), err)"},
	{"type temperature float64\ntype reading struct{ At time.Time; T temperature; Tags map[string]*string }\nname := \"x\"\nr := reading{T: 3.5, Tags: map[string]*string{\"n\": &name}}", "*r.Tags[\"n\"] = \"y\"\nr.T *= 2", "fmt.Println(name, r.T, r.At.IsZero())"},
	{"p := &[]int{1, 2, 3}\nq := &(*p)[1]", "*q = 9", "*p = append(*p, 4)\nfmt.Println(*p, *q)"},
	{"people := []struct{ Name string; Age int }{{\"b\", 2}, {\"a\", 1}}", "sort.Slice(people, func(i, j int) bool { return people[i].Age < people[j].Age })", "fmt.Printf(\"%+v\\n\", people)"},
	{"type tree[T cmp.Ordered] struct{ l, r *tree[T]; v T }\nfunc (t *tree[T]) put(v T) *tree[T] { if t == nil { return &tree[T]{v: v} }; if v < t.v { t.l = t.l.put(v) } else { t.r = t.r.put(v) }; return t }\nfunc sum[T cmp.Ordered](t *tree[T]) (all []T) { if t == nil { return nil }; return append(append(sum(t.l), t.v), sum(t.r)...) }\nvar root *tree[string]\nfor _, s := range []string{\"m\", \"c\", \"x\"} { root = root.put(s) }", "root = root.put(\"d\")", "fmt.Println(sum(root))"},
	{"func apply[T, U any](in []T, f func(T) U) (out []U) { for _, v := range in { out = append(out, f(v)) }; return out }\nwords := []string{\"a\", \"bbb\"}", "lengths := apply(words, func(s string) int { return len(s) })", "fmt.Println(lengths, apply(lengths, strconv.Itoa))"},
	{"func count(n int) iter.Seq[int] { return func(yield func(int) bool) { for i := range n { if !yield(i) { return } } } }\ntotal := 0\nfor i := range count(4) { total += i }", "for i := range count(3) { if i == 2 { break }; total += 10 * i }", "fmt.Println(total)"},
	{"type failure struct{ code int }\nfunc (f *failure) Error() string { return fmt.Sprint(\"code \", f.code) }\nerr := error(&failure{3})", "err = fmt.Errorf(\"wrapped: %w\", err)\nfmt.Println(err)\nvar f *failure\nfound := errors.As(err, &f)\nerr = f", "f.code++\nfmt.Println(found, err)"},
	{"kind := func(v any) string { switch v.(type) { case int: return \"int\"; case fmt.Stringer: return \"stringer\"; default: return \"other\" } }\nkinds := []string{kind(1), kind(time.Second), kind(nil)}", "fmt.Println(kinds)"},
	{"a, b := 1, 2", "a, b = b, a+b\na, b = b, a+b", "fmt.Println(a, b, min(a, b), max(a, b))"},
	{"n := 0\nloop:\nif n < 5 { n++; goto loop }", "fmt.Println(n)"},
	{"func safe(f func()) (out any) { defer func() { out = recover() }(); f(); return nil }\ncaught := safe(func() { panic(\"no\") })", "fmt.Println(caught)\ncaught = safe(func() {})", "fmt.Println(caught)"},
	{"results := make([]int, 4)\nvar wg sync.WaitGroup\nfor i := range results { wg.Add(1); go func() { defer wg.Done(); results[i] = i * i }() }\nwg.Wait()", "results[0] = -1", "fmt.Println(results)"},
	{"ch := make(chan int, 3)\nvar got []int\ngo func() { defer close(ch); for i := range 3 { ch <- i } }()\nfor v := range ch { got = append(got, v) }", "fmt.Println(got)"},
	{"ctx, cancel := context.WithTimeout(context.Background(), time.Hour)\ncancel()\nreason := ctx.Err().Error()", "fmt.Println(reason)"},
	{"const limit = 3\nconst (\n\tkb = 1 << (10 * (iota + 1))\n\tmb\n)\nx := limit * kb", "x += mb", "fmt.Println(x, limit)"},
	{"int := 3\nx := 4", "int++\nx += int", "fmt.Println(int, x)"},
	{"string := []byte(\"s\")\nlen := 2", "len++\nstring[0] = 't'", "fmt.Println(len, string)"},
	{"gonbext_carry, carry_0, defers := 1, \"two\", time.UTC", "gonbext_carry++\nwhen := time.Unix(5, 0).In(defers)", "fmt.Println(gonbext_carry, carry_0, when)"},
	{"error, any := 1, 2", "error += any", "fmt.Println(error, any)"},
	{"type point struct{ X int }\nfirst := point{1}", "point := first\npoint.X++", "fmt.Println(first, point)"},
	{"m := map[string]int{}\nfor i, w := range strings.Fields(\"a b a\") { m[w] += i }", "keys := slices.Sorted(maps.Keys(m))", "fmt.Println(keys, m)"},
	{"x := 1\nx, y := x+1, x+2", "x, z := y, x", "fmt.Println(x, y, z)"},
	{"s := []int{3, 1, 2}\nslices.Sort(s)", "s = slices.Insert(s, 1, 9)\ni, found := slices.BinarySearch(s, 9)", "fmt.Println(s, i, found)"},
	{"var w strings.Builder\nt := template.Must(template.New(\"t\").Parse(\"{{.}}!\"))\nerr := t.Execute(&w, 5)", "fmt.Println(w.String(), err)"},
	{"ID, carry, gonbext := 1, 2, 3", "fmt.Println(ID, carry, gonbext)"},
}

// shared are notebooks whose functions use a statement's variable, which functions of one program cannot, and what they
// print.
var shared = []struct {
	cells  []string
	prints string
}{
	{[]string{"total := 10.5", "func twice() float64 { return total * 2 }\nfmt.Println(twice())", "total = 3\nfmt.Println(twice())", "total := twice()\nfmt.Println(total)", "fmt.Println(twice())"}, "21\n6\n6\n12\n"},
	{[]string{"total := 1.5", "func twice() float64 { return total * 2 }", "fmt.Println(twice())"}, "3\n"},
	{[]string{"total := 1.5", "func twice() float64 { return total * 2 }\nfmt.Println(twice())", "total := \"text\"", "fmt.Println(total)", "func shout() string { return strings.ToUpper(total) }\nfmt.Println(shout())", "total := 4.0", "fmt.Println(twice())", "total := true", "fmt.Println(total)"}, "3\ntext\nTEXT\n8\ntrue\n"},
	{[]string{"x := 1", "func show() { fmt.Println(\"x is\", x) }\nshow()", "x := \"text\"", "fmt.Println(1)", "show()", "x := 2.5\nfmt.Println(x)", "show()"}, "x is 1\n1\nx is text\n2.5\nx is 2.5\n"},
}

// asOneProgram is the Go program that the cells of a notebook are together.
func asOneProgram(t *testing.T, cells []string) string {
	cell, err := newSession().Rewrite(strings.Join(cells, "\n"))
	if err != nil {
		t.Fatalf("%q: %v", cells, err)
	}
	return imported(asGoNB(cell.Code))
}

var libraries = map[string]string{"list": "container/list", "big": "math/big", "rand": "math/rand/v2", "ring": "container/ring", "url": "net/url", "atomic": "sync/atomic", "json": "encoding/json", "template": "text/template"}

// imported adds imports as goimports does.
func imported(program string) string {
	for _, name := range []string{"fmt", "strings", "time", "big", "bytes", "list", "regexp", "os", "strconv", "sync", "rand", "math", "url", "ring", "io", "atomic", "json", "sort", "cmp", "iter", "errors", "context", "slices", "maps", "template"} {
		if regexp.MustCompile(`(^|[^\w."])`+name+`\.\w`).MatchString(program) && !strings.Contains(program, "import "+name) && !strings.Contains(program, fmt.Sprintf("import %q", name)) {
			program = strings.Replace(program, "package main", fmt.Sprintf("package main;import %q", cmp.Or(libraries[name], name)), 1)
		}
	}
	return program
}

// memory is what GoNB keeps of cells: their declarations, by their names.
type memory map[string]string

// program is what GoNB compiles of a cell, whose declarations it keeps.
func (m memory) program(t testing.TB, code string) string {
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

// module is a folder of programs that cells are compiled to.
type module struct {
	testing.TB
	dir string
}

func newModule(t testing.TB) module {
	m := module{t, t.TempDir()}
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	m.write("go.mod", "module cells\n\ngo 1.26\n")
	m.write("go.work", fmt.Sprintf("go 1.26.0\n\nuse .\nuse %q\n", root))
	return m
}

func (m module) write(name, text string) {
	name = filepath.Join(m.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
		m.Fatal(err)
	}
}

func (m module) build(step string) {
	m.Helper()
	c := exec.Command("go", "build", "-o", step+"bin/", "./"+step+"/...")
	c.Dir = m.dir
	c.Env = append(os.Environ(), "GOWORK="+filepath.Join(m.dir, "go.work"), "GOFLAGS=")
	if out, err := c.CombinedOutput(); err != nil {
		m.Fatalf("%v\n%s", err, out)
	}
}

func (m module) run(program, values string) (string, error) {
	c := exec.Command(filepath.Join(m.dir, program))
	c.Env = append(os.Environ(), carry.Folder+"="+values)
	out, err := c.CombinedOutput()
	return string(out), err
}

// BenchmarkCell is from a cell as it is written to its end: one that mentions ten values of earlier ones, one that declares
// these itself, where none are carried, and one that mentions none.
func BenchmarkCell(b *testing.B) {
	const declare = "a, b, c, d, e := 1, \"text\", 2.5, make([]float64, 1000), map[string]int{\"k\": 1}\nf, g, h, i, j := struct{ X, y int }{1, 2}, time.Now(), big.NewInt(7), [][]string{{\"x\"}}, &a\n"
	const mention = "fmt.Println(%d, a, b, c, len(d), e, f, g, h, i, *j)"
	for _, c := range []struct{ name, first, code string }{{"none", declare, "fmt.Println(%d)"}, {"declared", "", declare + mention}, {"ten", declare, mention}} {
		m, s, kept, n := newModule(b), newSession(), memory{}, 0
		s.newID = func() string { n++; return strconv.Itoa(n) }
		if c.first != "" {
			s.CarryIn(b.TempDir())
		}
		cell := func(code string) {
			c, err := s.Rewrite(code)
			if err != nil {
				b.Fatal(err)
			}
			m.write("step/n/main.go", kept.program(b, c.Code))
			m.build("step")
			if out, err := m.run("stepbin/n", s.folder); err != nil {
				b.Fatal(err, out)
			}
			s.Compiled(c.ID, int64(n), true)
		}
		cell(c.first + "fmt.Println(0)")
		b.Run(c.name, func(b *testing.B) {
			least := time.Hour // the mean is of what else the machine does
			for b.Loop() {
				begun := time.Now()
				cell(fmt.Sprintf(c.code, n))
				least = min(least, time.Since(begun))
			}
			b.ReportMetric(float64(least.Microseconds())/1000, "least-ms/op")
		})
	}
}

// What is printed by cells, each compiled into a process of its own, is what the one Go program prints that they are.
func TestCellsAreOneProgram(t *testing.T) {
	m, n := newModule(t), 5
	if testcases.Full() {
		n = 16
	}
	var cases [][]string
	for _, s := range shared {
		cases = append(cases, s.cells)
	}
	cases = append(cases, testcases.Sample(t, notebooks, n, func([]string) []string { return []string{"notebook"} })...)
	sessions, memories, printed, wanted := map[int]*Session{}, map[int]memory{}, map[int]string{}, map[int]string{}
	folder := func(i int) string { return filepath.Join(m.dir, fmt.Sprintf("values%d", i)) }
	run := func(step string, i int) string {
		out, err := m.run(fmt.Sprintf("%sbin/n%d", step, i), folder(i))
		if err != nil {
			t.Errorf("%q: %v\n%s", cases[i], err, out)
		}
		return out
	}
	for i, cells := range cases {
		sessions[i], memories[i] = newSession(), memory{}
		n := 0
		sessions[i].newID = func() string { n++; return strconv.Itoa(n) }
		sessions[i].CarryIn(folder(i))
		if err := os.Mkdir(folder(i), 0o700); err != nil {
			t.Fatal(err)
		}
		if i >= len(shared) {
			m.write(fmt.Sprintf("one/n%d/main.go", i), asOneProgram(t, cells))
		}
	}
	m.build("one")
	for i := range cases {
		if i < len(shared) {
			wanted[i] = shared[i].prints
		} else {
			wanted[i] = run("one", i)
		}
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
			m.write(fmt.Sprintf("%s/n%d/main.go", name, i), memories[i].program(t, cell.Code))
		}
		if !any {
			break
		}
		m.build(name)
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

// Tab and Shift-Tab know the variables of earlier cells, by themselves and, where gopls is asked, by their declaration.
func TestCarriedVariablesAreKnown(t *testing.T) {
	s := newSession()
	s.carried["total"] = s.known(variable{section: &carry.Section{}, typ: "[]float64", size: "3", bytes: 48, cell: "cell [3]"})
	s.carried["when"] = s.known(variable{section: &carry.Section{}, typ: `"time".Time`, bytes: 24, cell: "cell [2]"})
	s.carried["gone"] = variable{typ: "chan int", cell: "cell [1]", why: "a chan int has no meaning in another process"}
	inspect := func(code string) relay.Inspection {
		before, after, _ := strings.Cut(code, "|")
		return s.Inspect(before+after, len([]rune(before)))
	}
	for code, want := range map[string]string{
		"x := 2\nfmt.Println(tot|al)": "var total []float64\n\nof cell [3], 3, 48 bytes",
		"wh|en":                       "var when time.Time\n\nof cell [2], 24 bytes",
		"total := 1\nto|tal++":        "",
		"p.tot|al":                    "",
		"go|ne":                       "",
	} {
		if got, _ := inspect(code).Help["text/plain"].(string); got != want {
			t.Errorf("%q: %q, want %q", code, got, want)
		}
	}
	if i := inspect("d := when.Ye|ar()"); !i.Pass || i.Code != "import time \"time\"; var when time.Time; \n%%\nd := when.Year()" || i.Code[i.Cursor:i.Cursor+2] != "ar" {
		t.Errorf("gopls gets %q", i.Code)
	}
	if c, ok := s.Complete("y := tot", 8, ""); !ok || !slices.Contains(c.Matches, "total") {
		t.Error(c, ok)
	}
	cell, err := s.Rewrite("total?")
	if err != nil || len(cell.Displays) == 0 || !strings.Contains(fmt.Sprint(cell.Displays[0].Data["text/plain"]), "of cell [3]") {
		t.Error(cell, err)
	}
	if cell, err := s.Rewrite("total"); err != nil || !strings.Contains(cell.Code, "Show(total)") {
		t.Error("the last line is not shown:", cell.Code, err)
	}
}
